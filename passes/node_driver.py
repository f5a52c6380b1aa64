"""One walk over a module that merges equal nodes and applies patterns by the type of the op.

The stock walker tries every pattern on every op until nothing changes. Here each op is visited
once, in order, with its operands settled: an op that equals one before it is replaced by it, else
the pattern of its type is applied, and what the pattern puts in its place is visited next.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint
from xdsl.traits import Pure

from dialects.uir.base import NodeBuilder, UirOp
from dialects.uir.loops import ForOp
from dialects.uir.memory import AfterOp, AllocOp, LoadOp
from dialects.uir.nodes import Nodes

Patterns = Mapping[type[Operation], RewritePattern]


def rewrite_nodes(module: ModuleOp, patterns: Patterns, nodes: Nodes | None = None) -> None:
    """Merges the equal nodes of `module` and applies `patterns`, each to the ops of its type.

    `nodes` numbers the module's own block, for a pattern that needs the order of its ops.
    """
    _rewrite_block(module.body.block, patterns, nodes if nodes is not None else Nodes())


def _rewrite_block(block: Block, patterns: Patterns, nodes: Nodes) -> None:
    op = block.first_op
    while op is not None:
        op = _visit(op, block, patterns, nodes)


def _visit(op: Operation, block: Block, patterns: Patterns, nodes: Nodes) -> Operation | None:
    """Settles `op`, and returns the op to visit next."""
    for region in op.regions:
        for inner in region.blocks:
            around = nodes if isinstance(op, ForOp) else None
            _rewrite_block(inner, patterns, Nodes(around))
    pattern = patterns.get(type(op))
    if pattern is not None:
        before = op.prev_op
        pattern.match_and_rewrite(op, PatternRewriter(op))
        if op.parent is None:
            return before.next_op if before is not None else block.first_op
    following = op.next_op
    node = nodes.add(op)
    if node is not op:
        _keep_name(op, node)
        for old, new in zip(op.results, node.results, strict=True):
            old.replace_all_uses_with(new)
        op.detach()
        op.erase()
    return following


def _keep_name(op: Operation, node: Operation) -> None:
    for old, new in zip(op.results, node.results, strict=True):
        if new.name_hint is None:
            new.name_hint = old.name_hint


def builder_before(op: Operation, rewriter: PatternRewriter) -> NodeBuilder:
    """Builds the ops that replace `op`: in front of it, with its place in the text."""

    def insert(new: UirOp) -> SSAValue:
        new.location = op.location
        rewriter.insert(new, InsertPoint.before(op))
        return new.result

    return NodeBuilder(insert)


def forget_order(block: Block) -> None:
    """Erases the `after`s: once gradients are gone, the order of the text says all."""
    for op in list(block.walk()):
        if isinstance(op, AfterOp):
            op.result.replace_all_uses_with(op.memory)
            op.detach()
            op.erase()


def _is_removable(op: Operation) -> bool:
    return isinstance(op, LoadOp | AllocOp) or (isinstance(op, UirOp) and op.has_trait(Pure))


def remove_dead_nodes(block: Block) -> None:
    """Erases the pure ops, loads and allocs whose results nobody uses, in one sweep from the end.

    A loop whose body has no effect left goes too.
    """
    op = block.last_op
    while op is not None:
        before = op.prev_op
        if isinstance(op, ForOp):
            remove_dead_nodes(op.body.block)
        removable = op.body.block.first_op is None if isinstance(op, ForOp) else _is_removable(op)
        if removable and all(result.first_use is None for result in op.results):
            op.detach()
            op.erase()
        op = before
