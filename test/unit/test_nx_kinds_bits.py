"""The C functions of all kinds and dtypes give the bits of the numpy tables, NaNs aside."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import prog_reference as reference
import pytest
from c_kinds import compiled

from dialects.prog import (
    BITCAST,
    CAST,
    COMPLEX,
    DOMAINS,
    FLOATS,
    FMA,
    WHERE,
    Binary,
    Compare,
    Dtype,
    Kind1,
    Unary,
    accepts1,
    accepts3,
    meaning,
    width,
)

SANITIZED = ("gcc", "-std=c11", "-O0", "-fsanitize=undefined,float-cast-overflow")
FAST = ("clang", "-std=c11", "-O3", "-march=native", "-ffp-contract=off")
BUILDS = [(dtype, SANITIZED) for dtype in Dtype] + [
    (Dtype[name], FAST) for name in ("float32", "float64", "float16", "float8_e5m2", "int32")
]
by_build = pytest.mark.parametrize(("dtype", "build"), BUILDS)
"""Every dtype, and those of the most different code optimised for this machine too."""


@pytest.fixture(autouse=True)
def nothing_is_undefined(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """What a sanitizer finds is printed."""
    yield
    assert capfd.readouterr().err == ""


def elements(dtype: Dtype, count: int) -> np.ndarray:
    """All codes of up to 16 bits if there are so many, or special ones and draws."""
    if dtype is Dtype.bool:
        return np.arange(256, dtype=np.uint8).view(np.bool_)
    return reference.elements(dtype, count)


def bits(dtype: Dtype, x: np.ndarray) -> list[np.ndarray]:
    """The bits of `x`, of each part of complex numbers, the same for all NaNs."""
    if dtype in COMPLEX:
        return [part for side in (x.real, x.imag) for part in bits(reference.COMPLEX[dtype], side)]
    words = np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")
    if dtype in FLOATS:
        with np.errstate(invalid="ignore"):
            words = np.where(np.isnan(x.astype(np.float64)), 0, words)
            return [words, np.isnan(x.astype(np.float64))]
    return [words & 15 if width(dtype) == 4 else words]


def assert_same(
    dtype: Dtype, found: np.ndarray, expected: np.ndarray, *operands: np.ndarray
) -> None:
    differ = np.zeros(expected.shape, bool)
    for one, other in zip(bits(dtype, found), bits(dtype, expected), strict=True):
        differ |= one != other
    if differ.any():
        i = int(np.flatnonzero(differ)[0])
        pytest.fail(f"{[x[i] for x in operands]}: {found[i]!r}, not {expected[i]!r}")


def pairs(dtype: Dtype, count: int) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of some elements."""
    side = elements(dtype, count)
    if len(side) > 2 * count:
        side = np.random.default_rng(count).choice(side, count, replace=False)
    i, j = np.divmod(np.arange(len(side) ** 2), len(side))
    return side[i], side[j]


@by_build
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kinds_of_one_operand(dtype: Dtype, build: tuple[str, ...]) -> None:
    kinds = [kind for kind in Unary if accepts1(kind, dtype, dtype)]
    x = elements(dtype, 70_000 if width(dtype) <= 16 else 4_000)
    for kind in kinds:
        found = compiled(dtype, build).apply1(kind, dtype, dtype, x)
        assert_same(dtype, found, meaning.apply1(kind, dtype, dtype, x), x)


@by_build
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kinds_of_two_operands(dtype: Dtype, build: tuple[str, ...]) -> None:
    x, y = pairs(dtype, 100)
    for kind in (*Binary, *Compare):
        if dtype in DOMAINS[kind]:
            result = Dtype.bool if isinstance(kind, Compare) else dtype
            found = compiled(dtype, build).apply2(kind, dtype, x, y)
            assert_same(result, found, meaning.apply2(kind, dtype, x, y), x, y)


@by_build
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kinds_of_three_operands(dtype: Dtype, build: tuple[str, ...]) -> None:
    generator = np.random.default_rng(width(dtype))
    for count in (40, 70_000):
        x, y, z = (generator.choice(elements(dtype, count), 20_000) for _ in range(3))
        if accepts3(FMA, dtype, dtype):
            found = compiled(dtype, build).apply3(FMA, dtype, dtype, x, y, z)
            assert_same(dtype, found, meaning.apply3(FMA, dtype, dtype, x, y, z), x, y, z)
        condition = generator.integers(0, 3, len(y)).astype(np.uint8)
        found = compiled(dtype, build).apply3(WHERE, Dtype.bool, dtype, condition.view(bool), y, z)
        assert found.tobytes() == np.where(condition != 0, *(opaque(a) for a in (y, z))).tobytes()


def opaque(x: np.ndarray) -> np.ndarray:
    """The elements as bytes that numpy does not interpret."""
    return x.view(f"V{x.dtype.itemsize}")


@by_build
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_conversions(dtype: Dtype, build: tuple[str, ...]) -> None:
    x = elements(dtype, 70_000)
    for kind in (CAST, BITCAST):
        for target in Dtype:
            if accepts1(kind, dtype, target):
                _test_conversion(kind, dtype, target, build, x)


def _test_conversion(
    kind: Kind1, source: Dtype, target: Dtype, build: tuple[str, ...], x: np.ndarray
) -> None:
    found = compiled(source, build).apply1(kind, source, target, x)
    expected = meaning.apply1(kind, source, target, x)
    if kind is BITCAST:
        assert found.tobytes() == np.ascontiguousarray(expected).tobytes(), target
    else:
        assert_same(target, found, expected, x)
