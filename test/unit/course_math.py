"""The four math ops as the course defines them, step by step, in numpy."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

F32, I32 = np.float32, np.int32


def _series(z: Floats, *coefficients: float) -> Floats:
    """A polynomial by Horner's rule, the highest power's coefficient first."""
    first, *rest = map(F32, coefficients)
    result = np.full_like(z, first)
    for coefficient in rest:
        result = result * z + coefficient
    return result


def floor(x: Floats) -> Floats:
    big = ~(np.abs(x) < F32(2**23))
    small = np.where(big, F32(0), x)
    t = small.astype(I32).astype(F32)
    return np.where(big, x, np.where(small < t, t - F32(1), t))


def exp2(x: Floats) -> Floats:
    nan = np.isnan(x)
    clamped = np.where(nan, F32(0), np.clip(x, F32(-150), F32(128)))
    n = floor(clamped + F32(0.5))
    p = _series(
        clamped - n,
        *(1.5252734e-05, 0.0001540353, 0.0013333558, 0.009618129),
        *(0.05550411, 0.2402265, 0.6931472, 1.0),
    )
    h = np.trunc(n / F32(2)).astype(I32)
    k = n.astype(I32) - h
    powers = [((e + I32(127)) << I32(23)).view(F32) for e in (h, k)]
    return np.where(nan, x, p * powers[0] * powers[1])


def log2(x: Floats) -> Floats:
    positive, finite = x > 0, x < np.inf
    number = np.where(positive & finite, x, F32(1))
    tiny = number < F32(1.1754944e-38)
    bits = np.where(tiny, number * F32(2**23), number).view(I32)
    m = ((bits & I32(0x7FFFFF)) + I32(0x3F800000)).view(F32)
    big = m > F32(1.4142135)
    m = np.where(big, m * F32(0.5), m)
    e = ((bits >> I32(23)) - I32(127) + big.astype(I32)).astype(F32)
    e = e + np.where(tiny, F32(-23), F32(0))
    s = (m - F32(1)) * (F32(1) / (m + F32(1)))
    q = _series(s * s, 0.3205989, 0.41219857, 0.57707804, 0.9617967, 2.88539)
    other = np.where(x < 0, F32(np.nan), F32(-np.inf))
    return np.where(finite, np.where(positive, e + s * q, other), x)


def sqrt(x: Floats) -> Floats:
    positive, finite = x > 0, x < np.inf
    number = np.where(positive & finite, x, F32(1))
    guess = exp2(log2(number) * F32(0.5))
    y = (guess + number * (F32(1) / guess)) * F32(0.5)
    other = np.where(x < 0, F32(np.nan), x)
    return np.where(finite, np.where(positive, y, other), x)


def sin(x: Floats) -> Floats:
    half, pi = F32(1.5707964), F32(3.1415927)
    finite = np.abs(x) < np.inf
    number = np.where(finite, x, F32(0))
    turns = floor(number * F32(0.15915494) + F32(0.5))
    r = number + turns * F32(-6.28125) + turns * F32(-0.0019353072)
    r = np.where(r > half, pi - r, np.where(r < -half, -pi - r, r))
    r = np.clip(r, -half, half)
    q = _series(
        r * r,
        *(1.6059044e-10, -2.5052108e-08, 2.7557319e-06, -0.0001984127),
        *(0.008333334, -0.16666667, 1.0),
    )
    return np.where(finite, r * q, F32(np.nan))
