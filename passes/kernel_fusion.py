"""Kernels side by side: two over one domain that read the same become one with more results.

    kernel a(x) { store sum(x) }           kernel a(x) {
    kernel b(x) { store max(x) }     ->      store sum(x)
                                             store max(x)
                                           }

The second one must not read what the first one writes, and neither may overwrite what some other
point of the loop still reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import SSAValue

from dialects.uir.movement import OffsetOp
from dialects.uir.reduce import ReduceOp
from dialects.uir.types import shape_of, size_of
from passes.kernel_body import Body, Place
from passes.kernel_plan import MAX_KERNEL_SIZE, weight_of
from passes.scalar_ranges import is_in_bounds
from passes.views import resolve

MAX_RESULTS = 8
"""The most results of a kernel: each is a stream that is written."""


@dataclass(frozen=True)
class Job:
    """A kernel before its launch: what it computes, and where in memory its values are."""

    body: Body
    reads: Mapping[SSAValue, Place]
    """The place of each leaf of the body."""
    writes: tuple[Place, ...]
    """The place of each root of the body."""
    symbols: Mapping[tuple[SSAValue, int], int]
    """The computed offsets in the places, with their greatest values, and their numbers."""

    def offsets_in_bounds(self) -> list[SSAValue]:
        """The scalars among the leaves that the kernel takes as offsets, always within bounds."""
        taken = list(self.symbols)
        for op in self.body.ops:
            if isinstance(op, OffsetOp):
                taken += op.bounds()
        bounds: dict[SSAValue, int] = {}
        for offset, greatest in taken:
            scalar = resolve(offset)
            bounds[scalar] = min(greatest, bounds.get(scalar, greatest))
        return [leaf for leaf in self.reads if leaf in bounds and is_in_bounds(leaf, bounds[leaf])]


def is_safe_to_write(body: Body, reads: Mapping[SSAValue, Place], written: Place) -> bool:
    """Whether no point of `body` reads what another one writes at `written`."""
    moved = body.moved_leaves()
    return not any(
        read.overlaps(written) and (leaf in moved or read != written)
        for leaf, read in reads.items()
    )


def joined(one: Job, other: Job) -> Job | None:
    """The two as one kernel, in the place of both; None where that is wrong or of no use."""
    if one.symbols or other.symbols or _domain(one.body) != _domain(other.body):
        return None
    if not _shares_data(one, other) or len(one.writes) + len(other.writes) > MAX_RESULTS:
        return None
    if any(other.reads.get(leaf, place) != place for leaf, place in one.reads.items()):
        return None
    for written in one.writes:
        if any(place.overlaps(written) for place in (*other.reads.values(), *other.writes)):
            return None
    body = _union(one.body, other.body)
    if sum(max(1, weight_of(op)) for op in body.ops) > MAX_KERNEL_SIZE:
        return None
    reads = {**one.reads, **other.reads}
    if not all(is_safe_to_write(body, reads, written) for written in other.writes):
        return None
    return Job(body, reads, (*one.writes, *other.writes), {})


def _domain(body: Body) -> tuple[tuple[int, ...], frozenset[tuple[int, ...]]]:
    """The shape of the results, and the extents of reductions."""
    reduces = (op for op in body.ops if isinstance(op, ReduceOp))
    folded = frozenset(shape_of(op.x)[: op.pop()] for op in reduces)
    return shape_of(body.roots[0]), folded


def _shares_data(one: Job, other: Job) -> bool:
    """Whether the two read something in common that has an element for each point at least."""
    size = size_of(one.body.roots[0])
    return any(leaf in other.reads and size_of(leaf) >= size for leaf in one.reads)


def _union(one: Body, other: Body) -> Body:
    ops = dict.fromkeys([*one.ops, *other.ops])
    leaves = dict.fromkeys([*one.leaves, *other.leaves])
    return Body([*one.roots, *other.roots], list(ops), list(leaves))
