"""`autodiff`: every `gradient` becomes the graph that computes it, by reverse mode (week 6, 4).

    %g = uir.gradient %y, %x      ->      %one = uir.constant "1.0", then the shares of each node

Equal nodes are merged and sugar is expanded first, because contributions count per node. An invalid
gradient raises InvalidGradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from dialects.uir.base import NodeBuilder, UirOp
from dialects.uir.elementwise import AddOp
from dialects.uir.functions import CallOp, ParamOp
from dialects.uir.gradient import GradientOp, NotDifferentiable, check_path, path_between
from dialects.uir.movement import literal_like
from dialects.uir.nodes import Nodes
from dialects.uir.types import dtype_of
from passes.expand_sugar import SUGAR_PATTERNS
from passes.node_driver import builder_before, rewrite_nodes


@dataclass
class InvalidGradients(Exception):
    """The gradients of a module that have no meaning, and why."""

    errors: list[tuple[GradientOp, NotDifferentiable]]

    def __str__(self) -> str:
        return "\n".join(f"`gradient`: {why.message}" for _, why in self.errors)


class DifferentiateGradient(RewritePattern):
    """`gradient y x` becomes the sum of the contributions that arrive at `x`."""

    def __init__(self, nodes: Nodes):
        self.nodes = nodes
        self.errors: list[tuple[GradientOp, NotDifferentiable]] = []

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, GradientOp)
        path = path_between(op.x, op.y, self.nodes)
        try:
            check_path(path)
        except NotDifferentiable as error:
            self.errors.append((op, error))
            path = []
        b = builder_before(op, rewriter)
        rewriter.replace(op, [], [cotangent_of(op.x, op.y, path, b)])


def cotangent_of(x: SSAValue, y: SSAValue, path: Sequence[Operation], b: NodeBuilder) -> SSAValue:
    """The gradient of the scalar `y` at `x`; `path` is the nodes between them in post-order.

    Nodes are visited in reverse post-order. The contributions of a node are added in the order in
    which they arrived, then each f32 operand on the path receives its share, from left to right.
    """
    contributions: dict[SSAValue, SSAValue] = {y: literal_like(b, 1.0, y)}
    receivers = {op.results[0] for op in path} | {x}
    for op in reversed(path):
        g = contributions.get(op.results[0])
        if g is None:
            continue
        assert isinstance(op, UirOp)
        for number, operand in enumerate(op.operands):
            if operand not in receivers or dtype_of(operand) != f32:
                continue
            share = op.share(number, g, b)
            if share is not None:
                sum = contributions.get(operand)
                contributions[operand] = share if sum is None else b.make(AddOp, sum, share)
    return contributions[x] if x in contributions else literal_like(b, 0.0, x)


def drop_unused_arguments(block: Block) -> None:
    """Shortens the calls of bodies that need fewer params now that their gradients are expanded."""
    counts: dict[SSAValue, int] = {}
    for op in block.ops:
        operands = op.operands
        if isinstance(op, ParamOp):
            counts[op.result] = op.number() + 1
            continue
        if isinstance(op, CallOp):
            op.operands = operands[: 1 + counts.get(op.body, 0)]
            operands = op.arguments
        count = max((counts.get(operand, 0) for operand in operands), default=0)
        if count and op.results:
            counts[op.results[0]] = count


def differentiate(module: ModuleOp) -> list[tuple[GradientOp, NotDifferentiable]]:
    """Expands sugar and gradients in `module`; returns the gradients that have no meaning."""
    nodes = Nodes()
    pattern = DifferentiateGradient(nodes)
    rewrite_nodes(module, {**SUGAR_PATTERNS, GradientOp: pattern}, nodes)
    drop_unused_arguments(module.body.block)
    return pattern.errors


class AutodiffPass(ModulePass):
    """Replaces every `gradient` by the ops that compute it."""

    name = "autodiff"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if errors := differentiate(op):
            raise InvalidGradients(errors)
