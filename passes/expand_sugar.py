"""`expand-sugar`: every sugar op becomes the core ops that it means.

    %d = uir.sub %a, %b      ->      %0 = uir.constant "-1.0"
                                     %1 = uir.mul %b, %0
                                     %d = uir.add %a, %1

Equal nodes are merged on the way. Works at any stage; math ops and `gradient` are left alone.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from dialects.uir.dialect import STATEMENTS
from dialects.uir.sugar import FloorOp, SugarOp
from passes.inline_body import body_of, inline_scalar_body
from passes.node_driver import Patterns, builder_before, rewrite_nodes


class ExpandSugar(RewritePattern):
    """A sugar op becomes the ops that its definition builds."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, SugarOp)
        rewriter.replace(op, [], [op.expand(builder_before(op, rewriter))])


class ExpandFloor(RewritePattern):
    """`floor` becomes the program that defines it."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, FloorOp)
        body = body_of(FloorOp)
        rewriter.replace(op, [], [inline_scalar_body(body, op.x, builder_before(op, rewriter))])


SUGAR_PATTERNS: Patterns = {
    FloorOp: ExpandFloor(),
    **{op: ExpandSugar() for op in STATEMENTS if issubclass(op, SugarOp)},
}


class ExpandSugarPass(ModulePass):
    """Replaces every sugar op by the core ops that it means."""

    name = "expand-sugar"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_nodes(op, SUGAR_PATTERNS)
