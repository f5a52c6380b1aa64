"""Where the temporaries of a program lie: memory is shared by those that are never alive at once.

A temporary lives from the first op that uses it, which writes it, to the last one. In a loop of the
program that is the turn of the loop; a temporary that is used outside as well lives until the loop
ends. Each gets the best fitting gap between those that are alive then, so where it lies depends on
nothing else: steps of a training program that need the same get the same places.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import TypeAlias, TypeVar

from xdsl.ir import Operation, SSAValue

from dialects.uir.kernel import LaunchOp, TemporaryOp
from dialects.uir.loops import ForOp
from dialects.uir.movement import MovementOp

T = TypeVar("T")
Span: TypeAlias = tuple[int, int]
"""The first and the last position at which something is alive."""


class _Spans:
    """Finds the spans of temporaries, and of launches, which are alive where they stand."""

    def __init__(self) -> None:
        self.position = 0
        self.uses: dict[Operation, list[tuple[int, tuple[ForOp, ...]]]] = {}
        self.loops: dict[ForOp, Span] = {}
        self.views: dict[SSAValue, TemporaryOp] = {}

    def visit(self, ops: Iterable[Operation], around: tuple[ForOp, ...]) -> None:
        for op in ops:
            self.position += 1
            if isinstance(op, TemporaryOp):
                self.views[op.memory] = op
                continue
            for operand in op.operands:
                if (temporary := self.views.get(operand)) is not None:
                    self.uses.setdefault(temporary, []).append((self.position, around))
                    if isinstance(op, MovementOp):
                        self.views[op.result] = temporary
            if isinstance(op, LaunchOp):
                self.uses[op] = [(self.position, around)]
            elif isinstance(op, ForOp):
                first = self.position
                self.visit(op.body.block.ops, (*around, op))
                self.loops[op] = first, self.position

    def span(self, op: Operation) -> Span:
        """From the first use to the last one, seen from the innermost loop that all are in."""
        uses = self.uses[op]
        depth = min(_shared(uses[0][1], around) for _, around in uses)
        ends = [
            self.loops[around[depth]] if len(around) > depth else (position, position)
            for position, around in (uses[0], uses[-1])
        ]
        return ends[0][0], ends[1][1]


def _shared(one: Sequence[ForOp], other: Sequence[ForOp]) -> int:
    """How many of the outer loops are the same."""
    count = 0
    while count < min(len(one), len(other)) and one[count] is other[count]:
        count += 1
    return count


class _Gaps:
    """The free memory below `top`, where the last used byte ends, and beyond."""

    def __init__(self) -> None:
        self.top = 0
        self.by_size: list[tuple[int, int]] = []
        self.ends: dict[int, int] = {}
        """The end of each gap by its start."""
        self.starts: dict[int, int] = {}
        """The start of each gap by its end."""

    def take(self, size: int) -> int:
        """The start of a place of `size` bytes: in the smallest gap that is large enough."""
        place = bisect_left(self.by_size, (size, 0))
        if place == len(self.by_size):
            self.top += size
            return self.top - size
        found, start = self.by_size[place]
        self.remove(start)
        if found > size:
            self.add(start + size, start + found)
        return start

    def free(self, start: int, size: int) -> None:
        end = start + size
        if end in self.ends:
            end = self.remove(end)
        if start in self.starts:
            start = self.starts[start]
            self.remove(start)
        if end == self.top:
            self.top = start
        else:
            self.add(start, end)

    def add(self, start: int, end: int) -> None:
        self.ends[start], self.starts[end] = end, start
        insort(self.by_size, (end - start, start))

    def remove(self, start: int) -> int:
        """Takes the gap at `start` away, and returns its end."""
        end = self.ends.pop(start)
        del self.starts[end]
        del self.by_size[bisect_left(self.by_size, (end - start, start))]
        return end


def spans_of(ops: Iterable[Operation]) -> dict[Operation, Span]:
    """When each temporary that `ops` use is alive, and each launch."""
    spans = _Spans()
    spans.visit(ops, ())
    return {op: spans.span(op) for op in spans.uses}


def lay_out(spans: Mapping[T, Span], sizes: Mapping[T, int]) -> dict[T, int]:
    """Where each of what has a size starts, so that no two that are alive together overlap."""
    order = sorted((spans[op], number, op) for number, op in enumerate(sizes))
    gaps = _Gaps()
    alive: list[tuple[int, int, T]] = []
    starts: dict[T, int] = {}
    for (first, last), number, op in order:
        while alive and alive[0][0] < first:
            _, _, dead = heappop(alive)
            gaps.free(starts[dead], sizes[dead])
        starts[op] = gaps.take(sizes[op])
        heappush(alive, (last, number, op))
    return starts
