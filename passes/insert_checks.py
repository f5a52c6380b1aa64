"""`insert-checks`: an assertion before each statement that can fail.

    %q = uir.div %a, %b     ->      %0 = uir.division_fails %a, %b : .. -> tensor<4xi1>
                                    %1 = uir.reduce %0 {kind = "max"} : .. -> tensor<i1>
                                    uir.assert %1, "division by zero"
                                    %q = uir.div %a, %b

Works on core ops, with sugar, gradients and calls expanded. Dead statements are removed first: what
nothing needs cannot fail. Of an offset, only what `ranges` leaves open is tested.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from dialects.uir.base import NodeBuilder
from dialects.uir.checks import CHECKED, AssertOp
from dialects.uir.constants import constant_of, literal_i32
from dialects.uir.elementwise import CmpltOp, ElementwiseOp, MaxOp
from dialects.uir.movement import OFFSET_FAILURE, OffsetOp, ReshapeOp
from dialects.uir.reduce import ReduceOp
from dialects.uir.types import shape_of, size_of
from passes.node_driver import builder_before, remove_dead_nodes
from passes.scalar_ranges import range_of


def failed_offset(op: OffsetOp, b: NodeBuilder) -> SSAValue | None:
    """Whether a computed offset of `op` is out of bounds, a bool scalar; None if none can be."""
    failed: SSAValue | None = None
    for offset, last in op.bounds():
        if constant_of(offset) is not None:
            continue
        least, greatest = range_of(offset)
        tests: list[SSAValue] = []
        if least < 0:
            tests.append(b.make(CmpltOp, offset, literal_i32(b, 0)))
        if greatest > last:
            tests.append(b.make(CmpltOp, literal_i32(b, last), offset))
        for test in tests:
            failed = test if failed is None else b.make(MaxOp, failed, test)
    return failed


def any_of(failed: SSAValue, b: NodeBuilder) -> SSAValue:
    """Whether any element of a bool is true, as a scalar."""
    if not shape_of(failed):
        return failed
    flat = b.make(ReshapeOp, failed, shape=(size_of(failed),))
    return b.make(ReduceOp, flat, op="max", pop=1)


def insert_check(op: Operation) -> None:
    """Puts an assertion in front of `op`, if it can fail."""
    rewriter = PatternRewriter(op)
    b = builder_before(op, rewriter)
    failed, kind = None, OFFSET_FAILURE
    if isinstance(op, OffsetOp):
        failed = failed_offset(op, b)
    elif isinstance(op, ElementwiseOp) and op.can_fail():
        assert op.FAILS is not None
        assert op.FAILURE is not None
        failed, kind = any_of(b.make(op.FAILS, *op.operands), b), op.FAILURE
    if failed is not None:
        check = AssertOp.of(failed, kind)
        check.location = op.location
        rewriter.insert(check, InsertPoint.before(op))


class InsertChecksPass(ModulePass):
    """Puts an assertion in front of each statement that can fail."""

    name = "insert-checks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.attributes[CHECKED] = UnitAttr()
        remove_dead_nodes(op.body.block)
        for inner in list(op.body.block.walk()):
            insert_check(inner)
