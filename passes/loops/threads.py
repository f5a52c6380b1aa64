"""Nests in parts that several threads can compute at the same time.

No point of a nest touches an element that another point writes, so that any partition of its
parallel axes will do. One axis is cut into equal parts, whatever the number of threads: that
of the outermost loop which has enough turns. A row of tiles (`diagonal.py`) is a part as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from passes.index import Index, coordinate

from .nest import Nest, View
from .schedule import Schedule, schedule_of
from .work import PART, THREADED, cost_of

_ENOUGH = 4
"""Parts that are enough to share, so that no other axis is tried."""

_MOST = 64
"""The most parts of a nest."""

_LANES = 16
"""The least width of a part of a map, in elements along its innermost axis: a cache line."""

_STREAM = 1024
"""The same for a fold that reads each element once."""

_SHARING = 8
"""How many tiles of rows, at least, share the panels of a part."""

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
    cut = _axis_to_cut(nest, schedule)
    if cut is None:
        return None
    axis, grain = cut
    parts = _part_count(nest.extents[axis], grain, min(_MOST, cost_of(nest) // PART))
    return _cut(nest, schedule, axis, parts)


def in_parts(nest: Nest, parts: int) -> Threaded | None:
    """`nest` in so many parts, with nothing left over; None if that isn't possible."""
    schedule = schedule_of(nest)
    cut = None if nest.blocks else _axis_to_cut(nest, schedule)
    if cut is None:
        return None
    axis, grain = cut
    extent = nest.extents[axis]
    if extent % parts or extent < parts * grain:
        return None
    return _cut(nest, schedule, axis, parts)


def _cut(nest: Nest, schedule: Schedule, axis: int, parts: int) -> Threaded:
    """`nest` in `parts` of one size along `axis`."""
    extent = nest.extents[axis]
    size, rest = divmod(extent, parts)
    along = _turn(nest, parts) * size + coordinate(axis, size)
    after = coordinate(axis, rest) + parts * size
    return Threaded(
        part=_with_axis(nest, axis, along, size),
        schedule=_narrowed(schedule, axis, size),
        parts=parts,
        rest=_with_axis(nest, axis, after, rest) if rest else None,
    )


def _turn(nest: Nest, parts: int) -> Index:
    """Which of the parts it is."""
    return Index.symbol(len(nest.symbols), parts - 1)


def _axis_to_cut(nest: Nest, schedule: Schedule) -> tuple[int, int] | None:
    """The axis to cut, and the least size of a part along it; None if no axis has two parts."""
    grains = dict(_loop_axes(nest, schedule))
    turns = {axis: nest.extents[axis] // grain for axis, grain in grains.items()}
    enough = [axis for axis, count in turns.items() if count >= _ENOUGH]
    axis = enough[0] if enough else max(turns, key=lambda axis: turns[axis], default=None)
    return None if axis is None or turns[axis] < 2 else (axis, grains[axis])


def _loop_axes(nest: Nest, schedule: Schedule) -> Iterator[tuple[int, int]]:
    """The axes of the loops of `schedule`, outermost first, with the least size of a part."""
    tiling = schedule.tiling
    for axis in schedule.order:
        is_innermost = tiling is None and axis == schedule.order[-1]
        yield axis, _LANES if is_innermost else 1
    if tiling is None:
        return
    packing = tiling.packing
    if tiling.row is None:
        yield tiling.lane, min(tiling.lanes, _STREAM)
        if packing is not None and not nest.reduction:
            yield packing.axes[0], packing.rows
        return
    lane, row = (tiling.lane, tiling.lanes), (tiling.row, tiling.rows)
    if packing is None or packing.sharing is None:
        yield from (row, lane)
    elif packing.sharing == nest.extents[tiling.row]:
        # Each part of the rows fills panels of its own.
        yield from (lane, (tiling.row, tiling.rows * _SHARING))
    else:
        yield from ((tiling.row, packing.sharing), lane)


def _part_count(extent: int, grain: int, most: int) -> int:
    """How many parts of at least `grain` points to make of `extent`: those that waste the least."""

    def tiled(size: int) -> int:
        return -(-size // grain) * grain

    def cost(parts: int) -> int:
        size, rest = divmod(extent, parts)
        return parts * tiled(size) + _SERIAL * tiled(rest)

    most = min(most, extent // grain)
    return min(range(most, max(1, most // 4), -1), key=cost)


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
