"""The C functions of all kinds and dtypes give the bits of the numpy tables, NaNs aside."""

from __future__ import annotations

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
    Unary,
    accepts1,
    accepts3,
    meaning,
    width,
)
from dialects.prog.compiled import CompiledKinds

SANITIZED = ("gcc", "-std=c11", "-O0", "-fsanitize=undefined,float-cast-overflow")
FAST = ("clang", "-std=c11", "-O3", "-march=native", "-ffp-contract=off")
BUILDS = [(dtype, SANITIZED) for dtype in Dtype] + [
    (Dtype[name], FAST) for name in ("float32", "float64", "float16", "int32")
]
"""Every dtype, and some optimised for this machine too."""


@pytest.mark.parametrize(("dtype", "build"), BUILDS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bits(dtype: Dtype, build: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    kinds = compiled(dtype, build)
    for check in (kinds_of_one_operand, kinds_of_two_operands, selections, sums, conversions):
        check(dtype, kinds)
    # The sanitizer prints what it finds undefined.
    assert capfd.readouterr().err == ""


def kinds_of_one_operand(dtype: Dtype, kinds: CompiledKinds) -> None:
    x = elements(dtype, 70_000 if width(dtype) <= 16 else 4_000)
    for kind in Unary:
        if dtype in DOMAINS[kind]:
            expected = meaning.apply1(kind, dtype, dtype, x)
            assert_same(kind, dtype, kinds.apply1(kind, dtype, dtype, x), expected, x)


def kinds_of_two_operands(dtype: Dtype, kinds: CompiledKinds) -> None:
    side = elements(dtype, 100)
    if len(side) > 200:
        side = np.random.default_rng(1).choice(side, 100, replace=False)
    i, j = np.divmod(np.arange(len(side) ** 2), len(side))
    x, y = side[i], side[j]
    for kind in (*Binary, *Compare):
        if dtype in DOMAINS[kind]:
            result = Dtype.bool if isinstance(kind, Compare) else dtype
            expected = meaning.apply2(kind, dtype, x, y)
            assert_same(kind, result, kinds.apply2(kind, dtype, x, y), expected, x, y)


def triples(dtype: Dtype) -> tuple[np.ndarray, ...]:
    """Special elements, and any."""
    generator = np.random.default_rng(width(dtype))
    some, many = elements(dtype, 40), elements(dtype, 70_000)
    return tuple(
        np.concatenate([generator.choice(some, 20_000), generator.choice(many, 20_000)])
        for _ in range(3)
    )


def sums(dtype: Dtype, kinds: CompiledKinds) -> None:
    if accepts3(FMA, dtype, dtype):
        operands = triples(dtype)
        expected = meaning.apply3(FMA, dtype, dtype, *operands)
        found = kinds.apply3(FMA, dtype, dtype, *operands)
        assert_same(FMA, dtype, found, expected, *operands)


def selections(dtype: Dtype, kinds: CompiledKinds) -> None:
    x, y, _ = triples(dtype)
    condition = np.random.default_rng(2).integers(0, 3, len(x)).astype(np.uint8)
    found = kinds.apply3(WHERE, Dtype.bool, dtype, condition.view(np.bool_), x, y)
    opaque = f"V{x.dtype.itemsize}"
    assert found.tobytes() == np.where(condition, x.view(opaque), y.view(opaque)).tobytes()


def conversions(dtype: Dtype, kinds: CompiledKinds) -> None:
    x = elements(dtype, 70_000)
    for target in Dtype:
        expected = meaning.apply1(CAST, dtype, target, x)
        assert_same(target, target, kinds.apply1(CAST, dtype, target, x), expected, x)
        if accepts1(BITCAST, dtype, target):
            expected = meaning.apply1(BITCAST, dtype, target, x)
            assert kinds.apply1(BITCAST, dtype, target, x).tobytes() == expected.tobytes()


def elements(dtype: Dtype, count: int) -> np.ndarray:
    """All codes if there are no more, or special ones and draws."""
    if dtype is Dtype.bool:
        return np.arange(256, dtype=np.uint8).view(np.bool_)
    return reference.elements(dtype, count)


def assert_same(
    what: object, dtype: Dtype, found: np.ndarray, expected: np.ndarray, *operands: np.ndarray
) -> None:
    differ = np.zeros(expected.shape, np.bool_)
    for one, other in zip(bits(dtype, found), bits(dtype, expected), strict=True):
        differ |= one != other
    if differ.any():
        i = int(np.flatnonzero(differ)[0])
        pytest.fail(f"{what}: {[x[i] for x in operands]}: {found[i]!r}, not {expected[i]!r}")


def bits(dtype: Dtype, x: np.ndarray) -> list[np.ndarray]:
    """The bits of `x`, of each part of complex numbers; of NaNs only that they are."""
    if dtype in COMPLEX:
        part = reference.COMPLEX[dtype]
        return [*bits(part, x.real), *bits(part, x.imag)]
    words = np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")
    if dtype in FLOATS:
        nan = np.isnan(x.astype(np.float64))
        return [np.where(nan, 0, words), nan]
    return [words & 15 if width(dtype) == 4 else words]
