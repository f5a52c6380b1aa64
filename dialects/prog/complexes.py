"""What the arithmetic and the order of complex numbers compute, with numpy, on pairs of parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import floats
from .carriers import Array, of_parts, parts
from .fma import fma


def is_nan(z: Array) -> Array:
    """Whether either part is a NaN."""
    real, imaginary = parts(z)
    return np.isnan(real) | np.isnan(imaginary)


def neg(z: Array) -> Array:
    """Each part's sign bit flipped."""
    real, imaginary = parts(z)
    return of_parts(np.negative(real), np.negative(imaginary))


def add(z: Array, w: Array) -> Array:
    """Part by part."""
    (a, b), (c, d) = parts(z), parts(w)
    return of_parts(np.asarray(a + c), np.asarray(b + d))


def sub(z: Array, w: Array) -> Array:
    """Part by part."""
    (a, b), (c, d) = parts(z), parts(w)
    return of_parts(np.asarray(a - c), np.asarray(b - d))


def mul(z: Array, w: Array) -> Array:
    """The textbook product, each part one fused multiply-add over the other product."""
    (a, b), (c, d) = parts(z), parts(w)
    real = fma(a, c, np.asarray(-(b * d)))
    imaginary = fma(a, d, np.asarray(b * c))
    return _all_nan(is_nan(z) | is_nan(w), real, imaginary)


def _all_nan(where: Array, real: Array, imaginary: Array) -> Array:
    """These parts, both NaN at `where`."""
    nan = real.dtype.type(np.nan)
    return of_parts(np.where(where, nan, real), np.where(where, nan, imaginary))


_LIFTS: dict[np.dtype[Any], int] = {np.dtype(np.float32): 25, np.dtype(np.float64): 54}
"""The power of two that lifts a small dividend, by the dtype of its parts."""


def fdiv(z: Array, w: Array) -> Array:
    """Smith's algorithm: the divisor's larger part divides its smaller one.

    Operands are scaled where a sum of their parts would overflow, or the parts of the
    dividend are too small for their products to be exact, and the quotient is scaled back.
    """
    (a, b), (c, d) = parts(z), parts(w)
    limits = np.finfo(a.dtype)
    dividend, divisor = np.maximum(np.abs(a), np.abs(b)), np.maximum(np.abs(c), np.abs(d))
    small = dividend < limits.smallest_normal / (limits.eps / 2)
    lowered, lowered_divisor = (-2 * (x > limits.max / 2) for x in (dividend, divisor))
    power = np.where(small, _LIFTS[a.dtype], lowered)
    quotient = _smith(
        np.ldexp(a, power),
        np.ldexp(b, power),
        np.ldexp(c, lowered_divisor),
        np.ldexp(d, lowered_divisor),
    )
    real, imaginary = (np.ldexp(x, lowered_divisor - power) for x in quotient)
    return _all_nan(is_nan(z) | is_nan(w), real, imaginary)


def _smith(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    """(a + b i) / (c + d i)."""
    large = np.abs(c) >= np.abs(d)
    p, q = np.where(large, c, d), np.where(large, d, c)
    x, y = np.where(large, a, b), np.where(large, b, a)
    ratio = q / p
    divisor = fma(ratio, q, p)
    real = fma(ratio, y, x) / divisor
    imaginary = np.where(large, fma(-ratio, x, y), fma(ratio, x, np.negative(y))) / divisor
    return real, imaginary


def recip(z: Array) -> Array:
    """(1 + 0i) / z."""
    return fdiv(np.asarray(1, z.dtype), z)


def sign(z: Array) -> Array:
    """z / |z|, and z at 0."""
    real, imaginary = parts(z)
    x, y = real.astype(np.longdouble), imaginary.astype(np.longdouble)
    modulus = np.hypot(x, y)
    zero = modulus == 0
    part = real.dtype
    return of_parts(
        np.where(zero, real, np.asarray(x / modulus).astype(part)),
        np.where(zero, imaginary, np.asarray(y / modulus).astype(part)),
    )


def equal(z: Array, w: Array) -> Array:
    """Both parts are equal."""
    (a, b), (c, d) = parts(z), parts(w)
    return (a == c) & (b == d)


def not_equal(z: Array, w: Array) -> Array:
    """Some part differs, or is a NaN."""
    return ~equal(z, w)


def less(z: Array, w: Array) -> Array:
    """By real part, then by imaginary part; false with a NaN."""
    (a, b), (c, d) = parts(z), parts(w)
    below = (a < c) | ((a == c) & (b < d))
    return below & ~is_nan(z) & ~is_nan(w)


def less_equal(z: Array, w: Array) -> Array:
    """By real part, then by imaginary part; false with a NaN."""
    (a, b), (c, d) = parts(z), parts(w)
    below = (a < c) | ((a == c) & (b <= d))
    return below & ~is_nan(z) & ~is_nan(w)


def maximum(z: Array, w: Array) -> Array:
    """The first NaN, or the last in the order, where -0 is below +0."""
    return _first_nan(z, w, np.where(_precedes(z, w), w, z))


def minimum(z: Array, w: Array) -> Array:
    """The first NaN, or the first in the order, where -0 is below +0."""
    return _first_nan(z, w, np.where(_precedes(w, z), w, z))


def _precedes(z: Array, w: Array) -> Array:
    (a, b), (c, d) = parts(z), parts(w)
    same = (a == c) & ~floats.precedes(a, c) & ~floats.precedes(c, a)
    return floats.precedes(a, c) | (same & floats.precedes(b, d))


def _first_nan(z: Array, w: Array, other: Array) -> Array:
    return np.where(is_nan(z), z, np.where(is_nan(w), w, other))
