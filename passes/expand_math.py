"""`expand-math`: `exp2 log2 sqrt sin` become the core ops of the programs that define them.

    %y = uir.sqrt %x      ->      the statements of `bodies/sqrt.uir` on every element of %x

So does the `floor` that some of the bodies use. In kernels, where time counts, a program of fewer
operations with the same bits takes its place, `bodies/kernels/sqrt.uir`. Math ops that a `gradient`
still in the module reaches are left alone, because its rules need to see them whole. Equal nodes
are merged on the way.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from dialects.uir.dialect import STATEMENTS
from dialects.uir.gradient import GradientOp
from dialects.uir.kernel import KernelOp
from dialects.uir.math import MathOp
from dialects.uir.sugar import FloorOp
from passes.expand_sugar import ExpandFloor
from passes.inline_body import body_of, inline_scalar_body, kernel_body_of
from passes.node_driver import builder_before, rewrite_nodes


class ExpandMath(RewritePattern):
    """A math op becomes its body, unless a gradient reaches it."""

    def __init__(self, kept: set[Operation]):
        self.kept = kept

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, MathOp)
        if op in self.kept:
            return
        body = kernel_body_of(type(op)) if is_in_kernel(op) else body_of(type(op))
        rewriter.replace(op, [], [inline_scalar_body(body, op.x, builder_before(op, rewriter))])


def is_in_kernel(op: Operation) -> bool:
    """Whether `op` is a statement of a kernel."""
    return isinstance(op.parent_op(), KernelOp)


def reached_by_gradients(module: ModuleOp) -> set[Operation]:
    """The ops that some `gradient` of `module` depends on, in one sweep from the end."""
    reached: set[Operation] = set()
    for op in reversed(list(module.walk())):
        if isinstance(op, GradientOp) or op in reached:
            reached.update(v.owner for v in op.operands if isinstance(v.owner, Operation))
    return reached


class ExpandMathPass(ModulePass):
    """Replaces every math op by the program that defines it."""

    name = "expand-math"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pattern = ExpandMath(reached_by_gradients(op))
        floor = {FloorOp: ExpandFloor()}
        maths = {math: pattern for math in STATEMENTS if issubclass(math, MathOp)}
        rewrite_nodes(op, {**floor, **maths})
