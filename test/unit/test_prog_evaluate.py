"""What each kind computes, against Python's exact integers and fractions."""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prog_strategies import programs

from dialects.prog import (
    BITCAST,
    CAST,
    COPY,
    WHERE,
    Binary,
    Compare,
    Const,
    Coord,
    Dtype,
    E,
    In,
    Monoid,
    Op1,
    Op2,
    Op3,
    Program,
    Unary,
    accepts2,
    evaluate,
    fold,
)

B, I32, I64, F32 = Dtype.bool, Dtype.int32, Dtype.int64, Dtype.float32
NUMPY = {B: np.bool_, I32: np.int32, I64: np.int64, F32: np.float32}
WIDTHS = {I32: 32, I64: 64}

Number = bool | int | float


def word(x: float) -> int:
    """The bits of a float32."""
    return struct.unpack("=I", struct.pack("=f", x))[0]


def float_of(bits: int) -> float:
    return struct.unpack("=f", struct.pack("=I", bits & 0xFFFFFFFF))[0]


INTEGERS = [0, 1, -1, 2, 3, -7, 10]
VALUES: dict[Dtype, list[Number]] = {
    B: [False, True],
    I32: [*INTEGERS, 2**31 - 1, -(2**31), 2**31 - 2, 16777217, -33554435],
    I64: [*INTEGERS, 2**63 - 1, -(2**63), 2**31, -(2**31) - 1, 2**53 + 1, 36028799166447617],
    F32: [
        *(0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 3.0, 1 / 3),
        *(math.inf, -math.inf, math.nan, float_of(0xFFC00001), float_of(0x7FA00001)),
        *(float_of(1), float_of(0x80000001), float_of(0x007FFFFF), float_of(0x00800000)),
        *(float_of(0x7F7FFFFF), 2.0**31, -(2.0**31), 2.0**63, -(2.0**63), 2147483520.0),
        *(0.99999994, -0.99999994, 8388608.0, 16777216.0, 1e-20, -1e30, 2.0**-126 * 1.5),
    ],
}
VALUES[F32] = [float_of(word(x)) for x in VALUES[F32]]


def rounded(q: Fraction) -> float:
    """The float32 nearest to `q`, ties to even; zero is positive."""
    if q == 0:
        return 0.0
    exponent = abs(q.numerator).bit_length() - q.denominator.bit_length()
    if abs(q) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    nearest = round(q / unit) * unit
    if abs(nearest) >= 2**128:
        return math.copysign(math.inf, q)
    return math.copysign(float(nearest), q)


def wrapped(dtype: Dtype, x: int) -> int:
    """`x` modulo 2^width, signed."""
    half = 1 << (WIDTHS[dtype] - 1)
    return (x + half) % (2 * half) - half


def is_negative(x: float) -> bool:
    return math.copysign(1, x) < 0


def add_floats(x: float, y: float) -> float:
    if math.isfinite(x) and math.isfinite(y):
        exact = Fraction(x) + Fraction(y)
        both_negative = is_negative(x) and is_negative(y)
        return rounded(exact) if exact or not both_negative else -0.0
    return x + y  # infinities and NaNs: no rounding is involved


def multiply_floats(x: float, y: float) -> float:
    if math.isfinite(x) and math.isfinite(y):
        sign = -1.0 if is_negative(x) != is_negative(y) else 1.0
        return math.copysign(rounded(Fraction(x) * Fraction(y)), sign)
    return x * y


def reciprocal(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    if math.isinf(x):
        return math.copysign(0.0, x)
    return x if math.isnan(x) else rounded(1 / Fraction(x))


def maximum(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y):
        return math.nan
    return max((x, not is_negative(x)), (y, not is_negative(y)))[0]


def minimum(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y):
        return math.nan
    return min((x, not is_negative(x)), (y, not is_negative(y)))[0]


def quotient(x: int, y: int) -> int:
    if y == 0:
        return 0
    magnitude = abs(x) // abs(y)
    return magnitude if (x < 0) == (y < 0) else -magnitude


def remainder(x: int, y: int) -> int:
    return x - y * quotient(x, y)


def float_remainder(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    if math.isinf(y):
        return x
    a, b = Fraction(abs(x)), Fraction(abs(y))
    return math.copysign(float(a - b * (a // b)), x)


ON_FLOATS: dict[Binary | Compare, Callable[[float, float], Number]] = {
    Binary.ADD: add_floats,
    Binary.MUL: multiply_floats,
    Binary.MOD: float_remainder,
    Binary.MAXIMUM: maximum,
    Binary.MINIMUM: minimum,
    Compare.EQUAL: lambda x, y: x == y,
    Compare.LESS: lambda x, y: x < y,
}
ON_INTEGERS: dict[Binary | Compare, Callable[[int, int], int]] = {
    Binary.ADD: lambda x, y: x + y,
    Binary.MUL: lambda x, y: x * y,
    Binary.IDIV: quotient,
    Binary.MOD: remainder,
    Binary.MAXIMUM: lambda x, y: x if x > y else y,
    Binary.MINIMUM: lambda x, y: x if x < y else y,
    Binary.AND: lambda x, y: x & y,
    Binary.OR: lambda x, y: x | y,
    Binary.XOR: lambda x, y: x ^ y,
    Compare.EQUAL: lambda x, y: x == y,
    Compare.LESS: lambda x, y: x < y,
}


def apply2(kind: Binary | Compare, dtype: Dtype, x: Number, y: Number) -> Number:
    if dtype is F32:
        return ON_FLOATS[kind](x, y)
    result = ON_INTEGERS[kind](int(x), int(y))
    return bool(result) if isinstance(kind, Compare) or dtype is B else wrapped(dtype, result)


def apply_recip(dtype: Dtype, x: Number) -> Number:
    if dtype is F32:
        return reciprocal(x)
    return x if x in (1, -1) else 0


def apply_cast(source: Dtype, target: Dtype, x: Number) -> Number:
    if target is B:
        return x != 0
    if target is F32:
        return x if source is F32 else rounded(Fraction(x))
    if source is not F32:
        return wrapped(target, int(x))
    if math.isnan(x):
        return 0
    half = 1 << (WIDTHS[target] - 1)
    whole = x if math.isinf(x) else int(x)
    return int(min(max(whole, -half), half - 1))


def apply_bitcast(target: Dtype, x: Number) -> Number:
    return float_of(int(x)) if target is F32 else wrapped(I32, word(x))


def array(dtype: Dtype, values: Sequence[Number]) -> np.ndarray:
    if dtype is F32:
        return np.array([word(x) for x in values], np.uint32).view(np.float32)
    return np.array(values, NUMPY[dtype])


def assert_values(dtype: Dtype, actual: np.ndarray, expected: Sequence[Number]) -> None:
    """Equal to the bit, NaNs apart."""
    assert actual.dtype == NUMPY[dtype]
    found = actual.tolist()
    if dtype is F32:
        nan = word(math.nan)
        found = [nan if math.isnan(x) else word(x) for x in found]
        expected = [nan if math.isnan(x) else word(x) for x in expected]
    assert found == list(expected)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(k, d) for k in (*Binary, *Compare) for d in Dtype if accepts2(k, d)],
)
def test_kinds_of_two_operands(kind: Binary | Compare, dtype: Dtype) -> None:
    pairs = list(itertools.product(VALUES[dtype], repeat=2))
    program = Program.of_node([dtype, dtype], Op2(kind, 0, 1))
    operands = [array(dtype, [pair[i] for pair in pairs]) for i in range(2)]
    (actual,) = evaluate(program, operands, (len(pairs),))
    expected = [apply2(kind, dtype, x, y) for x, y in pairs]
    assert_values(program.results[0], actual, expected)


@pytest.mark.parametrize("dtype", [I32, I64, F32])
def test_recip(dtype: Dtype) -> None:
    program = Program.of_node([dtype], Op1(Unary.RECIP, dtype, 0))
    values = VALUES[dtype]
    (actual,) = evaluate(program, [array(dtype, values)], (len(values),))
    assert_values(dtype, actual, [apply_recip(dtype, x) for x in values])


@pytest.mark.parametrize(("source", "target"), list(itertools.product(Dtype, Dtype)))
def test_cast(source: Dtype, target: Dtype) -> None:
    program = Program.of_node([source], Op1(CAST, target, 0))
    values = VALUES[source]
    (actual,) = evaluate(program, [array(source, values)], (len(values),))
    assert_values(target, actual, [apply_cast(source, target, x) for x in values])


@pytest.mark.parametrize("kind", [COPY, BITCAST])
def test_copies_keep_the_payload_of_a_nan(kind: object) -> None:
    words = np.array([0x7FA00001, 0xFFC12345, 0x80000000], np.uint32)
    e = E.input(0, F32)
    e = E.copy(e) if kind is COPY else E.bitcast(F32, E.bitcast(I32, e))
    (actual,) = evaluate(Program.of_exprs([F32], [e]), [words.view(np.float32)], (3,))
    assert actual.view(np.uint32).tolist() == words.tolist()


def test_bitcast_reads_the_bits() -> None:
    program = Program.of_node([F32], Op1(BITCAST, I32, 0))
    (actual,) = evaluate(program, [array(F32, [1.0, -0.0])], (2,))
    assert actual.tolist() == [0x3F800000, -(2**31)]


def test_where_picks() -> None:
    program = Program.of_node([B, F32, F32], Op3(WHERE, 0, 1, 2))
    operands = [np.array([True, False]), array(F32, [1.0, 2.0]), array(F32, [3.0, -0.0])]
    (actual,) = evaluate(program, operands, (2,))
    assert_values(F32, actual, [1.0, -0.0])


def test_coordinates_and_broadcast() -> None:
    e = E.coord(0) * E.const(I64, 10) + E.coord(1) + E.input(0, I64)
    program = Program.of_exprs([I64], [e, E.const(I64, 5)])
    sums, fives = evaluate(program, [np.array([100, 200, 300])], (2, 3))
    assert sums.tolist() == [[100, 201, 302], [110, 211, 312]]
    assert fives.tolist() == [[5] * 3] * 2


def run_by_hand(program: Program, operands: Sequence[Number], point: Sequence[int]) -> list[Number]:
    """The results at one point, node by node."""
    values: list[Number] = []
    for node in program.nodes:
        match node:
            case In(i):
                values.append(operands[i])
            case Coord(axis):
                values.append(point[axis])
            case Const(dtype, element):
                code = {B: "=B", I32: "=i", I64: "=q", F32: "=f"}[dtype]
                (value,) = struct.unpack(code, element)
                values.append(bool(value) if dtype is B else value)
            case Op1(kind, dtype, i):
                source = program.dtype(i)
                if kind is CAST:
                    values.append(apply_cast(source, dtype, values[i]))
                elif kind is BITCAST and source is not dtype:
                    values.append(apply_bitcast(dtype, values[i]))
                elif kind is Unary.RECIP:
                    values.append(apply_recip(dtype, values[i]))
                else:
                    values.append(values[i])
            case Op2(kind, i, j):
                values.append(apply2(kind, program.dtype(i), values[i], values[j]))
            case Op3(_, i, j, l):
                values.append(values[j] if values[i] else values[l])
    return [values[out] for out in program.outs]


def reads_bits_of_a_computed_nan(program: Program) -> bool:
    """Whether a result may depend on bits of a NaN, which are unspecified."""
    return any(
        isinstance(node, Op1) and node.kind is BITCAST and program.dtype(node.i) is F32
        for node in program.nodes
    )


@given(programs().filter(lambda p: not reads_bits_of_a_computed_nan(p)), st.data())
def test_random_programs(program: Program, data: st.DataObject) -> None:
    shape = (2, 3)
    operands = [
        data.draw(st.lists(st.sampled_from(VALUES[dtype]), min_size=6, max_size=6))
        for dtype in program.ins
    ]
    arrays = [
        array(dtype, values).reshape(shape)
        for dtype, values in zip(program.ins, operands, strict=True)
    ]
    results = evaluate(program, arrays, shape)
    points = list(itertools.product(range(2), range(3)))
    expected = [
        run_by_hand(program, [values[i] for values in operands], point)
        for i, point in enumerate(points)
    ]
    for position, (dtype, actual) in enumerate(zip(program.results, results, strict=True)):
        assert actual.shape == shape
        assert_values(dtype, actual.ravel(), [row[position] for row in expected])


FOLD_KINDS = {
    Monoid.SUM: Binary.ADD,
    Monoid.PRODUCT: Binary.MUL,
    Monoid.MAX: Binary.MAXIMUM,
    Monoid.MIN: Binary.MINIMUM,
}


@pytest.mark.parametrize("columns", [1, 3, 100])
@pytest.mark.parametrize(
    ("monoid", "dtype"), [(m, d) for m in Monoid for d in Dtype if m.accepts(d)]
)
def test_fold_is_a_left_fold_of_the_leading_axes(
    monoid: Monoid, dtype: Dtype, columns: int
) -> None:
    generator = np.random.default_rng(columns)
    numbers = generator.normal(0, 1, (5, 7, columns)) if dtype is F32 else None
    if numbers is None:
        numbers = generator.integers(0, 2 if dtype is B else 2**31, (5, 7, columns))
    elements = numbers.astype(NUMPY[dtype])
    kind = Binary.AND if (monoid, dtype) == (Monoid.PRODUCT, B) else FOLD_KINDS[monoid]
    expected: list[Number] = []
    for column in range(columns):
        accumulator: Number = monoid.identity(dtype)
        for x in elements[:, :, column].ravel().tolist():
            accumulator = apply2(kind, dtype, accumulator, x)
        expected.append(accumulator)
    assert_values(dtype, fold(monoid, elements, 2), expected)


@pytest.mark.parametrize("monoid", [Monoid.MAX, Monoid.MIN])
def test_extremum_of_special_floats(monoid: Monoid) -> None:
    def result(*values: float) -> float:
        return fold(monoid, array(F32, values)).item()

    zero = result(-0.0, 0.0, -0.0)
    assert is_negative(zero) == (monoid is Monoid.MIN)
    assert math.isnan(result(1.0, math.nan, 2.0))
    assert math.isnan(result(math.nan, math.inf, -math.inf))


def test_a_sum_never_gives_negative_zero() -> None:
    assert not is_negative(fold(Monoid.SUM, array(F32, [-0.0, -0.0])).item())


def test_a_long_sum_is_not_pairwise() -> None:
    ones = np.ones(2**24 + 100, np.float32)
    assert fold(Monoid.SUM, ones).item() == 2.0**24


def test_a_fold_goes_on_from_a_start() -> None:
    elements = array(F32, [1e8, 1.0, -1e8, 3.0])
    first = fold(Monoid.SUM, elements[:2])
    assert fold(Monoid.SUM, elements[2:], 1, first) == fold(Monoid.SUM, elements) == 3.0
