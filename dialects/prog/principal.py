"""The principal values of functions of complex numbers, with numpy's long double ones.

Each is computed on a folded operand, without signs that its symmetries give back, so that
f(conj z) = conj f(z) and the parity hold bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum

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


_LN2 = np.longdouble("0.6931471805599453094172321214581765680755")
_TWO_PI = np.longdouble("6.2831853071795864769252867665590057684")


def log2(z: Array) -> Array:
    """log z / ln 2, part by part."""
    real, imaginary = parts(np.log(z))
    return of_parts(np.asarray(real / _LN2), np.asarray(imaginary / _LN2))


_GREATEST_POWER = np.longdouble(16000)
"""2 to the powers of this size is past all complex128s, and no long double overflow."""


def exp2(z: Array) -> Array:
    """2^x at the angle y ln 2; y is not negative."""
    x, y = parts(z)
    angle = _angles(y)
    modulus = np.exp2(np.clip(x, -_GREATEST_POWER, _GREATEST_POWER))
    ordinary = of_parts(np.asarray(modulus * np.cos(angle)), np.asarray(modulus * np.sin(angle)))
    return np.where(np.isfinite(x), ordinary, np.exp(of_parts(x, angle)))


def _angles(y: Array) -> Array:
    """y ln 2, or where it is large an angle that differs by a multiple of 2 pi."""
    angle = np.asarray(y * _LN2)
    large = np.isfinite(y) & (y >= 64)
    turns = [_turns(number) for number in y[large].astype(np.float64).tolist()]
    fraction = np.array(turns, np.uint64).astype(np.longdouble) * np.longdouble(2.0**-64)
    angle[large] = fraction * _TWO_PI
    return angle


_LN2_TURNS = int(
    "1c3dc98f7e969bbb2d82160b957fbcf76384efb34752570d875c804ebaa7e3f29dba19bf26d22f92"
    "057d72dbf62fb88440e536cc0835bad48c3fea6ba432f1cd544d633b59f036cf1243456f76468a7d"
    "5a0900abd7a3e708effc572f1c7c17fb7f82ec188aa323d9dcc271169d408a0abab43090d71549ee"
    "dd67cd178b418a3a2c6958e894f98a463a97ff6afab0351e",
    16,
)
"""ln 2 / (2 pi), times 2^1152."""


def _turns(y: float) -> int:
    """The fraction of y ln 2 / (2 pi), in units of 2^-64; y is 1 or more."""
    mantissa, exponent = math.frexp(y)
    # 128 bits of the fraction of 2^(exponent - 53) ln 2 / (2 pi).
    window = (_LN2_TURNS >> (1152 - 128 - (exponent - 53))) % (1 << 128)
    return (int(math.ldexp(mantissa, 53)) * window >> 64) % (1 << 64)


def pow(z: Array, w: Array) -> Array:
    """exp (w log z), with the float kind's real part at a positive base and a real exponent.

    On folded operands, so that it keeps conjugates.
    """
    (x, y), (u, v) = parts(z), parts(w)
    below = np.signbit(y)
    wide_x, wide_y = x.astype(np.longdouble), np.abs(y).astype(np.longdouble)
    wide_u, wide_v = u.astype(np.longdouble), np.where(below, -v, v).astype(np.longdouble)
    log_modulus, angle = parts(np.log(of_parts(wide_x, wide_y)))
    exponent = of_parts(
        np.asarray(wide_u * log_modulus - wide_v * angle),
        np.asarray(wide_u * angle + wide_v * log_modulus),
    )
    real, imaginary = (part.astype(x.dtype) for part in parts(np.exp(exponent)))
    is_real = (y == 0) & (v == 0) & (x > 0)
    real = np.where(is_real, floats.pow(x, u), real)
    return of_parts(real, np.where(below, -imaginary, imaginary))
