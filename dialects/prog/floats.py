"""What the kinds compute on float32 and float64, with numpy.

A kind that is not exact is computed in long double and rounded once, to the bits of the C
functions of `c/functions.h`: in float32, the correctly rounded result.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache

import numpy as np

from .carriers import Array, numpy_dtype, of_codes, round_float
from .dtypes import FORMATS, Dtype


def wide(function: Callable[..., Array]) -> Callable[..., Array]:
    """`function` in long double, rounded to the dtype of its first operand."""

    def kind(x: Array, *others: Array) -> Array:
        operands = (np.asarray(operand).astype(np.longdouble) for operand in (x, *others))
        return np.asarray(function(*operands)).astype(x.dtype)

    return kind


def neg(dtype: Dtype, x: Array) -> Array:
    """The sign bit flipped, a NaN's too; `x` is of any float dtype."""
    return _of_magnitudes(dtype, _words(x) ^ _sign(dtype))


def abs(dtype: Dtype, x: Array) -> Array:
    """The sign bit cleared, a NaN's too; `x` is of any float dtype."""
    return _of_magnitudes(dtype, _words(x) & ~_sign(dtype))


def _words(x: Array) -> Array:
    return x.view(f"u{x.dtype.itemsize}")


def _sign(dtype: Dtype) -> np.unsignedinteger:
    kind = np.dtype(f"u{numpy_dtype(dtype).itemsize}").type
    return kind(FORMATS[dtype].sign)


def _of_magnitudes(dtype: Dtype, words: Array) -> Array:
    """The elements of these bits, stored: a format that saturates has no infinite results."""
    result = of_codes(dtype, np.asarray(words))
    if not FORMATS[dtype].saturates:
        return result
    values = result.astype(np.float32)
    return np.asarray(np.where(np.isinf(values), round_float(dtype, values), result))


def recip(x: Array) -> Array:
    """1 / x."""
    return np.divide(x.dtype.type(1), x)


def round(x: Array) -> Array:
    """To the nearest integer, half away from zero."""
    whole = np.trunc(x)
    away = np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(x.dtype.type(1), x), whole)
    return np.copysign(np.where(np.isinf(x), x, away), x)


def erf(x: Array) -> Array:
    """The C library's, as numpy has none: of long doubles for float64.

    For float32 that of doubles, which rounds correctly at every operand.
    """
    function = math.erf if x.dtype == np.float32 else _erfl()
    return np.vectorize(function, otypes=[np.float64])(x).astype(x.dtype)


@cache
def _erfl() -> Callable[[float], float]:
    """erf in long double, rounded to a float."""
    erfl = ctypes.CDLL(None).erfl
    erfl.argtypes, erfl.restype = [ctypes.c_longdouble], ctypes.c_longdouble
    return erfl


_power = wide(np.power)


def pow(x: Array, y: Array) -> Array:
    """From 2^53 on every exponent is even, and the base's sign does not count.

    glibc's powl gives infinity for -inf to the power -2^63.
    """
    return _power(np.where(np.abs(y) >= 2.0**53, np.abs(x), x), y)


def precedes(x: Array, y: Array) -> Array:
    """Whether x is below y in the order of floats, where -0 is below +0; no NaNs."""
    zeros = (x == y) & np.signbit(x) & ~np.signbit(y)
    return (x < y) | zeros


def maximum(x: Array, y: Array) -> Array:
    """The first NaN, or the last in the order."""
    chosen = np.where(precedes(x, y), y, x)
    return np.where(np.isnan(x), x, np.where(np.isnan(y), y, chosen))


def minimum(x: Array, y: Array) -> Array:
    """The first NaN, or the first in the order."""
    chosen = np.where(precedes(y, x), y, x)
    return np.where(np.isnan(x), x, np.where(np.isnan(y), y, chosen))
