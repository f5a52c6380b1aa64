"""The float kinds that are not exact: their bounds against mpmath, and their special values."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import numpy as np
import prog_reference as reference
import pytest
from prog_bounds import exact, random_floats, ranks
from prog_special import ANGLES, POWERS, SPECIAL

from dialects.prog import DOMAINS, Binary, Dtype, Op1, Op2, Program, Unary, evaluate

F32, F64 = Dtype.float32, Dtype.float64
PI = math.pi

BOUNDS: dict[Unary | Binary, tuple[int, int]] = {
    **dict.fromkeys((Unary.EXP, Unary.EXP2, Unary.SIN, Unary.COS, Unary.ASIN), (2, 2)),
    **dict.fromkeys((Unary.ACOS, Unary.ATAN, Unary.COSH, Unary.TANH, Unary.ERF), (2, 2)),
    **dict.fromkeys((Unary.EXPM1, Unary.LOG, Unary.LOG2, Unary.LOG1P), (1, 2)),
    **dict.fromkeys((Binary.ATAN2, Unary.SINH), (3, 2)),
    **dict.fromkeys((Unary.TAN, Binary.POW), (4, 2)),
}
"""The bounds in ranks, in float32 and in float64."""

HARD = [
    *(float.fromhex("0x1.6ac5b262ca1ffp+849"), float.fromhex("0x1.065c829d68730p+39")),
    *(float.fromhex("0x1.065c829d68730p+40"), float.fromhex("0x1.633ce8fb9f84p+9")),
    *(float.fromhex("0x1.de29680a9667ep-3"), 2.0**28, 709.78, -708.39, -745.13, 2.0**-54),
    *(0.4375, 0.6875, 1.1875, 2.4375, 5.92, 88.72, -103.9, 1.0, -1.0, 0.5, 2.0, 10.0, 1023.5),
    *(k * PI / 4 for k in (1, 2, 3, 4, 6, 8, 355, 103993, 2**20, 2**27)),
]


def run1(kind: Unary, dtype: Dtype, values: Sequence[float]) -> list[float]:
    x = np.array(values, reference.NUMPY[dtype])
    (result,) = evaluate(Program.of_node([dtype], Op1(kind, dtype, 0)), [x], x.shape)
    return result.astype(np.float64).tolist()


def run2(kind: Binary, dtype: Dtype, x: Sequence[float], y: Sequence[float]) -> list[float]:
    arrays = [np.array(values, reference.NUMPY[dtype]) for values in (x, y)]
    program = Program.of_node([dtype, dtype], Op2(kind, 0, 1))
    (result,) = evaluate(program, arrays, arrays[0].shape)
    return result.astype(np.float64).tolist()


def operands(dtype: Dtype, seed: int) -> list[float]:
    with np.errstate(over="ignore"):
        hard = np.array([*HARD, *(-x for x in HARD)]).astype(reference.NUMPY[dtype])
    near = [hard, np.nextafter(hard, hard.dtype.type(0)), random_floats(dtype, 300, seed)]
    values = np.concatenate(near).astype(np.float64)
    return values[np.isfinite(values)].tolist()


@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize("kind", [kind for kind in BOUNDS if isinstance(kind, Unary)])
def test_bounds_of_one_operand(kind: Unary, dtype: Dtype) -> None:
    x = operands(dtype, 1)
    results = run1(kind, dtype, x)
    worst = max(
        (ranks(dtype, result, exact(kind, value)), value)
        for value, result in zip(x, results, strict=True)
        if abs(value) != 1.0 or kind not in (Unary.LOG1P, Unary.LOG, Unary.ACOS)
    )
    assert worst[0] <= BOUNDS[kind][dtype is F64], worst


@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize("kind", [Binary.POW, Binary.ATAN2])
def test_bounds_of_two_operands(kind: Binary, dtype: Dtype) -> None:
    x, y = (random_floats(dtype, 600, seed).astype(np.float64) for seed in (2, 3))
    if kind is Binary.POW:
        x = np.abs(x)
        # Most powers of moderate size, so that they are neither zero nor infinite.
        y[::3] = (np.random.default_rng(4).uniform(-60, 60, 200) / np.log(x[::3])).astype(
            reference.NUMPY[dtype]
        )
    results = run2(kind, dtype, x.tolist(), y.tolist())
    rows = zip(x.tolist(), y.tolist(), results, strict=True)
    worst = max((ranks(dtype, result, exact(kind, a, b)), a, b) for a, b, result in rows)
    assert worst[0] <= BOUNDS[kind][dtype is F64], worst


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
