"""Exact values of functions by mpmath, and how far from them a result is."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import prog_reference as reference
from mpmath import mp, mpc, mpf

from dialects.prog import Binary, Dtype, Unary

mp.prec = 400
LN2 = mp.log(2)

FUNCTIONS: dict[Unary, Callable[[object], object]] = {
    Unary.SQRT: mp.sqrt,
    Unary.EXP: mp.exp,
    Unary.EXP2: lambda x: mp.exp(x * LN2),
    Unary.LOG: mp.log,
    Unary.LOG2: lambda x: mp.log(x) / LN2,
    Unary.LOG1P: mp.log1p,
    Unary.EXPM1: mp.expm1,
    Unary.SIN: mp.sin,
    Unary.COS: mp.cos,
    Unary.TAN: mp.tan,
    Unary.ASIN: mp.asin,
    Unary.ACOS: mp.acos,
    Unary.ATAN: mp.atan,
    Unary.SINH: mp.sinh,
    Unary.COSH: mp.cosh,
    Unary.TANH: mp.tanh,
    Unary.ASINH: mp.asinh,
    Unary.ACOSH: mp.acosh,
    Unary.ATANH: mp.atanh,
    Unary.ERF: mp.erf,
}
_FUNCTIONS2 = {Binary.POW: lambda x, y: mp.power(x, y), Binary.ATAN2: mp.atan2}

_TINY, _HUGE = mpf(2) ** -1200, mpf(2) ** 1200


def exact(kind: Unary | Binary, *operands: float) -> float | Fraction:
    """The value of a float kind; NaN where it is not real, and no larger than it has to be."""
    function = FUNCTIONS[kind] if isinstance(kind, Unary) else _FUNCTIONS2[kind]
    value = function(*map(mpf, operands))
    if isinstance(value, mpc):
        return math.nan
    if abs(value) > _HUGE or not mp.isfinite(value):
        return math.copysign(math.inf, value)
    if value == 0:
        return 0.0
    if abs(value) < _TINY:
        value = _TINY * mp.sign(value)
    mantissa, exponent = abs(value).man_exp
    return Fraction(mantissa) * Fraction(2) ** exponent * (1 if value > 0 else -1)


def rank(dtype: Dtype, x: float) -> int:
    """The place of `x` in the order of the floats of a dtype."""
    (word,) = reference.array_words(dtype, [x])
    sign = 1 << (reference.WIDTHS[dtype] - 1)
    return word if word < sign else sign - 1 - word


def ranks(dtype: Dtype, actual: float, value: float | Fraction) -> int:
    """The distance of a result from the correctly rounded one."""
    expected = reference.rounded(dtype, value)
    if math.isnan(actual) or math.isnan(expected):
        return 0 if math.isnan(actual) and math.isnan(expected) else 1 << 64
    return abs(rank(dtype, actual) - rank(dtype, expected))


def units(dtype: Dtype, actual: complex, value: object) -> float:
    """The normwise error of a complex result in unit roundoffs of its parts."""
    unit = 2.0 ** -reference.FLOATS[reference.COMPLEX[dtype]].digits
    return float(abs(mpc(actual) - value) / abs(value) / unit)


def random_floats(dtype: Dtype, count: int, seed: int) -> np.ndarray:
    """Finite floats of all exponents, half of them moderate."""
    generator = np.random.default_rng(seed)
    limit = {Dtype.float32: 126, Dtype.float64: 1022}[dtype]
    exponents = generator.integers(-limit, limit, count)
    exponents[::2] = generator.integers(-12, 12, len(exponents[::2]))
    values = np.ldexp(generator.uniform(1, 2, count), exponents)
    return (values * generator.choice([-1.0, 1.0], count)).astype(reference.NUMPY[dtype])
