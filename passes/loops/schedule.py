"""Which loops a nest becomes: what is innermost, what is tiled, what is copied to panels.

Measured with gcc 12 and clang 14 on matrix products: some rows of vectors that loops carry run
within a few percent of the peak of multiplications and additions with AVX-512 and AVX2, and rows of
arrays of 16 elements with AVX-512, but at two thirds of it with AVX2, where an array takes several
registers. The lanes of a tile must lie side by side: where memory doesn't have them so, or has too
few of them, or has them so far apart that the caches can't hold them, they are copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from dialects.prog import Coord, In, Op2
from dialects.prog.program import references

from .nest import Nest, View
from .scalars import has_vector_op

LANES = 16
"""Elements of the widest vector of the machines we know."""

_CHAINS = 4
"""Vectors whose folds hide each other's latency."""

_CHAINED = 1 << 14
"""The points of a fold from which on that is worth its code: it takes 10 us, one after another."""

_STREAM = 2048
"""Accumulators of a fold that reads each element once: a part of the first-level cache."""

_ROWS = 10
"""Rows of lanes that fit in registers."""

_NODES = 128
"""The greatest number of nodes over all rows: bodies, which are inside the reduction loops,
count twice."""

_BLOCK = 64
"""The most rows of a panel that is filled again for each tile. What was just stored is slow to load
as a wider vector."""

_PANELS = 1 << 15
"""The greatest size of the panels that rows share, in elements: they are on the stack."""

_NEAR = 1 << 13
"""Elements that are fast to read although lanes in them are far apart: a part of the first-level
cache."""

_DEAR = 16
"""Nodes of a body that is worth copies of what it reads."""

_FLAT = 1 << 11
"""The greatest number of points of rows that are computed as one: what is copied for them is on
the stack."""

_DEEP = 1 << 9
"""The points of a reduction from which on it is folded in blocks, where rows have its elements far
apart: panels of all the lanes of a tile are in the second-level cache, so that what a block has of
some rows, in the first-level one, serves them all."""

_WIDE = 64
"""The least lanes that make that worth it."""

_CACHE = 1 << 18
"""Elements that a part of the second-level cache holds."""


@dataclass(frozen=True)
class Packing:
    """Copies of what lanes read, in which they lie side by side."""

    reads: tuple[int, ...]
    """The reads of the body that are copied, by number."""
    axes: tuple[int, ...]
    """The axes whose points are the rows of a panel."""
    rows: int
    """Rows of a panel. The points of the axes are copied in blocks of as many."""
    sharing: int = 1
    """Points of the row axis that are folded with the same copy."""


@dataclass(frozen=True)
class Tiling:
    """Points that are computed together."""

    lane: int
    """The axis of the innermost loop."""
    lanes: int
    """Points of the lane axis in a tile; some beyond it, where it has fewer."""
    row: int | None = None
    """The axis whose points share what is read along the lanes."""
    rows: int = 1
    """Points of the row axis in a tile."""
    packing: Packing | None = None
    in_vectors: bool = False
    """Whether lanes are computed as vectors, where they fill some of the widest."""


@dataclass(frozen=True)
class Schedule:
    """The order of the parallel loops, and what is inside them."""

    order: tuple[int, ...]
    """The parallel axes that are loops around everything, outermost first."""
    tiling: Tiling | None = None
    """None where every point is for itself."""
    chains: int = 0
    """Vectors of points along the last reduction axis that are folded side by side, where a fold
    has no order; 0 where its points come one after another."""


def schedule_of(nest: Nest) -> Schedule:
    """The schedule of `nest`."""
    return _fold_schedule(nest) if nest.reduction else _map_schedule(nest)


def _map_schedule(nest: Nest) -> Schedule:
    """The axis along which results are contiguous goes innermost, of several the one of most reads;
    reads that are contiguous along another one are transposed."""

    def contiguous(axis: int) -> tuple[int, int]:
        writes, reads = (
            sum(_is_unit(view, axis) for view in views) for views in (nest.writes, nest.reads)
        )
        return writes, reads

    if not nest.parallel:
        return Schedule(())
    last = max(reversed(nest.parallel), key=contiguous)
    others = [axis for axis in nest.parallel if axis != last]
    for axis in others:
        crossing = [n for n, view in enumerate(nest.reads) if _crosses(view, last, axis)]
        if crossing and min(nest.extents[last], nest.extents[axis]) >= LANES:
            order = tuple(other for other in others if other != axis)
            packing = Packing(tuple(crossing), (axis,), min(_BLOCK, nest.extents[axis]))
            return Schedule(order, Tiling(last, LANES, packing=packing))
    for axis in others:
        if (tiling := _flat_tiling(nest, axis, last)) is not None:
            return Schedule(tuple(other for other in others if other != axis), tiling)
    return Schedule((*others, last))


def _flat_tiling(nest: Nest, row: int, lane: int) -> Tiling | None:
    """Rows of a map whose results lie one after another, computed as one long row; what they read
    that doesn't lie so is copied. None where that gains nothing: compilers compute what is left of
    a short row with vectors that are narrower, or one by one."""
    width, count = nest.extents[lane], nest.extents[row]
    is_dear = len(nest.body.nodes) >= _DEAR and width * count >= LANES * LANES
    if not is_dear or width % LANES == 0 or nest.coords:
        return None

    def is_flat(view: View) -> bool:
        step, stride = view.index.stride(lane), view.index.stride(row)
        return view.guards == () and step is not None and stride == step * width

    sizes = [size for size in range(2, min(count, _FLAT // width) + 1) if count % size == 0]
    if not sizes or not all(map(is_flat, (*nest.epilogue_reads, *nest.writes))):
        return None
    rows = max(sizes, key=lambda size: size * width / -(-size * width // LANES))
    copied = tuple(n for n, view in enumerate(nest.reads) if not is_flat(view))
    return Tiling(lane, width, row, rows, Packing(copied, (row,), rows, rows))


def _fold_schedule(nest: Nest) -> Schedule:
    lane = _lane_axis(nest)
    *_, last = nest.reduction
    chains = 0
    if prod(nest.extents.values()) >= _CHAINED and _is_unordered(nest, last):
        chains = min(_CHAINS, nest.extents[last] // LANES)
    if lane is None:
        return Schedule(nest.parallel, chains=chains)
    extent = nest.extents[lane]
    across = [n for n, view in enumerate(nest.reads) if lane in view.axes()]
    strided = [n for n in across if not _is_unit(nest.reads[n], lane)]
    row = _row_axis(nest, lane, strided)
    if row is not None and (rows := _row_count(nest, row)) > 1:
        order = tuple(axis for axis in nest.parallel if axis not in (lane, row))
        copied = _copied_by_rows(nest, lane, row, rows, across, strided)
        lanes = LANES if copied and set(copied) == set(across) else min(extent, LANES)
        in_vectors = lanes == LANES and _fits_vectors(nest, lane, copied)
        if in_vectors and copied and (width := _deep_width(nest, lane, row)):
            packing = _deep_packing(nest, row, rows, copied, width)
            return Schedule(order, Tiling(lane, width, row, rows, packing, in_vectors))
        packing = _row_packing(nest, lane, row, rows, copied)
        return Schedule(order, Tiling(lane, lanes, row, rows, packing, in_vectors))
    order = tuple(axis for axis in nest.parallel if axis != lane)
    crossing = tuple(n for n in strided if _crosses(nest.reads[n], lane, last))
    packing = None
    lanes = min(extent, _STREAM if len(across) > len(strided) else LANES)
    if crossing and nest.extents[last] >= LANES:
        if chains:
            return Schedule(nest.parallel, chains=chains)
        packing = Packing(crossing, (last,), min(_BLOCK, nest.extents[last]))
        lanes = min(extent, LANES)
    copied = () if packing is None else crossing
    in_vectors = _fits_vectors(nest, lane, copied)
    return Schedule(order, Tiling(lane, lanes, packing=packing, in_vectors=in_vectors))


def _fits_vectors(nest: Nest, lane: int, copied: Sequence[int]) -> bool:
    """Whether all that differs from lane to lane can be loaded and computed as vectors."""
    body = nest.body
    wide: set[int] = set()
    for index, node in enumerate(body.nodes):
        match node:
            case In(i):
                view = nest.reads[i]
                if lane in view.axes():
                    if i not in copied and (view.guards != () or not _is_unit(view, lane)):
                        return False
                    wide.add(index)
            case Coord(axis):
                if lane in nest.coords[axis].axes():
                    return False
            case _:
                operands = references(node)
                if not wide.isdisjoint(operands):
                    if not all(has_vector_op(node, body.dtypes[i]) for i in operands):
                        return False
                    wide.add(index)
    folds = zip(nest.monoids, body.results, strict=True)
    return all(has_vector_op(Op2(monoid.kind(dtype), 0, 0), dtype) for monoid, dtype in folds)


def _is_unordered(nest: Nest, axis: int) -> bool:
    """Whether the points along a reduction axis can be folded in any order, and lie side by side
    in all memories."""
    folds = zip(nest.monoids, nest.body.results, strict=True)
    return all(monoid.is_associative(dtype) for monoid, dtype in folds) and all(
        _is_unit(view, axis) for view in nest.reads if axis in view.axes()
    )


def _copied_by_rows(
    nest: Nest, lane: int, row: int, rows: int, across: list[int], strided: list[int]
) -> tuple[int, ...]:
    """The reads of the body that the rows of a fold share copies of."""
    extents = nest.extents
    is_far = _depth(nest) * extents[lane] > _NEAR and rows < extents[row]
    is_narrow = extents[lane] < LANES
    copied = across if is_narrow or (is_far and not strided) else strided
    return tuple(copied) if all(row not in nest.reads[n].axes() for n in copied) else ()


def _row_packing(
    nest: Nest, lane: int, row: int, rows: int, copied: tuple[int, ...]
) -> Packing | None:
    """How the rows of a fold share copies of all of the reduction, or have their own of a part."""
    if not copied:
        return None
    extents, depth, (*_, last) = nest.extents, _depth(nest), nest.reduction
    if len(copied) * depth * LANES > _PANELS:
        is_strided = any(not _is_unit(nest.reads[n], lane) for n in copied)
        if extents[lane] >= LANES and not is_strided:
            return None
        return Packing(copied, (last,), min(_BLOCK, extents[last]), rows)
    # The other operand is read again for each tile of lanes.
    sharing = extents[row]
    if extents[lane] > LANES and depth * sharing > _CACHE:
        sharing = _tile_size(-(-sharing // rows), max(1, _CACHE // (depth * rows))) * rows
    return Packing(copied, nest.reduction, depth, sharing)


def _deep_width(nest: Nest, lane: int, row: int) -> int:
    """The lanes of tiles that fold a block of a deep reduction at a time; 0 for others."""
    extent, (*_, last) = nest.extents[lane], nest.reduction
    is_scattered = any(not _is_unit(view, last) for view in nest.reads if row in view.axes())
    is_soon = is_scattered and extent >= _WIDE
    if _depth(nest) <= (_DEEP if is_soon else max(_DEEP, _PANELS // LANES)):
        return 0
    whole = -(-extent // LANES) * LANES
    if extent % LANES and extent > LANES and not nest.is_repeatable:
        return 0
    if whole <= 2 * _WIDE:
        return whole
    return _WIDE if extent % _WIDE == 0 or nest.is_repeatable else LANES


def _deep_packing(nest: Nest, row: int, rows: int, copied: tuple[int, ...], width: int) -> Packing:
    """How many rows share copies of a block of a deep reduction: what they read of the other
    operand fits in the second-level cache, and their accumulators do."""
    (*_, last) = nest.reduction
    extent, most = nest.extents[last], _DEEP // 2
    # Blocks of one size are one loop.
    even = (size for size in range(min(most, extent), most // 2, -1) if extent % size == 0)
    block = next(even, min(most, extent))
    sharing = min(_CACHE // block, _CACHE // (4 * width))
    tiles = _tile_size(-(-nest.extents[row] // rows), max(1, sharing // rows))
    return Packing(copied, (last,), block, tiles * rows)


def _depth(nest: Nest) -> int:
    """The points of the reduction."""
    return prod(nest.extents[axis] for axis in nest.reduction)


def _is_unit(view: View, axis: int) -> bool:
    return view.index.stride(axis) == 1


def _crosses(view: View, lane: int, axis: int) -> bool:
    """Whether what lies side by side in `view` is along `axis`, not along the lanes."""
    stride = view.index.stride(lane)
    return _is_unit(view, axis) and stride is not None and stride > 1


def _lane_axis(nest: Nest) -> int | None:
    """The axis along which the body reads contiguously, else one along which results are
    written so; the widest of them up to a vector, the last of those."""

    def merit(axis: int) -> tuple[bool, int, int]:
        read = any(_is_unit(view, axis) for view in nest.reads)
        return read, min(nest.extents[axis], LANES), nest.parallel.index(axis)

    views = (*nest.reads, *nest.epilogue_reads, *nest.writes)
    axes = [axis for axis in nest.parallel if any(_is_unit(view, axis) for view in views)]
    return max(axes, key=merit, default=None)


def _row_axis(nest: Nest, lane: int, strided: list[int]) -> int | None:
    """The last axis along which what the lanes read is read again."""
    streams = [view for view in nest.reads if lane in view.axes()]
    for axis in reversed(nest.parallel):
        again = [view for view in streams if axis not in view.axes()]
        packed = all(axis not in nest.reads[n].axes() for n in strided)
        if axis != lane and again and packed:
            return axis
    return None


def _row_count(nest: Nest, row: int) -> int:
    """How many rows to fold together: what registers hold."""
    epilogue = () if nest.epilogue is None else nest.epilogue.nodes
    nodes = 2 * len(nest.body.nodes) + len(epilogue)
    return _tile_size(nest.extents[row], min(_ROWS, max(1, _NODES // nodes)))


def _tile_size(extent: int, most: int) -> int:
    """The size of tiles along `extent`: `most`, or somewhat fewer that leave less over."""
    most = min(most, extent)
    return min(range(most, (most - 1) // 2, -1), key=lambda size: -(-extent // size) * size)
