"""The four math ops: their defined bits, accuracy against float64, and special values."""

import math
from collections.abc import Callable
from typing import Any

import course_math
import numpy as np
import numpy.typing as npt
import pytest
from ways_to_run import assert_same_bits

import uir

F32: Any = np.float32
Floats = npt.NDArray[np.floating[Any]]


def math_op(op: str, x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    text = f"%m = buffer {x.size} dtype=f32 slot=0\n%x = load %m\n%r = {op} %x"
    result = uir.run(text, {0: x}).result
    assert result is not None
    return result


def ulps(op: str, x: npt.NDArray[np.float32], exact: Callable[[Floats], Floats]) -> float:
    """The greatest error of `op` on `x`, in units in the last place of the true value."""
    truth = exact(x.astype(np.float64))
    unit = np.spacing(np.abs(truth).astype(np.float32)).astype(np.float64)
    return float(np.max(np.abs(math_op(op, x).astype(np.float64) - truth) / unit))


def floats_between(low: float, high: float, count: int) -> npt.NDArray[np.float32]:
    """Floats spread evenly over the bit patterns from `low` to `high`, both positive."""
    bits = np.linspace(F32(low).view(np.int32), F32(high).view(np.int32), count)
    return bits.astype(np.int32).view(np.float32)


EDGES = [0.0, 1.0, 127.5, 128.0, -126.0, -149.5, -150.0, -152.0, -252.5, -253.0, 1.4142135]
"""Where a definition or our program changes from one case to another, at least nearly."""


@pytest.mark.parametrize("op", ["exp2", "log2", "sqrt", "sin"])
def test_bits_are_those_of_the_definition(op: str) -> None:
    rng = np.random.default_rng(6)
    edges = np.array(EDGES, np.float32).view(np.int32)[:, None] + np.arange(
        -100, 100, dtype=np.int32
    )
    x = np.concatenate(
        [
            edges.view(np.float32).ravel(),
            rng.integers(0, 2**32, 100_000, np.uint32).view(np.float32),
            rng.uniform(-300, 300, 100_000).astype(np.float32),
        ]
    )
    with np.errstate(all="ignore"):
        expected = getattr(course_math, op)(x)
    assert expected.dtype == np.float32
    text = f"""
%m = buffer {x.size} dtype=f32 slot=0
%o = buffer {x.size} dtype=f32 slot=1
%x = load %m
%r = {op} %x
store %o %r"""
    compiled = np.zeros_like(x)
    uir.compile(text)(x, compiled)
    assert_same_bits([expected, expected], [math_op(op, x), compiled])


def test_exp2() -> None:
    x = np.linspace(-125.9, 127.9, 400_000, dtype=np.float32)
    assert ulps("exp2", x, np.exp2) <= 1.5
    tiny = floats_between(1e-30, 1.0, 100_000)
    assert ulps("exp2", np.concatenate([tiny, -tiny]), np.exp2) <= 1.5


def test_sqrt() -> None:
    assert ulps("sqrt", floats_between(1e-45, 3.4028235e38, 500_000), np.sqrt) <= 1.5


def test_log2() -> None:
    assert ulps("log2", floats_between(1e-45, 3.4028235e38, 500_000), np.log2) <= 3.5
    near_one = floats_between(0.5, 2.0, 400_000)
    assert ulps("log2", near_one[near_one != 1.0], np.log2) <= 3.5


def test_sin() -> None:
    x = np.linspace(-10000, 10000, 500_001, dtype=np.float32)
    error = np.abs(math_op("sin", x).astype(np.float64) - np.sin(x.astype(np.float64)))
    assert float(error.max()) <= 3e-7


def test_sin_of_large_numbers_is_a_number_in_range() -> None:
    large = floats_between(10000.0, 3.4028235e38, 100_000)
    assert np.all(np.abs(math_op("sin", large)) <= 1.0)


NAN, INF = math.nan, math.inf
SPECIAL = [
    ("exp2", [NAN, INF, -INF, 0.0, -0.0], [NAN, INF, 0.0, 1.0, 1.0]),
    ("log2", [NAN, INF, -INF, 0.0, -0.0, -1.5], [NAN, INF, NAN, -INF, -INF, NAN]),
    ("sqrt", [NAN, INF, -INF, 0.0, -0.0, -1.5], [NAN, INF, NAN, 0.0, -0.0, NAN]),
    ("sin", [NAN, INF, -INF, 0.0, -0.0], [NAN, NAN, NAN, 0.0, -0.0]),
]


@pytest.mark.parametrize(("op", "x", "expected"), SPECIAL)
def test_special_values(op: str, x: list[float], expected: list[float]) -> None:
    result = math_op(op, np.array(x, np.float32))
    np.testing.assert_array_equal(result, np.array(expected, np.float32))
    numbers = ~np.isnan(result)
    np.testing.assert_array_equal(np.signbit(result)[numbers], np.signbit(expected)[numbers])


def test_exp2_of_whole_numbers_is_exact() -> None:
    whole = np.arange(-149, 128, dtype=np.float32)
    expected = np.array([math.ldexp(1.0, int(n)) for n in whole], np.float32)
    np.testing.assert_array_equal(math_op("exp2", whole), expected)


def test_exp2_beyond_the_range() -> None:
    x = np.array([128.0, 3e38, -151.0, -200.0, -253.5, -3e38], np.float32)
    assert math_op("exp2", x).tolist() == [INF, INF, 0.0, 0.0, 0.0, 0.0]


def test_floor() -> None:
    x = np.array([1.5, -1.5, -0.25, 8388609.0, -8388609.0, 1e10, INF, -INF], np.float32)
    np.testing.assert_array_equal(math_op("floor", x), np.floor(x))
    zero = math_op("floor", np.array([-0.0], np.float32))
    assert zero.tolist() == [0.0]
    assert not np.signbit(zero[0])
    assert np.isnan(math_op("floor", np.array([NAN], np.float32))[0])
