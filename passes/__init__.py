"""The passes, one file each, by the name of their flag."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

from xdsl.passes import ModulePass

_PASSES = {
    "merge-nodes": "passes.merge_nodes:MergeNodesPass",
    "expand-sugar": "passes.expand_sugar:ExpandSugarPass",
    "autodiff": "passes.autodiff:AutodiffPass",
    "expand-math": "passes.expand_math:ExpandMathPass",
    "inline-calls": "passes.inline_calls:InlineCallsPass",
    "fold-constants": "passes.fold_constants:FoldConstantsPass",
    "outline-calls": "passes.outline_calls:OutlineCallsPass",
    "insert-checks": "passes.insert_checks:InsertChecksPass",
    "rematerialize": "passes.rematerialize:RematerializePass",
    "form-kernels": "passes.form_kernels:FormKernelsPass",
    "rangeify": "passes.rangeify:RangeifyPass",
    "roll-calls": "passes.roll_calls:RollCallsPass",
    "fuse-loops": "passes.fuse_loops:FuseLoopsPass",
    "lower-loops": "passes.lower_loops:LowerLoopsPass",
}
"""Flag to `module:class`."""


def _load(place: str) -> type[ModulePass]:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Every pass by its flag, imported when its factory is called."""
    return {flag: partial(_load, place) for flag, place in _PASSES.items()}
