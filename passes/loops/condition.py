"""Conditions on coordinates, and what `ranges` says of them over a box."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from dialects.prog import Coord, Dtype, E, Program
from dialects.prog.flatten import post_order
from dialects.prog.plain import plain

Box: TypeAlias = Mapping[int, range]
"""The coordinates along each axis; along an axis that isn't there it is only 0."""

_ZERO = range(1)


class Condition:
    """A boolean expression of coordinates and operands, which `ranges` decides over a box."""

    def __init__(
        self,
        axes: frozenset[int],
        rank: int,
        bounds: Sequence[int],
        ranges: Callable[[Sequence[int]], tuple[int, ...]] | None,
    ) -> None:
        """A condition on coordinates along `axes`.

        `ranges` takes `bounds`, of the operands, then those of the coordinates along `rank`
        axes, and gives the two bounds of the condition. It is None if nothing decides that.
        """
        self._axes = axes
        self._rank = rank
        self._bounds = bounds
        self._ranges = ranges
        self._edges: dict[int, tuple[int, int]] = {}

    @property
    def axes(self) -> frozenset[int]:
        """The axes whose coordinates it depends on."""
        return self._axes

    def truth(self, box: Box) -> bool | None:
        """What the condition is all over `box`; None where `ranges` leaves that open."""
        if self._ranges is None:
            return None
        operands = [*self._bounds]
        for axis in range(self._rank):
            along = box.get(axis, _ZERO)
            operands += (along[0], along[-1])
        least, greatest = self._ranges(operands)
        return bool(least) if least == greatest else None

    def edges(self, axis: int, box: Box) -> tuple[int, int]:
        """Where along `axis` the points of `box`, always the same, stop being decided, and
        from where on they are again."""
        along = box[axis]
        if axis not in self._axes:
            return along.start, along.stop
        if axis not in self._edges:

            def is_decided(part: range) -> bool:
                return self.truth({**box, axis: part}) is not None

            head = greatest(len(along), lambda n: is_decided(along[:n]))
            tail = greatest(len(along), lambda n: is_decided(along[len(along) - n :]))
            self._edges[axis] = (along.start + head, along.stop - tail)
        return self._edges[axis]


def greatest(end: int, holds: Callable[[int], bool]) -> int:
    """The greatest number below `end` for which `holds`, which 0 is taken for."""
    least = 0
    while end - least > 1:
        middle = (least + end) // 2
        if holds(middle):
            least = middle
        else:
            end = middle
    return least


def conditions(
    exprs: Sequence[E], ins: Sequence[Dtype], bounds: Sequence[tuple[int, int]]
) -> list[Condition]:
    """The conditions that `exprs` are, over operands of dtypes `ins` that lie within `bounds`."""
    if not exprs:
        return []
    axes = [_axes(e) for e in exprs]
    rank = 1 + max(frozenset[int]().union(*axes), default=-1)
    # One program for all, because they share most of what they are computed from.
    ranges = Program.of_exprs(ins, exprs).ranges(rank)
    ends = [end for pair in bounds for end in pair]
    return [
        Condition(axes[k], rank, ends, plain(ranges, ranges.outs[2 * k : 2 * k + 2]))
        for k in range(len(exprs))
    ]


def _axes(e: E) -> frozenset[int]:
    """The axes whose coordinates `e` is computed from."""
    leaves = (leaf.head for leaf in post_order([e]))
    return frozenset(leaf.axis for leaf in leaves if isinstance(leaf, Coord))
