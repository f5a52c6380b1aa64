"""Random scalar programs, for property tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
    accepts3,
    size,
    width,
)

Accepts = Callable[[Node, Dtype, Dtype], bool]
"""Whether a kind, of an operand of a dtype and to a result of a dtype, is wanted."""

_KINDS1 = [*Move, *Unary]
_KINDS2 = [*Binary, *Compare]


def constants(dtype: Dtype) -> st.SearchStrategy[Const]:
    """Any bits that are an element of `dtype`."""
    if width(dtype) < 8:
        return st.integers(0, (1 << width(dtype)) - 1).map(lambda i: Const(dtype, bytes([i])))
    count = size(dtype)
    return st.binary(min_size=count, max_size=count).map(lambda bits: Const(dtype, bits))


@st.composite
def programs(
    draw: st.DrawFn,
    axes: int = 2,
    dtypes: Sequence[Dtype] = tuple(Dtype),
    accepts: Accepts = lambda node, operand, result: True,
) -> Program:
    """A program over up to three operands and `axes` axes; any bits as constants."""
    ins = draw(st.lists(st.sampled_from(dtypes), max_size=3))
    nodes: list[Node] = [Coord(draw(st.integers(0, axes - 1)))]
    nodes += [In(i) for i in range(len(ins))]
    nodes += [draw(constants(d)) for d in draw(st.lists(st.sampled_from(dtypes), max_size=3))]
    known = [*Program.v(ins, nodes, [0]).dtypes]
    for _ in range(draw(st.integers(0, 10))):
        choices = _applications(draw, known, dtypes)
        wanted = [
            (node, result)
            for node, result in choices
            if accepts(node, known[node.j if isinstance(node, Op3) else node.i], result)
        ]
        node, result = draw(st.sampled_from(wanted))
        nodes.append(node)
        known.append(result)
    outs = st.lists(st.integers(0, len(nodes) - 1), min_size=1, max_size=3)
    return Program.v(ins, nodes, draw(outs))


def _applications(
    draw: st.DrawFn, known: list[Dtype], dtypes: Sequence[Dtype]
) -> list[tuple[Op1 | Op2 | Op3, Dtype]]:
    """The kinds over nodes that are drawn, with the dtypes of their results."""

    def node_of(dtype: Dtype) -> int:
        return draw(st.sampled_from([i for i, d in enumerate(known) if d is dtype]))

    x = draw(st.integers(0, len(known) - 1))
    dtype = known[x]
    y, first = node_of(dtype), draw(st.integers(0, len(known) - 1))
    made: list[tuple[Op1 | Op2 | Op3, Dtype]] = [
        (Op1(kind, result, x), result)
        for kind in _KINDS1
        for result in dtypes
        if accepts1(kind, dtype, result)
    ]
    made += [
        (Op2(kind, x, y), Dtype.bool if isinstance(kind, Compare) else dtype)
        for kind in _KINDS2
        if accepts2(kind, dtype)
    ]
    made += [
        (Op3(kind, first, x, y), dtype) for kind in Ternary if accepts3(kind, known[first], dtype)
    ]
    return made
