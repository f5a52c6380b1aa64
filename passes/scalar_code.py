"""Scalar code and index expressions as ops on scalars."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from dialects.prog import Dtype, E, Program
from dialects.uir.elementwise import PROG_DTYPES, ElementwiseOp
from dialects.uir.types import dtype_of
from passes.index import Atom, Coordinate, Index, Quotient, Remainder, Symbol
from passes.kernel_program import clamp
from passes.loops.builder import LoopBuilder
from passes.loops.scalars import emit_program

INDEX = IndexType()


def emit_expression(
    builder: LoopBuilder, dtypes: Sequence[Dtype], e: E, operands: Sequence[SSAValue]
) -> SSAValue:
    """The value of `e`, without coordinates, on scalar `operands` of `dtypes`."""

    def coordinate(axis: int) -> SSAValue:
        raise AssertionError("scalar code has no coordinates")

    program = Program.of_exprs(dtypes, [e])
    (result,) = emit_program(builder, program, operands.__getitem__, coordinate)
    return result


def emit_elementwise(
    builder: LoopBuilder, op: ElementwiseOp, operands: Sequence[SSAValue]
) -> SSAValue:
    """The result of an elementwise op on scalars."""
    dtypes = [PROG_DTYPES[dtype_of(operand)] for operand in op.operands]
    inputs = [E.input(number, dtype) for number, dtype in enumerate(dtypes)]
    e = op.scalar(inputs, PROG_DTYPES[dtype_of(op.results[0])])
    return emit_expression(builder, dtypes, e, operands)


def emit_clamped(builder: LoopBuilder, scalar: SSAValue, greatest: int) -> SSAValue:
    """The i32 `scalar` as an index from 0 to `greatest`."""
    e = clamp(E.input(0, Dtype.int32), greatest)
    value = emit_expression(builder, [Dtype.int32], e, [scalar])
    return builder.pure(arith.IndexCastOp(value, INDEX), INDEX)


def emit_index(builder: LoopBuilder, index: Index, symbols: Sequence[SSAValue]) -> SSAValue:
    """`index`, without coordinates, on the `symbols`, which are indices."""
    total: SSAValue | None = None
    for atom, coefficient in index.terms:
        term = _emit_atom(builder, atom, symbols)
        if coefficient != 1:
            term = builder.pure(arith.MuliOp(term, builder.index(coefficient)))
        total = term if total is None else builder.pure(arith.AddiOp(total, term))
    if total is None:
        return builder.index(index.constant)
    if index.constant:
        total = builder.pure(arith.AddiOp(total, builder.index(index.constant)))
    return total


def _emit_atom(builder: LoopBuilder, atom: Atom, symbols: Sequence[SSAValue]) -> SSAValue:
    match atom:
        case Symbol(number, _):
            return symbols[number]
        case Quotient(dividend, divisor):
            op = arith.DivSIOp
        case Remainder(dividend, divisor):
            op = arith.RemSIOp
        case Coordinate():
            raise AssertionError("scalar code has no coordinates")
    # Symbols are not negative, and views have no negative strides: truncation rounds down.
    assert dividend.bounds[0] >= 0
    return builder.pure(op(emit_index(builder, dividend, symbols), builder.index(divisor)))
