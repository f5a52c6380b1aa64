"""Axes of nests: split where an index divides by a constant, merged where one will do.

An axis of 12 read through `d0 floordiv 4` and `d0 mod 4` becomes two axes of 3 and 4, read
through plain strides; adjacent axes that every index takes together become one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import gcd

from passes.index import Atom, Coordinate, Index, Quotient, Remainder, coordinate

from .nest import Nest, View


def simplified(nest: Nest) -> Nest:
    """`nest` with as few divisions as finer axes allow, and then as few axes as possible."""
    while (finer := _split_axis(nest)) is not None:
        nest = finer
    return _merge_axes(nest)


def _split_axis(nest: Nest) -> Nest | None:
    """`nest` with one axis split so that it divides less; None if no split helps."""
    divisions = _count_divisions(nest)
    for axis, step in dict.fromkeys(_steps(nest)):
        new = max((*nest.extents, *(block for block, _ in nest.blocks))) + 1
        extents = {**nest.extents, new: nest.extents[axis] // step, axis: step}
        whole = coordinate(new, extents[new]) * step + coordinate(axis, step)
        split = _with_axes(nest, extents, {axis: whole}, {axis: (new, axis)})
        if _count_divisions(split) < divisions:
            return split
    return None


def _steps(nest: Nest) -> Iterator[tuple[int, int]]:
    """Axes and extents of their inner parts for which a division by a constant may vanish."""
    blocks = {axis for axis, _ in nest.blocks}
    for atom in _divisions(nest):
        for term, coefficient in atom.index.terms:
            if isinstance(term, Coordinate) and term.axis not in blocks:
                step = atom.divisor // gcd(atom.divisor, coefficient)
                if 1 < step < term.extent and term.extent % step == 0:
                    yield term.axis, step


def _count_divisions(nest: Nest) -> int:
    return sum(1 for _ in _divisions(nest))


def _divisions(nest: Nest) -> Iterator[Quotient | Remainder]:
    for index in nest.indices():
        for atom, _ in index.terms:
            yield from _divisions_in(atom)


def _divisions_in(atom: Atom) -> Iterator[Quotient | Remainder]:
    if isinstance(atom, Quotient | Remainder):
        yield atom
        for inner, _ in atom.index.terms:
            yield from _divisions_in(inner)


def _merge_axes(nest: Nest) -> Nest:
    """Merge adjacent axes, innermost first; the outer one goes into the inner one."""
    for axes in (list(nest.parallel), list(nest.reduction)):
        for position in range(len(axes) - 2, -1, -1):
            outer, inner = axes[position : position + 2]
            extent = nest.extents[inner]
            if all(_is_one_axis(index, outer, inner, extent) for index in nest.indices()):
                del axes[position]
                extents = dict(nest.extents)
                extents[inner] *= extents.pop(outer)
                whole = {outer: Index(), inner: coordinate(inner, extents[inner])}
                nest = _with_axes(nest, extents, whole, {outer: ()})
    return nest


def _is_one_axis(index: Index, outer: int, inner: int, extent: int) -> bool:
    """Whether `index` depends on the two axes only through `outer * extent + inner`."""
    coefficients = {atom.axis: c for atom, c in index.terms if isinstance(atom, Coordinate)}
    return coefficients.get(outer, 0) == coefficients.get(inner, 0) * extent and all(
        _is_one_axis(atom.index, outer, inner, extent)
        for atom, _ in index.terms
        if isinstance(atom, Quotient | Remainder)
    )


def _with_axes(
    nest: Nest,
    extents: dict[int, int],
    coordinates: Mapping[int, Index],
    parts: Mapping[int, tuple[int, ...]],
) -> Nest:
    """The nest over axes of `extents`: with `coordinates` in the place of axes of the old one,
    and `parts` in their place in the order of loops."""

    def new(index: Index) -> Index:
        return index.substitute(lambda old: coordinates.get(old.axis, Index(((old, 1),))))

    def views(old: tuple[View, ...]) -> tuple[View, ...]:
        return tuple(view.map(new) for view in old)

    def order(old: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(part for axis in old for part in parts.get(axis, (axis,)))

    return replace(
        nest,
        extents=extents,
        parallel=order(nest.parallel),
        reduction=order(nest.reduction),
        coords={axis: new(index) for axis, index in nest.coords.items()},
        reads=views(nest.reads),
        epilogue_reads=views(nest.epilogue_reads),
        writes=views(nest.writes),
    )
