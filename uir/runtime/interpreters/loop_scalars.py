"""The meaning of `arith` on scalars, exact to the bit.

Values: an element of a dtype is a numpy scalar of it, index a Python `int`.
What has no result (a zero divisor, a quotient, conversion or index out of range) is an
InterpretationError.
"""

import math
import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith, complex
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError
from xdsl.utils.hints import isa

from dialects.prog import Dtype, bits, dtype_of, type_of
from dialects.prog.carriers import numpy_dtype
from dialects.prog.casts import bitcast

Scalar: TypeAlias = "np.generic | int"

ELEMENTS: dict[Attribute, np.dtype[Any]] = {type_of(d): numpy_dtype(d) for d in Dtype}
"""The numpy dtypes of scalars and of elements in memory."""

_INTEGER_WIDTHS: dict[Attribute, int] = {
    i1: 1,
    IntegerType(4): 4,
    i8: 8,
    i16: 16,
    i32: 32,
    i64: 64,
    IndexType(): 64,
}


def integer(value: int, type_: Attribute) -> Scalar:
    """The value of `type_` that is `value` modulo the width of the type."""
    if type_ == i1:
        return np.bool_(value & 1)
    width = _INTEGER_WIDTHS[type_]
    wrapped = (value + (1 << width - 1)) % (1 << width) - (1 << width - 1)
    if isinstance(type_, IndexType):
        if wrapped != value:
            raise InterpretationError(f"index {value} is beyond 64 bits")
        return value
    return ELEMENTS[type_].type(wrapped)


def _unsigned(value: Scalar, type_: Attribute) -> int:
    return int(value) % (1 << _INTEGER_WIDTHS[type_])


def _signed(value: Scalar, type_: Attribute) -> int:
    """The number that the bits of `value` are in two's complement; for a true i1, -1."""
    return -int(value) if type_ == i1 else int(value)


def _quotient(lhs: int, rhs: int) -> int:
    """The quotient, rounded towards zero."""
    magnitude = abs(lhs) // abs(rhs)
    return magnitude if (lhs < 0) == (rhs < 0) else -magnitude


def _maximum(a: np.float32, b: np.float32) -> np.float32:
    """IEEE 754-2019 maximum: NaN wins, and -0 < +0."""
    if np.isnan(a) or np.isnan(b):
        return a if np.isnan(a) else b
    if a == b:
        return b if np.signbit(a) else a
    return a if a > b else b


def _minimum(a: np.float32, b: np.float32) -> np.float32:
    return -_maximum(-a, -b)


# The relations of two floats, and those for which each predicate of `arith.cmpf` holds.
_EQUAL, _GREATER, _LESS, _UNORDERED = 1, 2, 4, 8
_FLOAT_PREDICATES = {
    "false": 0,
    "oeq": _EQUAL,
    "ogt": _GREATER,
    "oge": _GREATER | _EQUAL,
    "olt": _LESS,
    "ole": _LESS | _EQUAL,
    "one": _LESS | _GREATER,
    "ord": _LESS | _GREATER | _EQUAL,
    "ueq": _UNORDERED | _EQUAL,
    "ugt": _UNORDERED | _GREATER,
    "uge": _UNORDERED | _GREATER | _EQUAL,
    "ult": _UNORDERED | _LESS,
    "ule": _UNORDERED | _LESS | _EQUAL,
    "une": _UNORDERED | _LESS | _GREATER,
    "uno": _UNORDERED,
    "true": _UNORDERED | _LESS | _GREATER | _EQUAL,
}
_INTEGER_PREDICATES: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _relation(a: np.float32, b: np.float32) -> int:
    if np.isnan(a) or np.isnan(b):
        return _UNORDERED
    return _EQUAL if a == b else _GREATER if a > b else _LESS


Run: TypeAlias = Callable[
    [InterpreterFunctions, Interpreter, Operation, PythonValues], PythonValues
]


def _on_floats(function: Callable[..., np.float32]) -> Run:
    """An implementation by numpy, which rounds every operation once."""

    def run(
        self: InterpreterFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        with np.errstate(all="ignore"):
            return (function(*args),)

    return run


def _on_integers(function: Callable[[int, int], int]) -> Run:
    """An implementation on exact integers, which wraps the result."""

    def run(
        self: InterpreterFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        lhs, rhs = args
        return (integer(function(int(lhs), int(rhs)), op.results[0].type),)

    return run


def _on_quotients(function: Callable[[int, int], int]) -> Run:
    """An implementation of a division, which has no result for some operands."""

    def run(
        self: InterpreterFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        lhs, rhs = (int(arg) for arg in args)
        type_ = op.results[0].type
        if rhs == 0:
            raise InterpretationError(f"{lhs} is divided by zero")
        if rhs == -1 and lhs == -(1 << _INTEGER_WIDTHS[type_] - 1):
            raise InterpretationError(f"the quotient of {lhs} and {rhs} is out of range")
        return (integer(function(lhs, rhs), type_),)

    return run


def _on_unsigned_quotients(function: Callable[[int, int], int]) -> Run:
    """An implementation of a division of the operands' bits, which has no result by zero."""

    def run(
        self: InterpreterFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        type_ = op.results[0].type
        lhs, rhs = (_unsigned(arg, type_) for arg in args)
        if rhs == 0:
            raise InterpretationError(f"{lhs} is divided by zero")
        return (integer(function(lhs, rhs), type_),)

    return run


def _extend(number: Callable[[Scalar, Attribute], int]) -> Run:
    """An implementation of a conversion between integers; `number` reads the operand's bits."""

    def run(
        self: InterpreterFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        return (integer(number(args[0], op.operands[0].type), op.results[0].type),)

    return run


def _to_float(number: Callable[[Scalar, Attribute], int]) -> Run:
    """An implementation of a conversion to a float; `number` reads the operand's bits."""

    def run(
        self: InterpreterFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        # Not np.float32(int), which goes through a double and rounds twice.
        integer = np.int64(number(args[0], op.operands[0].type))
        return (integer.astype(ELEMENTS[op.results[0].type]),)

    return run


def _convert_float(
    self: InterpreterFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    """A conversion between floats, which rounds."""
    with np.errstate(all="ignore"):
        return (args[0].astype(ELEMENTS[op.results[0].type]),)


@register_impls
class ScalarFunctions(InterpreterFunctions):
    """Arithmetic on scalars."""

    run_addf = impl(arith.AddfOp)(_on_floats(np.add))
    run_subf = impl(arith.SubfOp)(_on_floats(np.subtract))
    run_mulf = impl(arith.MulfOp)(_on_floats(np.multiply))
    run_divf = impl(arith.DivfOp)(_on_floats(np.divide))
    run_negf = impl(arith.NegfOp)(_on_floats(np.negative))
    run_maximumf = impl(arith.MaximumfOp)(_on_floats(_maximum))
    run_minimumf = impl(arith.MinimumfOp)(_on_floats(_minimum))
    run_addi = impl(arith.AddiOp)(_on_integers(int.__add__))
    run_subi = impl(arith.SubiOp)(_on_integers(int.__sub__))
    run_muli = impl(arith.MuliOp)(_on_integers(int.__mul__))
    run_andi = impl(arith.AndIOp)(_on_integers(int.__and__))
    run_ori = impl(arith.OrIOp)(_on_integers(int.__or__))
    run_xori = impl(arith.XOrIOp)(_on_integers(int.__xor__))
    run_divsi = impl(arith.DivSIOp)(_on_quotients(_quotient))
    run_remsi = impl(arith.RemSIOp)(_on_quotients(lambda a, b: a - b * _quotient(a, b)))
    run_floordivsi = impl(arith.FloorDivSIOp)(_on_quotients(int.__floordiv__))
    run_divui = impl(arith.DivUIOp)(_on_unsigned_quotients(int.__floordiv__))
    run_remui = impl(arith.RemUIOp)(_on_unsigned_quotients(int.__mod__))
    run_index_cast = impl(arith.IndexCastOp)(_extend(_signed))
    run_extsi = impl(arith.ExtSIOp)(_extend(_signed))
    run_extui = impl(arith.ExtUIOp)(_extend(_unsigned))
    run_trunci = impl(arith.TruncIOp)(_extend(_signed))
    run_sitofp = impl(arith.SIToFPOp)(_to_float(_signed))
    run_uitofp = impl(arith.UIToFPOp)(_to_float(_unsigned))
    run_extf = impl(arith.ExtFOp)(_convert_float)
    run_truncf = impl(arith.TruncFOp)(_convert_float)

    @impl(arith.ConstantOp)
    def run_constant(
        self, interpreter: Interpreter, op: arith.ConstantOp, args: PythonValues
    ) -> PythonValues:
        if isa(op.value, FloatAttr) and op.value.type in ELEMENTS:
            element = bits(dtype_of(op.value.type), op.value.value.data)
            return (np.frombuffer(element, ELEMENTS[op.value.type])[0],)
        if isa(op.value, IntegerAttr) and op.value.type in _INTEGER_WIDTHS:
            return (integer(op.value.value.data, op.value.type),)
        raise InterpretationError(f"the constant {op.value} has no value at the loop level")

    @impl(arith.CmpiOp)
    def run_cmpi(
        self, interpreter: Interpreter, op: arith.CmpiOp, args: PythonValues
    ) -> PythonValues:
        predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
        number = _unsigned if predicate.startswith("u") else _signed
        lhs, rhs = (number(arg, op.lhs.type) for arg in args)
        relation = predicate if predicate in ("eq", "ne") else predicate[1:]
        return (np.bool_(_INTEGER_PREDICATES[relation](lhs, rhs)),)

    @impl(arith.CmpfOp)
    def run_cmpf(
        self, interpreter: Interpreter, op: arith.CmpfOp, args: PythonValues
    ) -> PythonValues:
        predicate = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
        return (np.bool_(_FLOAT_PREDICATES[predicate] & _relation(*args)),)

    @impl(arith.SelectOp)
    def run_select(
        self, interpreter: Interpreter, op: arith.SelectOp, args: PythonValues
    ) -> PythonValues:
        condition, then, otherwise = args
        return (then if condition else otherwise,)

    @impl(arith.FPToSIOp)
    def run_fptosi(
        self, interpreter: Interpreter, op: arith.FPToSIOp, args: PythonValues
    ) -> PythonValues:
        value = float(args[0])
        half = 1 << _INTEGER_WIDTHS[op.result.type] - 1
        if not math.isfinite(value) or not -half <= math.trunc(value) < half:
            raise InterpretationError(f"{value} is out of range of {op.result.type}")
        return (integer(math.trunc(value), op.result.type),)

    @impl(arith.BitcastOp)
    def run_bitcast(
        self, interpreter: Interpreter, op: arith.BitcastOp, args: PythonValues
    ) -> PythonValues:
        source, target = op.input.type, op.result.type
        result = bitcast(dtype_of(source), dtype_of(target), np.array(args, ELEMENTS[source]))
        return (result[0],)

    @impl(complex.CreateOp)
    def run_create(
        self, interpreter: Interpreter, op: complex.CreateOp, args: PythonValues
    ) -> PythonValues:
        return (np.array(args).view(ELEMENTS[op.complex.type])[0],)
