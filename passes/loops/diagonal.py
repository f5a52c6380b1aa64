"""Square tiles of a box, in three runs in each row of tiles: before a diagonal, on it, behind it.

    for each row of tiles b
      for the tiles from 0 to b               decided: a causal mask holds
      for the tile b                          open
      for the tiles from b + 1 to the last    decided: it doesn't hold

`ranges` finds and proves the runs row by row; where they start must be linear in the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from .condition import Box, Condition, greatest

_SIZES = range(32, 65)
"""The sizes of tiles: whole vectors, and few points on the diagonal."""

_ROWS = 64
"""The most rows of tiles; tiles are larger where there would be more."""


class Line(NamedTuple):
    """`offset + slope * row`."""

    offset: int
    slope: int

    @staticmethod
    def through(values: Sequence[int]) -> Line | None:
        """The line that has these values in rows 0, 1, ...; None if none has."""
        line = Line(values[0], values[1] - values[0])
        return line if all(line.at(row) == value for row, value in enumerate(values)) else None

    def at(self, row: int) -> int:
        """The value in `row`."""
        return self.offset + self.slope * row


class Run(NamedTuple):
    """In each row of tiles of `size` points along two axes, `tiles` of them from `first` on."""

    row_axis: int
    column_axis: int
    size: int
    rows: int
    first: Line
    tiles: Line

    def boxes(self, box: Box) -> Iterable[Box]:
        """The tiles, as parts of `box`, that each row has."""
        for row in range(self.rows):
            first, count = self.first.at(row), self.tiles.at(row)
            if count:
                yield self.box(box, row, first, count)

    def box(self, box: Box, row: int, first: int, count: int) -> Box:
        """The part of `box` in one row of tiles, `count` of them from the `first` on."""
        rows, columns = box[self.row_axis], box[self.column_axis]
        return {
            **box,
            self.row_axis: rows[self.size * row : self.size * (row + 1)],
            self.column_axis: columns[self.size * first : self.size * (first + count)],
        }

    def truth(self, condition: Condition, box: Box) -> bool | None:
        """What a condition is in all the tiles; None where `ranges` leaves that open."""
        truths = {condition.truth(tile) for tile in self.boxes(box)}
        return truths.pop() if len(truths) == 1 else None


def runs(condition: Condition, box: Box, row_axis: int, column_axis: int) -> list[Run]:
    """The runs of tiles of `box` along a condition's diagonal; none if it hasn't any."""
    size = _size(len(box[row_axis]), len(box[column_axis]))
    if size is None:
        return []
    rows, columns = len(box[row_axis]) // size, len(box[column_axis]) // size
    whole = Run(row_axis, column_axis, size, rows, Line(0, 0), Line(columns, 0))

    def is_decided(row: int, first: int, count: int) -> bool:
        return condition.truth(whole.box(box, row, first, count)) is not None

    starts: list[int] = []
    ends: list[int] = []
    for row in range(rows):
        head = greatest(columns + 1, lambda n, row=row: is_decided(row, 0, n))
        tail = greatest(columns - head + 1, lambda n, row=row: is_decided(row, columns - n, n))
        starts.append(head)
        ends.append(columns - tail)
    edges = [Line(0, 0), Line.through(starts), Line.through(ends), Line(columns, 0)]
    found: list[Run] = []
    for first, end in pairwise(edges):
        if first is None or end is None:
            return []
        count = Line(end.offset - first.offset, end.slope - first.slope)
        if count != Line(0, 0):
            found.append(whole._replace(first=first, tiles=count))
    return found if any(run.truth(condition, box) is not None for run in found) else []


def _size(height: int, width: int) -> int | None:
    """The size of tiles that cut both sides into two at least, without a rest."""
    least = max(1, -(-height // (_ROWS * _SIZES[0])))
    sizes = [least * size for size in _SIZES if 2 * least * size <= min(height, width)]
    whole = [size for size in sizes if height % size == width % size == 0]
    # Whole vectors are best, then small tiles.
    return max(whole, key=lambda size: (min(size & -size, 32), -size), default=None)
