"""Random scalar programs, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from dialects.prog import (
    Binary,
    Compare,
    Const,
    Coord,
    Dtype,
    In,
    Move,
    Node,
    Op1,
    Op2,
    Op3,
    Program,
    Ternary,
    Unary,
    accepts1,
    accepts2,
    width,
)

_KINDS1 = [*Move, *Unary]
_KINDS2 = [*Binary, *Compare]


@st.composite
def programs(draw: st.DrawFn, axes: int = 2) -> Program:
    """A program over up to three operands and `axes` axes; any bits as constants."""
    ins = draw(st.lists(st.sampled_from(Dtype), max_size=3))
    nodes: list[Node] = []
    dtypes: list[Dtype] = []

    def add(node: Node) -> None:
        nodes.append(node)
        dtypes.append(Program.v(ins, nodes, [0]).dtype(len(nodes) - 1))

    add(Coord(draw(st.integers(0, axes - 1))))
    for i in range(len(ins)):
        add(In(i))
    for dtype in draw(st.lists(st.sampled_from(Dtype), max_size=3)):
        size = width(dtype)
        add(Const(dtype, draw(st.binary(min_size=size, max_size=size))))
    for _ in range(draw(st.integers(0, 10))):
        add(draw(_applications(dtypes)))
    outs = st.lists(st.integers(0, len(nodes) - 1), min_size=1, max_size=3)
    return Program.v(ins, nodes, draw(outs))


@st.composite
def _applications(draw: st.DrawFn, dtypes: list[Dtype]) -> Node:
    """A kind of any arity over nodes of `dtypes`."""

    def node_of(dtype: Dtype) -> int:
        return draw(st.sampled_from([i for i, d in enumerate(dtypes) if d is dtype]))

    x = draw(st.integers(0, len(dtypes) - 1))
    dtype = dtypes[x]
    arity = draw(st.integers(1, 3))
    if arity == 1:
        pairs = [(k, y) for k in _KINDS1 for y in Dtype if accepts1(k, dtype, y)]
        kind, result = draw(st.sampled_from(pairs))
        return Op1(kind, result, x)
    if arity == 2 or Dtype.bool not in dtypes:
        kind2 = draw(st.sampled_from([k for k in _KINDS2 if accepts2(k, dtype)]))
        return Op2(kind2, x, node_of(dtype))
    return Op3(Ternary.WHERE, node_of(Dtype.bool), x, node_of(dtype))
