"""Constants are computed as numpy computes them, and what is known changes no bit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from prog_strategies import constants, programs

from dialects.prog import (
    BITCAST,
    BOOLEANS,
    CAST,
    COMPLEX,
    FLOATS,
    FMA,
    WHERE,
    Binary,
    Compare,
    Const,
    Coord,
    Dtype,
    E,
    In,
    Op1,
    Op2,
    Op3,
    Program,
    Unary,
    accepts1,
    accepts2,
    accepts3,
    bits,
    evaluate,
    integer_range,
    value_of,
    width,
)  # fmt: skip
from dialects.prog.carriers import numpy_dtype
from dialects.prog.plain import plain
from passes.loops.simplify import constant_of, simplified

F32, I64, B = Dtype.float32, Dtype.int64, Dtype.bool
X = E.input(0, F32)


def array(dtype: Dtype, element: bytes) -> np.ndarray[Any, Any]:
    return np.frombuffer(element, numpy_dtype(dtype))


def samples(dtype: Dtype) -> list[bytes]:
    """All elements of a narrow dtype; the ends and some between of a wide one."""
    if width(dtype) <= 4:
        return [bytes([code]) for code in range(1 << width(dtype))]
    if dtype is B:
        return [b"\0", b"\1"]
    least, greatest = integer_range(dtype)
    near = {*range(-3, 4), least, least + 1, greatest - 1, greatest, 1000, -77}
    return [bits(dtype, value) for value in sorted(near) if least <= value <= greatest]


NARROW = (Dtype.int4, Dtype.uint4, B, Dtype.bit)
WIDE = (Dtype.int8, Dtype.uint8, Dtype.int32, I64, Dtype.uint64)
NUMPY_ONLY = (Binary.THREEFRY,)


def programs_of_one_kind() -> Iterator[Program]:
    """Every kind of integers and booleans that is computed without numpy."""
    for dtype in (*NARROW, *WIDE):
        for kind in Unary:
            if accepts1(kind, dtype, dtype):
                yield Program.of_node([dtype], Op1(kind, dtype, 0))
        for result in (*NARROW, *WIDE):
            yield Program.of_node([dtype], Op1(CAST, result, 0))
            if accepts1(BITCAST, dtype, result) and (dtype is B) is (result is B):
                yield Program.of_node([dtype], Op1(BITCAST, result, 0))
        for kind in (*Binary, *Compare):
            if accepts2(kind, dtype) and kind not in NUMPY_ONLY:
                yield Program.of_node([dtype] * 2, Op2(kind, 0, 1))
        yield Program.of_node([B, dtype, dtype], Op3(WHERE, 0, 1, 2))
        if accepts3(FMA, dtype, dtype):
            yield Program.of_node([dtype] * 3, Op3(FMA, 0, 1, 2))


@pytest.mark.parametrize("program", list(programs_of_one_kind()), ids=lambda p: str(p.nodes[-1]))
def test_plain_values_are_those_of_evaluate(program: Program) -> None:
    run = plain(program, program.outs)
    assert run is not None
    points = list(itertools.product(*map(samples, program.ins)))
    columns = [
        np.frombuffer(b"".join(column), numpy_dtype(dtype))
        for dtype, column in zip(program.ins, zip(*points, strict=True), strict=True)
    ]
    (expected,) = evaluate(program, columns, (len(points),))
    for point, wanted in zip(points, expected, strict=True):
        values = [value_of(d, e) for d, e in zip(program.ins, point, strict=True)]
        assert run([int(value.real) for value in values]) == (
            value_of(program.results[0], wanted.tobytes()),
        )


@pytest.mark.parametrize(
    "program",
    [
        Program.of_node([], Coord(0)),
        Program.of_node([Dtype.uint64] * 2, Op2(Binary.THREEFRY, 0, 1)),
        Program.of_node([B], Op1(BITCAST, Dtype.int8, 0)),
        Program.of_exprs([F32], [E.less(X, X)]),
    ],
)
def test_what_needs_numpy_has_no_plain_values(program: Program) -> None:
    assert plain(program, program.outs) is None


def is_bitcast(kind: object) -> bool:
    return kind is BITCAST


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
        (E.cast(F32, E.cast(Dtype.int32, X)) + ZERO, E.cast(F32, E.cast(Dtype.int32, X))),
        (
            E.cast(F32, E.cast(Dtype.float64, X)) + ZERO,
            E.cast(F32, E.cast(Dtype.float64, X)) + ZERO,
        ),
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
