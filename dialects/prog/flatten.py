"""Expressions as nodes: each distinct subexpression once, in depth-first order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .dtypes import Dtype
from .expr import E, require_expressions
from .kinds import Binary, Compare, Kind3
from .program import Const, Coord, In, InvalidProgram, Node, Op1, Op2, Op3, leaf_dtype


def post_order(outs: Sequence[E]) -> Iterator[E]:
    """The expression objects under `outs`, each once, operands first, left to right."""
    done: set[int] = set()
    for out in outs:
        stack = [(out, False)]
        while stack:
            e, operands_done = stack.pop()
            if id(e) in done:
                continue
            if operands_done:
                done.add(id(e))
                yield e
            else:
                stack.append((e, True))
                stack.extend((operand, False) for operand in reversed(e.operands))


def nodes_of(ins: Sequence[Dtype], outs: Sequence[E]) -> tuple[list[Node], list[int]]:
    """The distinct nodes under `outs` in depth-first order, and the index of each output.

    Raises InvalidProgram if an input of `outs` is not an operand of `ins` of its dtype.
    """
    require_expressions("a program", *outs)
    index_of_node: dict[Node, int] = {}
    index_of: dict[int, int] = {}
    for e in post_order(outs):
        node = _node(e, [index_of[id(operand)] for operand in e.operands])
        if isinstance(node, In):
            try:
                _check_input(node, ins, e.dtype)
            except InvalidProgram as error:
                raise InvalidProgram(f"node {len(index_of_node)}: {error}") from None
        index_of[id(e)] = index_of_node.setdefault(node, len(index_of_node))
    return list(index_of_node), [index_of[id(out)] for out in outs]


def _check_input(node: In, ins: Sequence[Dtype], dtype: Dtype) -> None:
    """Raises InvalidProgram unless `node` is an operand of `ins` of `dtype`."""
    if leaf_dtype(node, ins) is not dtype:
        raise InvalidProgram(
            f"operand {node.i} is of {ins[node.i].value}, its expression of {dtype.value}"
        )


def _node(e: E, indices: Sequence[int]) -> Node:
    match e.head:
        case In() | Coord() | Const() as leaf:
            return leaf
        case Binary() | Compare() as kind:
            return Op2(kind, *indices)
        case Kind3() as kind:
            return Op3(kind, *indices)
        case kind:
            return Op1(kind, e.dtype, *indices)
