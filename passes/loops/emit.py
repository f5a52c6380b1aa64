"""A scheduled nest as loops."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from dialects.prog import Program, memory_dtype, type_of
from passes.index import Coordinate, Index, Symbol, coordinate

from .builder import LoopBuilder
from .indices import emit_index
from .nest import Guard, Nest, View
from .scalars import Scalars, emit_program
from .schedule import Schedule


@dataclass(frozen=True)
class _Tile:
    """Points that are folded together: `lanes` in a loop, times the rows, written out."""

    lane: int
    lane_start: Index
    lanes: int
    row: int | None
    row_points: tuple[Index, ...]


class NestEmitter:
    """Emits the loops of one nest.

    An axis has a value while it is inside its loops: an index of loop variables, numbered as
    they come, whose SSA values are known.
    """

    def __init__(self, nest: Nest, schedule: Schedule) -> None:
        self._nest = nest
        self._schedule = schedule
        self._builder = LoopBuilder()
        self._scalars = Scalars(self._builder)
        self._numbers = count()
        self._variables: dict[int, SSAValue] = {}
        self._axes: dict[int, Index] = {}
        self._written = {view.memory for view in nest.writes}
        self._accumulators: dict[tuple[int, int], SSAValue] = {}

    def emit(self) -> Sequence[Operation]:
        """The ops that do what the nest does."""
        nest, schedule = self._nest, self._schedule
        with ExitStack() as loops:
            for axis, turns in nest.blocks:
                loops.enter_context(self._block_loop(axis, turns))
            for axis in schedule.order:
                loops.enter_context(self._axis_loop(axis))
            if not nest.monoids:
                self._write(self._program(nest.body, (), nest.reads))
            elif schedule.lane is None:
                self._finish(self._fold_scalars(nest.reduction, self._identities()))
            else:
                self._fold_tiles(schedule.lane, schedule.row)
        return self._builder.ops

    # Loops

    @contextmanager
    def _loop(self, axis: int, extent: int, step: int = 1) -> Generator[Index]:
        """The variable of a loop over `0, step, ...` below `extent`; 0 where that's all."""
        if extent <= step:
            yield Index()
            return
        with self._builder.loop(extent, step) as loop:
            yield self._variable(axis, loop.variable, extent)

    def _variable(self, axis: int, value: SSAValue, extent: int) -> Index:
        value.name_hint = f"k{axis}" if axis in self._nest.reduction else f"i{axis}"
        number = next(self._numbers)
        self._variables[number] = value
        return coordinate(number, extent)

    @contextmanager
    def _axis_loop(self, axis: int) -> Generator[None]:
        with self._loop(axis, self._nest.extents[axis]) as variable:
            self._axes[axis] = variable
            yield

    @contextmanager
    def _block_loop(self, axis: int, turns: Index) -> Generator[None]:
        _, most = turns.bounds
        if turns.terms:
            with self._builder.loop(self._value(turns)) as loop:
                self._axes[axis] = self._variable(axis, loop.variable, most)
                yield
        else:
            with self._loop(axis, most) as variable:
                self._axes[axis] = variable
                yield

    def _for_tiles(self, axis: int, size: int, body: Callable[[Index, int], None]) -> None:
        """Build `body(start, size)` for the tiles of `axis`, and once for what remains."""
        extent = self._nest.extents[axis]
        whole = extent - extent % size
        with self._loop(axis, whole, size) as start:
            body(start, size)
        if whole < extent:
            body(Index((), whole), extent - whole)

    # Folds

    def _identities(self) -> list[SSAValue]:
        return [
            self._builder.constant(dtype, monoid.identity(dtype))
            for monoid, dtype in zip(self._nest.monoids, self._nest.body.results, strict=True)
        ]

    def _combine(self, accumulators: Sequence[SSAValue]) -> list[SSAValue]:
        """The accumulators after the current point of the reduction."""
        elements = self._program(self._nest.body, (), self._nest.reads)
        monoids, dtypes = self._nest.monoids, self._nest.body.results
        return [
            self._scalars.op2(monoid.kind(dtype), dtype, accumulator, element)
            for monoid, dtype, accumulator, element in zip(
                monoids, dtypes, accumulators, elements, strict=True
            )
        ]

    def _fold_scalars(
        self, axes: Sequence[int], accumulators: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """The fold over the reduction axes `axes`, in values that the loops carry."""
        if not axes:
            return self._combine(accumulators)
        extent = self._nest.extents[axes[0]]
        with self._builder.loop(extent, inits=accumulators) as loop:
            self._axes[axes[0]] = self._variable(axes[0], loop.variable, extent)
            loop.yields = self._fold_scalars(axes[1:], loop.arguments)
        return loop.results

    def _fold_tiles(self, lane: int, row: int | None) -> None:
        """The fold of all points of the lane and the row axis, a tile at a time."""

        def fold_lanes(row_start: Index, rows: int) -> None:
            def fold_tile(lane_start: Index, lanes: int) -> None:
                row_points = [] if row is None else [row_start + i for i in range(rows)]
                self._fold_tile(_Tile(lane, lane_start, lanes, row, tuple(row_points)))

            self._for_tiles(lane, self._schedule.lanes, fold_tile)

        if row is None:
            fold_lanes(Index(), 1)
        else:
            self._for_tiles(row, self._schedule.rows, fold_lanes)

    def _fold_tile(self, tile: _Tile) -> None:
        """Set the tile's accumulators, run the reduction around its points, finish them."""
        for cells, position in self._points(tile):
            for cell, identity in zip(cells, self._identities(), strict=True):
                self._builder.effect(memref.StoreOp.get(identity, cell, [position]))
        with ExitStack() as loops:
            for axis in self._nest.reduction:
                loops.enter_context(self._axis_loop(axis))
            for cells, position in self._points(tile):
                values = self._combine(self._load_cells(cells, position))
                for cell, value in zip(cells, values, strict=True):
                    self._builder.effect(memref.StoreOp.get(value, cell, [position]))
        for cells, position in self._points(tile):
            self._finish(self._load_cells(cells, position))

    def _points(self, tile: _Tile) -> Iterator[tuple[list[SSAValue], SSAValue]]:
        """Within a loop over the lanes, for each row, the accumulators and the position."""
        with self._loop(tile.lane, tile.lanes) as lane:
            self._axes[tile.lane] = tile.lane_start + lane
            position = self._emit(lane)
            for number, row in enumerate(tile.row_points or (None,)):
                if tile.row is not None and row is not None:
                    self._axes[tile.row] = row
                yield [self._cells(number, j) for j in range(len(self._nest.monoids))], position

    def _cells(self, row: int, output: int) -> SSAValue:
        """The array of accumulators of a row of a tile, for one output of the body."""
        key = (row, output)
        if key not in self._accumulators:
            type = type_of(self._nest.body.results[output])
            alloca = memref.AllocaOp.get(type, shape=[self._schedule.lanes])
            self._accumulators[key] = self._builder.outermost(alloca)
            self._accumulators[key].name_hint = "acc"
        return self._accumulators[key]

    def _load_cells(self, cells: Sequence[SSAValue], position: SSAValue) -> list[SSAValue]:
        return [self._builder.effect(memref.LoadOp.get(cell, [position]))[0] for cell in cells]

    # Points

    def _finish(self, accumulators: Sequence[SSAValue]) -> None:
        """Write the results at the current point, whose fold is complete."""
        epilogue = self._nest.epilogue
        if epilogue is not None:
            accumulators = self._program(epilogue, accumulators, self._nest.epilogue_reads)
        self._write(accumulators)

    def _program(
        self, program: Program, first: Sequence[SSAValue], reads: Sequence[View]
    ) -> list[SSAValue]:
        """The results of `program` on the values `first` and on what `reads` give."""

        def operand(i: int) -> SSAValue:
            return first[i] if i < len(first) else self._read(reads[i - len(first)])

        def coordinate(axis: int) -> SSAValue:
            index = self._value(self._nest.coords[axis])
            return self._builder.pure(arith.IndexCastOp(index, i64), i64)

        return emit_program(self._builder, program, operand, coordinate)

    def _read(self, view: View) -> SSAValue:
        """The element of `view`; zero, from a load at a safe place, where a guard fails."""
        zero = self._builder.constant(memory_dtype(view.memory), 0)
        if view.guards is None:
            return zero
        index = self._value(view.index)
        if not view.guards:
            return self._load(view.memory, index)
        inside = self._condition(view.guards)
        safe = self._builder.index(0)
        element = self._load(view.memory, self._scalars.select(inside, index, safe))
        return self._scalars.select(inside, element, zero)

    def _load(self, memory: SSAValue, index: SSAValue) -> SSAValue:
        load = memref.LoadOp.get(memory, [index])
        # What nobody writes meanwhile is loaded as far out as its index is known.
        if memory in self._written:
            return self._builder.effect(load)[0]
        return self._builder.pure(load)

    def _condition(self, guards: Sequence[Guard]) -> SSAValue:
        tests = [
            self._builder.pure(
                arith.CmpiOp(
                    self._value(guard.value),
                    self._builder.index(0),
                    "eq" if guard.equal else "sge",
                ),
                guard.equal,
            )
            for guard in guards
        ]
        condition, *rest = sorted(tests, key=self._builder.depth)
        for test in rest:
            condition = self._builder.pure(arith.AndIOp(condition, test))
        return condition

    def _write(self, results: Sequence[SSAValue]) -> None:
        for view, result in zip(self._nest.writes, results, strict=True):
            index = self._value(view.index)
            self._builder.effect(memref.StoreOp.get(result, view.memory, [index]))

    # Indices

    def _value(self, index: Index) -> SSAValue:
        """An index of axes and symbols at the current point."""
        return self._emit(index.substitute(lambda atom: self._axes[atom.axis]))

    def _emit(self, index: Index) -> SSAValue:
        """An index of loop variables and symbols."""

        def variable(atom: Coordinate | Symbol) -> SSAValue:
            if isinstance(atom, Symbol):
                return self._nest.symbols[atom.number]
            return self._variables[atom.axis]

        return emit_index(self._builder, index, variable)
