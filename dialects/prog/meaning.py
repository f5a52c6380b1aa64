"""What each kind computes, with numpy: the tables of the kinds' meaning.

Imported when a program is first run, because numpy is slow to import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from . import complexes, floats, integers, principal
from .carriers import Array, loaded, stored
from .casts import bitcast, cast
from .dtypes import BOOLEANS, COMPLEX, FLOATS, Dtype, width
from .fma import fma, fma_narrow
from .kinds import Binary, Compare, Kind1, Kind2, Kind3, Move, Ternary, Unary
from .principal import Symmetry, swapping

Table: TypeAlias = dict[Unary | Binary | Compare | Ternary, Callable[..., Array]]

_COMPARISONS: Table = {
    Compare.EQUAL: np.equal,
    Compare.NOT_EQUAL: np.not_equal,
    Compare.LESS: np.less,
    Compare.LESS_EQUAL: np.less_equal,
}

_BITWISE: Table = {
    Binary.AND: np.bitwise_and,
    Binary.OR: np.bitwise_or,
    Binary.XOR: np.bitwise_xor,
}

_BOOLEAN: Table = {
    **_COMPARISONS,
    **_BITWISE,
    Binary.MAXIMUM: np.bitwise_or,
    Binary.MINIMUM: np.bitwise_and,
}

_INTEGER: Table = {
    **_COMPARISONS,
    **_BITWISE,
    Unary.NEG: np.negative,
    Unary.RECIP: integers.recip,
    Unary.ABS: np.abs,
    Unary.SIGN: np.sign,
    Unary.FLOOR: np.asarray,
    Unary.CEIL: np.asarray,
    Unary.ROUND: np.asarray,
    Unary.TRUNC: np.asarray,
    Binary.ADD: np.add,
    Binary.SUB: np.subtract,
    Binary.MUL: np.multiply,
    Binary.IDIV: integers.idiv,
    Binary.MOD: integers.mod,
    Binary.POW: integers.pow,
    Binary.MAXIMUM: np.maximum,
    Binary.MINIMUM: np.minimum,
    Binary.THREEFRY: integers.threefry,
    Ternary.FMA: integers.fma,
}

_FLOAT: Table = {
    **_COMPARISONS,
    Unary.RECIP: floats.recip,
    Unary.SIGN: np.sign,
    Unary.SQRT: np.sqrt,
    Unary.EXP: floats.wide(np.exp),
    Unary.EXP2: floats.wide(np.exp2),
    Unary.LOG: floats.wide(np.log),
    Unary.LOG2: floats.wide(np.log2),
    Unary.LOG1P: floats.wide(np.log1p),
    Unary.EXPM1: floats.wide(np.expm1),
    Unary.SIN: floats.wide(np.sin),
    Unary.COS: floats.wide(np.cos),
    Unary.TAN: floats.wide(np.tan),
    Unary.ASIN: floats.wide(np.arcsin),
    Unary.ACOS: floats.wide(np.arccos),
    Unary.ATAN: floats.wide(np.arctan),
    Unary.SINH: floats.wide(np.sinh),
    Unary.COSH: floats.wide(np.cosh),
    Unary.TANH: floats.wide(np.tanh),
    Unary.ERF: floats.erf,
    Unary.FLOOR: np.floor,
    Unary.CEIL: np.ceil,
    Unary.ROUND: floats.round,
    Unary.TRUNC: np.trunc,
    Binary.ADD: np.add,
    Binary.SUB: np.subtract,
    Binary.MUL: np.multiply,
    Binary.FDIV: np.divide,
    Binary.MOD: np.fmod,
    Binary.POW: floats.pow,
    Binary.ATAN2: floats.wide(np.arctan2),
    Binary.MAXIMUM: floats.maximum,
    Binary.MINIMUM: floats.minimum,
    Ternary.FMA: fma,
}

_ON_CODES = {Unary.NEG: floats.neg, Unary.ABS: floats.abs}
"""The kinds of floats that keep a NaN's payload, functions of the dtype and its elements."""


def _principal(kind: Unary, function: principal.Function, symmetry: Symmetry) -> Table:
    return {kind: principal.principal(function, symmetry, _FLOAT.get(kind))}


_COMPLEX: Table = {
    Unary.NEG: complexes.neg,
    Unary.RECIP: complexes.recip,
    Unary.SIGN: complexes.sign,
    **_principal(Unary.SQRT, np.sqrt, Symmetry.CONJUGATE),
    **_principal(Unary.EXP, np.exp, Symmetry.CONJUGATE),
    **_principal(Unary.EXP2, principal.exp2, Symmetry.CONJUGATE),
    **_principal(Unary.LOG, np.log, Symmetry.CONJUGATE),
    **_principal(Unary.LOG2, principal.log2, Symmetry.CONJUGATE),
    **_principal(Unary.SIN, swapping(np.sinh), Symmetry.ODD),
    **_principal(Unary.COS, principal.cos, Symmetry.EVEN),
    **_principal(Unary.TAN, swapping(np.tanh), Symmetry.ODD),
    **_principal(Unary.ASIN, swapping(np.arcsinh), Symmetry.ODD),
    **_principal(Unary.ACOS, np.arccos, Symmetry.CONJUGATE),
    **_principal(Unary.ATAN, swapping(np.arctanh), Symmetry.ODD),
    **_principal(Unary.SINH, np.sinh, Symmetry.ODD),
    **_principal(Unary.COSH, np.cosh, Symmetry.EVEN),
    **_principal(Unary.TANH, np.tanh, Symmetry.ODD),
    **_principal(Unary.ASINH, np.arcsinh, Symmetry.ODD),
    **_principal(Unary.ACOSH, np.arccosh, Symmetry.CONJUGATE),
    **_principal(Unary.ATANH, np.arctanh, Symmetry.ODD),
    Binary.ADD: complexes.add,
    Binary.SUB: complexes.sub,
    Binary.MUL: complexes.mul,
    Binary.FDIV: complexes.fdiv,
    Binary.POW: principal.pow,
    Binary.MAXIMUM: complexes.maximum,
    Binary.MINIMUM: complexes.minimum,
    Compare.EQUAL: complexes.equal,
    Compare.NOT_EQUAL: complexes.not_equal,
    Compare.LESS: complexes.less,
    Compare.LESS_EQUAL: complexes.less_equal,
}


def _table(dtype: Dtype) -> Table:
    """Kind to function of `loaded` operands of a dtype of this class."""
    if dtype in FLOATS:
        return _FLOAT
    if dtype in COMPLEX:
        return _COMPLEX
    return _BOOLEAN if dtype in BOOLEANS else _INTEGER


def apply1(kind: Kind1, source: Dtype, target: Dtype, x: Array) -> Array:
    """`kind` of elements of `source`, into `target`."""
    match kind:
        case Move.COPY:
            return x
        case Move.CAST:
            return cast(source, target, x)
        case Move.BITCAST:
            return bitcast(source, target, x)
        case Unary.NEG | Unary.ABS if source in FLOATS:
            return _ON_CODES[kind](source, x)
        case Unary():
            return stored(target, np.asarray(_table(source)[kind](loaded(source, x))))


def apply2(kind: Kind2, dtype: Dtype, x: Array, y: Array) -> Array:
    """`kind` of elements of `dtype`."""
    result = np.asarray(_table(dtype)[kind](loaded(dtype, x), loaded(dtype, y)))
    return result if isinstance(kind, Compare) else stored(dtype, result)


def apply3(kind: Kind3, first: Dtype, dtype: Dtype, x: Array, y: Array, z: Array) -> Array:
    """`kind` of elements of `first`, and twice of `dtype`."""
    match kind:
        case Ternary.WHERE:
            return np.where(loaded(first, x), y, z)
        case Ternary.FMA:
            operands = [loaded(dtype, operand) for operand in (x, y, z)]
            if dtype in FLOATS and width(dtype) < 32:
                return fma_narrow(dtype, *operands)
            return stored(dtype, np.asarray(_table(dtype)[kind](*operands)))
