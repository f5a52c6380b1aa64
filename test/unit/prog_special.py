"""What C99 says of kinds that are not exact: special values (Annex F) and branch cuts (7.3)."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable

from dialects.prog import Unary

INF, NAN, PI = math.inf, math.nan, math.pi
ODD = (Unary.SIN, Unary.TAN, Unary.ASIN, Unary.ATAN, Unary.SINH, Unary.TANH, Unary.ERF)

SPECIAL: list[tuple[Unary, float, float]] = [
    *((kind, zero, zero) for kind in (*ODD, Unary.EXPM1, Unary.LOG1P) for zero in (0.0, -0.0)),
    *(
        (kind, x, 1.0)
        for kind in (Unary.EXP, Unary.EXP2, Unary.COS, Unary.COSH)
        for x in (0.0, -0.0)
    ),
    *((kind, x, NAN) for kind in (Unary.SIN, Unary.COS, Unary.TAN) for x in (INF, -INF)),
    *((kind, x, NAN) for kind in (Unary.ASIN, Unary.ACOS) for x in (INF, -INF, 1.5, -1.5)),
    *((kind, x, -INF) for kind in (Unary.LOG, Unary.LOG2) for x in (0.0, -0.0)),
    *((kind, x, NAN) for kind in (Unary.LOG, Unary.LOG2) for x in (-1.0, -INF)),
    *((kind, 1.0, 0.0) for kind in (Unary.LOG, Unary.LOG2, Unary.ACOS)),
    *((kind, INF, INF) for kind in (Unary.LOG, Unary.LOG2, Unary.LOG1P, Unary.EXP, Unary.EXPM1)),
    (Unary.EXP, -INF, 0.0),
    (Unary.EXP2, INF, INF),
    (Unary.EXP2, -INF, 0.0),
    (Unary.EXPM1, -INF, -1.0),
    (Unary.LOG1P, -1.0, -INF),
    (Unary.LOG1P, -1.5, NAN),
    (Unary.SINH, INF, INF),
    (Unary.SINH, -INF, -INF),
    (Unary.COSH, INF, INF),
    (Unary.COSH, -INF, INF),
    *((kind, sign * INF, sign) for kind in (Unary.TANH, Unary.ERF) for sign in (1.0, -1.0)),
    *((Unary.EXP2, float(n), 2.0**n) for n in (-149, -126, -1, 10, 127)),
    *((Unary.LOG2, 2.0**n, float(n)) for n in (-149, -126, -1, 10, 127)),
]
"""Kinds of one operand, its values and the results."""

POWERS = [
    # A base of 1 and an exponent of 0, whatever the other is.
    *((x, zero, 1.0) for x in (NAN, INF, -INF, 0.0, -2.0) for zero in (0.0, -0.0)),
    *((1.0, y, 1.0) for y in (NAN, INF, -INF, 5.0)),
    (NAN, 1.0, NAN),
    *((x, NAN, NAN) for x in (2.0, -1.0, 0.0, INF)),
    # Of zeros.
    *((zero, -3.0, math.copysign(INF, zero)) for zero in (0.0, -0.0)),
    *((zero, y, INF) for zero in (0.0, -0.0) for y in (-2.0, -0.5, -INF)),
    *((zero, 3.0, zero) for zero in (0.0, -0.0)),
    *((zero, y, 0.0) for zero in (0.0, -0.0) for y in (2.0, 0.5, INF)),
    # Of negative bases.
    (-2.0, 3.0, -8.0),
    (-2.0, 2.0, 4.0),
    (-2.0, 0.5, NAN),
    # To infinities.
    *((-1.0, y, 1.0) for y in (INF, -INF)),
    *((x, -INF, INF) for x in (0.5, -0.5)),
    *((x, -INF, 0.0) for x in (2.0, -2.0, INF, -INF)),
    *((x, INF, 0.0) for x in (0.5, -0.5)),
    *((x, INF, INF) for x in (2.0, -2.0, INF, -INF)),
    # Of infinities.
    (-INF, -3.0, -0.0),
    *((-INF, y, 0.0) for y in (-2.0, -0.5, -(2.0**63))),
    (-INF, 3.0, -INF),
    *((-INF, y, INF) for y in (2.0, 0.5, 2.0**63)),
    (INF, -0.5, 0.0),
    (INF, 0.5, INF),
]
"""Bases, exponents and powers."""

_ANGLES = [
    (0.0, -0.0, PI),
    (0.0, 0.0, 0.0),
    (0.0, -1.0, PI),
    (0.0, 1.0, 0.0),
    (1.0, 0.0, PI / 2),
    (1.0, -0.0, PI / 2),
    (1.0, -INF, PI),
    (1.0, INF, 0.0),
    (INF, 1.0, PI / 2),
    (INF, -1.0, PI / 2),
    (INF, -INF, 3 * PI / 4),
    (INF, INF, PI / 4),
    (NAN, 1.0, NAN),
    (1.0, NAN, NAN),
]
ANGLES = [*_ANGLES, *((-y, x, -angle) for y, x, angle in _ANGLES)]
"""Of Atan2, the operands y and x and the angles."""


def _parts(z: complex) -> tuple[float, float]:
    return z.real, z.imag


CUTS: dict[Unary, Callable[[complex], complex]] = {
    Unary.SQRT: cmath.sqrt,
    Unary.LOG: cmath.log,
    Unary.ASIN: cmath.asin,
    Unary.ACOS: cmath.acos,
    Unary.ATAN: cmath.atan,
    Unary.ASINH: cmath.asinh,
    Unary.ACOSH: cmath.acosh,
    Unary.ATANH: cmath.atanh,
    Unary.LOG2: lambda z: complex(*(part / math.log(2) for part in _parts(cmath.log(z)))),
}
"""The kinds of complex numbers with branch cuts, by Python's own functions."""
