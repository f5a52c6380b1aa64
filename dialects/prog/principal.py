"""The principal values of functions of complex numbers, with numpy's long double ones.

Each is computed on a folded operand, without signs that its symmetries give back, so that
f(conj z) = conj f(z) and the parity hold bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cache

import numpy as np

from . import floats
from .carriers import Array, of_parts, parts


class Symmetry(Enum):
    """What a function does with the signs of an operand's parts."""

    CONJUGATE = "f(conj z) = conj f(z)"
    ODD = "and f(-z) = -f(z)"
    EVEN = "and f(-z) = f(z)"


Function = Callable[[Array], Array]


def principal(function: Function, symmetry: Symmetry, real_kind: Function | None) -> Function:
    """The kind that `function` computes in long double, of complex64s or complex128s.

    `real_kind` is the float kind, whose results are the real parts on the real axis.
    """

    def kind(z: Array) -> Array:
        x, y = parts(z)
        part = x.dtype
        folded_x = x if symmetry is Symmetry.CONJUGATE else np.copysign(x, part.type(1))
        folded_y = np.copysign(y, part.type(1))
        wide = of_parts(folded_x.astype(np.longdouble), folded_y.astype(np.longdouble))
        real, imaginary = parts(np.asarray(function(wide)))
        real, imaginary = real.astype(part), imaginary.astype(part)
        if real_kind is not None:
            on_axis = np.asarray(real_kind(folded_x))
            real = np.where((y == 0) & (x != 0) & ~np.isnan(on_axis), on_axis, real)
        return _unfolded(symmetry, x, y, real, imaginary)

    return kind


def _unfolded(symmetry: Symmetry, x: Array, y: Array, real: Array, imaginary: Array) -> Array:
    flip_real = np.signbit(x) & (symmetry is Symmetry.ODD)
    flip_imaginary = np.signbit(y) ^ (np.signbit(x) & (symmetry is Symmetry.EVEN))
    return of_parts(
        np.where(flip_real, np.negative(real), real),
        np.where(flip_imaginary, np.negative(imaginary), imaginary),
    )


def _swapped(z: Array) -> Array:
    x, y = parts(z)
    return of_parts(y, x)


def swapping(function: Function) -> Function:
    """f of an odd hyperbolic `function` h: f(x + yi) is h(y + xi) with its parts swapped."""
    return lambda z: _swapped(function(_swapped(z)))


def cos(z: Array) -> Array:
    """cosh(y - xi) of x + yi."""
    real, imaginary = parts(np.cosh(_swapped(z)))
    return of_parts(real, np.negative(imaginary))


def log2(z: Array) -> Array:
    """log z / ln 2, part by part."""
    real, imaginary = parts(np.log(z))
    ln2 = np.log(np.longdouble(2))
    return of_parts(np.asarray(real / ln2), np.asarray(imaginary / ln2))


_GREATEST_POWER = np.longdouble(16000)
"""2 to the powers of this size is past all complex128s, and no long double overflow."""


def exp2(z: Array) -> Array:
    """2^x at the angle y ln 2, which is reduced exactly; y is not negative."""
    x, y = parts(z)
    angle = _angles(y)
    modulus = np.exp2(np.clip(x, -_GREATEST_POWER, _GREATEST_POWER))
    ordinary = of_parts(np.asarray(modulus * np.cos(angle)), np.asarray(modulus * np.sin(angle)))
    special = ~np.isfinite(x) | ~np.isfinite(y)
    return np.where(special, np.exp(of_parts(x, angle)), ordinary)


def _angles(y: Array) -> Array:
    """y ln 2, or where it is large a number as far from a multiple of 2 pi."""
    angle = np.asarray(y * np.log(np.longdouble(2)))
    large = np.isfinite(y) & (y >= 64)
    if large.any():
        angle[large] = [_reduced(number) for number in y[large].astype(np.float64).tolist()]
    return angle


_FRACTION_BITS = 1280
"""Bits after the point of the constants: a float64's exponent, and plenty for the result."""


def _reduced(y: float) -> np.longdouble:
    """y ln 2 less the nearest multiple of 2 pi."""
    ln2, two_pi = _constants()
    numerator, denominator = y.as_integer_ratio()
    product = numerator * ln2 // denominator
    rest = product - (product + two_pi // 2) // two_pi * two_pi
    # Two floats hold more digits than a long double, which has no exact way from an int.
    high = rest / (1 << _FRACTION_BITS)
    top, bottom = high.as_integer_ratio()
    low = (rest - (top << _FRACTION_BITS) // bottom) / (1 << _FRACTION_BITS)
    return np.longdouble(high) + np.longdouble(low)


@cache
def _constants() -> tuple[int, int]:
    """ln 2 and 2 pi, times 2^_FRACTION_BITS, from series with room for their errors."""
    bits = _FRACTION_BITS + 64
    ln2 = 2 * _inverse_series(3, bits, 1)
    pi = 4 * (4 * _inverse_series(5, bits, -1) - _inverse_series(239, bits, -1))
    return ln2 >> 64, pi >> 63


def _inverse_series(x: int, bits: int, sign: int) -> int:
    """The sum of sign^k / ((2k + 1) x^(2k + 1)) in fixed point: artanh 1/x, or arctan 1/x."""
    total, term, k = 0, (1 << bits) // x, 0
    while term:
        total += sign**k * (term // (2 * k + 1))
        term //= x * x
        k += 1
    return total


def pow(z: Array, w: Array) -> Array:
    """exp (w log z), with the float kind's real part at a positive base and a real exponent."""
    (x, y), (u, v) = parts(z), parts(w)
    logarithm = np.log(z.astype(np.clongdouble))
    real, imaginary = parts(np.exp(w.astype(np.clongdouble) * logarithm))
    is_real = (y == 0) & (v == 0) & (x > 0)
    real = np.where(is_real, floats.pow(x, u), real.astype(x.dtype))
    return of_parts(real, imaginary.astype(x.dtype))
