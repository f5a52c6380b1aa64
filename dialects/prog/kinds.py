"""The kinds: what a node of a scalar program computes, and the dtypes that each kind takes."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from .dtypes import FLOATS, INTEGERS, Dtype, width


class Unary(Enum):
    """Kinds of one operand, of its dtype."""

    RECIP = "recip"
    __hash__ = object.__hash__


class Binary(Enum):
    """Kinds of two operands of one dtype, of that dtype. Integers wrap."""

    ADD = "add"
    MUL = "mul"
    IDIV = "idiv"
    MOD = "mod"
    MAXIMUM = "maximum"
    MINIMUM = "minimum"
    AND = "and"
    OR = "or"
    XOR = "xor"
    __hash__ = object.__hash__


class Compare(Enum):
    """Comparisons of two operands of one dtype, to booleans."""

    EQUAL = "equal"
    LESS = "less"
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
    __hash__ = object.__hash__


COPY = Move.COPY
CAST = Move.CAST
BITCAST = Move.BITCAST
WHERE = Ternary.WHERE

Kind1: TypeAlias = Move | Unary
Kind2: TypeAlias = Binary | Compare
Kind3: TypeAlias = Ternary

_ALL = frozenset(Dtype)
_NUMBERS = INTEGERS | FLOATS
_BITWISE = INTEGERS | {Dtype.bool}

DOMAINS: dict[Unary | Kind2, frozenset[Dtype]] = {
    Unary.RECIP: _NUMBERS,
    Binary.ADD: _NUMBERS,
    Binary.MUL: _NUMBERS,
    Binary.IDIV: INTEGERS,
    Binary.MOD: _NUMBERS,
    Binary.MAXIMUM: _ALL,
    Binary.MINIMUM: _ALL,
    Binary.AND: _BITWISE,
    Binary.OR: _BITWISE,
    Binary.XOR: _BITWISE,
    Compare.EQUAL: _ALL,
    Compare.LESS: _ALL,
}
"""The dtypes of the operands of each kind that has one operand dtype."""


def accepts1(kind: Kind1, operand: Dtype, result: Dtype) -> bool:
    """Whether `kind` takes an operand of dtype `operand` to a result of dtype `result`."""
    match kind:
        case Move.COPY:
            return operand is result
        case Move.CAST:
            return True
        case Move.BITCAST:
            return width(operand) == width(result)
        case Unary():
            return operand is result and operand in DOMAINS[kind]


def accepts2(kind: Kind2, operand: Dtype) -> bool:
    """Whether `kind` takes two operands of dtype `operand`."""
    return operand in DOMAINS[kind]


def accepts3(kind: Kind3, condition: Dtype, operand: Dtype) -> bool:
    """Whether `kind` takes a first operand of dtype `condition` and two of dtype `operand`."""
    match kind:
        case Ternary.WHERE:
            return condition is Dtype.bool and operand in _ALL
