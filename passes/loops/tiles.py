"""Folds of tiles: points that are folded together, some along an axis of lanes, some in rows.

The accumulators of a row are a vector that the loops of the reduction carry, or an array of lanes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass

from xdsl.ir import SSAValue

from passes.index import Index

from .code import NestCode, Turns
from .panels import Block
from .points import ZERO
from .schedule import LANES, Tiling


@dataclass(frozen=True)
class Tile:
    """`lanes` points along an axis times the rows along another one.

    Only the first `count` of the lanes are points of the nest.
    """

    lane_start: Index
    lanes: int
    count: int
    row_start: Index = ZERO
    rows: int = 1


class TileFolds:
    """Folds all points of a nest, a tile at a time."""

    def __init__(self, code: NestCode, tiling: Tiling) -> None:
        self._code = code
        self._points = code.points
        self._tiling = tiling

    def emit(self) -> None:
        """Fold all tiles at the current point."""
        extents, packing, row = self._code.nest.extents, self._tiling.packing, self._tiling.row
        if row is None:
            for start, lanes in self._lane_tiles():
                self._fold(Tile(start, lanes, lanes))
        elif packing is None or packing.sharing is None:
            for first, size in self._row_tiles(row, ZERO, extents[row]):
                for start, lanes in self._lane_tiles():
                    self._fold(Tile(start, lanes, lanes, first, size))
        else:
            lane, points = self._tiling.lane, extents[packing.axes[-1]]
            blocks = self._points.tiles(row, extents[row], packing.sharing, again=self._code.again)
            for row_start, rows in blocks:
                for start, lanes in self._lane_tiles():
                    self._code.fill_panels(Block(packing.axes, ZERO, points, lane, start, lanes))
                    # Lanes beyond the axis are computed, on zeros, to fill a vector.
                    is_padded = self._tiling.lanes > extents[lane]
                    width = self._tiling.lanes if is_padded else lanes
                    for first, size in self._row_tiles(row, row_start, rows):
                        self._fold(Tile(start, width, lanes, first, size))

    def _lane_tiles(self) -> Iterator[tuple[Index, int]]:
        lane = self._tiling.lane
        extent = self._code.nest.extents[lane]
        return self._points.tiles(lane, extent, self._tiling.lanes, again=self._code.again)

    def _row_tiles(self, row: int, start: Index, extent: int) -> Iterator[tuple[Index, int]]:
        return self._points.tiles(
            row, extent, self._tiling.rows, start=start, again=self._code.again
        )

    def _fold(self, tile: Tile) -> None:
        """Set the tile's accumulators, run the reduction around its points, finish them."""
        if self._tiling.in_vectors and tile.lanes == LANES:
            self._fold_vectors(tile)
        else:
            self._fold_arrays(tile)

    def _turns(self, tile: Tile) -> Iterator[Turns]:
        """The loops of the reduction, whose points are the rows of the panels: all of them, or,
        inside the others, one over each block of rows that panels hold of the tile."""
        points, extents, packing = self._points, self._code.nest.extents, self._tiling.packing
        if packing is None or packing.sharing is not None:
            yield [(axis, ZERO, extents[axis]) for axis in self._code.nest.reduction]
            return
        *outer, last = self._code.nest.reduction
        lane = self._tiling.lane
        with ExitStack() as loops:
            for axis in outer:
                loops.enter_context(points.axis_loop(axis))
            for start, rows in points.tiles(last, extents[last], packing.rows):
                block = Block((last,), start, rows, lane, tile.lane_start, tile.count)
                self._code.fill_panels(block)
                yield [(last, start, rows)]

    def _rows(self, tile: Tile) -> Iterator[int]:
        """The rows of a tile, the current point's being each in turn."""
        for number in range(tile.rows):
            if self._tiling.row is not None:
                self._points.axes[self._tiling.row] = tile.row_start + number
            yield number

    def _results(self) -> list[SSAValue]:
        """The arrays that hold the folds of all rows of a tile, one for each output."""
        return self._code.arrays("tile", 0, self._tiling.rows * self._tiling.lanes)

    def _finish(self, tile: Tile) -> None:
        """Finish the points of a tile, whose folds are in `_results`, in a loop over its rows."""
        points, lane, row = self._points, self._tiling.lane, self._tiling.row
        place = ZERO
        with ExitStack() as loops:
            if row is not None:
                number = loops.enter_context(points.loop(row, tile.rows))
                points.axes[row] = tile.row_start + number
                place = number * self._tiling.lanes
            offset = loops.enter_context(points.loop(lane, tile.count))
            points.axes[lane] = tile.lane_start + offset
            self._code.finish(self._code.load_cells(self._results(), place + offset))

    # Rows as arrays

    def _fold_arrays(self, tile: Tile) -> None:
        code = self._code
        in_vectors = self._tiling.in_vectors and tile.lanes % LANES == 0
        for cells in self._cells(tile, in_vectors=in_vectors):
            code.store_cells(code.identities(), cells, code.offset)
        for turns in self._turns(tile):
            with ExitStack() as loops:
                row = ZERO
                for axis, start, count in turns:
                    turn = loops.enter_context(self._points.loop(axis, count))
                    self._points.axes[axis] = start + turn
                    row = row * count + turn
                code.panel_row = row
                for cells in self._cells(tile, in_vectors=in_vectors):
                    code.fold_into(cells, code.offset)
        if self._tiling.row is None:
            for cells in self._cells(tile):
                code.finish(code.load_cells(cells, code.offset))
            return
        # Accumulators are only ever used as wholes, so that compilers keep them in registers.
        for number, cells in enumerate(self._cells(tile)):
            folded = code.load_cells(cells, code.offset)
            code.store_cells(folded, self._results(), self._place(number))
        self._finish(tile)

    def _cells(self, tile: Tile, *, in_vectors: bool = False) -> Iterator[list[SSAValue]]:
        """Within a loop over the lanes, the accumulators of each row."""
        loop = self._code.vectors_along if in_vectors else self._code.lanes_along
        with loop(self._tiling.lane, tile.lane_start, tile.lanes):
            for number in self._rows(tile):
                yield self._code.arrays("acc", number, self._tiling.lanes)

    def _place(self, number: int) -> Index:
        """Where the current lane of a row is in `_results`."""
        return self._code.offset + number * self._tiling.lanes

    # Rows as vectors

    def _fold_vectors(self, tile: Tile) -> None:
        code, packing = self._code, self._tiling.packing

        def fold(accumulators: Sequence[SSAValue]) -> list[SSAValue]:
            rows = zip(self._rows(tile), self._by_row(accumulators), strict=True)
            return [value for _, row in rows for value in code.fold_point(row)]

        if packing is not None and packing.sharing is None:
            with self._lanes(tile):
                self._store(tile.rows * code.identities())
            for turns in self._turns(tile):
                with self._lanes(tile):
                    self._store(code.carried(turns, self._load(tile), fold))
            self._finish(tile)
            return
        (turns,) = self._turns(tile)
        with self._lanes(tile):
            folded = code.carried(turns, tile.rows * code.identities(), fold)
            if is_whole := self._is_written_whole(tile):
                for _, row in zip(self._rows(tile), self._by_row(folded), strict=True):
                    code.finish(row)
            else:
                self._store(folded)
        if not is_whole:
            self._finish(tile)

    def _lanes(self, tile: Tile) -> AbstractContextManager[None]:
        """A loop over the lanes, each turn for as many as a vector has."""
        return self._code.vectors_along(self._tiling.lane, tile.lane_start, tile.lanes)

    def _by_row(self, accumulators: Sequence[SSAValue]) -> Iterator[Sequence[SSAValue]]:
        """The accumulators of each row."""
        count = len(self._code.nest.body.results)
        for first in range(0, len(accumulators), count):
            yield accumulators[first : first + count]

    def _store(self, accumulators: Sequence[SSAValue]) -> None:
        for number, row in enumerate(self._by_row(accumulators)):
            self._code.store_cells(row, self._results(), self._place(number))

    def _load(self, tile: Tile) -> list[SSAValue]:
        places = [self._place(number) for number in range(tile.rows)]
        return [value for p in places for value in self._code.load_cells(self._results(), p)]

    def _is_written_whole(self, tile: Tile) -> bool:
        """Whether the results of a row are its accumulators, and lie side by side in memory."""
        lane, nest = self._tiling.lane, self._code.nest
        is_unit = all(view.index.stride(lane) == 1 for view in nest.writes)
        return nest.epilogue is None and tile.count == LANES and is_unit
