"""The pipelines: named tuples of passes, applied in order."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from passes import get_all_passes

RUN = (
    # Contributions to a gradient count per node of the expansion, so sugar goes first.
    "expand-sugar",
    "autodiff",
)
"""To the core ops that the interpreter runs."""

_KERNELS = (
    # After the last pass that merges nodes.
    "rematerialize",
    # Before the math: kernels that differ only in memory share one expansion of it.
    "form-kernels",
    "expand-math",
    "rangeify",
    # Before the loops of kernels, which have no calls.
    "roll-calls",
    "fuse-loops",
    "lower-loops",
)

LOWER = (
    "inline-calls",
    "outline-calls",
    *_KERNELS,
)
"""From the core ops to the loops that a C file spells."""

LOWER_CHECKED = (
    "inline-calls",
    "outline-calls",
    # On core ops, whose statements are the text's; math ops have none that can fail.
    "insert-checks",
    *_KERNELS,
)
"""As LOWER, with runtime errors reported."""


PIPELINES: dict[str, tuple[str, ...]] = {
    "run": RUN,
    "render": (*RUN, *LOWER),
    "render-checked": (*RUN, *LOWER_CHECKED),
}


def apply_passes(names: Sequence[str], module: ModuleOp) -> None:
    """Applies the passes of these names to `module`, in order."""
    passes = get_all_passes()
    context = Context()
    for name in names:
        passes[name]()().apply(context, module)
