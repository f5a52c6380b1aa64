"""What a nest costs, and what that is worth: code for several machines, several threads."""

from __future__ import annotations

from math import prod

from .nest import Nest

DISPATCHED = 1 << 18
"""The work from which on loops are compiled for several machines."""

THREADED = 1 << 22
"""The work from which on a nest is shared by threads: 50 us of multiplications and additions with
the widest vectors, more of anything else. To begin and end that takes a microsecond where the
threads exist, and 25 us where they are created."""


def work_of(nest: Nest) -> int:
    """The scalar operations of `nest`: those of its body at every point."""
    tiles = 1
    for _, turns in nest.blocks:
        # Turns are linear in those of the loop around them: the mean is that of the ends.
        tiles = tiles * sum(turns.bounds) // 2
    return len(nest.body.nodes) * tiles * prod(nest.extents.values())
