"""A scheduled nest as loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from xdsl.dialects import memref
from xdsl.ir import Operation, SSAValue

from dialects.prog import type_of
from passes.index import Index

from .nest import Nest
from .panels import Block, Panel
from .points import ZERO, Points
from .schedule import LANES, Packing, Schedule, Tiling


@dataclass(frozen=True)
class _Tile:
    """Points that are folded together: `lanes` in a loop, times the rows, written out.

    Only the first `count` of the lanes are points of the nest.
    """

    tiling: Tiling
    lane_start: Index
    lanes: int
    count: int
    row_start: Index = ZERO
    rows: int = 1


class NestEmitter:
    """Emits the loops of one nest."""

    def __init__(self, nest: Nest, schedule: Schedule) -> None:
        self._nest = nest
        self._schedule = schedule
        self._points = Points(nest)
        self._builder = self._points.builder
        self._locals: dict[tuple[str, int], list[SSAValue]] = {}
        self._panels: dict[int, Panel] = {}
        self._panel_row = self._offset = ZERO
        """Where the current point is in the panels and in the tile's lanes."""
        read = {view.memory for view in (*nest.reads, *nest.epilogue_reads)}
        self._again = read.isdisjoint(view.memory for view in nest.writes)
        """Whether to compute a point a second time changes nothing."""

    def emit(self) -> Sequence[Operation]:
        """The ops that do what the nest does."""
        nest, tiling = self._nest, self._schedule.tiling
        if tiling is not None and tiling.packing is not None:
            self._make_panels(tiling, tiling.packing)
        with ExitStack() as loops:
            for axis, turns in nest.blocks:
                loops.enter_context(self._points.block_loop(axis, turns))
            for axis in self._schedule.order:
                loops.enter_context(self._points.axis_loop(axis))
            if tiling is None:
                if self._schedule.chains:
                    self._finish(self._fold_chains(self._schedule.chains))
                elif nest.monoids:
                    self._finish(self._fold_scalars(nest.reduction, self._identities()))
                else:
                    self._points.write(self._body())
            elif nest.monoids:
                self._fold_tiles(tiling)
            else:
                self._map_tiles(tiling)
        return self._builder.ops

    # Panels

    def _make_panels(self, tiling: Tiling, packing: Packing) -> None:
        for number in packing.reads:
            view = self._nest.reads[number]
            self._panels[number] = Panel(self._points, view, tiling.lanes, packing.rows)
        if tiling.lanes > self._nest.extents[tiling.lane]:
            for panel in self._panels.values():
                panel.clear()

    def _fill_panels(self, block: Block) -> None:
        for panel in self._panels.values():
            panel.fill(block)

    def _body(self) -> list[SSAValue]:
        """The results of the body at the current point."""

        def read(number: int) -> SSAValue:
            panel = self._panels.get(number)
            if panel is not None:
                return panel.load(self._panel_row, self._offset)
            return self._points.read(self._nest.reads[number])

        return self._points.program(self._nest.body, (), read)

    def _map_tiles(self, tiling: Tiling) -> None:
        """Compute the points of a map, of which the panels hold a block at a time."""
        assert tiling.packing is not None
        points, again, lane = self._points, self._again, tiling.lane
        (axis,) = tiling.packing.axes
        extent, rows = self._nest.extents[axis], tiling.packing.rows
        for lane_start, lanes in self._lane_tiles(tiling):
            for start, count in points.tiles(axis, extent, rows, again=again):
                self._fill_panels(Block((axis,), start, count, lane, lane_start, lanes))
                with points.loop(axis, count) as row, points.loop(lane, lanes) as offset:
                    points.axes[axis] = start + row
                    points.axes[lane] = lane_start + offset
                    self._panel_row, self._offset = row, offset
                    points.write(self._body())

    # Folds

    def _identities(self) -> list[SSAValue]:
        return [
            self._builder.constant(dtype, monoid.identity(dtype))
            for monoid, dtype in zip(self._nest.monoids, self._nest.body.results, strict=True)
        ]

    def _combine(
        self, accumulators: Sequence[SSAValue], elements: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """The accumulators after one more element for each."""
        monoids, dtypes = self._nest.monoids, self._nest.body.results
        return [
            self._points.scalars.op2(monoid.kind(dtype), dtype, accumulator, element)
            for monoid, dtype, accumulator, element in zip(
                monoids, dtypes, accumulators, elements, strict=True
            )
        ]

    def _fold_scalars(
        self, axes: Sequence[int], accumulators: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """The fold over the reduction axes `axes`, in values that the loops carry."""
        if not axes:
            return self._combine(accumulators, self._body())
        extent = self._nest.extents[axes[0]]
        with self._builder.loop(extent, inits=accumulators) as loop:
            self._points.axes[axes[0]] = self._points.variable(axes[0], loop.variable, extent)
            loop.yields = self._fold_scalars(axes[1:], loop.arguments)
        return loop.results

    def _fold_chains(self, chains: int) -> list[SSAValue]:
        """The fold in vectors of accumulators, which are then folded into one another."""
        points, (*outer, last) = self._points, self._nest.reduction
        cells = [self._arrays("acc", number, LANES) for number in range(chains)]
        with points.loop(last, LANES) as lane:
            for chain in cells:
                self._store_cells(self._identities(), chain, points.emit(lane))
        with ExitStack() as loops:
            for axis in outer:
                loops.enter_context(points.axis_loop(axis))
            for start, size in points.tiles(last, self._nest.extents[last], chains * LANES):
                vectors, rest = divmod(size, LANES)
                if vectors:
                    self._fold_vectors(cells[:vectors], start, LANES)
                if rest:
                    self._fold_vectors(cells[:1], start + vectors * LANES, rest)
        # An array of which parts are used is in memory, the accumulators are in registers.
        folded = self._arrays("fold", 0, LANES)
        with points.loop(last, LANES) as lane:
            place = points.emit(lane)
            values = self._load_cells(cells[0], place)
            for chain in cells[1:]:
                values = self._combine(values, self._load_cells(chain, place))
            self._store_cells(values, folded, place)
        width = LANES
        while width := width // 2:
            with points.loop(last, width) as lane:
                near, far = (points.emit(lane + first) for first in (0, width))
                values = self._combine(
                    self._load_cells(folded, near), self._load_cells(folded, far)
                )
                self._store_cells(values, folded, near)
        return self._load_cells(folded, points.emit(ZERO))

    def _fold_vectors(self, cells: Sequence[list[SSAValue]], start: Index, lanes: int) -> None:
        """Fold `lanes` points into each of the vectors `cells`, those of one after another's."""
        (*_, last) = self._nest.reduction
        with self._points.loop(last, lanes) as lane:
            place = self._points.emit(lane)
            for number, chain in enumerate(cells):
                self._points.axes[last] = start + number * lanes + lane
                self._fold_into(chain, place)

    def _fold_tiles(self, tiling: Tiling) -> None:
        """Fold all points, a tile at a time."""
        packing, row, extents = tiling.packing, tiling.row, self._nest.extents
        if row is None:
            for start, lanes in self._lane_tiles(tiling):
                self._fold_tile(_Tile(tiling, start, lanes, lanes))
        elif packing is None or packing.sharing is None:
            for first, size in self._row_tiles(tiling, row, ZERO, extents[row]):
                for start, lanes in self._lane_tiles(tiling):
                    self._fold_tile(_Tile(tiling, start, lanes, lanes, first, size))
        else:
            blocks = self._points.tiles(row, extents[row], packing.sharing, again=self._again)
            points = extents[packing.axes[-1]]
            for row_start, rows in blocks:
                for start, lanes in self._lane_tiles(tiling):
                    self._fill_panels(Block(packing.axes, ZERO, points, tiling.lane, start, lanes))
                    # Lanes beyond the axis are computed, on zeros, to fill a vector.
                    is_padded = tiling.lanes > extents[tiling.lane]
                    width = tiling.lanes if is_padded else lanes
                    for first, size in self._row_tiles(tiling, row, row_start, rows):
                        self._fold_tile(_Tile(tiling, start, width, lanes, first, size))

    def _lane_tiles(self, tiling: Tiling) -> Iterator[tuple[Index, int]]:
        extent = self._nest.extents[tiling.lane]
        return self._points.tiles(tiling.lane, extent, tiling.lanes, again=self._again)

    def _row_tiles(
        self, tiling: Tiling, row: int, start: Index, extent: int
    ) -> Iterator[tuple[Index, int]]:
        return self._points.tiles(row, extent, tiling.rows, start=start, again=self._again)

    def _fold_tile(self, tile: _Tile) -> None:
        """Set the tile's accumulators, run the reduction around its points, finish them."""
        for cells, place in self._cells_of(tile):
            self._store_cells(self._identities(), cells, place)
        for _ in self._reduction_points(tile):
            for cells, place in self._cells_of(tile):
                self._fold_into(cells, place)
        if tile.tiling.row is None:
            for cells, place in self._cells_of(tile):
                self._finish(self._load_cells(cells, place))
        else:
            self._finish_rows(tile, tile.tiling.row)

    def _finish_rows(self, tile: _Tile, row: int) -> None:
        """Finish the points of a tile in a loop over its rows.

        The accumulators are only ever used as wholes, so that compilers keep them in registers.
        """
        lane, lanes = tile.tiling.lane, tile.tiling.lanes
        results = self._results(tile.tiling)
        for number, (cells, place) in enumerate(self._cells_of(tile)):
            index = self._points.emit(self._offset + number * lanes)
            self._store_cells(self._load_cells(cells, place), results, index)
        points = self._points
        with points.loop(row, tile.rows) as i, points.loop(lane, tile.count) as offset:
            points.axes[row] = tile.row_start + i
            points.axes[lane] = tile.lane_start + offset
            self._finish(self._load_cells(results, points.emit(i * lanes + offset)))

    def _reduction_points(self, tile: _Tile) -> Iterator[None]:
        """Inside the loops of the reduction; panels that no other tile shares are filled there."""
        points, packing = self._points, tile.tiling.packing
        *outer, last = self._nest.reduction
        extent = self._nest.extents[last]
        with ExitStack() as loops:
            place = ZERO
            for axis in outer:
                loops.enter_context(points.axis_loop(axis))
                place = place * self._nest.extents[axis] + points.axes[axis]
            if packing is None or packing.sharing is not None:
                with points.axis_loop(last):
                    self._panel_row = place * extent + points.axes[last]
                    yield
                return
            for start, rows in points.tiles(last, extent, packing.rows):
                lane = tile.tiling.lane
                self._fill_panels(Block((last,), start, rows, lane, tile.lane_start, tile.count))
                with points.loop(last, rows) as row:
                    points.axes[last] = start + row
                    self._panel_row = row
                    yield

    def _cells_of(self, tile: _Tile) -> Iterator[tuple[list[SSAValue], SSAValue]]:
        """Within a loop over the lanes, for each row, the accumulators and the place in them."""
        lane, row = tile.tiling.lane, tile.tiling.row
        with self._points.loop(lane, tile.lanes) as offset:
            self._points.axes[lane] = tile.lane_start + offset
            self._offset = offset
            place = self._points.emit(offset)
            for number in range(tile.rows):
                if row is not None:
                    self._points.axes[row] = tile.row_start + number
                yield self._arrays("acc", number, tile.tiling.lanes), place

    def _results(self, tiling: Tiling) -> list[SSAValue]:
        """The arrays that hold the folds of all rows of a tile, one for each output."""
        return self._arrays("tile", 0, tiling.rows * tiling.lanes)

    def _arrays(self, name: str, number: int, size: int) -> list[SSAValue]:
        """Local arrays, one for each output of the body."""
        if (name, number) not in self._locals:
            arrays = [
                self._builder.outermost(memref.AllocaOp.get(type_of(dtype), shape=[size]))
                for dtype in self._nest.body.results
            ]
            for array in arrays:
                array.name_hint = name
            self._locals[name, number] = arrays
        return self._locals[name, number]

    def _load_cells(self, cells: Sequence[SSAValue], position: SSAValue) -> list[SSAValue]:
        return [self._builder.effect(memref.LoadOp.get(cell, [position]))[0] for cell in cells]

    def _store_cells(
        self, values: Sequence[SSAValue], cells: Sequence[SSAValue], position: SSAValue
    ) -> None:
        for value, cell in zip(values, cells, strict=True):
            self._builder.effect(memref.StoreOp.get(value, cell, [position]))

    def _fold_into(self, cells: Sequence[SSAValue], position: SSAValue) -> None:
        """Fold the current point into the accumulators at `position`."""
        values = self._combine(self._load_cells(cells, position), self._body())
        self._store_cells(values, cells, position)

    def _finish(self, accumulators: Sequence[SSAValue]) -> None:
        """Write the results at the current point, whose fold is complete."""
        epilogue, reads = self._nest.epilogue, self._nest.epilogue_reads
        if epilogue is not None:
            accumulators = self._points.program(
                epilogue, accumulators, lambda number: self._points.read(reads[number])
            )
        self._points.write(accumulators)
