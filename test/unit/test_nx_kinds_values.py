"""What the C functions of the kinds give, against exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
import prog_reference as reference
import pytest
from c_kinds import compiled
from prog_bounds import BOUNDS, exact, operands, random_floats, ranks
from prog_special import ANGLES, POWERS, SPECIAL

from dialects.prog import (
    BITCAST,
    CAST,
    COMPLEX,
    DOMAINS,
    FLOATS,
    FMA,
    INTEGERS,
    WHERE,
    Binary,
    Compare,
    Dtype,
    Unary,
    width,
)

F32, F64, F16, E4M3, E5M2, E2M1 = (
    *(Dtype.float32, Dtype.float64, Dtype.float16),
    *(Dtype.float8_e4m3fn, Dtype.float8_e5m2, Dtype.float4_e2m1fn),
)
NARROW = [dtype for dtype in Dtype if dtype in FLOATS and width(dtype) < 32]
REAL = [dtype for dtype in Dtype if dtype in FLOATS | INTEGERS]
Numbers = Sequence[reference.Number]


def run1(kind: Unary, dtype: Dtype, x: np.ndarray) -> Numbers:
    return reference.numbers(dtype, compiled(dtype).apply1(kind, dtype, dtype, x))


def run2(kind: Binary | Compare, dtype: Dtype, x: np.ndarray, y: np.ndarray) -> Numbers:
    result = Dtype.bool if isinstance(kind, Compare) else dtype
    return reference.numbers(result, compiled(dtype).apply2(kind, dtype, x, y))


def run_cast(source: Dtype, target: Dtype, x: np.ndarray) -> np.ndarray:
    return compiled(source).apply1(CAST, source, target, x)


def of(dtype: Dtype, *values: reference.Number) -> np.ndarray:
    return np.array(values, reference.NUMPY[dtype])


def assert_equal(found: Numbers, expected: Iterable[reference.Number], *operands: Numbers) -> None:
    rows = zip(
        reference.comparable(found),
        reference.comparable(list(expected)),
        *operands,
        strict=True,
    )
    for one, other, *of_row in rows:
        assert one == other, of_row


@pytest.mark.parametrize("dtype", REAL)
def test_exact_kinds_of_one_operand(dtype: Dtype) -> None:
    x = reference.elements(dtype, 300)
    values = reference.numbers(dtype, x)
    kinds = (Unary.NEG, Unary.ABS, Unary.SIGN, Unary.RECIP, Unary.SQRT, *reference.ROUNDINGS)
    for kind in kinds:
        if dtype in DOMAINS[kind]:
            expected = (reference.apply1(kind, dtype, value) for value in values)
            assert_equal(run1(kind, dtype, x), expected, values)


@pytest.mark.parametrize("dtype", [dtype for dtype in Dtype if dtype not in COMPLEX])
def test_exact_kinds_of_two_operands(dtype: Dtype) -> None:
    side = reference.elements(dtype, 44)
    i, j = np.divmod(np.arange(len(side) ** 2), len(side))
    x, y = reference.numbers(dtype, side[i]), reference.numbers(dtype, side[j])
    for kind in (*Binary, *Compare):
        inexact = kind is Binary.POW and dtype in FLOATS
        if dtype not in DOMAINS[kind] or kind in (Binary.ATAN2, Binary.THREEFRY) or inexact:
            continue
        expected = (reference.apply2(kind, dtype, a, b) for a, b in zip(x, y, strict=True))
        assert_equal(run2(kind, dtype, side[i], side[j]), expected, x, y)


@pytest.mark.parametrize("dtype", REAL)
def test_fma_rounds_once(dtype: Dtype) -> None:
    side = reference.elements(dtype, 300)
    generator = np.random.default_rng(5)
    arrays = [generator.choice(side, 6000) for _ in range(3)]
    if dtype in FLOATS:
        # Next to the ties of a product and a sum, where rounding twice shows.
        one, last = 1.0, 2.0 ** (1 - reference.FLOATS[dtype].digits)
        near = of(dtype, one + last, one - last / 2, last, -last / 2, last**2, one)
        arrays = [np.concatenate([a, generator.choice(near, 500)]) for a in arrays]
    found = reference.numbers(dtype, compiled(dtype).apply3(FMA, dtype, dtype, *arrays))
    values = [reference.numbers(dtype, array) for array in arrays]
    rows = zip(*values, strict=True)
    if dtype in FLOATS:
        expected = (reference.rounded(dtype, reference.fused(*row)) for row in rows)
    else:
        expected = (reference.wrapped(dtype, a * b + c) for a, b, c in rows)
    assert_equal(found, expected, *values)


@pytest.mark.parametrize("source", list(Dtype))
def test_casts(source: Dtype) -> None:
    x = reference.elements(source, 300)
    values = reference.numbers(source, x)
    for target in Dtype:
        found = reference.numbers(target, run_cast(source, target, x))
        expected = (reference.cast(source, target, value) for value in values)
        assert_equal(found, expected, values, [target] * len(x))


@pytest.mark.parametrize("dtype", NARROW)
def test_every_code_is_loaded(dtype: Dtype) -> None:
    codes = reference.of_words(dtype, range(1 << width(dtype)))
    values = reference.numbers(dtype, codes)
    for wide in (F32, F64):
        assert_equal(reference.numbers(wide, run_cast(dtype, wide, codes)), values, values)


@pytest.mark.parametrize("wide", [F32, F64])
@pytest.mark.parametrize("dtype", NARROW)
def test_stores_at_every_rounding_point(dtype: Dtype, wide: Dtype) -> None:
    """At each element and each midpoint of two, and next to them; past the greatest one too."""
    format, numpy = reference.FLOATS[dtype], reference.NUMPY[wide]
    count = reference.array_words(dtype, [format.greatest])[0] + 1
    elements = reference.of_words(dtype, range(count)).astype(np.float64)
    elements = np.append(elements, 2 * elements[-1] - elements[-2])
    lower = np.arange(count)
    # Codes of positive elements are in order, and that of infinity follows the greatest one's.
    at_middles = [lower, lower + (lower & 1), lower + 1]
    at_elements = [lower[1:], lower[1:], lower[1:]]
    with np.errstate(over="ignore"):
        middles = (elements[:-1] / 2 + elements[1:] / 2).astype(numpy)
        points = [_neighbours(middles), _neighbours(elements[1:-1].astype(numpy))]
    x = np.concatenate([p for three in points for p in three])
    codes = np.concatenate([*at_middles, *at_elements])
    if format.saturates:
        codes = np.minimum(codes, count - 1)
    words = (*codes.tolist(), *(codes | 1 << (width(dtype) - 1)).tolist())
    found = run_cast(wide, dtype, np.concatenate([x, -x]))
    assert found.tobytes() == reference.of_words(dtype, words).tobytes()


def _neighbours(x: np.ndarray) -> list[np.ndarray]:
    """Just below, at and just above these floats."""
    infinity = x.dtype.type(math.inf)
    return [np.nextafter(x, -infinity), x, np.nextafter(x, infinity)]


@pytest.mark.parametrize("dtype", [*NARROW, F32, F64])
@pytest.mark.parametrize("source", [Dtype.int64, Dtype.uint64, Dtype.int32, Dtype.uint32])
def test_integers_round_once(source: Dtype, dtype: Dtype) -> None:
    """Integers of all sizes next to the midpoints of floats, where rounding twice shows."""
    bits, signed = reference.INTEGERS[source]
    digits = reference.FLOATS[dtype].digits
    ties = [
        (lead << (place - digits)) + step
        for place in range(digits + 1, bits + 1)
        for lead in ((1 << digits) + 1, (1 << digits) + 3, (2 << digits) - 1)
        for step in (-1, 0, 1)
    ]
    integers = [
        reference.wrapped(source, sign * tie) for tie in ties for sign in (1, -1)[: 1 + signed]
    ]
    found = run_cast(source, dtype, of(source, *integers))
    expected = (reference.rounded(dtype, Fraction(x)) for x in integers)
    assert_equal(reference.numbers(dtype, found), expected, integers)


@pytest.mark.parametrize("kind", [kind for kind in BOUNDS if isinstance(kind, Unary)])
def test_float32_is_correctly_rounded(kind: Unary) -> None:
    x = operands(F32, 300, 11)
    found, values = run1(kind, F32, x), x.astype(np.float64).tolist()
    worst = max((ranks(F32, y, exact(kind, a)), a) for a, y in zip(values, found, strict=True))
    assert worst[0] == 0, worst


NEAR_MIDPOINTS = [
    *((Unary.LOG, x) for x in ("0x1.827a74p-7", "0x1.2f1fd6p+3", "0x1.bacb4ap+25")),
    *((Unary.LOG1P, x) for x in ("0x1.200036p-17", "0x1.fb035ap-2", "0x1.0f1fd6p+3")),
    (Unary.EXP2, "0x1.853a6ep-9"),
    (Unary.ATAN, "0x1.1ad646p-4"),
]
"""Results so near to a midpoint of float32s that glibc's doubles are rounded to it or past it."""


@pytest.mark.parametrize(("kind", "x"), NEAR_MIDPOINTS)
def test_float32_next_to_midpoints(kind: Unary, x: str) -> None:
    (found,) = run1(kind, F32, of(F32, float.fromhex(x)))
    assert ranks(F32, found, exact(kind, float.fromhex(x))) == 0


EDGES: list[tuple[Unary, tuple[float, ...]]] = [
    (Unary.EXP, (88.72284, -87.33655, -103.27893, -103.97208)),
    (Unary.EXP2, (128.0, -126.0, -148.0, -149.0, -150.0)),
    (Unary.EXPM1, (88.72284,)),
    (Unary.SINH, (89.416, -89.416)),
    (Unary.COSH, (89.416,)),
]
"""Where results overflow, become subnormal and vanish."""


@pytest.mark.parametrize(("kind", "edges"), EDGES)
def test_float32_at_the_ends_of_its_range(kind: Unary, edges: Sequence[float]) -> None:
    words = reference.array_words(F32, edges)
    x = reference.of_words(F32, [word + step for word in words for step in range(-20, 21)])
    values = reference.numbers(F32, x)
    for value, found in zip(values, run1(kind, F32, x), strict=True):
        assert ranks(F32, found, exact(kind, value)) == 0, value


@pytest.mark.parametrize("kind", [kind for kind in BOUNDS if isinstance(kind, Unary)])
def test_float64_is_within_a_rank(kind: Unary) -> None:
    x = operands(F64, 300, 12)
    found, values = run1(kind, F64, x), x.tolist()
    worst = max((ranks(F64, y, exact(kind, a)), a) for a, y in zip(values, found, strict=True))
    assert worst[0] <= 1, worst


@pytest.mark.parametrize(("dtype", "bound"), [(F32, 0), (F64, 1)])
@pytest.mark.parametrize("kind", [Binary.POW, Binary.ATAN2])
def test_inexact_kinds_of_two_operands(kind: Binary, dtype: Dtype, bound: int) -> None:
    x, y = (random_floats(dtype, 600, seed) for seed in (13, 14))
    if kind is Binary.POW:
        x = np.abs(x)
        # Most powers of moderate size, and some squares and cubes that are midpoints.
        logarithms = np.log(x[::3].astype(np.float64))
        y[::3] = np.random.default_rng(15).uniform(-60, 60, 200) / logarithms
        x[1::30], y[1::30] = np.arange(4097, 4137, 2), 2
        x[2::30], y[2::30] = np.arange(257, 297, 2), 3
        x[3::30], y[3::30] = np.arange(257, 297, 2) ** 2, 1.5
    found = run2(kind, dtype, x, y)
    rows = zip(x.astype(np.float64).tolist(), y.astype(np.float64).tolist(), found, strict=True)
    worst = max((ranks(dtype, z, exact(kind, a, b)), a, b) for a, b, z in rows)
    assert worst[0] <= bound, worst


@pytest.mark.parametrize("dtype", [F32, F64])
def test_special_values(dtype: Dtype) -> None:
    for kind, x, expected in SPECIAL:
        assert_equal(run1(kind, dtype, of(dtype, x)), [expected], [(kind, x)])


@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize(("kind", "rows"), [(Binary.POW, POWERS), (Binary.ATAN2, ANGLES)])
def test_special_values_of_two_operands(
    kind: Binary, rows: Sequence[tuple[float, float, float]], dtype: Dtype
) -> None:
    x, y, expected = (list(column) for column in zip(*rows, strict=True))
    found = run2(kind, dtype, of(dtype, *x), of(dtype, *y))
    assert_equal(found, (reference.rounded(dtype, e) for e in expected), x, y)


@pytest.mark.parametrize("dtype", [dtype for dtype in Dtype if dtype in FLOATS - {E2M1}])
def test_nans(dtype: Dtype) -> None:
    nan = of(dtype, math.nan)
    for kind, domain in DOMAINS.items():
        if dtype not in domain:
            continue
        if isinstance(kind, Unary):
            assert math.isnan(run1(kind, dtype, nan)[0]), kind
        elif isinstance(kind, Binary):
            for x, y in ((nan, of(dtype, 2.0)), (of(dtype, 2.0), nan)):
                assert math.isnan(run2(kind, dtype, x, y)[0]), kind


def signalling(dtype: Dtype) -> np.ndarray:
    fraction = reference.FLOATS[dtype].digits - 1
    quiet = reference.array_words(dtype, [math.nan])[0] & ~(1 << (width(dtype) - 1))
    return reference.of_words(dtype, [(quiet ^ 1 << (fraction - 1)) | 1])


@pytest.mark.parametrize("dtype", [F32, F64, F16])
def test_signalling_nans(dtype: Dtype) -> None:
    nan, one, zero = signalling(dtype), of(dtype, 1.0), of(dtype, 0.0)
    assert run2(Binary.POW, dtype, one, nan) == [1.0]
    assert run2(Binary.POW, dtype, nan, zero) == [1.0]
    # Moves keep the bits; Neg and Abs all but the sign.
    where = compiled(dtype).apply3(WHERE, Dtype.bool, dtype, of(Dtype.bool, True), nan, one)
    assert where.tobytes() == nan.tobytes()
    negative = compiled(dtype).apply1(Unary.NEG, dtype, dtype, nan)
    assert negative.tobytes() != nan.tobytes()
    assert compiled(dtype).apply1(Unary.ABS, dtype, dtype, negative).tobytes() == nan.tobytes()


def test_payloads_of_narrow_nans() -> None:
    for dtype, word, sign in ((F16, 0x7D01, 0x8000), (Dtype.bfloat16, 0x7F81, 0x8000)):
        (found,) = (
            compiled(dtype)
            .apply1(Unary.NEG, dtype, dtype, reference.of_words(dtype, [word]))
            .view(np.uint16)
        )
        assert found == word | sign


def test_hard_arguments_of_periodic_functions() -> None:
    hard = [float.fromhex(x) for x in ("0x1.6ac5b262ca1ffp+849", "0x1.065c829d68730p+39")]
    for kind in (Unary.SIN, Unary.COS, Unary.TAN):
        for x, y in zip(hard, run1(kind, F64, of(F64, *hard)), strict=True):
            assert ranks(F64, y, exact(kind, x)) == 0, (kind, x)
    assert run1(Unary.COS, F64, of(F64, hard[0])) == [float.fromhex("-0x1.14ae72e6ba22fp-61")]


def test_fma_of_narrow_floats_rounds_from_the_exact_value() -> None:
    x, y, z = (reference.of_words(F16, [word]) for word in (0xF280, 0xC298, 0x848B))
    assert compiled(F16).apply3(FMA, F16, F16, x, y, z).tolist() == [43872.0]


def test_infinities_of_formats_that_saturate() -> None:
    infinity = reference.of_words(E5M2, [0x7C])
    assert run_cast(E5M2, F32, infinity).tolist() == [math.inf]
    assert compiled(E5M2).apply1(BITCAST, E5M2, Dtype.uint8, infinity).tolist() == [0x7C]
    where = compiled(E5M2).apply3(WHERE, Dtype.bool, E5M2, of(Dtype.bool, True), infinity, infinity)
    assert where.view(np.uint8).tolist() == [0x7C]
    assert run1(Unary.NEG, E5M2, infinity) == [-57344.0]
    assert run1(Unary.ABS, E5M2, infinity) == [57344.0]
    assert run2(Binary.MAXIMUM, E5M2, infinity, infinity) == [57344.0]
    assert run2(Binary.ADD, E5M2, infinity, infinity) == [57344.0]
    assert run1(Unary.RECIP, E4M3, of(E4M3, 0.0)) == [448.0]
    (zero,) = run2(Binary.FDIV, E2M1, of(E2M1, 0.0), of(E2M1, 0.0))
    assert (zero, math.copysign(1, zero)) == (0.0, 1.0)


def test_conversions_of_integers() -> None:
    i32, i64, u8, u64 = Dtype.int32, Dtype.int64, Dtype.uint8, Dtype.uint64
    assert run_cast(F32, u8, of(F32, 300.0, -1.0, math.nan, 254.9)).tolist() == [255, 0, 0, 254]
    assert run_cast(i32, u8, of(i32, 300, -1)).tolist() == [44, 255]
    assert run_cast(F64, u64, of(F64, -1.0, 2.0**64)).tolist() == [0, 2**64 - 1]
    assert run_cast(i64, F32, of(i64, 2**53 + 1, 2**24 + 1)).tolist() == [2.0**53, 2.0**24]
    assert run_cast(Dtype.bool, i64, np.array([0, 1, 255], np.uint8).view(bool)).tolist() == [
        0,
        1,
        1,
    ]


@pytest.mark.parametrize("dtype", [dtype for dtype in Dtype if dtype in INTEGERS])
def test_corners_of_integers(dtype: Dtype) -> None:
    bits, signed = reference.INTEGERS[dtype]

    def one(kind: Binary, x: int, y: int) -> reference.Number:
        return run2(kind, dtype, of(dtype, x), of(dtype, y))[0]

    assert (one(Binary.IDIV, 7, 0), one(Binary.MOD, 7, 0), one(Binary.POW, 0, 0)) == (0, 7, 1)
    if signed:
        least = -(1 << (bits - 1))
        assert (one(Binary.IDIV, least, -1), one(Binary.MOD, least, -1)) == (least, 0)
        assert (one(Binary.POW, -1, -3), one(Binary.POW, 2, -1)) == (-1, 0)
        assert run1(Unary.ABS, dtype, of(dtype, least)) == [least]
        assert run1(Unary.RECIP, dtype, of(dtype, -1, 2, 0)) == [-1, 0, 0]


VECTORS = [
    (0x0000000000000000, 0x0000000000000000, 0x99BA4EFE6B200159),
    (0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0xBB002BE71CB996FC),
    (0x85A308D3243F6A88, 0x0370734413198A2E, 0x483DF7A0C4923A9C),
]
"""Counters, keys and results, known answers of the Random123 library."""


def test_threefry() -> None:
    counters, keys, expected = zip(*VECTORS, strict=True)
    u64 = Dtype.uint64
    assert run2(Binary.THREEFRY, u64, of(u64, *counters), of(u64, *keys)) == list(expected)


def test_order_and_signs_of_zeros() -> None:
    minus, plus = of(F32, -0.0), of(F32, 0.0)
    for x, y in ((minus, plus), (plus, minus)):
        assert_equal(run2(Binary.MAXIMUM, F32, x, y), [0.0])
        assert_equal(run2(Binary.MINIMUM, F32, x, y), [-0.0])
        assert run2(Compare.EQUAL, F32, x, y) == [True]
    assert_equal(run1(Unary.SIGN, F32, minus), [0.0])
    assert_equal(run1(Unary.ROUND, F32, of(F32, -0.3)), [-0.0])
    assert_equal(run2(Binary.MOD, F32, of(F32, -4.0), of(F32, 2.0)), [-0.0])
