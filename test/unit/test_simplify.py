"""Constants are computed as numpy computes them, and what is known changes no bit."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from prog_strategies import constants, programs

from dialects.prog import (
    BOOLEANS,
    COMPLEX,
    FLOATS,
    INTEGERS,
    Binary,
    Const,
    Coord,
    Dtype,
    E,
    In,
    Program,
    bits,
    evaluate,
    value_of,
)
from dialects.prog.carriers import numpy_dtype
from dialects.prog.plain import plain
from passes.loops.simplify import constant_of, simplified

F32, I64, B = Dtype.float32, Dtype.int64, Dtype.bool
X = E.input(0, F32)
PLAIN = tuple(INTEGERS | BOOLEANS)


def array(dtype: Dtype, element: bytes) -> np.ndarray[Any, Any]:
    return np.frombuffer(element, numpy_dtype(dtype))


@given(programs(axes=1, dtypes=sorted(PLAIN, key=lambda d: d.name)), st.data())
def test_plain_values_are_those_of_evaluate(program: Program, data: st.DataObject) -> None:
    elements = [data.draw(constants(dtype)).bits for dtype in program.ins]
    run = plain(program, program.outs)
    if run is None:
        kinds = {getattr(node, "kind", None) for node in program.nodes}
        coordinates = any(isinstance(node, Coord) for node in program.nodes)
        assert coordinates or kinds & {Binary.THREEFRY, *(k for k in kinds if is_bitcast(k))}
        return
    pairs = list(zip(program.ins, elements, strict=True))
    values = run([int(value_of(dtype, element)) for dtype, element in pairs])
    expected = evaluate(program, [array(dtype, element) for dtype, element in pairs], (1,))
    for dtype, value, result in zip(program.results, values, expected, strict=True):
        assert value == value_of(dtype, np.ascontiguousarray(result).tobytes())


def is_bitcast(kind: object) -> bool:
    return getattr(kind, "value", None) == "bitcast"


def same(dtype: Dtype, one: bytes, other: bytes) -> bool:
    """Whether two elements are the same, but for the payloads of NaNs."""
    if one == other:
        return True
    left, right = value_of(dtype, one), value_of(dtype, other)
    if dtype in BOOLEANS:
        return left == right
    return dtype in FLOATS and left != left and right != right


SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-45, -1e-45, 3e38, -3e38]
KNOWN = (Dtype.bool, Dtype.int32, Dtype.int64, Dtype.uint8, Dtype.float32, Dtype.float64)


@given(programs(axes=1, dtypes=KNOWN), st.data())
def test_what_is_known_changes_no_bit(program: Program, data: st.DataObject) -> None:
    assume(not any(is_bitcast(getattr(node, "kind", None)) for node in program.nodes))
    assume(not any(dtype in COMPLEX for dtype in program.dtypes))
    elements = [
        bits(dtype, data.draw(st.sampled_from(SPECIAL)))
        if dtype in FLOATS
        else data.draw(constants(dtype)).bits
        for dtype in program.ins
    ]
    known = {
        E.input(i, dtype): E(Const(dtype, element), dtype)
        for i, (dtype, element) in enumerate(zip(program.ins, elements, strict=True))
        if data.draw(st.booleans())
    }
    after = Program.of_exprs(program.ins, simplified(program.exprs(), known))
    for leaf in known:
        assert leaf.head not in [node for node in after.nodes if isinstance(node, In)]
    arrays = [array(dtype, e) for dtype, e in zip(program.ins, elements, strict=True)]
    pairs = zip(evaluate(program, arrays, (3,)), evaluate(after, arrays, (3,)), strict=True)
    for dtype, (before, now) in zip(program.results, pairs, strict=True):
        for one, other in zip(before, now, strict=True):
            assert same(dtype, one.tobytes(), other.tobytes())


def real(value: float) -> E:
    return E.const(F32, value)


ZERO, MINUS_ZERO = real(0.0), real(-0.0)


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (X + MINUS_ZERO, X),
        (MINUS_ZERO + X, X),
        (X + ZERO, X + ZERO),
        ((X + ZERO) + ZERO, X + ZERO),
        (ZERO + (ZERO + X), ZERO + X),
        ((X + real(1.0)) + ZERO, X + real(1.0)),
        ((X + X) + ZERO, (X + X) + ZERO),
        ((X * ZERO) + ZERO, (X * ZERO) + ZERO),
        (X * real(1.0), X * real(1.0)),
        (real(0.1) + real(0.2), real(float(np.float32(0.1) + np.float32(0.2)))),
        (real(3e38) + real(3e38), real(math.inf)),
        (real(1e-30) * real(-1e-30), MINUS_ZERO),
        (E.where(E.less(X, ZERO), X, X), X),
    ],
)
def test_sums_with_zeros(e: E, expected: E) -> None:
    assert simplified([e], {}) == (expected,)
    values = np.array(SPECIAL, np.float32)
    for one in (e, simplified([e], {})[0]):
        (result,) = evaluate(Program.of_exprs([F32], [one]), [values], values.shape)
        (wanted,) = evaluate(Program.of_exprs([F32], [e]), [values], values.shape)
        for a, b in zip(result, wanted, strict=True):
            assert same(F32, a.tobytes(), b.tobytes())


def test_logic_with_constants() -> None:
    p = E.less(X, ZERO)
    for kind, value in itertools.product((Binary.AND, Binary.OR), (False, True)):
        constant = E.const(B, value)
        neutral = value is (kind is Binary.AND)
        for e in (E.of_kind2(kind, p, constant), E.of_kind2(kind, constant, p)):
            assert simplified([e], {}) == (p if neutral else constant,)


def test_a_deep_sum_is_simplified() -> None:
    e = X
    for _ in range(50_000):
        e = e + ZERO
    assert simplified([e], {}) == (X + ZERO,)
    assert constant_of(simplified([e], {X: real(-0.0)})[0]) == 0.0
