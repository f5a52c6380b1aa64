"""A loop nest in its simplest form: axes merged where one will do, indices as sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstraintKind

from dialects.prog import Access, AccessAttr, Coord, LoopOp, Monoid, Program

from .linear import Division, Linear, Ranges, Term, of_affine, symbol_dimension

SYMBOL_RANGE = (0, 2**31)
"""Bounds of a symbol: it is an address, or part of one."""


@dataclass(frozen=True)
class Guard:
    """A constraint on a point: `value >= 0`, or `value == 0` where `equal`."""

    value: Linear
    equal: bool


@dataclass(frozen=True)
class View:
    """The element of `memory` at `index`; nothing (zero) where a guard fails.

    `guards` is None where no point has an element.
    """

    memory: SSAValue
    index: Linear
    guards: tuple[Guard, ...] | None

    def linears(self) -> Iterator[Linear]:
        """The sums of the view."""
        yield self.index
        for guard in self.guards or ():
            yield guard.value


@dataclass(frozen=True)
class Nest:
    """A `prog.loop` whose axes are numbered by `extents`: those in `parallel` and
    `reduction`, in order. Extents are above 1."""

    extents: dict[int, int]
    symbols: dict[int, SSAValue]
    """The symbols by the dimensions that stand for them."""
    parallel: tuple[int, ...]
    reduction: tuple[int, ...]
    coords: dict[int, Linear]
    """The coordinates that the programs use, by axis of the op."""
    body: Program
    reads: tuple[View, ...]
    monoids: tuple[Monoid, ...]
    epilogue: Program | None
    epilogue_reads: tuple[View, ...]
    writes: tuple[View, ...]

    def ranges(self) -> Ranges:
        """The range of each axis."""
        axes = {axis: (0, extent - 1) for axis, extent in self.extents.items()}
        return axes | dict.fromkeys(self.symbols, SYMBOL_RANGE)

    def linears(self) -> Iterator[Linear]:
        """Every sum of the nest."""
        yield from self.coords.values()
        for view in (*self.reads, *self.epilogue_reads, *self.writes):
            yield from view.linears()


def nest_of(op: LoopOp) -> Nest:
    """The nest that `op` is: no axis of extent 1, adjacent axes of one kind merged where
    every index allows it."""
    shape, reduction = op.shape.get_values(), op.reduction.get_values()
    extents = dict(enumerate((*shape, *reduction)))
    ranges = {axis: (0, extent - 1) for axis, extent in extents.items()}
    symbols = {symbol_dimension(number): symbol for number, symbol in enumerate(op.symbols)}
    ranges |= dict.fromkeys(symbols, SYMBOL_RANGE)
    epilogue = None if op.epilogue is None else op.epilogue.data
    nest = Nest(
        extents={axis: extent for axis, extent in extents.items() if extent > 1},
        symbols=symbols,
        parallel=tuple(a for a, extent in extents.items() if extent > 1 and a < len(shape)),
        reduction=tuple(a for a, extent in extents.items() if extent > 1 and a >= len(shape)),
        coords=_coords((op.body.data, epilogue), ranges),
        body=op.body.data,
        reads=_views(op, op.reads, ranges),
        monoids=tuple(attr.data for attr in op.monoids),
        epilogue=epilogue,
        epilogue_reads=_views(op, op.epilogue_reads, ranges),
        writes=_views(op, op.writes, ranges),
    )
    return _merge_axes(nest)


def _coords(programs: Iterable[Program | None], ranges: Ranges) -> dict[int, Linear]:
    axes = {
        node.axis
        for program in programs
        if program is not None
        for node in program.nodes
        if isinstance(node, Coord)
    }
    return {
        axis: Linear.dimension(axis) if ranges[axis][1] else Linear((), 0) for axis in sorted(axes)
    }


def _views(op: LoopOp, accesses: Iterable[AccessAttr], ranges: Ranges) -> tuple[View, ...]:
    return tuple(_view(op, attr.data, ranges) for attr in accesses)


def _view(op: LoopOp, access: Access, ranges: Ranges) -> View:
    return View(
        memory=op.memories[access.memory],
        index=of_affine(access.map.results[0], ranges),
        guards=_guards(access, ranges),
    )


def _guards(access: Access, ranges: Ranges) -> tuple[Guard, ...] | None:
    """The constraints that some points meet and others don't; None if no point meets all."""
    guards: list[Guard] = []
    for constraint in access.condition.constraints:
        value = of_affine(constraint.lhs - constraint.rhs, ranges)
        least, greatest = value.range(ranges)
        equal = constraint.kind is AffineConstraintKind.eq
        if greatest < 0 or (equal and least > 0):
            return None
        if least < 0 or (equal and greatest > 0):
            guards.append(Guard(value, equal))
    return tuple(dict.fromkeys(guards))


def _merge_axes(nest: Nest) -> Nest:
    """Merge adjacent axes, innermost first; the outer one goes into the inner one."""
    for axes in (list(nest.parallel), list(nest.reduction)):
        for position in range(len(axes) - 2, -1, -1):
            outer, inner = axes[position : position + 2]
            extent = nest.extents[inner]
            if all(_is_one_axis(linear, outer, inner, extent) for linear in nest.linears()):
                del axes[position]
                nest = _merged(nest, outer, inner)
    return nest


def _is_one_axis(linear: Linear, outer: int, inner: int, extent: int) -> bool:
    """Whether `linear` depends on the two axes only through `outer * extent + inner`."""
    coefficients = dict(linear.terms)
    return coefficients.get(outer, 0) == coefficients.get(inner, 0) * extent and all(
        isinstance(term, int) or _is_one_axis(term.dividend, outer, inner, extent)
        for term, _ in linear.terms
    )


def _merged(nest: Nest, outer: int, inner: int) -> Nest:
    """The nest whose axis `inner` runs over both axes."""

    def views(old: tuple[View, ...]) -> tuple[View, ...]:
        return tuple(
            View(
                view.memory,
                _without(view.index, outer),
                view.guards
                and tuple(Guard(_without(g.value, outer), g.equal) for g in view.guards),
            )
            for view in old
        )

    extents = dict(nest.extents)
    extents[inner] *= extents.pop(outer)
    return replace(
        nest,
        extents=extents,
        parallel=tuple(axis for axis in nest.parallel if axis != outer),
        reduction=tuple(axis for axis in nest.reduction if axis != outer),
        reads=views(nest.reads),
        epilogue_reads=views(nest.epilogue_reads),
        writes=views(nest.writes),
    )


def _without(linear: Linear, axis: int) -> Linear:
    terms: list[tuple[Term, int]] = []
    for term, coefficient in linear.terms:
        if isinstance(term, Division):
            terms.append((replace(term, dividend=_without(term.dividend, axis)), coefficient))
        elif term != axis:
            terms.append((term, coefficient))
    return Linear.of(terms, linear.constant)
