"""What Cast and Bitcast compute, with numpy."""

from __future__ import annotations

import numpy as np

from .carriers import (
    Array,
    codes,
    loaded,
    numpy_dtype,
    of_codes,
    of_parts,
    parts,
    round_float,
    wrap_integer,
)
from .dtypes import BOOLEANS, COMPLEX, FLOATS, INTEGERS, PARTS, Dtype, integer_range, width


def bitcast(source: Dtype, target: Dtype, x: Array) -> Array:
    """The bits of `x` read in `target`, of the same width."""
    if source is target:
        return x
    return of_codes(target, codes(source, x))


def cast(source: Dtype, target: Dtype, x: Array) -> Array:
    """The elements of `x`, of `source`, stored into `target`."""
    if source is target:
        return x
    if target in COMPLEX:
        return _to_complex(source, target, x)
    if target in BOOLEANS:
        return np.not_equal(loaded(source, x), 0)
    if source in COMPLEX:
        return cast(PARTS[source], target, parts(x)[0])
    if source in FLOATS:
        to = _float_to_integer if target in INTEGERS else round_float
        return to(target, loaded(source, x))
    integers = loaded(source, x)
    if source in BOOLEANS:
        integers = integers.view(np.uint8)
    return wrap_integer(target, integers) if target in INTEGERS else _to_float(target, integers)


def _to_complex(source: Dtype, target: Dtype, x: Array) -> Array:
    part = PARTS[target]
    if source in COMPLEX:
        real, imaginary = (cast(PARTS[source], part, half) for half in parts(x))
        return of_parts(real, imaginary)
    real = cast(source, part, x)
    return of_parts(real, np.zeros_like(real))


def _to_float(target: Dtype, x: Array) -> Array:
    """Integers rounded once."""
    if width(target) >= 32:
        return x.astype(numpy_dtype(target))
    if x.dtype.itemsize == 8:
        # Too wide for a float64: a last bit that is set for all that is dropped keeps the
        # rounding that follows from seeing a tie where there's none.
        low = x.dtype.type((1 << 11) - 1)
        odd = (x & ~low) | ((x & low) != 0).astype(x.dtype) << x.dtype.type(11)
        exact = (x < 1 << 53) & (x > -(1 << 53))
        x = np.where(exact, x, odd)
    return round_float(target, np.asarray(x).astype(np.float64))


def _float_to_integer(target: Dtype, x: Array) -> Array:
    """Toward zero, saturated, 0 for a NaN."""
    least, greatest = integer_range(target)
    # Both bounds are powers of two or 0, so exact in any float format.
    below, above = x < float(least), x >= float(greatest + 1)
    inside = np.where(below | above | np.isnan(x), x.dtype.type(0), x)
    wide = np.uint64 if least == 0 else np.int64
    integers = np.trunc(inside).astype(wide)
    integers = np.where(above, wide(greatest), np.where(below, wide(least), integers))
    return wrap_integer(target, np.asarray(integers))
