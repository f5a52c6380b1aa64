"""The complex kinds through their C functions; operands to try them on, and errors of results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import c_kinds
import numpy as np
import prog_reference as reference
from mpmath import mp, mpc, mpf
from prog_bounds import FUNCTIONS

from dialects.prog import DOMAINS, Binary, Compare, Dtype, Unary
from dialects.prog.c_library import function1, function2
from dialects.prog.meaning import apply1, apply2

C64, C128 = Dtype.complex64, Dtype.complex128
Kind = Unary | Binary | Compare
KINDS = [kind for kind, domain in DOMAINS.items() if C128 in domain]
ODD = (
    *(Unary.SIN, Unary.TAN, Unary.ASIN, Unary.ATAN),
    *(Unary.SINH, Unary.TANH, Unary.ASINH, Unary.ATANH),
)
EVEN = (Unary.COS, Unary.COSH)

BOUNDS: dict[Unary | Binary, float] = {
    Unary.SQRT: 3,
    Unary.SIGN: 3,
    **dict.fromkeys((Unary.EXP, Unary.EXP2, Unary.LOG, Unary.LOG2), 4),
    **dict.fromkeys((Unary.ASIN, Unary.ACOS, Unary.ATAN), 5),
    **dict.fromkeys((Unary.ASINH, Unary.ACOSH, Unary.ATANH), 5),
    **dict.fromkeys((Unary.SIN, Unary.COS, Unary.TAN, Unary.SINH, Unary.COSH, Unary.TANH), 6),
    Unary.RECIP: 4,
    Binary.MUL: 2,
    Binary.FDIV: 4,
    Binary.POW: 1,
}
"""In unit roundoffs, normwise; that of Pow is relative to 3 + 3 |w log z|."""


def name(kind: Kind, dtype: Dtype) -> str:
    return function1(kind, dtype, dtype) if isinstance(kind, Unary) else function2(kind, dtype)


NAMES = tuple(name(kind, dtype) for dtype in (C64, C128) for kind in KINDS)
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror")


def run_c(
    kind: Kind,
    dtype: Dtype,
    *operands: np.ndarray | Sequence[complex],
    compiler: str = "cc",
    flags: tuple[str, ...] = FLAGS,
) -> np.ndarray:
    """`kind` of these arrays of one length, by its C function."""
    numpy = reference.NUMPY[dtype]
    with np.errstate(over="ignore"):
        arrays = [np.asarray(x, numpy) for x in operands]
    result = np.dtype(np.bool_) if isinstance(kind, Compare) else numpy
    loops = c_kinds.library(NAMES, compiler, flags)
    return c_kinds.call(loops, name(kind, dtype), result, *arrays)


def run_numpy(kind: Kind, dtype: Dtype, *operands: np.ndarray) -> np.ndarray:
    """`kind` of these arrays, by numpy."""
    with np.errstate(all="ignore"):
        if isinstance(kind, Unary):
            return apply1(kind, dtype, dtype, *operands)
        return apply2(kind, dtype, *operands)


def of_parts(dtype: Dtype, x: Sequence[float], y: Sequence[float]) -> np.ndarray:
    """The complex numbers of these parts, bit for bit."""
    result = np.empty(len(x), reference.NUMPY[dtype])
    with np.errstate(over="ignore", under="ignore"):
        result.real, result.imag = x, y
    return result


def bits(z: np.ndarray) -> np.ndarray:
    """The bits of each part, the same for all NaNs, a row for each number."""
    part = z.view(z.real.dtype)
    return np.where(np.isnan(part), np.nan, part).view(f"u{part.itemsize}").reshape(len(z), -1)


def special_parts(dtype: Dtype) -> list[float]:
    """Zeros, infinities, NaNs, subnormals, extremes, branch points, and where branches switch."""
    limits = np.finfo(reference.NUMPY[reference.COMPLEX[dtype]])
    one = limits.dtype.type(1)
    values = [
        *(0.0, 1.0, 0.5, 1.5, math.pi / 2, math.pi, 64.0, 89.0, 710.0, math.inf, math.nan),
        *(np.nextafter(one, 2 * one), np.nextafter(one, 0 * one)),
        *(limits.max, limits.max / 2, limits.smallest_normal, limits.smallest_subnormal),
    ]
    return [math.copysign(float(x), sign) for x in values for sign in (1, -1)]


def strata(dtype: Dtype, count: int, seed: int) -> dict[str, np.ndarray]:
    """`count` finite operands of each kind of trouble, in all quadrants."""
    generator = np.random.default_rng(seed)
    limit = -reference.FLOATS[reference.COMPLEX[dtype]].least
    digits = reference.FLOATS[reference.COMPLEX[dtype]].digits

    def spread(low: int, high: int) -> np.ndarray:
        return np.ldexp(generator.uniform(1, 2, count), generator.integers(low, high, count))

    def swapped(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        swap = generator.random(count) < 0.5
        return np.where(swap, y, x), np.where(swap, x, y)

    # Of the exponents of e and of 2.
    limits = limit * generator.choice([math.log(2), 1], count)
    angle = generator.uniform(0, math.pi / 2, count)
    quarters = np.floor(2.0 ** generator.uniform(0, digits - 2, count)) * math.pi / 2
    near_one = 1 + generator.choice([-1, 1], count) * spread(-digits - 3, -1)
    exact_one = np.where(generator.random(count) < 0.5, 1, near_one)
    parts = {
        "moderate": (spread(-12, 12), spread(-12, 12)),
        "near 1": (spread(-3, 3), spread(-3, 3)),
        "wide": (spread(-limit, limit), spread(-limit, limit)),
        "unit circle": (np.cos(angle), np.sin(angle)),
        "branch points": swapped(exact_one, spread(-2 * digits, -1)),
        "axes": swapped(spread(-limit, limit), np.zeros(count)),
        "tiny beside moderate": swapped(spread(-4, 8), spread(-limit - digits, -digits)),
        "near zeros": swapped(quarters, spread(-digits - 10, 2)),
        "overflow": swapped(limits + generator.uniform(-2, 2, count), spread(-9, 9)),
        "large": (spread(limit - 2, limit), spread(limit - 2, limit)),
        "small": (spread(-limit - digits, -limit + digits), spread(-limit - digits, 2 - limit)),
    }
    signs = generator.choice([-1.0, 1.0], (2, count))
    return {
        stratum: of_parts(dtype, signs[0] * x, signs[1] * y) for stratum, (x, y) in parts.items()
    }


def pairs(kind: Binary, dtype: Dtype, count: int, seed: int) -> dict[str, tuple[np.ndarray, ...]]:
    """Operands of a kind of two; those of products and quotients don't over- or underflow."""
    z, w = (strata(dtype, count, s) for s in (seed, seed + 1))
    operands = {
        "moderate": (z["moderate"], w["moderate"]),
        "unit circle": (z["unit circle"], w["moderate"]),
        "cancellation": (z["near 1"], of_parts(dtype, z["near 1"].imag, w["near 1"].imag)),
        "branch points": (z["branch points"], w["near 1"]),
        "axes": (z["moderate"].real.astype(z["moderate"].dtype), w["near 1"]),
    }
    if kind is Binary.FDIV:
        least = reference.FLOATS[reference.COMPLEX[dtype]].least
        small = np.ldexp(1.0, np.random.default_rng(seed).integers(least + 8, least + 60, count))
        divisors = of_parts(dtype, small * w["near 1"].real, small * w["near 1"].imag)
        operands["wide"] = z["wide"], w["wide"]
        operands["small dividends"] = z["small"], divisors
        operands["large"] = z["large"], w["large"]
    if kind is Binary.POW:
        operands["near 1"] = z["near 1"], w["near 1"]
        # Logarithms are small, so that the exponents may be large.
        operands["large exponents"] = z["unit circle"], w["moderate"]
    return operands


def _power(z: object, w: object) -> tuple[object, float]:
    exponent = w * mp.log(z)
    return mp.exp(exponent), 3 + 3 * float(abs(exponent))


_EXACT: dict[Unary | Binary, Callable[..., object]] = {
    **FUNCTIONS,
    Unary.EXP2: lambda z: mp.exp(z * mp.ln2),
    Unary.LOG2: lambda z: mp.log(z) / mp.ln2,
    Unary.SIGN: lambda z: z / abs(z),
    Unary.RECIP: lambda z: 1 / z,
    Binary.MUL: lambda z, w: z * w,
    Binary.FDIV: lambda z, w: z / w,
    Binary.POW: lambda z, w: _power(z, w)[0],
}

_BESIDE_ZERO = mpf(2) ** -5000
"""Stands for a zero part, so that its sign picks the side of a cut."""


def _wide(z: complex) -> object:
    x, y = (
        math.copysign(1, part) * _BESIDE_ZERO if part == 0 else part for part in (z.real, z.imag)
    )
    return mpc(x, y)


def exact(kind: Unary | Binary, *operands: complex) -> object:
    """The value, with so many digits that twice as many don't change 100 bits of it."""
    wide = [_wide(z) for z in operands]
    precision = 200
    with mp.workprec(precision):
        value = _EXACT[kind](*wide)
    while True:
        precision *= 2
        with mp.workprec(precision):
            finer = _EXACT[kind](*wide)
            if abs(finer - value) <= abs(finer) * mpf(2) ** -100:
                return finer
        value = finer
        assert precision < 1 << 16, (kind, operands)


def error(kind: Unary | Binary, dtype: Dtype, result: complex, *operands: complex) -> float:
    """The normwise error in unit roundoffs; 0 where the value's modulus isn't a normal float."""
    format = reference.FLOATS[reference.COMPLEX[dtype]]
    value = exact(kind, *operands)
    if not mpf(2) ** format.least <= abs(value) <= format.greatest:
        return 0.0
    if not (math.isfinite(result.real) and math.isfinite(result.imag)):
        return math.inf
    with mp.workprec(400):
        units = float(abs(mpc(result) - value) / abs(value) * mpf(2) ** format.digits)
    return units / _power(*map(_wide, operands))[1] if kind is Binary.POW else units


def worst_errors(
    kind: Unary | Binary, dtype: Dtype, count: int, seed: int
) -> dict[str, tuple[float, tuple[complex, ...]]]:
    """The largest error of `count` operands in each stratum, and where it is."""
    operands: dict[str, tuple[np.ndarray, ...]]
    if isinstance(kind, Unary):
        operands = {name: (z,) for name, z in strata(dtype, count, seed).items()}
    else:
        operands = pairs(kind, dtype, count, seed)
    worst = {}
    for stratum, arrays in operands.items():
        rows = zip(*(x.tolist() for x in arrays), strict=True)
        results = run_c(kind, dtype, *arrays).tolist()
        errors = [
            (error(kind, dtype, result, *row), row)
            for row, result in zip(rows, results, strict=True)
        ]
        worst[stratum] = max(errors, key=lambda pair: pair[0])
    return worst
