"""The kinds: what a node of a scalar program computes, and the dtypes that each kind takes."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from .dtypes import BOOLEANS, COMPLEX, FLOATS, INTEGERS, Dtype, width


class Unary(Enum):
    """Kinds of one operand, of its dtype. On integers NEG and ABS wrap."""

    NEG = "neg"
    RECIP = "recip"
    ABS = "abs"
    SIGN = "sign"
    SQRT = "sqrt"
    EXP = "exp"
    EXP2 = "exp2"
    LOG = "log"
    LOG2 = "log2"
    LOG1P = "log1p"
    EXPM1 = "expm1"
    SIN = "sin"
    COS = "cos"
    TAN = "tan"
    ASIN = "asin"
    ACOS = "acos"
    ATAN = "atan"
    SINH = "sinh"
    COSH = "cosh"
    TANH = "tanh"
    ASINH = "asinh"
    ACOSH = "acosh"
    ATANH = "atanh"
    ERF = "erf"
    FLOOR = "floor"
    CEIL = "ceil"
    ROUND = "round"
    TRUNC = "trunc"
    __hash__ = object.__hash__


class Binary(Enum):
    """Kinds of two operands of one dtype, of that dtype. Integers wrap."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    FDIV = "fdiv"
    IDIV = "idiv"
    MOD = "mod"
    POW = "pow"
    ATAN2 = "atan2"
    MAXIMUM = "maximum"
    MINIMUM = "minimum"
    AND = "and"
    OR = "or"
    XOR = "xor"
    THREEFRY = "threefry"
    __hash__ = object.__hash__


class Compare(Enum):
    """Comparisons of two operands of one dtype, to booleans."""

    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    LESS = "less"
    LESS_EQUAL = "less_equal"
    __hash__ = object.__hash__


class Move(Enum):
    """Kinds of one operand that copy or convert it."""

    COPY = "copy"
    CAST = "cast"
    BITCAST = "bitcast"
    __hash__ = object.__hash__


class Ternary(Enum):
    """Kinds of three operands."""

    WHERE = "where"
    FMA = "fma"
    __hash__ = object.__hash__


COPY = Move.COPY
CAST = Move.CAST
BITCAST = Move.BITCAST
WHERE = Ternary.WHERE
FMA = Ternary.FMA

Kind1: TypeAlias = Move | Unary
Kind2: TypeAlias = Binary | Compare
Kind3: TypeAlias = Ternary

_ALL = frozenset(Dtype)
_REAL = INTEGERS | FLOATS
_NUMBERS = _REAL | COMPLEX
_FIELDS = FLOATS | COMPLEX
_BITWISE = INTEGERS | BOOLEANS

DOMAINS: dict[Unary | Kind2, frozenset[Dtype]] = {
    Unary.NEG: _NUMBERS,
    Unary.RECIP: _NUMBERS,
    Unary.ABS: _REAL,
    Unary.SIGN: _NUMBERS,
    Unary.SQRT: _FIELDS,
    Unary.EXP: _FIELDS,
    Unary.EXP2: _FIELDS,
    Unary.LOG: _FIELDS,
    Unary.LOG2: _FIELDS,
    Unary.LOG1P: FLOATS,
    Unary.EXPM1: FLOATS,
    Unary.SIN: _FIELDS,
    Unary.COS: _FIELDS,
    Unary.TAN: _FIELDS,
    Unary.ASIN: _FIELDS,
    Unary.ACOS: _FIELDS,
    Unary.ATAN: _FIELDS,
    Unary.SINH: _FIELDS,
    Unary.COSH: _FIELDS,
    Unary.TANH: _FIELDS,
    Unary.ASINH: COMPLEX,
    Unary.ACOSH: COMPLEX,
    Unary.ATANH: COMPLEX,
    Unary.ERF: FLOATS,
    Unary.FLOOR: _REAL,
    Unary.CEIL: _REAL,
    Unary.ROUND: _REAL,
    Unary.TRUNC: _REAL,
    Binary.ADD: _NUMBERS,
    Binary.SUB: _NUMBERS,
    Binary.MUL: _NUMBERS,
    Binary.FDIV: _FIELDS,
    Binary.IDIV: INTEGERS,
    Binary.MOD: _REAL,
    Binary.POW: _NUMBERS,
    Binary.ATAN2: FLOATS,
    Binary.MAXIMUM: _ALL,
    Binary.MINIMUM: _ALL,
    Binary.AND: _BITWISE,
    Binary.OR: _BITWISE,
    Binary.XOR: _BITWISE,
    Binary.THREEFRY: frozenset({Dtype.uint64}),
    Compare.EQUAL: _ALL,
    Compare.NOT_EQUAL: _ALL,
    Compare.LESS: _ALL,
    Compare.LESS_EQUAL: _ALL,
}
"""The dtypes of the operands of each kind that has one operand dtype."""


_KINDS1, _KINDS2 = frozenset(Unary), frozenset({*Binary, *Compare})


def accepts1(kind: Kind1, operand: Dtype, result: Dtype) -> bool:
    """Whether `kind` takes an operand of dtype `operand` to a result of dtype `result`."""
    match kind:
        case Move.COPY:
            return operand is result
        case Move.CAST:
            return True
        case Move.BITCAST:
            return width(operand) == width(result)
        case kind:
            return kind in _KINDS1 and operand is result and operand in DOMAINS[kind]


def accepts2(kind: Kind2, operand: Dtype) -> bool:
    """Whether `kind` takes two operands of dtype `operand`."""
    return kind in _KINDS2 and operand in DOMAINS[kind]


def accepts3(kind: Kind3, first: Dtype, operand: Dtype) -> bool:
    """Whether `kind` takes a first operand of dtype `first` and two of dtype `operand`."""
    match kind:
        case Ternary.WHERE:
            return first in BOOLEANS
        case Ternary.FMA:
            return first is operand and operand in _REAL
