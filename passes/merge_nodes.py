"""`merge-nodes`: one node per meaning.

    %a = uir.add %x, %y                    %a = uir.add %x, %y
    %b = uir.add %x, %y           ->       uir.store %m, %a
    uir.store %m, %b

Two loads with a store to the same buffer between them stay two.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from passes.node_driver import rewrite_nodes


class MergeNodesPass(ModulePass):
    """Merges equal nodes."""

    name = "merge-nodes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_nodes(op, {})
