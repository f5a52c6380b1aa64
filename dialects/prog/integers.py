"""What the kinds compute on integers, with numpy, whose integers wrap."""

from __future__ import annotations

import numpy as np

from .carriers import Array


def recip(x: Array) -> Array:
    """x for 1 and -1, 0 otherwise."""
    return np.where((x == 1) | (x == -1), x, x.dtype.type(0))


def idiv(x: Array, y: Array) -> Array:
    """Toward zero; 0 by zero, and the least value by -1 is that value."""
    divisor = _safe(y)
    quotient = np.floor_divide(x - np.fmod(x, divisor), divisor)
    return np.where(y == 0, x.dtype.type(0), np.where(y == -1, np.negative(x), quotient))


def mod(x: Array, y: Array) -> Array:
    """Of the dividend's sign; the dividend by zero."""
    # The remainder by the 1 that stands in for -1 is 0 as well.
    return np.where(y == 0, x, np.fmod(x, _safe(y)))


def _safe(y: Array) -> Array:
    return np.where((y == 0) | (y == -1), y.dtype.type(1), y)


def pow(x: Array, y: Array) -> Array:
    """By squaring; a negative exponent gives 0, but ±1 for a base of ±1."""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    exponent = np.where(y < 0, zero, y)
    result, base = np.full(np.broadcast_shapes(x.shape, y.shape), one), x
    for bit in range(int(exponent.max(initial=0)).bit_length()):
        chosen = (exponent >> x.dtype.type(bit)) & one != 0
        result, base = np.where(chosen, result * base, result), base * base
    unit = np.where((x == -1) & (y & one == 0), one, x)
    return np.where(y < 0, np.where((x == 1) | (x == -1), unit, zero), result)


def fma(x: Array, y: Array, z: Array) -> Array:
    """x * y + z."""
    return x * y + z


_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


def threefry(counter: Array, key: Array) -> Array:
    """Threefry-2x32 with 20 rounds: word 0 is the low half of each uint64."""
    x0, x1 = _words(counter)
    k0, k1 = _words(key)
    keys = (k0, k1, k0 ^ k1 ^ _PARITY)
    x0, x1 = x0 + k0, x1 + k1
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x0 = x0 + x1
            x1 = (x1 << np.uint32(rotation) | x1 >> np.uint32(32 - rotation)) ^ x0
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x1.astype(np.uint64) << np.uint64(32) | x0.astype(np.uint64)


def _words(x: Array) -> tuple[Array, Array]:
    low = np.asarray(x & np.uint64(0xFFFFFFFF))
    return low.astype(np.uint32), np.asarray(x >> np.uint64(32)).astype(np.uint32)
