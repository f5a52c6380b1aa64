"""Folds of tiles: points that are folded together, some along an axis of lanes, some in rows.

The accumulators of a row are a vector that the loops of the reduction carry, or an array of lanes.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import prod

from xdsl.ir import SSAValue

from passes.index import Index

from .code import NestCode, Turns
from .panels import Block
from .points import ZERO
from .schedule import LANES, Tiling


@dataclass(frozen=True)
class Tile:
    """`lanes` points along an axis, times the rows along another one.

    `count` of the lanes are points of the nest: the others fill a vector.
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
        self._again = code.nest.is_repeatable

    def emit(self) -> None:
        """Fold all tiles at the current point."""
        extents, packing, row = self._code.nest.extents, self._tiling.packing, self._tiling.row
        extent = 1 if row is None else extents[row]
        sharing = self._tiling.rows if packing is None else packing.sharing
        for row_start, rows in self._row_tiles(ZERO, extent, sharing):
            for start, lanes in self._lane_tiles():
                if packing is None or self._has_blocks:
                    self._fold(self._tile(start, lanes, row_start, rows))
                    continue
                lane, points = self._tiling.lane, extents[packing.axes[-1]]
                self._code.fill_panels(Block(packing.axes, ZERO, points, lane, start, lanes))
                for first, size in self._row_tiles(row_start, rows, self._tiling.rows):
                    self._fold(self._tile(start, lanes, first, size))

    @property
    def _has_blocks(self) -> bool:
        """Whether panels are filled more than once within a fold."""
        packing, nest = self._tiling.packing, self._code.nest
        return packing is not None and packing.rows < prod(nest.extents[a] for a in nest.reduction)

    def _tile(self, lane_start: Index, lanes: int, row_start: Index, rows: int) -> Tile:
        # Lanes beyond the axis are computed, on zeros, to fill a vector.
        is_padded = self._tiling.lanes > self._code.nest.extents[self._tiling.lane]
        width = self._tiling.lanes if is_padded else lanes
        return Tile(lane_start, width, lanes, row_start, rows)

    def _lane_tiles(self) -> Iterator[tuple[Index, int]]:
        lane = self._tiling.lane
        extent = self._code.nest.extents[lane]
        return self._points.tiles(lane, extent, self._tiling.lanes, again=self._again)

    def _row_tiles(self, start: Index, extent: int, size: int) -> Iterator[tuple[Index, int]]:
        if self._tiling.row is None:
            return iter([(start, 1)])
        row, again = self._tiling.row, self._again
        return self._points.tiles(row, extent, size, start=start, again=again)

    def _fold(self, tile: Tile) -> None:
        """Set the tile's accumulators, run the reduction around its points, finish them."""
        if self._tiling.in_vectors and tile.lanes % LANES == 0 and self._has_blocks:
            self._fold_blocks(tile)
        elif self._tiling.in_vectors and tile.lanes == LANES:
            self._fold_vectors(tile)
        else:
            for first, rows in self._row_tiles(tile.row_start, tile.rows, self._tiling.rows):
                self._fold_arrays(replace(tile, row_start=first, rows=rows))

    def _turns(self, tile: Tile) -> Iterator[Turns]:
        """The loops of the reduction, whose points are the rows of the panels: all of them, or,
        inside the others, one over each block of rows that panels hold of the tile."""
        points, extents, packing = self._points, self._code.nest.extents, self._tiling.packing
        if packing is None or not self._has_blocks:
            yield [(axis, ZERO, extents[axis]) for axis in self._code.nest.reduction]
            return
        *outer, last = self._code.nest.reduction
        lane = self._tiling.lane
        with ExitStack() as loops:
            for axis in outer:
                loops.enter_context(points.axis_loop(axis))
            for start, rows in points.tiles(last, extents[last], packing.rows):
                with self._columns(tile) as (column, part):
                    block = Block((last,), start, rows, lane, part.lane_start, part.count)
                    self._code.fill_panels(block, column * packing.rows)
                yield [(last, start, rows)]

    @contextmanager
    def _columns(self, tile: Tile) -> Generator[tuple[Index, Tile]]:
        """A loop over the vectors of a tile: where each has its accumulators in a row, and its part
        of the tile, which for the last one may be moved back to end with the lanes."""
        if tile.lanes <= LANES:
            yield ZERO, tile
            return
        with self._points.tile_loop(self._tiling.lane, tile.count, LANES) as (column, start):
            lane_start = tile.lane_start + start
            yield column, replace(tile, lane_start=lane_start, lanes=LANES, count=LANES)

    def _rows(self, tile: Tile) -> Iterator[int]:
        """The rows of a tile, the current point's being each in turn."""
        for number in range(tile.rows):
            if self._tiling.row is not None:
                self._points.axes[self._tiling.row] = tile.row_start + number
            yield number

    def _results(self) -> list[SSAValue]:
        """The arrays that hold the folds of all rows of a tile, one for each output."""
        packing = self._tiling.packing
        rows = packing.sharing if packing is not None and self._has_blocks else self._tiling.rows
        return self._code.arrays("tile", 0, rows * self._tiling.lanes)

    def _finish(self, tile: Tile) -> None:
        """Finish the points of a tile, whose folds are in `_results`, in a loop over its rows."""
        points, lane, row = self._points, self._tiling.lane, self._tiling.row
        place = ZERO
        with ExitStack() as loops:
            if row is not None:
                number = loops.enter_context(points.loop(row, tile.rows))
                points.axes[row] = tile.row_start + number
                place = number * self._tiling.lanes
            column, part = loops.enter_context(self._columns(tile))
            offset = loops.enter_context(points.loop(lane, part.count))
            points.axes[lane] = part.lane_start + offset
            self._code.finish(self._code.load_cells(self._results(), place + column + offset))

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
        (turns,) = self._turns(tile)
        with self._lanes(tile):
            identities = tile.rows * self._code.identities()
            folded = self._carried(tile, turns, identities)
            if is_whole := self._is_written_whole(tile):
                for _, row in zip(self._rows(tile), self._by_row(folded), strict=True):
                    self._code.finish(row)
            else:
                self._store(folded, ZERO)
        if not is_whole:
            self._finish(tile)

    def _fold_blocks(self, tile: Tile) -> None:
        """Fold the rows of a tile in vectors, a block of the reduction at a time, between which
        the accumulators are in memory."""
        code, points, packing = self._code, self._points, self._tiling.packing
        assert packing is not None
        # One row needs no loop.
        row = self._tiling.lane if self._tiling.row is None else self._tiling.row
        with (
            points.loop(row, tile.rows) as number,
            self._columns(tile) as (column, part),
            self._lanes(part),
        ):
            self._store(code.identities(), number * self._tiling.lanes + column)
        for turns in self._turns(tile):
            # A row that is folded twice would be folded into its own result.
            for first, size in points.tiles(row, tile.rows, self._tiling.rows):
                with self._columns(tile) as (column, part), self._lanes(part):
                    place = first * self._tiling.lanes + column
                    code.panel_start = column * packing.rows
                    rows = replace(part, row_start=tile.row_start + first, rows=size)
                    self._store(self._carried(rows, turns, self._load(size, place)), place)
                    code.panel_start = ZERO
        self._finish(tile)

    def _carried(
        self, tile: Tile, turns: Turns, accumulators: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """The accumulators of all rows after `turns`, by loops that carry them."""

        def fold(accumulators: Sequence[SSAValue]) -> list[SSAValue]:
            rows = zip(self._rows(tile), self._by_row(accumulators), strict=True)
            return [value for _, row in rows for value in self._code.fold_point(row)]

        return self._code.carried(turns, accumulators, fold)

    def _lanes(self, tile: Tile) -> AbstractContextManager[None]:
        """A loop over the lanes, each turn for as many as a vector has."""
        return self._code.vectors_along(self._tiling.lane, tile.lane_start, tile.lanes)

    def _by_row(self, accumulators: Sequence[SSAValue]) -> Iterator[Sequence[SSAValue]]:
        """The accumulators of each row."""
        count = len(self._code.nest.body.results)
        for first in range(0, len(accumulators), count):
            yield accumulators[first : first + count]

    def _store(self, accumulators: Sequence[SSAValue], start: Index) -> None:
        """Store the accumulators of rows in `_results`, from `start` on."""
        for number, row in enumerate(self._by_row(accumulators)):
            self._code.store_cells(row, self._results(), start + self._place(number))

    def _load(self, rows: int, start: Index) -> list[SSAValue]:
        places = [start + self._place(number) for number in range(rows)]
        return [value for p in places for value in self._code.load_cells(self._results(), p)]

    def _is_written_whole(self, tile: Tile) -> bool:
        """Whether the results of a row are its accumulators, and lie side by side in memory."""
        lane, nest = self._tiling.lane, self._code.nest
        is_unit = all(view.index.stride(lane) == 1 for view in nest.writes)
        return nest.epilogue is None and tile.count == LANES and is_unit
