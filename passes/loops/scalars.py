"""Scalar programs as ops of arith: total, as programs are, on ops that are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from dialects.prog import (
    FLOATS,
    INTEGERS,
    Binary,
    Compare,
    Const,
    Coord,
    Dtype,
    In,
    Move,
    Op1,
    Op2,
    Op3,
    Program,
    Ternary,
    Unary,
    integer_range,
    references,
    type_of,
    value_of,
    width,
)

from .builder import LoopBuilder
from .float_ranges import ANY, absolute_of, float_ranges

Leaf: TypeAlias = Callable[[int], SSAValue]
"""Makes the value of an operand, or of a coordinate, by its number."""


def emit_program(
    builder: LoopBuilder, program: Program, operand: Leaf, coordinate: Leaf
) -> list[SSAValue]:
    """The results of `program` at one point; each node that they need is built once."""
    scalars = Scalars(builder)
    ranges = float_ranges(program)
    values: dict[int, SSAValue] = {}
    for index in program.reached(program.outs):
        node = program.nodes[index]
        _require_lowered(index, program)
        match node:
            case In(i):
                values[index] = operand(i)
            case Coord(axis):
                values[index] = coordinate(axis)
            case Const(dtype, element):
                values[index] = builder.constant(dtype, value_of(dtype, element))
            case Op1(Move.CAST, dtype, i) if dtype in INTEGERS and ranges.get(i, ANY).fits(dtype):
                values[index] = scalars.truncated(dtype, values[i])
            case Op1(kind, dtype, i):
                values[index] = scalars.op1(kind, program.dtypes[i], dtype, values[i])
            case Op2() if (x := absolute_of(program, index)) is not None:
                values[index] = scalars.absolute(values[x])
            case Op2(kind, i, j):
                known = _known_divisor(program, j)
                values[index] = scalars.op2(kind, program.dtypes[i], values[i], values[j], known)
            case Op3(_, i, j, l):
                values[index] = scalars.select(values[i], values[j], values[l])
    return [values[out] for out in program.outs]


_DTYPES = frozenset({Dtype.bool, Dtype.int32, Dtype.int64, Dtype.float32})
_KINDS = frozenset(
    {
        *Move,
        Unary.RECIP,
        Binary.ADD,
        Binary.MUL,
        Binary.IDIV,
        Binary.MOD,
        Binary.MAXIMUM,
        Binary.MINIMUM,
        Binary.AND,
        Binary.OR,
        Binary.XOR,
        Compare.EQUAL,
        Compare.LESS,
        Ternary.WHERE,
    }
)
"""The kinds and the dtypes that have a counterpart in arith."""


def _require_lowered(index: int, program: Program) -> None:
    """Raise PassFailedException if a node's dtype or its kind can't be lowered."""
    node, dtype = program.nodes[index], program.dtypes[index]
    if dtype not in _DTYPES:
        raise PassFailedException(f"lower-loops: {dtype.value} has no counterpart in arith")
    if isinstance(node, Op1 | Op2 | Op3):
        operand = program.dtypes[references(node)[-1]]
        float_division = node.kind in (Binary.IDIV, Binary.MOD) and operand in FLOATS
        if node.kind not in _KINDS or float_division:
            raise PassFailedException(
                f"lower-loops: `{node.kind.value}` of {operand.value} has no counterpart in arith"
            )


def _known_divisor(program: Program, node: int) -> bool:
    """Whether a node is a constant that every dividend can be divided by."""
    match program.nodes[node]:
        case Const(dtype, element):
            return value_of(dtype, element) not in (0, -1)
        case _:
            return False


class Scalars:
    """Kinds that have a counterpart in arith, as ops.

    Operands and results have the types of their dtypes.
    """

    def __init__(self, builder: LoopBuilder) -> None:
        self._builder = builder

    def _op(self, op_class: Callable[..., Operation], *arguments: Any) -> SSAValue:
        """The result of an op, whose arguments after its operands are plain data."""
        return self._builder.pure(op_class(*arguments), arguments)

    def select(self, condition: SSAValue, x: SSAValue, y: SSAValue) -> SSAValue:
        """`x` where `condition`, else `y`."""
        return x if x is y else self._op(arith.SelectOp, condition, x, y)

    def op1(self, kind: Move | Unary, operand: Dtype, result: Dtype, x: SSAValue) -> SSAValue:
        """A kind of one operand."""
        match kind:
            case Move.COPY:
                return x
            case Move.CAST:
                return self._cast(operand, result, x)
            case Move.BITCAST:
                return x if operand is result else self._op(arith.BitcastOp, x, type_of(result))
            case Unary():
                return self._recip(operand, x)

    def _recip(self, dtype: Dtype, x: SSAValue) -> SSAValue:
        constant = self._builder.constant
        if dtype in FLOATS:
            return self._op(arith.DivfOp, constant(dtype, 1.0), x)
        unit = self._any_equal(x, constant(dtype, 1), constant(dtype, -1))
        return self.select(unit, x, constant(dtype, 0))

    def _any_equal(self, x: SSAValue, *values: SSAValue) -> SSAValue:
        first, second = (self._op(arith.CmpiOp, x, value, "eq") for value in values)
        return self._op(arith.OrIOp, first, second)

    def _cast(self, source: Dtype, target: Dtype, x: SSAValue) -> SSAValue:
        if source is target:
            return x
        if target is Dtype.bool:
            return self._is_true(source, x)
        if source in FLOATS:
            return self._float_to_integer(source, target, x)
        if target in FLOATS:
            convert = arith.UIToFPOp if source is Dtype.bool else arith.SIToFPOp
        elif source is Dtype.bool:
            convert = arith.ExtUIOp
        else:
            convert = arith.ExtSIOp if width(source) < width(target) else arith.TruncIOp
        return self._op(convert, x, type_of(target))

    def _is_true(self, dtype: Dtype, x: SSAValue) -> SSAValue:
        """x != 0, true for a NaN."""
        if dtype in FLOATS:
            return self._op(arith.CmpfOp, x, self._builder.constant(dtype, 0.0), "une")
        return self._op(arith.CmpiOp, x, self._builder.constant(dtype, 0), "ne")

    def _float_to_integer(self, source: Dtype, target: Dtype, x: SSAValue) -> SSAValue:
        """Toward zero, saturated, 0 for a NaN; what is converted is always in range."""
        constant = self._builder.constant
        least, greatest = integer_range(target)
        # Both bounds are powers of two, so exact in any float format.
        bottom, top = constant(source, float(least)), constant(source, float(greatest + 1))
        reaches = self._op(arith.CmpfOp, x, bottom, "oge")
        fits = self._op(arith.AndIOp, reaches, self._op(arith.CmpfOp, x, top, "olt"))
        inside = self.select(fits, x, constant(source, 0.0))
        value = self.truncated(target, inside)
        below = self._op(arith.CmpfOp, x, bottom, "olt")
        above = self._op(arith.CmpfOp, x, top, "oge")
        value = self.select(below, constant(target, least), value)
        return self.select(above, constant(target, greatest), value)

    def truncated(self, target: Dtype, x: SSAValue) -> SSAValue:
        """A float that has a value of an integer dtype, its fraction dropped."""
        return self._op(arith.FPToSIOp, x, type_of(target))

    def absolute(self, x: SSAValue) -> SSAValue:
        """An f32 without its sign."""
        word = self._op(arith.BitcastOp, x, type_of(Dtype.int32))
        word = self._op(arith.AndIOp, word, self._builder.constant(Dtype.int32, 0x7FFFFFFF))
        return self._op(arith.BitcastOp, word, type_of(Dtype.float32))

    def op2(
        self,
        kind: Binary | Compare,
        dtype: Dtype,
        x: SSAValue,
        y: SSAValue,
        known_divisor: bool = False,
    ) -> SSAValue:
        """A kind of two operands of `dtype`; `known_divisor`: y is neither 0 nor -1."""
        match kind:
            case Binary.IDIV:
                return self._quotient(dtype, x, y, known_divisor)
            case Binary.MOD:
                return self._remainder(dtype, x, y, known_divisor)
            case Compare():
                return self._compare(kind, dtype, x, y)
            case Binary.MAXIMUM | Binary.MINIMUM if dtype not in FLOATS | {Dtype.bool}:
                order = "sgt" if kind is Binary.MAXIMUM else "slt"
                return self.select(self._op(arith.CmpiOp, x, y, order), x, y)
            case _:
                return self._op(_OPS[kind, dtype], x, y)

    def _quotient(self, dtype: Dtype, x: SSAValue, y: SSAValue, known: bool) -> SSAValue:
        """x / 0 is 0, and the least value by -1 is that value."""
        if known:
            return self._op(arith.DivSIOp, x, y)
        constant = self._builder.constant
        quotient = self._op(arith.DivSIOp, x, self._safe_divisor(dtype, y))
        negated = self._op(arith.SubiOp, constant(dtype, 0), x)
        minus_one = self._op(arith.CmpiOp, y, constant(dtype, -1), "eq")
        zero = self._op(arith.CmpiOp, y, constant(dtype, 0), "eq")
        quotient = self.select(minus_one, negated, quotient)
        return self.select(zero, constant(dtype, 0), quotient)

    def _remainder(self, dtype: Dtype, x: SSAValue, y: SSAValue, known: bool) -> SSAValue:
        """x mod 0 is x; by -1 it's 0, as by the 1 that stands in for it."""
        if known:
            return self._op(arith.RemSIOp, x, y)
        remainder = self._op(arith.RemSIOp, x, self._safe_divisor(dtype, y))
        zero = self._op(arith.CmpiOp, y, self._builder.constant(dtype, 0), "eq")
        return self.select(zero, x, remainder)

    def _safe_divisor(self, dtype: Dtype, y: SSAValue) -> SSAValue:
        """`y`, or 1 where it is 0 or -1."""
        constant = self._builder.constant
        unsafe = self._any_equal(y, constant(dtype, 0), constant(dtype, -1))
        return self.select(unsafe, constant(dtype, 1), y)

    def _compare(self, kind: Compare, dtype: Dtype, x: SSAValue, y: SSAValue) -> SSAValue:
        if dtype in FLOATS:
            return self._op(arith.CmpfOp, x, y, "oeq" if kind is Compare.EQUAL else "olt")
        if dtype is not Dtype.bool:
            return self._op(arith.CmpiOp, x, y, "eq" if kind is Compare.EQUAL else "slt")
        true = self._builder.constant(dtype, True)
        if kind is Compare.EQUAL:
            return self._op(arith.XOrIOp, self._op(arith.XOrIOp, x, y), true)
        return self._op(arith.AndIOp, self._op(arith.XOrIOp, x, true), y)


_OPS: dict[tuple[Binary, Dtype], Callable[..., Operation]] = {
    (Binary.MAXIMUM, Dtype.bool): arith.OrIOp,
    (Binary.MINIMUM, Dtype.bool): arith.AndIOp,
    (Binary.AND, Dtype.bool): arith.AndIOp,
    (Binary.OR, Dtype.bool): arith.OrIOp,
    (Binary.XOR, Dtype.bool): arith.XOrIOp,
    (Binary.ADD, Dtype.float32): arith.AddfOp,
    (Binary.MUL, Dtype.float32): arith.MulfOp,
    (Binary.MAXIMUM, Dtype.float32): arith.MaximumfOp,
    (Binary.MINIMUM, Dtype.float32): arith.MinimumfOp,
    (Binary.ADD, Dtype.int32): arith.AddiOp,
    (Binary.ADD, Dtype.int64): arith.AddiOp,
    (Binary.MUL, Dtype.int32): arith.MuliOp,
    (Binary.MUL, Dtype.int64): arith.MuliOp,
    (Binary.AND, Dtype.int32): arith.AndIOp,
    (Binary.AND, Dtype.int64): arith.AndIOp,
    (Binary.OR, Dtype.int32): arith.OrIOp,
    (Binary.OR, Dtype.int64): arith.OrIOp,
    (Binary.XOR, Dtype.int32): arith.XOrIOp,
    (Binary.XOR, Dtype.int64): arith.XOrIOp,
}
