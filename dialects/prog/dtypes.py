"""The dtypes of scalar programs: their classes, widths, orders' ends and compute types."""

from __future__ import annotations

import builtins
import math
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

Value: TypeAlias = "builtins.bool | int | float | complex"
"""A Python value of an element, of the dtype's class: bool, int, float or complex."""


class Dtype(Enum):
    """A dtype; the member's value is the name that the dtype has in printed IR."""

    float64 = "f64"
    float32 = "f32"
    float16 = "f16"
    bfloat16 = "bf16"
    float8_e4m3fn = "f8E4M3FN"
    float8_e5m2 = "f8E5M2"
    float4_e2m1fn = "f4E2M1FN"
    int64 = "i64"
    uint64 = "ui64"
    int32 = "i32"
    uint32 = "ui32"
    int16 = "i16"
    uint16 = "ui16"
    int8 = "i8"
    uint8 = "ui8"
    int4 = "i4"
    uint4 = "ui4"
    complex128 = "c128"
    complex64 = "c64"
    bool = "i1"
    bit = "bit"

    def __repr__(self) -> str:
        return f"Dtype.{self.name}"

    # Members are singletons, and programs are hashed often: spare the hash of the name.
    __hash__ = object.__hash__


@dataclass(frozen=True)
class FloatFormat:
    """A binary float format: the codes of its elements read as sign, exponent, fraction."""

    exponent_bits: int
    fraction_bits: int
    greatest: int
    """The code of the greatest finite value; codes of positive values are in their order."""
    infinity: int | None
    """The code of infinity, None in a format without one."""
    nan: int | None
    """The code of the quiet NaN, None in a format without NaNs."""
    saturates: bool
    """Whether what is too large is stored as the greatest finite value."""

    @property
    def least_exponent(self) -> int:
        """The exponent of the least normal value, and of the subnormal ones."""
        return 2 - (1 << (self.exponent_bits - 1))

    @property
    def sign(self) -> int:
        """The code of the sign bit."""
        return 1 << (self.exponent_bits + self.fraction_bits)


def _ieee(exponent_bits: int, fraction_bits: int, saturates: bool = False) -> FloatFormat:
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    quiet = infinity | 1 << (fraction_bits - 1)
    return FloatFormat(exponent_bits, fraction_bits, infinity - 1, infinity, quiet, saturates)


FORMATS: dict[Dtype, FloatFormat] = {
    Dtype.float64: _ieee(11, 52),
    Dtype.float32: _ieee(8, 23),
    Dtype.float16: _ieee(5, 10),
    Dtype.bfloat16: _ieee(8, 7),
    Dtype.float8_e4m3fn: FloatFormat(4, 3, 0x7E, None, 0x7F, True),
    Dtype.float8_e5m2: _ieee(5, 2, saturates=True),
    Dtype.float4_e2m1fn: FloatFormat(2, 1, 7, None, None, True),
}
"""The format of every float dtype."""

FLOATS = frozenset(FORMATS)
SIGNED = frozenset({Dtype.int64, Dtype.int32, Dtype.int16, Dtype.int8, Dtype.int4})
UNSIGNED = frozenset({Dtype.uint64, Dtype.uint32, Dtype.uint16, Dtype.uint8, Dtype.uint4})
INTEGERS = SIGNED | UNSIGNED
BOOLEANS = frozenset({Dtype.bool, Dtype.bit})

PARTS: dict[Dtype, Dtype] = {
    Dtype.complex128: Dtype.float64,
    Dtype.complex64: Dtype.float32,
}
"""The dtype of the two parts of every complex dtype."""
COMPLEX = frozenset(PARTS)

_INTEGER_WIDTHS = {
    Dtype.int64: 64,
    Dtype.uint64: 64,
    Dtype.int32: 32,
    Dtype.uint32: 32,
    Dtype.int16: 16,
    Dtype.uint16: 16,
    Dtype.int8: 8,
    Dtype.uint8: 8,
    Dtype.int4: 4,
    Dtype.uint4: 4,
}

_WIDTHS = {
    **{dtype: format.sign.bit_length() for dtype, format in FORMATS.items()},
    **_INTEGER_WIDTHS,
    Dtype.complex128: 128,
    Dtype.complex64: 64,
    Dtype.bool: 8,
    Dtype.bit: 1,
}


def width(dtype: Dtype) -> int:
    """The number of bits of an element of `dtype`."""
    return _WIDTHS[dtype]


def size(dtype: Dtype) -> int:
    """The number of bytes of one element of `dtype` by itself."""
    return -(-_WIDTHS[dtype] // 8)


def integer_range(dtype: Dtype) -> tuple[int, int]:
    """The least and the greatest value of an integer dtype."""
    if dtype in UNSIGNED:
        return 0, (1 << width(dtype)) - 1
    half = 1 << (width(dtype) - 1)
    return -half, half - 1


def extremes(dtype: Dtype) -> tuple[Value, Value]:
    """The least and the greatest value of `dtype` in its order.

    Those of a float format with infinities are the infinities.
    Raises ValueError for a complex dtype, which has none.
    """
    if dtype in COMPLEX:
        raise ValueError(f"{dtype.value} has no least and no greatest value")
    if dtype in BOOLEANS:
        return False, True
    if (format := FORMATS.get(dtype)) is None:
        return integer_range(dtype)
    greatest = math.inf if format.infinity is not None else decode(format, format.greatest)
    return -greatest, greatest


def compute_type(dtype: Dtype) -> Dtype:
    """The dtype that the arithmetic of `dtype` runs in before its result is stored."""
    if dtype in FLOATS:
        return dtype if width(dtype) >= 32 else Dtype.float32
    if dtype in BOOLEANS:
        return Dtype.uint32
    if dtype in COMPLEX or width(dtype) >= 32:
        return dtype
    return Dtype.int32 if dtype in SIGNED else Dtype.uint32


def decode(format: FloatFormat, code: int) -> float:
    """The value of the element of `format` whose bits are `code`; a NaN without its payload."""
    magnitude = code & (format.sign - 1)
    if magnitude == format.infinity:
        value = math.inf
    elif magnitude > format.greatest:
        value = math.nan
    else:
        exponent = magnitude >> format.fraction_bits
        fraction = magnitude - (exponent << format.fraction_bits)
        if exponent:
            fraction += 1 << format.fraction_bits
        power = max(exponent, 1) - 1 + format.least_exponent - format.fraction_bits
        value = math.ldexp(fraction, power)
    return -value if code & format.sign else value
