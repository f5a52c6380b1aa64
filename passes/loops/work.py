"""What a nest costs, and what that is worth: code for several machines, several threads."""

from __future__ import annotations

from math import prod

from .nest import Nest, View

DISPATCHED = 1 << 18
"""The operations from which on loops are compiled for several machines."""

THREADED = 1 << 22
"""The cost from which on a nest is shared by threads: 50 us at a machine's limit, more in
practice. To share it takes a microsecond where the threads exist, 25 us where they are created."""

PART = 1 << 18
"""The least cost of what a thread takes at once."""

_ELEMENT = 16
"""How many operations with the widest vectors take as long as memory takes for an element."""


def work_of(nest: Nest) -> int:
    """The scalar operations of `nest`: those of its body at every point."""
    return len(nest.body.nodes) * prod(nest.extents.values()) * _tiles(nest)


def cost_of(nest: Nest) -> int:
    """The time of `nest`, in operations: its work, and the elements that it reads and writes."""

    def elements(view: View) -> int:
        axes = view.axes()
        return prod(extent for axis, extent in nest.extents.items() if axis in axes)

    views = (*nest.reads, *nest.epilogue_reads, *nest.writes)
    return work_of(nest) + _ELEMENT * sum(map(elements, views)) * _tiles(nest)


def _tiles(nest: Nest) -> int:
    """The turns of the loops over blocks."""
    tiles = 1
    for _, turns in nest.blocks:
        # Turns are linear in those of the loop around them: the mean is that of the ends.
        tiles = tiles * sum(turns.bounds) // 2
    return tiles
