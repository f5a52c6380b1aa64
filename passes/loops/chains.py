"""Folds without an order, in several arrays of accumulators along memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from xdsl.ir import SSAValue

from passes.index import Index

from .code import NestCode
from .points import ZERO
from .schedule import LANES


def fold_chains(code: NestCode, chains: int) -> list[SSAValue]:
    """The fold at the current point in so many arrays of accumulators, which are then folded into
    one another."""
    points, (*outer, last) = code.points, code.nest.reduction
    cells = [code.arrays("acc", number, LANES) for number in range(chains)]
    with points.loop(last, LANES) as lane:
        for chain in cells:
            code.store_cells(code.identities(), chain, lane)
    with ExitStack() as loops:
        for axis in outer:
            loops.enter_context(points.axis_loop(axis))
        for start, size in points.tiles(last, code.nest.extents[last], chains * LANES):
            full, rest = divmod(size, LANES)
            if full:
                _fold_lanes(code, cells[:full], start, LANES)
            if rest:
                _fold_lanes(code, cells[:1], start + full * LANES, rest)
    return _folded(code, cells)


def _fold_lanes(code: NestCode, cells: Sequence[list[SSAValue]], start: Index, lanes: int) -> None:
    """Fold `lanes` points into each of the arrays `cells`, those of one after another's."""
    (*_, last) = code.nest.reduction
    with code.points.loop(last, lanes) as lane:
        for number, chain in enumerate(cells):
            code.points.axes[last] = start + number * lanes + lane
            code.fold_into(chain, lane)


def _folded(code: NestCode, cells: Sequence[list[SSAValue]]) -> list[SSAValue]:
    """The fold of all accumulators in the arrays `cells`."""
    points, (*_, last) = code.points, code.nest.reduction
    # An array of which parts are used is in memory, the accumulators are in registers.
    folded = code.arrays("fold", 0, LANES)
    with points.loop(last, LANES) as lane:
        values = code.load_cells(cells[0], lane)
        for chain in cells[1:]:
            values = code.combine(values, code.load_cells(chain, lane))
        code.store_cells(values, folded, lane)
    width = LANES
    while width := width // 2:
        with points.loop(last, width) as lane:
            near, far = (code.load_cells(folded, lane + first) for first in (0, width))
            code.store_cells(code.combine(near, far), folded, lane)
    return code.load_cells(folded, ZERO)
