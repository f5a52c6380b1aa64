"""A scheduled nest as loops."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from xdsl.ir import Operation

from .chains import fold_chains
from .code import NestCode
from .nest import Nest
from .panels import Block, Panel
from .points import ZERO
from .schedule import LANES, Packing, Schedule, Tiling
from .tiles import TileFolds


def emit_nest(nest: Nest, schedule: Schedule) -> Sequence[Operation]:
    """The ops that do what `nest` does."""
    code, tiling = NestCode(nest), schedule.tiling
    if tiling is not None and tiling.packing is not None:
        _make_panels(code, tiling, tiling.packing)
    with ExitStack() as loops:
        for axis, turns in nest.blocks:
            loops.enter_context(code.points.block_loop(axis, turns))
        for axis in schedule.order:
            loops.enter_context(code.points.axis_loop(axis))
        if tiling is None:
            _emit_point(code, schedule.chains)
        elif nest.reduction:
            TileFolds(code, tiling).emit()
        else:
            _map_tiles(code, tiling)
    return code.builder.ops


def _emit_point(code: NestCode, chains: int = 0) -> None:
    """Compute the current point, which is for itself."""
    if chains:
        code.finish(fold_chains(code, chains))
    elif code.nest.reduction:
        turns = [(axis, ZERO, code.nest.extents[axis]) for axis in code.nest.reduction]
        code.finish(code.carried(turns, code.identities(), code.fold_point))
    elif code.nest.monoids:
        code.finish(code.fold_point(code.identities()))
    else:
        code.points.write(code.body())


def _make_panels(code: NestCode, tiling: Tiling, packing: Packing) -> None:
    lanes = min(tiling.lanes, LANES) if code.nest.reduction else tiling.lanes
    for number in packing.reads:
        view, rows = code.nest.reads[number], packing.rows * -(-tiling.lanes // lanes)
        code.panels[number] = Panel(code.points, view, lanes, rows)
    if lanes > code.nest.extents[tiling.lane]:
        for panel in code.panels.values():
            panel.clear()


def _map_tiles(code: NestCode, tiling: Tiling) -> None:
    """Compute the points of a map, of which the panels hold a block at a time."""
    assert tiling.packing is not None
    points, lane = code.points, tiling.lane
    (axis,) = tiling.packing.axes
    extents, rows, again = code.nest.extents, tiling.packing.rows, code.nest.is_repeatable
    for lane_start, lanes in points.tiles(lane, extents[lane], tiling.lanes, again=again):
        for start, count in points.tiles(axis, extents[axis], rows, again=again):
            code.fill_panels(Block((axis,), start, count, lane, lane_start, lanes))
            # Rows of a tile, whose results lie one after another, are one long row.
            turns, width = (1, count * lanes) if axis == tiling.row else (count, lanes)
            with points.loop(axis, turns) as row, points.loop(lane, width) as offset:
                points.axes[axis] = start + row
                points.axes[lane] = lane_start + offset
                code.panel_row, code.offset = row, offset
                _emit_point(code)
