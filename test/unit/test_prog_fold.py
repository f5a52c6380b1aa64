"""Folds of arrays, against left folds by Python's exact numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import prog_reference as reference
import pytest
from prog_reference import BOOLEANS, COMPLEX, FLOATS, NUMPY, Number, comparable, numbers

from dialects.prog import Binary, Dtype, Monoid, fold

REAL = [d for d in Dtype if d not in COMPLEX]


def assert_values(dtype: Dtype, actual: np.ndarray, expected: Sequence[Number]) -> None:
    """Equal to the bit, NaNs apart."""
    assert actual.dtype == NUMPY[dtype]
    assert comparable(numbers(dtype, actual)) == comparable(expected)


FOLD_KINDS = {
    Monoid.SUM: Binary.ADD,
    Monoid.PRODUCT: Binary.MUL,
    Monoid.MAX: Binary.MAXIMUM,
    Monoid.MIN: Binary.MINIMUM,
}


@pytest.mark.parametrize("columns", [1, 3, 100])
@pytest.mark.parametrize(
    ("monoid", "dtype"), [(m, d) for m in Monoid for d in REAL if m.accepts(d)]
)
def test_fold_is_a_left_fold_of_the_leading_axes(
    monoid: Monoid, dtype: Dtype, columns: int
) -> None:
    generator = np.random.default_rng(columns)
    if dtype in FLOATS:
        drawn = generator.normal(0, 1, (5, 7, columns)).astype(np.float32)
    else:
        width = 1 if dtype in BOOLEANS else min(reference.WIDTHS[dtype] - 1, 31)
        drawn = generator.integers(0, 2**width, (5, 7, columns))
    x = drawn.astype(NUMPY[dtype])
    kind = Binary.AND if monoid is Monoid.PRODUCT and dtype in BOOLEANS else FOLD_KINDS[monoid]
    expected: list[Number] = []
    for column in range(columns):
        accumulator: Number = monoid.identity(dtype)
        for value in numbers(dtype, x[:, :, column].ravel()):
            accumulator = reference.apply2(kind, dtype, accumulator, value)
        expected.append(accumulator)
    result = fold(monoid, x, 2)
    assert_values(dtype, result, expected)


def of_f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


@pytest.mark.parametrize("monoid", [Monoid.MAX, Monoid.MIN])
def test_extremum_of_special_floats(monoid: Monoid) -> None:
    def result(*values: float) -> float:
        return fold(monoid, of_f32(*values)).item()

    zero = result(-0.0, 0.0, -0.0)
    assert reference.is_negative(zero) == (monoid is Monoid.MIN)
    assert math.isnan(result(1.0, math.nan, 2.0))
    assert math.isnan(result(math.nan, math.inf, -math.inf))


def test_a_sum_never_gives_negative_zero() -> None:
    assert not reference.is_negative(fold(Monoid.SUM, of_f32(-0.0, -0.0)).item())


def test_a_long_sum_is_not_pairwise() -> None:
    ones = np.ones(2**24 + 100, np.float32)
    assert fold(Monoid.SUM, ones).item() == 2.0**24


def test_a_fold_goes_on_from_a_start() -> None:
    values = of_f32(1e8, 1.0, -1e8, 3.0)
    first = fold(Monoid.SUM, values[:2])
    assert fold(Monoid.SUM, values[2:], 1, first) == fold(Monoid.SUM, values) == 3.0


def test_complex_numbers_are_folded_in_order() -> None:
    assert not Monoid.MAX.accepts(Dtype.complex64)
    z = np.array([1e8 + 1j, 1 - 1e8j, -1e8 + 1j], np.complex64)
    assert fold(Monoid.SUM, z).tolist() == [complex(0, -1e8)][0]
