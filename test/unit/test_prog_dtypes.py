"""Dtypes: their widths and ends, and how Python's values are stored into them."""

from __future__ import annotations

import bisect
import itertools
import math
import struct
import sys
from fractions import Fraction

import numpy as np
import prog_reference as reference
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.prog import (
    BOOLEANS,
    COMPLEX,
    FLOATS,
    INTEGERS,
    SIGNED,
    UNSIGNED,
    Dtype,
    bits,
    compute_type,
    extremes,
    integer_range,
    of_float,
    of_int,
    size,
    value_of,
    width,
)

F16, BF16, E4M3, E5M2, E2M1 = NARROW = tuple(
    Dtype[name] for name in ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn")
)
F32, F64, I32, I64 = Dtype.float32, Dtype.float64, Dtype.int32, Dtype.int64


def code(dtype: Dtype, value: complex) -> int:
    return int.from_bytes(bits(dtype, value), sys.byteorder)


def test_classes_and_widths() -> None:
    assert set(reference.FLOATS) == FLOATS
    assert set(reference.INTEGERS) == INTEGERS
    assert set(reference.COMPLEX) == COMPLEX
    assert set(reference.BOOLEANS) == BOOLEANS
    assert {d for d in Dtype if d in SIGNED} == {d for d in Dtype if d.name.startswith("int")}
    assert INTEGERS == SIGNED | UNSIGNED
    assert len(Dtype) == 21
    for dtype in Dtype:
        assert width(dtype) == reference.WIDTHS[dtype]
        assert size(dtype) == reference.NUMPY[dtype].itemsize


def test_compute_types() -> None:
    own = {F64, F32, I64, I32, Dtype.uint64, Dtype.uint32, *COMPLEX}
    for dtype in Dtype:
        name = dtype.name
        expected = dtype if dtype in own else F32 if dtype in FLOATS else I32
        if dtype not in own and (name.startswith("u") or dtype in BOOLEANS):
            expected = Dtype.uint32
        assert compute_type(dtype) is expected


def test_least_and_greatest_values() -> None:
    assert extremes(F16) == extremes(E5M2) == (-math.inf, math.inf)
    assert extremes(E4M3) == (-448.0, 448.0)
    assert extremes(E2M1) == (-6.0, 6.0)
    assert extremes(Dtype.int4) == integer_range(Dtype.int4) == (-8, 7)
    assert extremes(Dtype.uint64) == (0, 2**64 - 1)
    assert extremes(Dtype.bit) == (False, True)
    with pytest.raises(ValueError, match="c64 has no least"):
        extremes(Dtype.complex64)


ENCODINGS = [
    (0.1, 0x2E66, 0x3DCD, 0x1D, 0x2E, 0),
    (-0.0, 0x8000, 0x8000, 0x80, 0x80, 8),
    (1 / 3, 0x3555, 0x3EAB, 0x2B, 0x35, 1),
    (65519.0, 0x7BFF, 0x4780, 0x7E, 0x7B, 7),
    (65520.0, 0x7C00, 0x4780, 0x7E, 0x7B, 7),
    (464.0, 0x5F40, 0x43E8, 0x7E, 0x5F, 7),
    (480.0, 0x5F80, 0x43F0, 0x7E, 0x60, 7),
    (math.inf, 0x7C00, 0x7F80, 0x7E, 0x7B, 7),
    (-1e30, 0xFC00, 0xF14A, 0xFE, 0xFB, 0xF),
    (61440.0, 0x7B80, 0x4770, 0x7E, 0x7B, 7),
    (0.25, 0x3400, 0x3E80, 0x28, 0x34, 0),
    (0.75, 0x3A00, 0x3F40, 0x34, 0x3A, 2),
    (2.5, 0x4100, 0x4020, 0x42, 0x41, 4),
    (1.5 * 2**-9, 0x1A00, 0x3B40, 0x02, 0x1A, 0),
    (2.0**-17, 0x0080, 0x3700, 0x00, 0x00, 0),
]


@pytest.mark.parametrize("row", ENCODINGS)
def test_encodings_of_narrow_floats(row: tuple[float, int, int, int, int, int]) -> None:
    value, *codes = row
    assert [code(dtype, value) for dtype in NARROW] == codes


@pytest.mark.parametrize("dtype", NARROW)
def test_every_element_of_a_narrow_float_reads_and_stores_back(dtype: Dtype) -> None:
    words = range(1 << width(dtype))
    values = reference.numbers(dtype, reference.of_words(dtype, words))
    for word, value in zip(words, values, strict=True):
        element = word.to_bytes(size(dtype), sys.byteorder)
        found = value_of(dtype, element)
        assert reference.comparable([found]) == reference.comparable([value])
        if math.isfinite(value):
            assert bits(dtype, value) == element


@pytest.mark.parametrize("dtype", NARROW)
def test_a_float_is_stored_as_the_nearest_element(dtype: Dtype) -> None:
    """Against a search of all elements, ties to the even code."""
    words = range(1 << (width(dtype) - 1))
    values = reference.numbers(dtype, reference.of_words(dtype, words))
    finite = [Fraction(value) for value in values if math.isfinite(value)]
    generator = np.random.default_rng(1)
    draws = np.exp2(generator.uniform(-30, math.log2(finite[-1]), 500)).tolist()
    middles = [float((a + b) / 2) for a, b in itertools.pairwise(finite[:50])]
    for value in [*draws, *middles, *(math.nextafter(m, 0) for m in middles)]:
        above = min(bisect.bisect_left(finite, value), len(finite) - 1)
        nearest = min(
            (above, max(above - 1, 0)), key=lambda i: (abs(finite[i] - Fraction(value)), i % 2)
        )
        assert code(dtype, value) == nearest, value
        assert code(dtype, -value) == nearest + len(words)


@given(st.floats(allow_nan=False), st.sampled_from(sorted(FLOATS, key=lambda d: d.name)))
def test_floats_are_rounded_once(x: float, dtype: Dtype) -> None:
    found = reference.comparable([of_float(dtype, x)])
    assert found == reference.comparable([reference.rounded(dtype, x)])


@given(st.integers(-(2**70), 2**70), st.sampled_from(sorted(FLOATS, key=lambda d: d.name)))
def test_integers_are_rounded_once(x: int, dtype: Dtype) -> None:
    assert of_int(dtype, x) == reference.rounded(dtype, Fraction(x))


def test_nans() -> None:
    for dtype in FLOATS - {E2M1}:
        assert math.isnan(of_float(dtype, math.nan))
        assert math.isnan(of_float(dtype, -math.nan))
    assert code(E2M1, -math.nan) == 0
    assert code(F32, math.nan) == 0x7FC00000
    quiet = struct.unpack("=d", struct.pack("=Q", 0xFFF8000000000001))[0]
    assert code(F64, quiet) == 0xFFF8000000000001


@pytest.mark.parametrize("dtype", sorted(INTEGERS, key=lambda d: d.name))
def test_storing_into_integers(dtype: Dtype) -> None:
    least, greatest = integer_range(dtype)
    assert [of_float(dtype, x) for x in (math.inf, 1e30)] == [greatest] * 2
    assert [of_float(dtype, x) for x in (-math.inf, -1e30)] == [least] * 2
    assert [of_float(dtype, x) for x in (math.nan, 0.9, -0.9, 2.9)] == [0, 0, 0, 2]
    assert of_float(dtype, -2.9) == (-2 if least else 0)
    assert of_int(dtype, greatest + 1) == least
    assert of_int(dtype, least - 1) == greatest
    assert of_int(dtype, 5) == 5


def test_storing_into_booleans_and_complex_numbers() -> None:
    for dtype in BOOLEANS:
        assert [of_float(dtype, x) for x in (0.0, -0.0, math.nan, 0.1)] == [0, 0, 1, 1]
        assert [of_int(dtype, x) for x in (0, 2)] == [False, True]
        assert (bits(dtype, False), bits(dtype, True)) == (b"\0", b"\1")
    assert of_float(Dtype.complex64, 0.1) == complex(np.float32(0.1), 0.0)
    assert bits(Dtype.complex64, complex(1.0, -0.0)) == struct.pack("=ff", 1.0, -0.0)
    assert bits(Dtype.complex128, complex(-0.0, 2.0)) == struct.pack("=dd", -0.0, 2.0)
    assert value_of(Dtype.complex128, struct.pack("=dd", 1.5, -2.0)) == 1.5 - 2j


@pytest.mark.parametrize(
    ("dtype", "value", "word"),
    [
        (F32, 0.1, 0x3DCCCCCD),
        (F32, -0.0, 0x80000000),
        (F32, 1e-45, 1),
        (F32, 1e300, 0x7F800000),
        (F32, -math.inf, 0xFF800000),
        (F32, 2**25 + 3, 0x4C000001),
        (F32, 10**400, 0x7F800000),
        (E4M3, -(10**400), 0xFE),
        (I32, -1, 0xFFFFFFFF),
        (Dtype.uint32, 2**32 - 1, 0xFFFFFFFF),
        (Dtype.int4, -1, 0xF),
        (Dtype.uint4, 9, 9),
        (Dtype.int8, -128, 0x80),
        (Dtype.int16, -2, 0xFFFE),
        (Dtype.uint64, 2**63, 2**63),
    ],
)
def test_bits(dtype: Dtype, value: float, word: int) -> None:
    assert bits(dtype, value) == word.to_bytes(size(dtype), sys.byteorder)


def test_values_that_are_refused() -> None:
    for dtype in INTEGERS:
        least, greatest = integer_range(dtype)
        for value in (least - 1, greatest + 1):
            with pytest.raises(ValueError, match=f"{value} is outside the range of {dtype.value}"):
                bits(dtype, value)
    with pytest.raises(ValueError, match=r"2\.5 is no element of i32"):
        bits(I32, 2.5)
    with pytest.raises(ValueError, match="1j is no element of f32"):
        bits(F32, 1j)
