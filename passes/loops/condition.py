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
    """A boolean expression of coordinates and operands, which `ranges` decides over a box.

    The operands are of dtypes `ins`, and lie within `bounds`.
    """

    def __init__(self, e: E, ins: Sequence[Dtype], bounds: Sequence[tuple[int, int]]) -> None:
        axes = {leaf.head.axis for leaf in post_order([e]) if isinstance(leaf.head, Coord)}
        self._axes = range(max(axes, default=-1) + 1)
        self._ranges = plain(Program.of_exprs(ins, [e]).ranges(len(self._axes)))
        self._bounds = [bound for pair in bounds for bound in pair]
        self._edges: dict[int, tuple[int, int]] = {}

    def truth(self, box: Box) -> bool | None:
        """What the condition is all over `box`; None where `ranges` leaves that open."""
        if self._ranges is None:
            return None
        coordinates = [box.get(axis, _ZERO) for axis in self._axes]
        ends = [end for along in coordinates for end in (along[0], along[-1])]
        least, greatest = self._ranges([*self._bounds, *ends])
        return bool(least) if least == greatest else None

    def edges(self, axis: int, box: Box) -> tuple[int, int]:
        """Where along `axis` the points of `box`, always the same, stop being decided, and
        from where on they are again."""
        if axis not in self._edges:
            along = box[axis]

            def is_decided(part: range) -> bool:
                return self.truth({**box, axis: part}) is not None

            head = _greatest(len(along), lambda n: is_decided(along[:n]))
            tail = _greatest(len(along), lambda n: is_decided(along[len(along) - n :]))
            self._edges[axis] = (along.start + head, along.stop - tail)
        return self._edges[axis]


def _greatest(end: int, holds: Callable[[int], bool]) -> int:
    """The greatest number below `end` for which `holds`, which 0 is taken for."""
    least = 0
    while end - least > 1:
        middle = (least + end) // 2
        if holds(middle):
            least = middle
        else:
            end = middle
    return least
