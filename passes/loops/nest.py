"""Loop nests as plain data: what a `prog.loop` computes, with indices as sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstraintKind, AffineExpr

from dialects.prog import Access, AccessAttr, Coord, LoopOp, Monoid, Program
from passes.index import Index, compose, coordinate

from .simplify import with_known_comparisons

GREATEST_SYMBOL = 2**31
"""A bound of symbols: they are addresses, or parts of one."""


@dataclass(frozen=True)
class Guard:
    """A constraint on a point: `value >= 0`, or `value == 0` where `equal`."""

    value: Index
    equal: bool


@dataclass(frozen=True)
class View:
    """The element of `memory` at `index`; nothing (zero) where a guard fails.

    `guards` is None where no point has an element.
    """

    memory: SSAValue
    index: Index
    guards: tuple[Guard, ...] | None

    def map(self, change: Callable[[Index], Index]) -> View:
        """The view with all its indices changed."""
        guards = self.guards and tuple(Guard(change(g.value), g.equal) for g in self.guards)
        return View(self.memory, change(self.index), guards)

    def indices(self) -> Iterator[Index]:
        """The indices of the view."""
        yield self.index
        for guard in self.guards or ():
            yield guard.value

    def axes(self) -> frozenset[int]:
        """The axes that the view depends on."""
        return frozenset[int]().union(*(index.axes() for index in self.indices()))


@dataclass(frozen=True)
class Nest:
    """A `prog.loop`, or a part of one, whose axes are numbered by `extents`: those in
    `parallel` and `reduction`, in order. Extents are above 1."""

    extents: dict[int, int]
    symbols: tuple[SSAValue, ...]
    parallel: tuple[int, ...]
    reduction: tuple[int, ...]
    coords: dict[int, Index]
    """The coordinates that the programs use, by axis of the op."""
    body: Program
    reads: tuple[View, ...]
    monoids: tuple[Monoid, ...]
    epilogue: Program | None
    epilogue_reads: tuple[View, ...]
    writes: tuple[View, ...]
    blocks: tuple[tuple[int, Index], ...] = ()
    """Loops around all others: an axis, and its number of turns by those of earlier ones."""

    @property
    def is_repeatable(self) -> bool:
        """Whether to compute a point a second time changes nothing."""
        read = {view.memory for view in (*self.reads, *self.epilogue_reads)}
        return read.isdisjoint(view.memory for view in self.writes)

    def indices(self) -> Iterator[Index]:
        """Every index of the nest."""
        yield from self.coords.values()
        for view in (*self.reads, *self.epilogue_reads, *self.writes):
            yield from view.indices()

    def on(self, values: Mapping[SSAValue, SSAValue]) -> Nest:
        """The nest on other memories and symbols, by those that it uses."""

        def views(old: tuple[View, ...]) -> tuple[View, ...]:
            return tuple(replace(view, memory=values[view.memory]) for view in old)

        return replace(
            self,
            symbols=tuple(values.get(value, value) for value in self.symbols),
            reads=views(self.reads),
            epilogue_reads=views(self.epilogue_reads),
            writes=views(self.writes),
        )


def nest_of(op: LoopOp) -> Nest:
    """The nest that `op` is, without its axes of extent 1."""
    shape, reduction = op.shape.get_values(), op.reduction.get_values()
    extents = dict(enumerate((*shape, *reduction)))
    body = with_known_comparisons(op.body.data)
    epilogue = None if op.epilogue is None else with_known_comparisons(op.epilogue.data)
    views = _ViewMaker(op, [coordinate(axis, extent) for axis, extent in extents.items()])
    return Nest(
        extents={axis: extent for axis, extent in extents.items() if extent > 1},
        symbols=tuple(op.symbols),
        parallel=tuple(a for a, extent in extents.items() if extent > 1 and a < len(shape)),
        reduction=tuple(a for a, extent in extents.items() if extent > 1 and a >= len(shape)),
        coords=_coords((body, epilogue), views.coordinates),
        body=body,
        reads=views.of(op.reads),
        monoids=tuple(attr.data for attr in op.monoids),
        epilogue=epilogue,
        epilogue_reads=views.of(op.epilogue_reads),
        writes=views.of(op.writes),
    )


def _coords(programs: Iterable[Program | None], coordinates: Sequence[Index]) -> dict[int, Index]:
    axes = {
        node.axis
        for program in programs
        if program is not None
        for node in program.nodes
        if isinstance(node, Coord)
    }
    return {axis: coordinates[axis] for axis in sorted(axes)}


class _ViewMaker:
    """Makes the views of a loop."""

    def __init__(self, op: LoopOp, coordinates: Sequence[Index]) -> None:
        self.memories = op.memories
        self.coordinates = coordinates
        self.symbols = [Index.symbol(k, GREATEST_SYMBOL) for k in range(len(op.symbols))]

    def of(self, accesses: Iterable[AccessAttr]) -> tuple[View, ...]:
        return tuple(self._view(attr.data) for attr in accesses)

    def _view(self, access: Access) -> View:
        return View(
            memory=self.memories[access.memory],
            index=self._index(access.map.results[0]),
            guards=self._guards(access),
        )

    def _index(self, expr: AffineExpr) -> Index:
        return compose(expr, self.coordinates, self.symbols)

    def _guards(self, access: Access) -> tuple[Guard, ...] | None:
        """The constraints that some points meet and others don't; None if no point meets all."""
        guards: list[Guard] = []
        for constraint in access.condition.constraints:
            value = self._index(constraint.lhs) + self._index(constraint.rhs) * -1
            least, greatest = value.bounds
            equal = constraint.kind is AffineConstraintKind.eq
            if greatest < 0 or (equal and least > 0):
                return None
            if least < 0 or (equal and greatest > 0):
                guards.append(Guard(value, equal))
        return tuple(dict.fromkeys(guards))
