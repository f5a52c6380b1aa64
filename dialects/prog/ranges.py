"""Programs of the ranges of programs: what values an output can have over a box of leaves."""

from __future__ import annotations

from collections.abc import Sequence

from .dtypes import COMPLEX, FLOATS, Dtype
from .expr import E
from .intervals import Interval, binary, bitcast, cast, compare, fma, unary, where, whole
from .kinds import Compare, Move, Ternary, Unary
from .program import MAX_RANK, Const, Coord, In, InvalidProgram, Node, Op1, Op2, Op3, Program

_WITHOUT_RANGE = FLOATS | COMPLEX


def ranges_of(program: Program, axes: int, nodes: Sequence[int]) -> Program:
    """The program of the ranges of `nodes`, as `Program.ranges` says."""
    if not 0 <= axes <= MAX_RANK:
        raise InvalidProgram(f"axes: {axes} is not between 0 and {MAX_RANK}")
    for node in nodes:
        if program.dtypes[node] in _WITHOUT_RANGE:
            raise InvalidProgram(f"node {node}: {program.dtypes[node].value} has no ranges")
    intervals: dict[int, Interval] = {}
    for index in program.reached(nodes):
        node = program.nodes[index]
        if isinstance(node, Coord) and node.axis >= axes:
            raise InvalidProgram(f"node {index}: reads axis {node.axis} of {axes}")
        if program.dtypes[index] not in _WITHOUT_RANGE:
            intervals[index] = _range(program, index, node, intervals)
    ins = [dtype for dtype in program.ins for _ in range(2)] + [Dtype.int64] * (2 * axes)
    return Program.of_exprs(ins, [bound for node in nodes for bound in intervals[node]])


def _range(program: Program, index: int, node: Node, intervals: dict[int, Interval]) -> Interval:
    """The range of an integer or boolean node; operands that have none are not in `intervals`."""
    dtype = program.dtypes[index]
    match node:
        case In(i):
            return Interval(E.input(2 * i, dtype), E.input(2 * i + 1, dtype))
        case Coord(axis):
            first = 2 * len(program.ins) + 2 * axis
            return Interval(E.input(first, dtype), E.input(first + 1, dtype))
        case Const():
            value = E(node, dtype)
            return Interval(value, value)
        case Op1(Move.COPY, _, i):
            return intervals[i]
        case Op1(Unary() as kind, _, i):
            return unary(kind, intervals[i])
        case Op1(kind, _, i):
            if i not in intervals:
                return whole(dtype)
            return (cast if kind is Move.CAST else bitcast)(dtype, intervals[i])
        case Op2(kind, i, j):
            if i not in intervals:
                return whole(dtype)
            if isinstance(kind, Compare):
                return compare(kind, intervals[i], intervals[j])
            return binary(kind, intervals[i], intervals[j])
        case Op3(Ternary.WHERE, i, j, l):
            return where(intervals[i], intervals[j], intervals[l])
        case Op3(_, i, j, l):
            return fma(intervals[i], intervals[j], intervals[l])
