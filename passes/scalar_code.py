"""Scalar code as ops on scalars."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from dialects.prog import Dtype, E, Program
from dialects.uir.constants import constant_of
from dialects.uir.elementwise import PROG_DTYPES, ElementwiseOp, prog_dtypes
from dialects.uir.types import dtype_of
from passes.kernel_program import clamp
from passes.loops.builder import LoopBuilder
from passes.loops.scalars import emit_program

INDEX = IndexType()


def emit_scalars(builder: LoopBuilder, program: Program, operands: Sequence[SSAValue]) -> SSAValue:
    """The result of `program`, which has no coordinates, on scalar `operands`."""

    def coordinate(axis: int) -> SSAValue:
        raise AssertionError("scalar code has no coordinates")

    (result,) = emit_program(builder, program, operands.__getitem__, coordinate)
    return result


def emit_elementwise(
    builder: LoopBuilder, op: ElementwiseOp, operands: Sequence[SSAValue]
) -> SSAValue:
    """The result of an elementwise op on scalars, of which literals are part of the computation."""
    dtypes = prog_dtypes(op)
    exprs: list[E] = []
    for number, (dtype, operand) in enumerate(zip(dtypes, op.operands, strict=True)):
        literal = constant_of(operand)
        exprs.append(E.input(number, dtype) if literal is None else E.const(dtype, literal))
    result = type(op).scalar(exprs, PROG_DTYPES[dtype_of(op.results[0])])
    return emit_scalars(builder, Program.of_exprs(dtypes, [result]), operands)


def emit_clamped(builder: LoopBuilder, scalar: SSAValue, greatest: int) -> SSAValue:
    """The i32 `scalar` as an index from 0 to `greatest`."""
    e = clamp(E.input(0, Dtype.int32), greatest)
    value = emit_scalars(builder, Program.of_exprs([Dtype.int32], [e]), [scalar])
    return builder.pure(arith.IndexCastOp(value, INDEX), INDEX)
