"""The code of a nest under construction: its point, its body there, its accumulators."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from xdsl.dialects import memref
from xdsl.ir import SSAValue

from dialects.prog import type_of
from dialects.vector import scalable
from passes.index import Index

from .nest import Nest
from .panels import Block, Panel
from .points import ZERO, Points, load_op

Turns: TypeAlias = Sequence[tuple[int, Index, int]]
"""Loops within each other, outermost first: an axis, where it starts, and how many turns."""


class NestCode:
    """What the emitters of a nest's loops share.

    A fold has an accumulator for each output of the body: a value that loops carry, or a cell of
    an array. Within `vectors_along` an axis, values that differ along it are scalable vectors.
    """

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.points = Points(nest)
        self.builder = self.points.builder
        self.panels: dict[int, Panel] = {}
        """Copies of what reads of the body read, by number."""
        self.panel_start = self.panel_row = self.offset = ZERO
        """Where the current point is: its part of the panels, the row there, and its lane."""
        self._vector_axis: int | None = None
        self._locals: dict[tuple[str, int], list[SSAValue]] = {}

    @contextmanager
    def lanes_along(self, axis: int, start: Index, extent: int) -> Generator[None]:
        """A loop over `extent` lanes from `start`."""
        with self.points.loop(axis, extent) as offset:
            self.points.axes[axis] = start + offset
            self.offset = offset
            yield

    @contextmanager
    def vectors_along(self, axis: int, start: Index, extent: int) -> Generator[None]:
        """A loop over `extent` lanes from `start`, each turn for as many as a vector has."""
        with self.points.vector_loop(axis, extent) as offset:
            self.points.axes[axis] = start + offset
            self.offset = offset
            self._vector_axis = axis
            yield
            self._vector_axis = None

    def fill_panels(self, block: Block, start: Index = ZERO) -> None:
        """Copy a block to the part of each panel that begins at `start`."""
        for panel in self.panels.values():
            panel.fill(block, start)

    def body(self) -> list[SSAValue]:
        """The results of the body at the current point."""

        def read(number: int) -> SSAValue:
            panel, view = self.panels.get(number), self.nest.reads[number]
            if panel is not None:
                as_vector = self._vector_axis is not None
                place = self.panel_start + self.offset
                return panel.load(self.panel_row, place, as_vector=as_vector)
            if self._vector_axis in view.axes():
                return self.points.read_vector(view)
            return self.points.read(view)

        return self.points.program(self.nest.body, (), read)

    def finish(self, accumulators: Sequence[SSAValue]) -> None:
        """Write the results at the current point, whose fold is complete."""
        epilogue, reads = self.nest.epilogue, self.nest.epilogue_reads
        if epilogue is not None:
            accumulators = self.points.program(
                epilogue, accumulators, lambda number: self.points.read(reads[number])
            )
        self.points.write(accumulators)

    # Accumulators

    def identities(self) -> list[SSAValue]:
        """What the folds start from."""
        values = [
            self.builder.constant(dtype, monoid.identity(dtype))
            for monoid, dtype in zip(self.nest.monoids, self.nest.body.results, strict=True)
        ]
        if self._vector_axis is None:
            return values
        return [self.points.scalars.broadcast(value, scalable(value.type)) for value in values]

    def combine(
        self, accumulators: Sequence[SSAValue], elements: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """The accumulators after one more element for each."""
        return [
            self.points.scalars.op2(monoid.kind(dtype), dtype, accumulator, element)
            for monoid, dtype, accumulator, element in zip(
                self.nest.monoids, self.nest.body.results, accumulators, elements, strict=True
            )
        ]

    def fold_point(self, accumulators: Sequence[SSAValue]) -> list[SSAValue]:
        """The accumulators after the current point."""
        return self.combine(accumulators, self.body())

    def carried(
        self,
        turns: Turns,
        accumulators: Sequence[SSAValue],
        fold: Callable[[Sequence[SSAValue]], Sequence[SSAValue]],
        row: Index = ZERO,
    ) -> Sequence[SSAValue]:
        """The accumulators after `fold` at each of `turns`, by loops that carry them; the rows of
        panels are those turns."""
        if not turns:
            self.panel_row = row
            return fold(accumulators)
        (axis, start, count), *inner = turns
        with self.builder.loop(count, inits=accumulators) as loop:
            for argument in loop.arguments:
                argument.name_hint = "acc"
            turn = self.points.variable(axis, loop.variable, count)
            self.points.axes[axis] = start + turn
            loop.yields = self.carried(inner, loop.arguments, fold, row * count + turn)
        return loop.results

    # Accumulators in arrays

    def arrays(self, name: str, number: int, size: int) -> list[SSAValue]:
        """Local arrays, one for each output of the body."""
        if (name, number) not in self._locals:
            arrays = [
                self.builder.outermost(memref.AllocaOp.get(type_of(dtype), shape=[size]))
                for dtype in self.nest.body.results
            ]
            for array in arrays:
                array.name_hint = name
            self._locals[name, number] = arrays
        return self._locals[name, number]

    def load_cells(self, cells: Sequence[SSAValue], place: Index) -> list[SSAValue]:
        """The accumulators at `place`, vectors of those from there on within `vectors_along`."""
        index = self.points.emit(place)
        as_vector = self._vector_axis is not None
        loads = [load_op(cell, index, as_vector=as_vector) for cell in cells]
        return [self.builder.effect(load)[0] for load in loads]

    def store_cells(
        self, values: Sequence[SSAValue], cells: Sequence[SSAValue], place: Index
    ) -> None:
        """Set the accumulators at `place`, those from there on to the lanes of vectors."""
        index = self.points.emit(place)
        for value, cell in zip(values, cells, strict=True):
            self.points.store(value, cell, index)

    def fold_into(self, cells: Sequence[SSAValue], place: Index) -> None:
        """Fold the current point into the accumulators at `place`."""
        self.store_cells(self.fold_point(self.load_cells(cells, place)), cells, place)
