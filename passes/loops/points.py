"""The point of a nest where loops stand: its coordinates, and what is read and written there."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import count

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import VectorType, i64
from xdsl.ir import SSAValue

from dialects.prog import Program, memory_dtype, type_of
from dialects.vector import SCALE, VScaleOp, scalable
from passes.index import Coordinate, Index, Symbol, coordinate

from .builder import LoopBuilder
from .indices import emit_index
from .nest import Guard, Nest, View
from .scalars import Scalars, emit_program

ZERO = Index()


def load_op(
    memory: SSAValue, index: SSAValue, *, as_vector: bool = False
) -> memref.LoadOp | vector.LoadOp:
    """A load of an element of `memory`, or of the scalable vector of those from there on."""
    if as_vector:
        return vector.LoadOp(memory, [index], scalable(type_of(memory_dtype(memory))))
    return memref.LoadOp.get(memory, [index])


class Points:
    """Builds loops over the points of a nest, and the work at the current point.

    An axis has a value while it is inside its loops: an index of loop variables, numbered as
    they come, whose SSA values are known.
    """

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.builder = LoopBuilder()
        self.scalars = Scalars(self.builder)
        self.axes: dict[int, Index] = {}
        self._numbers = count()
        self._variables: dict[int, SSAValue] = {}
        self._written = {view.memory for view in nest.writes}

    # Loops

    @contextmanager
    def loop(self, axis: int, extent: int, step: int = 1) -> Generator[Index]:
        """The variable of a loop over `0, step, ...` below `extent`; 0 where that's all."""
        if extent <= step:
            yield ZERO
            return
        with self.builder.loop(extent, step) as loop:
            yield self.variable(axis, loop.variable, extent)

    def variable(self, axis: int, value: SSAValue, extent: int) -> Index:
        """The index that is `value`, which is from 0 to `extent - 1` along `axis`."""
        value.name_hint = f"k{axis}" if axis in self.nest.reduction else f"i{axis}"
        number = next(self._numbers)
        self._variables[number] = value
        return coordinate(number, extent)

    @contextmanager
    def axis_loop(self, axis: int) -> Generator[None]:
        """A loop over all of `axis`."""
        with self.loop(axis, self.nest.extents[axis]) as variable:
            self.axes[axis] = variable
            yield

    @contextmanager
    def vector_loop(self, axis: int, extent: int) -> Generator[Index]:
        """The variable of a loop over `axis` below `extent`, a multiple of the lanes of scalable
        vectors, whose turns take as many points as such a vector has."""
        scale = self.builder.pure(VScaleOp())
        lanes = self.builder.pure(arith.MuliOp(scale, self.builder.index(SCALE)))
        lanes.name_hint = "lanes"
        with self.builder.loop(extent, lanes) as loop:
            yield self.variable(axis, loop.variable, extent)

    @contextmanager
    def block_loop(self, axis: int, turns: Index) -> Generator[None]:
        """A loop over `axis`, of as many turns as `turns` is at the current point."""
        with self.builder.loop(self.value(turns)) as loop:
            self.axes[axis] = self.variable(axis, loop.variable, turns.bounds[1])
            yield

    def tiles(
        self, axis: int, extent: int, size: int, *, start: Index = ZERO, again: bool = False
    ) -> Generator[tuple[Index, int]]:
        """The start and the size of tiles of `extent` points from `start`; what is built at each
        turn stands in a loop.

        What does not fill a tile is a smaller one, or, where points may be computed `again`, a
        tile that is moved back to end with the extent.
        """
        rest = extent % size
        if rest == 0 or extent < size or not again:
            if extent >= size:
                with self.loop(axis, extent - rest, size) as offset:
                    yield start + offset, size
            if rest:
                yield start + (extent - rest), rest
            return
        with self.tile_loop(axis, extent, size) as (_, offset):
            yield start + offset, size

    @contextmanager
    def tile_loop(self, axis: int, extent: int, size: int) -> Generator[tuple[Index, Index]]:
        """The variable of a loop over tiles that cover `extent` points, and where each starts: the
        last one is moved back to end with them."""
        if extent % size == 0 or extent < size:
            with self.loop(axis, extent, size) as offset:
                yield offset, offset
            return
        with self.builder.loop(extent, size) as loop:
            last = self.builder.index(extent - size)
            before = self.builder.pure(arith.CmpiOp(loop.variable, last, "slt"), "slt")
            offset = self.scalars.select(before, loop.variable, last)
            turn = self.variable(axis, loop.variable, extent)
            yield turn, self.variable(axis, offset, extent - size + 1)

    # Work

    def program(
        self, program: Program, first: Sequence[SSAValue], read: Callable[[int], SSAValue]
    ) -> list[SSAValue]:
        """The results of `program` on the values `first` and on what `read` gives by number."""

        def operand(i: int) -> SSAValue:
            return first[i] if i < len(first) else read(i - len(first))

        def coordinate(axis: int) -> SSAValue:
            index = self.value(self.nest.coords[axis])
            return self.builder.pure(arith.IndexCastOp(index, i64), i64)

        return emit_program(self.builder, program, operand, coordinate)

    def read(self, view: View) -> SSAValue:
        """The element of `view`; zero, from a load at a safe place, where a guard fails."""
        zero = self.builder.constant(memory_dtype(view.memory), 0)
        if view.guards is None:
            return zero
        index = self.value(view.index)
        if not view.guards:
            return self._load(view.memory, index)
        inside = self._condition(view.guards)
        safe = self.builder.index(0)
        element = self._load(view.memory, self.scalars.select(inside, index, safe))
        return self.scalars.select(inside, element, zero)

    def read_vector(self, view: View) -> SSAValue:
        """The elements of `view`, which has no guards, from the current point on."""
        return self._load(view.memory, self.value(view.index), as_vector=True)

    def _load(self, memory: SSAValue, index: SSAValue, *, as_vector: bool = False) -> SSAValue:
        load = load_op(memory, index, as_vector=as_vector)
        # What nobody writes meanwhile is loaded as far out as its index is known.
        if memory in self._written:
            return self.builder.effect(load)[0]
        return self.builder.pure(load)

    def _condition(self, guards: Sequence[Guard]) -> SSAValue:
        tests = [
            self.builder.pure(
                arith.CmpiOp(
                    self.value(guard.value),
                    self.builder.index(0),
                    "eq" if guard.equal else "sge",
                ),
                guard.equal,
            )
            for guard in guards
        ]
        condition, *rest = sorted(tests, key=self.builder.depth)
        for test in rest:
            condition = self.builder.pure(arith.AndIOp(condition, test))
        return condition

    def write(self, results: Sequence[SSAValue]) -> None:
        """Store the results of the current point, or of those that vectors hold."""
        for view, result in zip(self.nest.writes, results, strict=True):
            self.store(result, view.memory, self.value(view.index))

    def store(self, value: SSAValue, memory: SSAValue, index: SSAValue) -> None:
        """Store an element of `memory`, or those from there on that the lanes of a vector are."""
        store = vector.StoreOp if isinstance(value.type, VectorType) else memref.StoreOp.get
        self.builder.effect(store(value, memory, [index]))

    # Indices

    def value(self, index: Index) -> SSAValue:
        """An index of axes and symbols at the current point."""
        return self.emit(index.substitute(lambda atom: self.axes[atom.axis]))

    def emit(self, index: Index) -> SSAValue:
        """An index of loop variables and symbols."""

        def variable(atom: Coordinate | Symbol) -> SSAValue:
            if isinstance(atom, Symbol):
                return self.nest.symbols[atom.number]
            return self._variables[atom.axis]

        return emit_index(self.builder, index, variable)
