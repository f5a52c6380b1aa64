"""What the arithmetic and the order of complex numbers compute, with numpy, on pairs of parts."""

from __future__ import annotations

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


def fdiv(z: Array, w: Array) -> Array:
    """Smith's algorithm: the divisor's larger part divides its smaller one.

    Operands whose products could be inexact or whose sums could overflow are scaled, and the
    quotient back.
    """
    (a, b), (c, d) = parts(z), parts(w)
    limits = np.finfo(a.dtype)
    one, quarter, lift = (np.asarray(x, a.dtype) for x in (1, 0.25, 4 / limits.eps))
    larger_z, larger_w = np.maximum(np.abs(a), np.abs(b)), np.maximum(np.abs(c), np.abs(d))
    small_z = larger_z < 2 * limits.smallest_normal / limits.eps
    large_z, large_w = larger_z > limits.max / 2, larger_w > limits.max / 2
    scale_w = np.where(large_w, quarter, one)
    scale_z = np.where(small_z, lift, np.where(large_z | large_w, quarter, one))
    quotient = _smith(a * scale_z, b * scale_z, c * scale_w, d * scale_w)
    real, imaginary = (np.asarray(x * (scale_w / scale_z)) for x in quotient)
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
    """z / |z|, and z at 0. An infinite part is taken for 1, and a finite one beside it for 0."""
    x, y = (part.astype(np.longdouble) for part in parts(z))
    infinite = np.isinf(x) | np.isinf(y)
    x, y = (np.where(infinite, _direction(part), part) for part in (x, y))
    modulus = np.hypot(x, y)
    unit = of_parts(np.asarray(x / modulus), np.asarray(y / modulus)).astype(z.dtype)
    return np.where(modulus == 0, z, unit)


def _direction(x: Array) -> Array:
    """1 or -1 for an infinity, a zero of its sign for a number, and a NaN for a NaN."""
    return np.where(np.isinf(x), np.copysign(np.longdouble(1), x), x * np.longdouble(0))


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
