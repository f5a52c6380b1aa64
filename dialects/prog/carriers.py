"""numpy arrays of dtypes: what holds their elements, and what kinds compute with.

Imported when a program is first run, because numpy is slow to import.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from .dtypes import BOOLEANS, FLOATS, FORMATS, INTEGERS, Dtype, decode, width

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_NUMPY: dict[Dtype, np.dtype[Any]] = {
    Dtype.float64: np.dtype(np.float64),
    Dtype.float32: np.dtype(np.float32),
    Dtype.float16: np.dtype(np.float16),
    Dtype.bfloat16: np.dtype(ml_dtypes.bfloat16),
    Dtype.float8_e4m3fn: np.dtype(ml_dtypes.float8_e4m3fn),
    Dtype.float8_e5m2: np.dtype(ml_dtypes.float8_e5m2),
    Dtype.float4_e2m1fn: np.dtype(ml_dtypes.float4_e2m1fn),
    Dtype.int64: np.dtype(np.int64),
    Dtype.uint64: np.dtype(np.uint64),
    Dtype.int32: np.dtype(np.int32),
    Dtype.uint32: np.dtype(np.uint32),
    Dtype.int16: np.dtype(np.int16),
    Dtype.uint16: np.dtype(np.uint16),
    Dtype.int8: np.dtype(np.int8),
    Dtype.uint8: np.dtype(np.uint8),
    Dtype.int4: np.dtype(ml_dtypes.int4),
    Dtype.uint4: np.dtype(ml_dtypes.uint4),
    Dtype.complex128: np.dtype(np.complex128),
    Dtype.complex64: np.dtype(np.complex64),
    Dtype.bool: np.dtype(np.bool_),
    Dtype.bit: np.dtype(np.bool_),
}
# numpy has one boolean: it is `bool`.
_DTYPES = {numpy: dtype for dtype, numpy in _NUMPY.items() if dtype is not Dtype.bit}

_NARROW = frozenset(dtype for dtype in FLOATS if width(dtype) < 32)
_NIBBLES: dict[Dtype, np.dtype[Any]] = {
    Dtype.int4: np.dtype(np.int8),
    Dtype.uint4: np.dtype(np.uint8),
}
"""The integers of less than a byte, and the numpy integers that compute them."""


def numpy_dtype(dtype: Dtype) -> np.dtype[Any]:
    """The numpy dtype of arrays of `dtype`."""
    return _NUMPY[dtype]


def dtype_of(dtype: np.dtype[Any]) -> Dtype:
    """The dtype of arrays of numpy dtype `dtype`; raises KeyError if there is none."""
    return _DTYPES[dtype]


def loaded(dtype: Dtype, x: Array) -> Array:
    """The elements of `x`, of `dtype`, as an array that numpy computes with.

    Floats narrower than float32 in float32, integers of less than a byte in one byte,
    booleans as bytes of 0 or 1, and the others as they are.
    """
    if dtype in BOOLEANS:
        return np.not_equal(x.view(np.uint8), 0)
    if dtype in _NARROW:
        return x.astype(np.float32)
    if dtype in _NIBBLES:
        return x.astype(_NIBBLES[dtype])
    return x


def stored(dtype: Dtype, x: Array) -> Array:
    """What was computed from `loaded` elements of `dtype`, rounded or wrapped to it."""
    if dtype in _NARROW:
        return round_float(dtype, x)
    if dtype in INTEGERS:
        return wrap_integer(dtype, x)
    return x


def wrap_integer(dtype: Dtype, x: Array) -> Array:
    """Integers modulo the width of an integer dtype."""
    if dtype not in _NIBBLES:
        return x.astype(_NUMPY[dtype], copy=False)
    high = x.astype(_NIBBLES[dtype], copy=False) << 4
    return np.asarray(high >> 4).astype(_NUMPY[dtype])


def round_float(dtype: Dtype, x: Array) -> Array:
    """Floats of a format no narrower than float32, rounded once to a float dtype."""
    if dtype not in _NARROW:
        return x.astype(_NUMPY[dtype], copy=False)
    format = FORMATS[dtype]
    wide = x.astype(np.float64)
    exponent = np.frexp(wide)[1] - 1
    unit = np.maximum(exponent, format.least_exponent) - format.fraction_bits
    # Scaling by a power of two is exact, so that only `rint` rounds.
    rounded = np.ldexp(np.rint(np.ldexp(wide, -unit)), unit)
    if format.saturates:
        greatest = decode(format, format.greatest)
        rounded = np.clip(rounded, -greatest, greatest)
    if format.nan is None:
        rounded = np.where(np.isnan(rounded), 0.0, rounded)
    return np.asarray(rounded).astype(_NUMPY[dtype])


def codes(dtype: Dtype, x: Array) -> Array:
    """The bits of elements of a dtype of at most 64 bits, as unsigned integers."""
    view = x.view(f"u{x.dtype.itemsize}")
    return view & np.uint8(15) if width(dtype) == 4 else view


def of_codes(dtype: Dtype, bits: Array) -> Array:
    """The elements of `dtype` whose bits are these."""
    return bits.view(_NUMPY[dtype])


def parts(z: Any) -> tuple[Array, Array]:
    """The real and the imaginary parts of complex numbers."""
    return np.asarray(z.real), np.asarray(z.imag)


def of_parts(real: Array, imaginary: Array) -> Array:
    """The complex numbers of these parts, bit for bit."""
    shape = np.broadcast_shapes(real.shape, imaginary.shape)
    result: Any = np.empty(shape, np.result_type(real.dtype, np.complex64))
    result.real, result.imag = real, imaginary
    return result
