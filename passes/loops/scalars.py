"""Scalar programs as ops of arith, and as calls of the kind library.

A kind is an op where arith has one that gives the kind's very bits, as it has for some kinds
of `i1`, `i32`, `i64`, `f32` and `f64`; programs are total, so operands that arith leaves
undefined are kept from it. Every other kind is a call of its function in the library
(`dialects/prog/c_library.py`), `@nx_exp_f32`. All values have the types of their dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from xdsl.dialects import arith, func, vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from dialects.prog import (
    FLOATS,
    INTEGERS,
    Binary,
    Compare,
    Const,
    Coord,
    Dtype,
    In,
    Kind1,
    Kind2,
    Kind3,
    Move,
    Op1,
    Op2,
    Op3,
    Program,
    Ternary,
    Unary,
    integer_range,
    type_of,
    value_of,
    width,
)
from dialects.prog.c_library import function1, function2, function3
from dialects.prog.program import Node

from .booleans import with_plain_booleans
from .builder import LoopBuilder
from .number_ranges import absolute_of, number_ranges

Leaf: TypeAlias = Callable[[int], SSAValue]
"""Makes the value of an operand, or of a coordinate, by its number."""


def emit_program(
    builder: LoopBuilder, program: Program, operand: Leaf, coordinate: Leaf
) -> list[SSAValue]:
    """The results of `program` at one point; each node that they need is built once."""
    program = with_plain_booleans(program)
    scalars, dtypes = Scalars(builder), program.dtypes
    ranges = number_ranges(program)
    values: dict[int, SSAValue] = {}
    for index in program.reached(program.outs):
        node = program.nodes[index]
        match node:
            case In(i):
                values[index] = operand(i)
            case Coord(axis):
                values[index] = coordinate(axis)
            case Const(dtype, element):
                values[index] = builder.element(dtype, element)
            case Op1(Move.CAST, dtype, i) if (
                dtype in INTEGERS and dtypes[i] is Dtype.float32 and ranges[i].fits(dtype)
            ):
                values[index] = scalars.truncated(dtype, values[i])
            case Op1(kind, dtype, i):
                values[index] = scalars.op1(kind, dtypes[i], dtype, values[i])
            case Op2() if (x := absolute_of(program, index)) is not None:
                values[index] = scalars.absolute(values[x])
            case Op2(Binary.IDIV | Binary.MOD as kind, i, j) if (
                dtypes[i] is Dtype.int32 and ranges[i].least >= 0 and ranges[j].least > 0
            ):
                values[index] = scalars.unsigned_division(kind, values[i], values[j])
            case Op2(kind, i, j):
                known = _known_divisor(program, j)
                values[index] = scalars.op2(kind, dtypes[i], values[i], values[j], known)
            case Op3(kind, i, j, l):
                operands = values[i], values[j], values[l]
                values[index] = scalars.op3(kind, dtypes[i], dtypes[j], *operands)
    return [values[out] for out in program.outs]


def _known_divisor(program: Program, node: int) -> bool:
    """Whether a node is a constant that every dividend can be divided by."""
    match program.nodes[node]:
        case Const(dtype, element):
            return value_of(dtype, element) not in (0, -1)
        case _:
            return False


def has_vector_op(node: Node, dtype: Dtype) -> bool:
    """Whether `node`, whose operands are of `dtype`, can be computed for vectors of them."""
    match node:
        case Op1(kind):
            return dtype is Dtype.float32 and kind in (Move.COPY, Unary.RECIP)
        case Op2(kind):
            return dtype is Dtype.float32 and kind in _FLOAT_OPS
        case _:
            return False


class Scalars:
    """Kinds as ops. Operands and results have the types of their dtypes; those of the kinds that
    `has_vector_op` names may be vectors of them, too."""

    def __init__(self, builder: LoopBuilder) -> None:
        self._builder = builder

    def _op(self, op_class: Callable[..., Operation], *arguments: Any) -> SSAValue:
        """The result of an op, whose arguments after its operands are plain data."""
        return self._builder.pure(op_class(*arguments), arguments)

    def _call(self, name: str, result: Dtype, *operands: SSAValue) -> SSAValue:
        """What a function of the library gives."""
        return self._builder.pure(func.CallOp(name, operands, [type_of(result)]), name)

    def like(self, x: SSAValue, other: SSAValue) -> SSAValue:
        """`x` in every lane, where `other` is a vector and `x` is none."""
        if isa(other.type, VectorType) and not isa(x.type, VectorType):
            return self.broadcast(x, other.type)
        return x

    def broadcast(self, x: SSAValue, type_: VectorType) -> SSAValue:
        """The vector of a type that has `x` in every lane."""
        return self._op(vector.BroadcastOp, x, type_)

    def select(self, condition: SSAValue, x: SSAValue, y: SSAValue) -> SSAValue:
        """`x` where `condition`, else `y`."""
        return x if x is y else self._op(arith.SelectOp, condition, x, y)

    # Kinds of one operand

    def op1(self, kind: Kind1, operand: Dtype, result: Dtype, x: SSAValue) -> SSAValue:
        """A kind of one operand."""
        match kind:
            case Move.COPY:
                return x
            case Move.CAST | Move.BITCAST if operand is result:
                return x
            case Move.CAST if {operand, result} <= _ARITH:
                return self._cast(operand, result, x)
            case Move.BITCAST if {operand, result} == {Dtype.int32, Dtype.float32}:
                return self._op(arith.BitcastOp, x, type_of(result))
            case Move.BITCAST if result is Dtype.bool:
                byte = self.op1(kind, operand, Dtype.uint8, x)
                return self.op1(Move.CAST, Dtype.uint8, result, byte)
            case Unary.RECIP if operand in _ARITH:
                return self._recip(operand, x)
            case _:
                return self._call(function1(kind, operand, result), result, x)

    def _recip(self, dtype: Dtype, x: SSAValue) -> SSAValue:
        constant = self._builder.constant
        if dtype in FLOATS:
            return self._op(arith.DivfOp, self.like(constant(dtype, 1.0), x), x)
        unit = self._any_equal(x, constant(dtype, 1), constant(dtype, -1))
        return self.select(unit, x, constant(dtype, 0))

    def _any_equal(self, x: SSAValue, *values: SSAValue) -> SSAValue:
        first, second = (self._op(arith.CmpiOp, x, value, "eq") for value in values)
        return self._op(arith.OrIOp, first, second)

    def _cast(self, source: Dtype, target: Dtype, x: SSAValue) -> SSAValue:
        if target is Dtype.bool:
            return self._is_true(source, x)
        if source in FLOATS and target not in FLOATS:
            return self._float_to_integer(source, target, x)
        grows = width(source) < width(target)
        if source in FLOATS:
            convert = arith.ExtFOp if grows else arith.TruncFOp
        elif target in FLOATS:
            convert = arith.UIToFPOp if source is Dtype.bool else arith.SIToFPOp
        elif source is Dtype.bool:
            convert = arith.ExtUIOp
        else:
            convert = arith.ExtSIOp if grows else arith.TruncIOp
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

    # Kinds of two operands

    def op2(
        self,
        kind: Kind2,
        dtype: Dtype,
        x: SSAValue,
        y: SSAValue,
        known_divisor: bool = False,
    ) -> SSAValue:
        """A kind of two operands of `dtype`; `known_divisor`: y is neither 0 nor -1."""
        match kind:
            case _ if dtype not in _ARITH:
                return self._call2(kind, dtype, x, y)
            case Compare():
                return self._compare(kind, dtype, x, y)
            case Binary.IDIV:
                return self._quotient(dtype, x, y, known_divisor)
            case Binary.MOD if dtype not in FLOATS:
                return self._remainder(dtype, x, y, known_divisor)
            case Binary.MAXIMUM | Binary.MINIMUM if dtype in _WORDS:
                order = "sgt" if kind is Binary.MAXIMUM else "slt"
                return self.select(self._op(arith.CmpiOp, x, y, order), x, y)
            case Binary() if (op_class := _OPS[dtype].get(kind)) is not None:
                return self._op(op_class, self.like(x, y), self.like(y, x))
            case _:
                return self._call2(kind, dtype, x, y)

    def _call2(self, kind: Kind2, dtype: Dtype, x: SSAValue, y: SSAValue) -> SSAValue:
        result = Dtype.bool if isinstance(kind, Compare) else dtype
        return self._call(function2(kind, dtype), result, x, y)

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

    def unsigned_division(self, kind: Binary, x: SSAValue, y: SSAValue) -> SSAValue:
        """The quotient or the remainder of positive integers, cheaper than that of signed ones."""
        return self._op(arith.DivUIOp if kind is Binary.IDIV else arith.RemUIOp, x, y)

    def _safe_divisor(self, dtype: Dtype, y: SSAValue) -> SSAValue:
        """`y`, or 1 where it is 0 or -1."""
        constant = self._builder.constant
        unsafe = self._any_equal(y, constant(dtype, 0), constant(dtype, -1))
        return self.select(unsafe, constant(dtype, 1), y)

    def _compare(self, kind: Compare, dtype: Dtype, x: SSAValue, y: SSAValue) -> SSAValue:
        if dtype in FLOATS:
            return self._op(arith.CmpfOp, x, y, _FLOAT_PREDICATES[kind])
        if x is y:
            # C compilers warn of such a comparison.
            return self._builder.constant(Dtype.bool, kind in (Compare.EQUAL, Compare.LESS_EQUAL))
        if dtype is not Dtype.bool:
            return self._op(arith.CmpiOp, x, y, _INTEGER_PREDICATES[kind])
        match kind:
            case Compare.EQUAL:
                return self._not(self._op(arith.XOrIOp, x, y))
            case Compare.NOT_EQUAL:
                return self._op(arith.XOrIOp, x, y)
            case Compare.LESS:
                return self._op(arith.AndIOp, self._not(x), y)
            case Compare.LESS_EQUAL:
                return self._op(arith.OrIOp, self._not(x), y)

    def _not(self, x: SSAValue) -> SSAValue:
        return self._op(arith.XOrIOp, x, self._builder.constant(Dtype.bool, True))

    # Kinds of three operands

    def op3(
        self, kind: Kind3, first: Dtype, dtype: Dtype, x: SSAValue, y: SSAValue, z: SSAValue
    ) -> SSAValue:
        """A kind of three operands, the first of dtype `first` and the others of `dtype`."""
        match kind:
            case Ternary.WHERE:
                return self.select(self.op1(Move.CAST, first, Dtype.bool, x), y, z)
            case Ternary.FMA:
                return self._call(function3(kind, dtype), dtype, x, y, z)


_WORDS = frozenset({Dtype.int32, Dtype.int64})
_ARITH = frozenset({Dtype.bool, Dtype.float32, Dtype.float64, *_WORDS})
"""The dtypes of which some kinds are ops of arith."""

_FLOAT_PREDICATES = {
    Compare.EQUAL: "oeq",
    Compare.NOT_EQUAL: "une",
    Compare.LESS: "olt",
    Compare.LESS_EQUAL: "ole",
}
_INTEGER_PREDICATES = {
    Compare.EQUAL: "eq",
    Compare.NOT_EQUAL: "ne",
    Compare.LESS: "slt",
    Compare.LESS_EQUAL: "sle",
}
_FLOAT_OPS: dict[Binary, Callable[..., Operation]] = {
    Binary.ADD: arith.AddfOp,
    Binary.SUB: arith.SubfOp,
    Binary.MUL: arith.MulfOp,
    Binary.FDIV: arith.DivfOp,
}
_BITWISE_OPS: dict[Binary, Callable[..., Operation]] = {
    Binary.AND: arith.AndIOp,
    Binary.OR: arith.OrIOp,
    Binary.XOR: arith.XOrIOp,
}
_INTEGER_OPS: dict[Binary, Callable[..., Operation]] = {
    Binary.ADD: arith.AddiOp,
    Binary.SUB: arith.SubiOp,
    Binary.MUL: arith.MuliOp,
    **_BITWISE_OPS,
}
_OPS: dict[Dtype, dict[Binary, Callable[..., Operation]]] = {
    Dtype.bool: {Binary.MAXIMUM: arith.OrIOp, Binary.MINIMUM: arith.AndIOp, **_BITWISE_OPS},
    Dtype.int32: _INTEGER_OPS,
    Dtype.int64: _INTEGER_OPS,
    Dtype.float32: {
        Binary.MAXIMUM: arith.MaximumfOp,
        Binary.MINIMUM: arith.MinimumfOp,
        **_FLOAT_OPS,
    },
    Dtype.float64: _FLOAT_OPS,
}
