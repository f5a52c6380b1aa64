"""How a Python value is stored as an element of a dtype, and read back."""

from __future__ import annotations

import math
import operator
import struct
import sys

from .dtypes import (
    BOOLEANS,
    COMPLEX,
    FORMATS,
    INTEGERS,
    PARTS,
    Dtype,
    FloatFormat,
    Value,
    decode,
    integer_range,
    size,
    width,
)


def bits(dtype: Dtype, value: Value) -> bytes:
    """The bits of `value` as an element of `dtype`, in the host's byte order.

    A float is rounded once to the nearest element, ties to even. Past the greatest finite
    value it becomes infinity, or in the formats of a byte and less that value. A NaN becomes
    +0 in a format without NaNs. Each part of a complex number is stored so; a boolean as 0
    or 1. An element of less than a byte stands in the low bits of one.

    Raises ValueError for an integer outside the dtype's range, and for a value that is not
    of the dtype's class: integers are floats too, and floats complex numbers.
    """
    value = _plain(value)
    if dtype in BOOLEANS:
        return b"\1" if value else b"\0"
    if dtype in COMPLEX:
        part = PARTS[dtype]
        real, imaginary = (value.real, value.imag) if isinstance(value, complex) else (value, 0.0)
        return bits(part, real) + bits(part, imaginary)
    if isinstance(value, complex):
        raise ValueError(f"{value} is no element of {dtype.value}")
    if (format := FORMATS.get(dtype)) is not None:
        code = _encode(format, value if isinstance(value, int) else float(value))
    else:
        code = _integer_code(dtype, value)
    return code.to_bytes(size(dtype), sys.byteorder)


def _plain(value: Value) -> Value:
    """A scalar of numpy or ml_dtypes as the number of Python that it is."""
    item = getattr(value, "item", None)
    return value if item is None else item()


def _integer_code(dtype: Dtype, value: Value) -> int:
    try:
        integer = operator.index(value)  # pyright: ignore[reportArgumentType] (the check)
    except TypeError:
        raise ValueError(f"{value} is no element of {dtype.value}") from None
    least, greatest = integer_range(dtype)
    if not least <= integer <= greatest:
        raise ValueError(f"{integer} is outside the range of {dtype.value}")
    return integer & ((1 << width(dtype)) - 1)


def _encode(format: FloatFormat, value: float) -> int:
    """The code of the element of `format` that is nearest to `value`."""
    # An int may be past all floats.
    exact = isinstance(value, int) or math.isfinite(value)
    negative = value < 0 if isinstance(value, int) else math.copysign(1, value) < 0
    sign = format.sign if negative else 0
    if exact:
        code = _round(format, *abs(value).as_integer_ratio())
        if code <= format.greatest:
            return sign | code
    elif math.isnan(value):
        return _encode_nan(format, sign, value)
    past = format.infinity if not format.saturates else None
    return sign | (format.greatest if past is None else past)


def _round(format: FloatFormat, numerator: int, denominator: int) -> int:
    """The code of a positive fraction rounded to `format`, as if there were no greatest code."""
    if not numerator:
        return 0
    exponent = numerator.bit_length() - denominator.bit_length()
    if numerator << max(-exponent, 0) < denominator << max(exponent, 0):
        exponent -= 1
    exponent = max(exponent, format.least_exponent)
    unit = exponent - format.fraction_bits
    quotient, remainder = divmod(numerator << max(-unit, 0), half := denominator << max(unit, 0))
    twice = 2 * remainder
    quotient += twice > half or (twice == half and quotient & 1)
    # The implicit bit of the quotient counts the exponent's field up from its base.
    return ((exponent - format.least_exponent) << format.fraction_bits) + quotient


def _encode_nan(format: FloatFormat, sign: int, value: float) -> int:
    """A NaN with as much of the payload of `value` as the format has bits for."""
    if format.nan is None:
        return 0
    if format.infinity is None:
        return sign | format.nan
    (code,) = struct.unpack("=Q", struct.pack("=d", value))
    payload = (code & ((1 << 52) - 1)) >> (52 - format.fraction_bits)
    return sign | format.nan | payload


_STRUCTS = {Dtype.float64: "=d", Dtype.float32: "=f"}
"""The dtypes whose NaNs a Python float holds with their payloads."""


def value_of(dtype: Dtype, element: bytes) -> Value:
    """The Python value of the element of `dtype` whose bits are `element`."""
    if dtype in COMPLEX:
        half = len(element) // 2
        code = _STRUCTS[PARTS[dtype]]
        real, imaginary = (struct.unpack(code, e)[0] for e in (element[:half], element[half:]))
        return complex(real, imaginary)
    if (struct_code := _STRUCTS.get(dtype)) is not None:
        (value,) = struct.unpack(struct_code, element)
        return value
    code = int.from_bytes(element, sys.byteorder)
    if dtype in BOOLEANS:
        return code != 0
    if (format := FORMATS.get(dtype)) is not None:
        return decode(format, code)
    greatest = integer_range(dtype)[1]
    return code - (1 << width(dtype)) if code > greatest else code


def of_float(dtype: Dtype, x: float) -> Value:
    """The element of `dtype` that the float `x` is stored as.

    In an integer dtype it is truncated toward zero and saturated, 0 for a NaN; a boolean is
    true for everything but zero; `bits` says the rest.
    """
    if dtype not in INTEGERS:
        return value_of(dtype, bits(dtype, x))
    if math.isnan(x):
        return 0
    least, greatest = integer_range(dtype)
    return least if x <= least else greatest if x >= greatest else int(x)


def of_int(dtype: Dtype, x: int) -> Value:
    """The element of `dtype` that the integer `x` is stored as.

    In an integer dtype it wraps, modulo the dtype's width; a boolean is true for everything
    but zero; in a float dtype it is rounded once.
    """
    if dtype not in INTEGERS:
        return value_of(dtype, bits(dtype, x))
    least, _ = integer_range(dtype)
    return (x - least) % (1 << width(dtype)) + least


def holds(dtype: Dtype, element: bytes) -> bool:
    """Whether `element` is the bits of an element of `dtype`.

    Any bits of the dtype's width are, in as many bytes as it takes; for bool any byte.
    """
    if len(element) != size(dtype):
        return False
    return width(dtype) >= 8 or element[0] < 1 << width(dtype)
