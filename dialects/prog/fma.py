"""Products plus a third operand, rounded once, with numpy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import cast

import numpy as np

from .carriers import Array, round_float
from .dtypes import Dtype


def fma(x: Array, y: Array, z: Array) -> Array:
    """x * y + z of float64s, or of float32s, rounded once."""
    if x.dtype == np.float64:
        return _fma_f64(*np.broadcast_arrays(x, y, z))
    return _odd_sum(x, y, z).astype(np.float32)


def fma_narrow(dtype: Dtype, x: Array, y: Array, z: Array) -> Array:
    """x * y + z of float32s that hold elements of a narrower dtype, rounded once to it."""
    return round_float(dtype, _odd_sum(x, y, z))


def _odd_sum(x: Array, y: Array, z: Array) -> Array:
    """x * y + z of float32s, in float64 and to odd, so that rounding it again rounds once."""
    product = x.astype(np.float64) * y.astype(np.float64)
    return _add_to_odd(product, z.astype(np.float64))


def _two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """The rounded sum, and its error (Knuth)."""
    total = x + y
    other = total - x
    return total, (x - (total - other)) + (y - other)


def _add_to_odd(x: Array, y: Array) -> Array:
    """The sum of float64s; an inexact one is the neighbour whose last bit is set."""
    total, error = map(np.asarray, _two_sum(x, y))
    code = total.view(np.int64)
    inexact = np.isfinite(total) & (error != 0) & (code & 1 == 0)
    step = np.where((error > 0) == (total > 0), 1, -1)
    return np.asarray(np.where(inexact, code + step, code)).view(np.float64)


def _two_product(x: Array, y: Array) -> tuple[Array, Array]:
    """The rounded product, and its error (Dekker)."""
    product = x * y
    (x_high, x_low), (y_high, y_low) = _halves(x), _halves(y)
    error = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    return product, error


def _halves(x: Array) -> tuple[Array, Array]:
    scaled = x * 134217729.0  # 2^27 + 1
    high = scaled - (scaled - x)
    return high, x - high


_LEAST, _GREATEST = 2.0**-400, 2.0**400
"""Between these no step below underflows or overflows."""


def _fma_f64(x: Array, y: Array, z: Array) -> Array:
    """Boldo and Melquiond's algorithm, and exact fractions at the extremes."""
    high, low = _two_product(x, y)
    low_sum, low_error = _two_sum(z, low)
    total, error = _two_sum(high, low_sum)
    result = np.asarray(total + _add_to_odd(np.asarray(low_error), np.asarray(error)))
    # With a factor or operand that isn't finite, or no product, no rounding is doubled.
    finite = np.isfinite(x) & np.isfinite(y)
    plain = ~finite | ~np.isfinite(z) | (x == 0) | (y == 0)
    # A finite product does not weigh against infinity, though it may overflow here.
    product = np.where(finite & np.isinf(z), z, x * y)
    moderate = _moderate(x) & _moderate(y) & (_moderate(z) | (z == 0))
    result = np.asarray(np.where(plain, product + z, result))
    extreme = ~plain & ~moderate
    if extreme.any():
        rows = zip(x[extreme].tolist(), y[extreme].tolist(), z[extreme].tolist(), strict=True)
        result[extreme] = [_exact(*cast("tuple[float, float, float]", row)) for row in rows]
    return result


def _moderate(x: Array) -> Array:
    return (np.abs(x) >= _LEAST) & (np.abs(x) <= _GREATEST)


def _exact(x: float, y: float, z: float) -> float:
    """The float64 nearest to x * y + z."""
    total = Fraction(x) * Fraction(y) + Fraction(z)
    try:
        return total.numerator / total.denominator
    except OverflowError:
        return math.inf if total > 0 else -math.inf
