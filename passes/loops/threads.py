"""Nests in parts that several threads can compute at the same time.

No point of a nest touches an element that another point writes, so that any partition of its
parallel axes will do. Parts are of one size, whatever the number of threads: the axes of the loops
are cut, outermost first, into as many parts as cost least, those that end late included. A row of
tiles (`diagonal.py`) is a part as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import prod

from passes.index import Index, coordinate

from .nest import Nest, View
from .schedule import Schedule, schedule_of
from .work import PART, THREADED, cost_of

_MOST = 64
"""The most parts of a nest."""

_LANES = 16
"""The least width of a part along its innermost axis: a cache line, a vector."""

_FILLS = 8
"""What it costs a part to fill panels, in rows."""

_AGAIN = 1
"""What it costs a part to read rows from beyond its cache, in lanes."""

_STREAM = 144
"""What it costs a part of a fold to read memory with gaps, in lanes."""

_SERIAL = 4
"""How many points of a part cost as much as one of those that are left for one thread."""


@dataclass(frozen=True)
class Threaded:
    """A nest that is shared: its `part`, for any value of the symbol after the nest's own below
    `parts`, and the points that are left over."""

    part: Nest
    schedule: Schedule
    """That of the nest: being a part changes nothing in its loops."""
    parts: int
    rest: Nest | None


def is_worth_sharing(nest: Nest) -> bool:
    """Whether `nest` takes so long that threads should share it."""
    return cost_of(nest) >= THREADED


def threaded(nest: Nest) -> Threaded | None:
    """`nest` in parts; None if that isn't worth it."""
    if not is_worth_sharing(nest):
        return None
    schedule = schedule_of(nest)
    if nest.blocks:
        (axis, turns), *inner = nest.blocks
        _, parts = turns.bounds
        whole = replace(nest, blocks=tuple(inner))
        return Threaded(_with_axis(whole, axis, _turn(nest, parts), 1), schedule, parts, None)
    cuts = _cuts(nest, schedule, min(_MOST, cost_of(nest) // PART))
    return _cut(nest, schedule, cuts) if cuts else None


def in_parts(nest: Nest, parts: int) -> Threaded | None:
    """`nest` in so many parts along its outermost axis, with nothing left over; None if that isn't
    possible."""
    schedule = schedule_of(nest)
    if nest.blocks or not nest.parallel:
        return None
    first, *_ = nest.parallel
    extent = nest.extents[first]
    tiles = {axis: tile for axis, tile, _ in _loop_axes(nest, schedule)}
    if first not in tiles or extent % parts or extent < parts * tiles[first]:
        return None
    return _cut(nest, schedule, {first: parts})


def _cut(nest: Nest, schedule: Schedule, cuts: dict[int, int]) -> Threaded:
    """`nest` in parts of one size along the axes of `cuts`, outermost first, as many of each."""
    parts = prod(cuts.values())
    part, rest, turn = nest, None, _turn(nest, parts)
    for axis, count in reversed(cuts.items()):
        size, left = divmod(nest.extents[axis], count)
        if left:
            after = coordinate(axis, left) + count * size
            rest = _with_axis(nest, axis, after, left)
        along = turn.mod(count) * size + coordinate(axis, size)
        part, schedule = _with_axis(part, axis, along, size), _narrowed(schedule, axis, size)
        turn = turn.floordiv(count)
    return Threaded(part, schedule, parts, rest)


def _turn(nest: Nest, parts: int) -> Index:
    """Which of the parts it is."""
    return Index.symbol(len(nest.symbols), parts - 1)


def _cuts(nest: Nest, schedule: Schedule, most: int) -> dict[int, int]:
    """How many parts to make of which axes, outermost first; only the first may leave a rest."""
    cuts: dict[int, int] = {}
    for axis, tile, overhead in _loop_axes(nest, schedule):
        extent, others = nest.extents[axis], prod(cuts.values())
        counts = range(2, min(most // others, extent // tile) + 1)
        exact = [count for count in counts if not cuts or extent % count == 0]
        cost = partial(_cost, extent, tile, overhead, others)
        count = min((1, *exact), key=cost)
        if count > 1:
            cuts[axis] = count
    return cuts


def _cost(extent: int, tile: int, overhead: int, others: int, count: int) -> float:
    """What it costs to make `count` parts of an axis, each of them cut in `others`."""

    def tiled(size: int) -> int:
        return -(-size // tile) * tile

    size, rest = divmod(extent, count)
    points = count * (tiled(size) + overhead) + _SERIAL * tiled(rest)
    # Threads wait for the one that ends last, for up to the time of a part.
    return points * (1 + 1 / (count * others))


def _loop_axes(nest: Nest, schedule: Schedule) -> Iterator[tuple[int, int, int]]:
    """The axes of the loops of `schedule`, outermost first, with what is computed together along
    each of them, and what each of its parts costs on top of its points."""
    tiling = schedule.tiling
    for axis in schedule.order:
        is_innermost = tiling is None and axis == schedule.order[-1]
        yield axis, _LANES if is_innermost else 1, 0
    if tiling is None:
        return
    packing = tiling.packing
    if tiling.row is None:
        yield tiling.lane, min(tiling.lanes, _LANES), _STREAM if tiling.lanes > _LANES else 0
        if packing is not None and not nest.reduction:
            yield packing.axes[0], packing.rows, 0
    elif packing is None or packing.sharing == tiling.rows:
        yield tiling.row, tiling.rows, 0
        yield tiling.lane, tiling.lanes, 0
    elif packing.sharing == nest.extents[tiling.row]:
        yield tiling.lane, tiling.lanes, 0
        yield tiling.row, tiling.rows, _FILLS
    else:
        yield tiling.row, packing.sharing, 0
        yield tiling.lane, tiling.lanes, _AGAIN


def _narrowed(schedule: Schedule, axis: int, size: int) -> Schedule:
    """`schedule` where `axis` has `size` points."""
    order = tuple(other for other in schedule.order if other != axis or size > 1)
    tiling = schedule.tiling
    if tiling is not None and tiling.lane == axis:
        tiling = replace(tiling, lanes=min(tiling.lanes, size))
    return replace(schedule, order=order, tiling=tiling)


def _with_axis(nest: Nest, axis: int, value: Index, size: int) -> Nest:
    """`nest` with `value` in the place of a coordinate, along which `size` points are left."""

    def move(index: Index) -> Index:
        return index.substitute(lambda old: value if old.axis == axis else Index(((old, 1),)))

    def views(old: tuple[View, ...]) -> tuple[View, ...]:
        return tuple(view.map(move) for view in old)

    extents = {**nest.extents, axis: size}
    return replace(
        nest,
        extents={axis: extent for axis, extent in extents.items() if extent > 1},
        parallel=tuple(axis for axis in nest.parallel if extents[axis] > 1),
        coords={axis: move(index) for axis, index in nest.coords.items()},
        reads=views(nest.reads),
        epilogue_reads=views(nest.epilogue_reads),
        writes=views(nest.writes),
        blocks=tuple((axis, move(turns)) for axis, turns in nest.blocks),
    )
