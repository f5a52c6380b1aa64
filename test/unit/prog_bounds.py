"""Exact values of functions by mpmath, and how far from them a result is."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import prog_reference as reference
from mpmath import mp, mpc, mpf

from dialects.prog import Binary, Dtype, Op1, Op2, Program, Unary, evaluate

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


F64 = Dtype.float64
BOUNDS: dict[Unary | Binary, tuple[int, int]] = {
    **dict.fromkeys((Unary.EXP, Unary.EXP2, Unary.SIN, Unary.COS, Unary.ASIN), (2, 2)),
    **dict.fromkeys((Unary.ACOS, Unary.ATAN, Unary.COSH, Unary.TANH, Unary.ERF), (2, 2)),
    **dict.fromkeys((Unary.EXPM1, Unary.LOG, Unary.LOG2, Unary.LOG1P), (1, 2)),
    **dict.fromkeys((Binary.ATAN2, Unary.SINH), (3, 2)),
    **dict.fromkeys((Unary.TAN, Binary.POW), (4, 2)),
}
"""The bounds of the kinds of floats in ranks, in float32 and in float64."""

HARD = [
    *(float.fromhex("0x1.6ac5b262ca1ffp+849"), float.fromhex("0x1.065c829d68730p+39")),
    *(float.fromhex("0x1.065c829d68730p+40"), float.fromhex("0x1.633ce8fb9f84p+9")),
    *(float.fromhex("0x1.de29680a9667ep-3"), 2.0**28, 709.78, -708.39, -745.13, 2.0**-54),
    *(0.4375, 0.6875, 1.1875, 2.4375, 5.92, 88.72, -103.9, 1.0, -1.0, 0.5, 2.0, 10.0, 1023.5),
    *(k * math.pi / 4 for k in (1, 2, 3, 4, 6, 8, 355, 103993, 2**20, 2**27)),
]


def operands(dtype: Dtype, count: int, seed: int) -> np.ndarray:
    """Hard operands and their neighbours, and `count` drawn ones; finite."""
    with np.errstate(over="ignore"):
        hard = np.array([*HARD, *(-x for x in HARD)]).astype(reference.NUMPY[dtype])
    near = [hard, np.nextafter(hard, hard.dtype.type(0)), random_floats(dtype, count, seed)]
    values = np.concatenate(near)
    return values[np.isfinite(values)]


def _pairs(kind: Binary, dtype: Dtype, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of drawn operands; most powers are of moderate size, so neither zero nor infinite."""
    x, y = (random_floats(dtype, 2 * count, seed + i) for i in range(2))
    if kind is Binary.POW:
        x = np.abs(x)
        logarithms = np.random.default_rng(seed).uniform(-60, 60, len(y[::3]))
        y[::3] = logarithms / np.log(x[::3].astype(np.float64))
    return x, y


def worst_rank(
    kind: Unary | Binary, dtype: Dtype, count: int, seed: int
) -> tuple[int, tuple[float, ...]]:
    """The worst error of a kind of floats in ranks, and its operands."""
    if isinstance(kind, Unary):
        arrays = (operands(dtype, count, seed),)
        if kind in (Unary.LOG1P, Unary.LOG, Unary.ACOS):
            # Exact zeros and poles are special values.
            arrays = (arrays[0][np.abs(arrays[0]) != 1],)
        node = Op1(kind, dtype, 0)
    else:
        arrays = _pairs(kind, dtype, count, seed)
        node = Op2(kind, 0, 1)
    program = Program.of_node([dtype] * len(arrays), node)
    (results,) = evaluate(program, arrays, arrays[0].shape)
    rows = zip(*(a.astype(np.float64).tolist() for a in (*arrays, results)), strict=True)
    return max((ranks(dtype, r, exact(kind, *values)), tuple(values)) for *values, r in rows)
