"""The dtypes of scalar programs and the bits of their elements."""

from __future__ import annotations

import builtins
import math
import struct
from enum import Enum
from typing import TypeAlias

Value: TypeAlias = "builtins.bool | int | float"
"""A Python value of an element: bool for booleans, int for integers, float for floats."""


class Dtype(Enum):
    """A dtype; the member's value is the name that the dtype has in printed IR."""

    bool = "i1"
    int32 = "i32"
    int64 = "i64"
    float32 = "f32"

    def __repr__(self) -> str:
        return f"Dtype.{self.name}"

    # Members are singletons, and programs are hashed often: spare the hash of the name.
    __hash__ = object.__hash__


INTEGERS = frozenset({Dtype.int32, Dtype.int64})
FLOATS = frozenset({Dtype.float32})

_CODES = {Dtype.bool: "=B", Dtype.int32: "=i", Dtype.int64: "=q", Dtype.float32: "=f"}


def width(dtype: Dtype) -> int:
    """The number of bytes of an element of `dtype`."""
    return struct.calcsize(_CODES[dtype])


def integer_range(dtype: Dtype) -> tuple[int, int]:
    """The least and the greatest value of an integer dtype."""
    half = 1 << (8 * width(dtype) - 1)
    return -half, half - 1


def bits(dtype: Dtype, value: Value) -> bytes:
    """The bits of `value` as an element of `dtype`, in the host's byte order.

    A float is rounded once to the dtype, to infinity where it is too large.
    Raises ValueError for an integer outside the dtype's range.
    """
    if dtype is Dtype.bool:
        return b"\1" if value else b"\0"
    if dtype in FLOATS:
        try:
            return struct.pack(_CODES[dtype], value)
        except OverflowError:
            return struct.pack(_CODES[dtype], math.copysign(math.inf, value))
    least, greatest = integer_range(dtype)
    if not least <= value <= greatest:
        raise ValueError(f"{value} is outside the range of {dtype.value}")
    return struct.pack(_CODES[dtype], int(value))


def value_of(dtype: Dtype, element: bytes) -> Value:
    """The Python value of the element of `dtype` whose bits are `element`."""
    (value,) = struct.unpack(_CODES[dtype], element)
    return value != 0 if dtype is Dtype.bool else value
