"""Which loops a nest becomes: what is innermost, what is tiled, what stays in registers.

Measured with gcc 12 on matrix products: accumulators live in arrays of a multiple of 16
elements, eight or so rows of them together, run at the machine's multiply-and-add peak;
other widths run at a third of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from .nest import Nest, View

_VECTOR = 16
"""Elements of the widest vector of the machines we know."""

_STREAM = 2048
"""Accumulators of a fold that reads each element once: a part of the first-level cache."""

_STRIDED = 8
"""Accumulators where nothing is read along the lanes: enough to hide an add's latency."""

_ROWS = {_VECTOR: 10, 2 * _VECTOR: 8}
"""Rows of lanes that fit in registers, by number of lanes."""

_NODES = 128
"""The greatest number of nodes over all rows: bodies, which are inside the reduction loops,
count twice."""


@dataclass(frozen=True)
class Schedule:
    """The order of the parallel loops, and the two axes that a fold keeps together."""

    order: tuple[int, ...]
    """The parallel axes that are loops around everything, outermost first."""
    lane: int | None = None
    """The axis of the innermost loop of a fold; None where accumulators are scalars."""
    lanes: int = 1
    """Points of the lane axis that are folded together."""
    row: int | None = None
    """The axis whose points share what is read along the lanes."""
    rows: int = 1
    """Points of the row axis that are folded together."""


def schedule_of(nest: Nest) -> Schedule:
    """The schedule of `nest`."""
    if not nest.reduction:
        return _map_schedule(nest)
    lane = _lane_axis(nest)
    if lane is None:
        return Schedule(nest.parallel)
    extent = nest.extents[lane]
    streams = [view for view in nest.reads if _is_unit(view, lane)]
    row = _row_axis(nest, lane, streams)
    if not streams:
        lanes, row = min(extent, _STRIDED), None
    elif row is None:
        lanes = min(extent, _STREAM)
    elif extent < _VECTOR:
        lanes = extent
    else:
        lanes = 2 * _VECTOR if extent % (2 * _VECTOR) == 0 else _VECTOR
    rows = 1 if row is None else _row_count(nest, row, lanes)
    if rows == 1:
        row = None
    order = tuple(axis for axis in nest.parallel if axis not in (lane, row))
    return Schedule(order, lane, lanes, row, rows)


def _is_unit(view: View, axis: int) -> bool:
    return view.index.stride(axis) == 1


def _map_schedule(nest: Nest) -> Schedule:
    """The axis along which most accesses are contiguous goes innermost."""
    views = (*nest.reads, *nest.writes)

    def contiguous(axis: int) -> int:
        return sum(_is_unit(view, axis) for view in views)

    if not nest.parallel:
        return Schedule(())
    last = max(reversed(nest.parallel), key=contiguous)
    return Schedule((*(axis for axis in nest.parallel if axis != last), last))


def _lane_axis(nest: Nest) -> int | None:
    """The axis along which the body reads contiguously, else one along which results are
    written so; the widest of them up to a vector, the last of those."""

    def merit(axis: int) -> tuple[bool, int, int]:
        read = any(_is_unit(view, axis) for view in nest.reads)
        return read, min(nest.extents[axis], _VECTOR), axis

    views = (*nest.reads, *nest.epilogue_reads, *nest.writes)
    axes = [axis for axis in nest.parallel if any(_is_unit(view, axis) for view in views)]
    return max(axes, key=merit, default=None)


def _row_axis(nest: Nest, lane: int, streams: list[View]) -> int | None:
    """The last axis along which something that is read contiguously is read again."""
    for axis in reversed(nest.parallel):
        if axis != lane and any(axis not in _axes(view) for view in streams):
            return axis
    return None


def _axes(view: View) -> frozenset[int]:
    return frozenset[int]().union(*(index.axes() for index in view.indices()))


def _row_count(nest: Nest, row: int, lanes: int) -> int:
    """How many rows to fold together: the greatest number that divides the extent, unless
    that is small; 1 where registers cannot hold rows of such lanes."""
    extent = nest.extents[row]
    epilogue = () if nest.epilogue is None else nest.epilogue.nodes
    nodes = 2 * len(nest.body.nodes) + len(epilogue)
    most = min(_ROWS.get(lanes, 1), extent, max(1, _NODES // nodes))
    divisor = max(count for count in range(1, most + 1) if extent % count == 0)
    return divisor if 2 * divisor > most else most
