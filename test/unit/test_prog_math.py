"""The float kinds that are not exact: their bounds against mpmath, and their special values."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import numpy as np
import prog_reference as reference
import pytest
from prog_bounds import BOUNDS, worst_rank
from prog_special import ANGLES, POWERS, SPECIAL

from dialects.prog import DOMAINS, Binary, Dtype, Op1, Op2, Program, Unary, evaluate

F32, F64 = Dtype.float32, Dtype.float64
PI = math.pi


def run1(kind: Unary, dtype: Dtype, values: Sequence[float]) -> list[float]:
    x = np.array(values, reference.NUMPY[dtype])
    (result,) = evaluate(Program.of_node([dtype], Op1(kind, dtype, 0)), [x], x.shape)
    return result.astype(np.float64).tolist()


def run2(kind: Binary, dtype: Dtype, x: Sequence[float], y: Sequence[float]) -> list[float]:
    arrays = [np.array(values, reference.NUMPY[dtype]) for values in (x, y)]
    program = Program.of_node([dtype, dtype], Op2(kind, 0, 1))
    (result,) = evaluate(program, arrays, arrays[0].shape)
    return result.astype(np.float64).tolist()


@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize("kind", BOUNDS)
def test_bounds(kind: Unary | Binary, dtype: Dtype) -> None:
    error, operands = worst_rank(kind, dtype, 300, 1)
    assert error <= BOUNDS[kind][dtype is F64], operands


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("kind", [kind for kind in BOUNDS if isinstance(kind, Unary)])
def test_narrow_floats_compute_in_float32(kind: Unary, name: str) -> None:
    dtype = Dtype[name]
    x = reference.elements(dtype, 300)
    wide = np.array(run1(kind, F32, reference.numbers(dtype, x)))
    (result,) = evaluate(Program.of_node([dtype], Op1(kind, dtype, 0)), [x], x.shape)
    expected = [reference.rounded(dtype, value) for value in wide.tolist()]
    found = reference.comparable(reference.numbers(dtype, result))
    assert found == reference.comparable(expected)


@pytest.mark.parametrize("dtype", [F32, F64])
def test_special_values(dtype: Dtype) -> None:
    for kind, x, expected in SPECIAL:
        found = run1(kind, dtype, [x])
        assert reference.comparable(found) == reference.comparable([expected]), (
            kind,
            x,
        )
    (quarter,) = run1(Unary.ATAN, dtype, [math.inf])
    assert quarter == reference.rounded(dtype, PI / 2)


@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize(("kind", "rows"), [(Binary.POW, POWERS), (Binary.ATAN2, ANGLES)])
def test_special_values_of_two_operands(
    kind: Binary, rows: Sequence[tuple[float, float, float]], dtype: Dtype
) -> None:
    x, y, expected = (list(column) for column in zip(*rows, strict=True))
    found = reference.comparable(run2(kind, dtype, x, y))
    assert found == reference.comparable([reference.rounded(dtype, e) for e in expected])


def test_signalling_nans_that_give_one() -> None:
    signalling = struct.unpack("=d", struct.pack("=Q", 0x7FF0000000000001))[0]
    assert run2(Binary.POW, F64, [1.0, signalling], [signalling, 0.0]) == [1.0, 1.0]


def test_every_float_kind_gives_nan_for_nan() -> None:
    for kind, domain in DOMAINS.items():
        if isinstance(kind, Unary) and F64 in domain:
            assert math.isnan(run1(kind, F64, [math.nan])[0]), kind
