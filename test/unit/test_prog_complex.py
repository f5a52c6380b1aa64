"""The kinds of complex numbers: bounds against mpmath, special values, symmetries, real axis."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import prog_reference as reference
import pytest
from mpmath import mp, mpc
from prog_bounds import FUNCTIONS, units
from prog_special import CUTS

from dialects.prog import DOMAINS, Binary, Dtype, Op1, Op2, Program, Unary, evaluate

C64, C128 = Dtype.complex64, Dtype.complex128
INF, NAN, PI = math.inf, math.nan, math.pi

BOUNDS: dict[Unary, float] = {
    Unary.SQRT: 3,
    Unary.SIGN: 3,
    **dict.fromkeys((Unary.EXP, Unary.EXP2, Unary.LOG, Unary.LOG2, Unary.RECIP), 4),
    **dict.fromkeys((Unary.ASIN, Unary.ACOS, Unary.ATAN), 5),
    **dict.fromkeys((Unary.ASINH, Unary.ACOSH, Unary.ATANH), 5),
    **dict.fromkeys((Unary.SIN, Unary.COS, Unary.TAN, Unary.SINH, Unary.COSH, Unary.TANH), 6),
}
EXACT = {**FUNCTIONS, Unary.SIGN: lambda z: z / abs(z), Unary.RECIP: lambda z: 1 / z}


def run(kind: Unary | Binary, dtype: Dtype, *operands: Sequence[complex]) -> list[complex]:
    with np.errstate(over="ignore"):
        arrays = [np.array(values, reference.NUMPY[dtype]) for values in operands]
    node = Op1(kind, dtype, 0) if isinstance(kind, Unary) else Op2(kind, 0, 1)
    (result,) = evaluate(Program.of_node([dtype] * len(arrays), node), arrays, arrays[0].shape)
    assert result.dtype == reference.NUMPY[dtype]
    return result.tolist()


def points(dtype: Dtype, count: int, seed: int, spread: int = 12) -> list[complex]:
    """Of all quadrants; some near the unit circle, the axes and the branch points."""
    generator = np.random.default_rng(seed)
    exponents = generator.integers(-spread, spread, (2, count))
    x, y = np.ldexp(generator.uniform(1, 2, (2, count)), exponents)
    angle = generator.uniform(0, PI, count // 4)
    x[: count // 4], y[: count // 4] = np.cos(angle), np.sin(angle)
    x[count // 4 : count // 3] = 1.0
    signs = generator.choice([-1.0, 1.0], (2, count))
    return (signs[0] * x + 1j * signs[1] * y).astype(reference.NUMPY[dtype]).tolist()


def is_normal(dtype: Dtype, value: object) -> bool:
    format = reference.FLOATS[reference.COMPLEX[dtype]]
    return 2.0**format.least <= abs(value) <= format.greatest / 2


@pytest.mark.parametrize("dtype", [C64, C128])
@pytest.mark.parametrize("kind", list(BOUNDS))
def test_bounds(kind: Unary, dtype: Dtype) -> None:
    operands = points(dtype, 250, 1) + points(dtype, 50, 2, 6)
    worst = 0.0, 0j
    for z, result in zip(operands, run(kind, dtype, operands), strict=True):
        value = EXACT[kind](mpc(z))
        if is_normal(dtype, value):
            worst = max(worst, (units(dtype, result, value), z), key=lambda pair: pair[0])
    assert worst[0] <= BOUNDS[kind], worst


def test_exp2_at_large_angles() -> None:
    operands = [complex(x, 2.0**e * 1.2345) for x in (-3.5, 1.0) for e in range(3, 1020, 40)]
    with mp.workprec(1400):
        ln2 = mp.log(2)
        for z, result in zip(operands, run(Unary.EXP2, C128, operands), strict=True):
            assert units(C128, result, mp.exp(mpc(z) * ln2)) <= 4, z


@pytest.mark.parametrize("dtype", [C64, C128])
def test_bounds_of_products_and_quotients(dtype: Dtype) -> None:
    z, w = points(dtype, 400, 3, 30), points(dtype, 400, 4, 30)
    rows = zip(z, w, run(Binary.MUL, dtype, z, w), run(Binary.FDIV, dtype, z, w), strict=True)
    for a, b, product, quotient in rows:
        assert units(dtype, product, mpc(a) * mpc(b)) <= 2
        assert units(dtype, quotient, mpc(a) / mpc(b)) <= 4


@pytest.mark.parametrize("dtype", [C64, C128])
def test_bound_of_a_quotient_of_a_subnormal_dividend(dtype: Dtype) -> None:
    least = reference.FLOATS[reference.COMPLEX[dtype]].least
    digits = reference.FLOATS[reference.COMPLEX[dtype]].digits
    generator = np.random.default_rng(5)
    parts = generator.integers(1, 1 << digits, (4, 300)).astype(np.float64)
    z = (parts[0] + 1j * parts[1]) * 2.0 ** (least + 1 - digits)
    w = (parts[2] - 1j * parts[3]) * 2.0 ** (-digits - 80)
    z, w = (array.astype(reference.NUMPY[dtype]).tolist() for array in (z, w))
    for a, b, result in zip(z, w, run(Binary.FDIV, dtype, z, w), strict=True):
        assert units(dtype, result, mpc(a) / mpc(b)) <= 4


def test_pow_is_within_its_bound() -> None:
    for dtype in (C64, C128):
        z, w = points(dtype, 200, 6, 5), points(dtype, 200, 7, 3)
        for a, b, result in zip(z, w, run(Binary.POW, dtype, z, w), strict=True):
            exponent = mpc(b) * mp.log(mpc(a))
            value = mp.exp(exponent)
            if is_normal(dtype, value):
                assert units(dtype, result, value) <= 3 + 3 * abs(exponent), (a, b)


def same(x: float, y: float) -> bool:
    return (math.isnan(x) and math.isnan(y)) or (x, math.copysign(1, x)) == (y, math.copysign(1, y))


HALF = 1.5
SPECIAL: list[tuple[Unary, complex, complex]] = [
    # The choices that C99 leaves open.
    *((Unary.EXP, complex(-INF, y), complex(0, 0)) for y in (INF, NAN)),
    *((Unary.EXP, complex(INF, y), complex(INF, NAN)) for y in (INF, NAN)),
    (Unary.SQRT, complex(-INF, NAN), complex(NAN, INF)),
    *((Unary.SINH, complex(0, y), complex(0, NAN)) for y in (INF, NAN)),
    *((Unary.SINH, complex(INF, y), complex(INF, NAN)) for y in (INF, NAN)),
    *(
        (Unary.COSH, z, complex(NAN, 0))
        for z in (complex(0, INF), complex(0, NAN), complex(NAN, 0))
    ),
    (Unary.COSH, complex(INF, INF), complex(INF, NAN)),
    *((Unary.TANH, complex(INF, y), complex(1, 0)) for y in (INF, NAN)),
    (Unary.ASIN, complex(INF, NAN), complex(NAN, INF)),
    (Unary.ACOS, complex(INF, NAN), complex(NAN, -INF)),
    (Unary.ATAN, complex(INF, NAN), complex(PI / 2, 0)),
    (Unary.ASINH, complex(NAN, INF), complex(INF, NAN)),
    (Unary.ATANH, complex(NAN, INF), complex(0, PI / 2)),
    # Annex G, G.6.
    (Unary.ACOS, complex(0, 0), complex(PI / 2, -0.0)),
    (Unary.ACOS, complex(HALF, INF), complex(PI / 2, -INF)),
    (Unary.ACOS, complex(-INF, 1), complex(PI, -INF)),
    (Unary.ACOS, complex(INF, 1), complex(0, -INF)),
    (Unary.ACOS, complex(-INF, INF), complex(3 * PI / 4, -INF)),
    (Unary.ACOS, complex(INF, INF), complex(PI / 4, -INF)),
    (Unary.ACOSH, complex(0, 0), complex(0, PI / 2)),
    (Unary.ACOSH, complex(HALF, INF), complex(INF, PI / 2)),
    (Unary.ACOSH, complex(-INF, 1), complex(INF, PI)),
    (Unary.ACOSH, complex(INF, 1), complex(INF, 0)),
    (Unary.ACOSH, complex(INF, NAN), complex(INF, NAN)),
    (Unary.ASINH, complex(0, 0), complex(0, 0)),
    (Unary.ASINH, complex(HALF, INF), complex(INF, PI / 2)),
    (Unary.ASINH, complex(INF, 1), complex(INF, 0)),
    (Unary.ASINH, complex(INF, INF), complex(INF, PI / 4)),
    (Unary.ATANH, complex(0, NAN), complex(0, NAN)),
    (Unary.ATANH, complex(1, 0), complex(INF, 0)),
    (Unary.ATANH, complex(HALF, INF), complex(0, PI / 2)),
    (Unary.ATANH, complex(INF, 1), complex(0, PI / 2)),
    (Unary.COSH, complex(0, 0), complex(1, 0)),
    (Unary.COSH, complex(INF, 0), complex(INF, 0)),
    (Unary.COSH, complex(HALF, INF), complex(NAN, NAN)),
    (Unary.SINH, complex(0, 0), complex(0, 0)),
    (Unary.SINH, complex(INF, 0), complex(INF, 0)),
    (Unary.SINH, complex(NAN, 0), complex(NAN, 0)),
    (Unary.TANH, complex(0, 0), complex(0, 0)),
    (Unary.TANH, complex(INF, 1), complex(1, 0)),
    (Unary.TANH, complex(NAN, 0), complex(NAN, 0)),
    (Unary.EXP, complex(0, 0), complex(1, 0)),
    (Unary.EXP, complex(-INF, 1), complex(0, 0)),
    (Unary.EXP, complex(INF, 0), complex(INF, 0)),
    (Unary.EXP, complex(INF, 2), complex(-INF, INF)),
    (Unary.EXP, complex(NAN, 0), complex(NAN, 0)),
    (Unary.EXP2, complex(-INF, INF), complex(0, 0)),
    (Unary.EXP2, complex(INF, 0), complex(INF, 0)),
    (Unary.EXP2, complex(1e300, 0), complex(INF, 0)),
    (Unary.LOG, complex(-0.0, 0), complex(-INF, PI)),
    (Unary.LOG, complex(0, 0), complex(-INF, 0)),
    (Unary.LOG, complex(HALF, INF), complex(INF, PI / 2)),
    (Unary.LOG, complex(-INF, 1), complex(INF, PI)),
    (Unary.LOG, complex(-INF, INF), complex(INF, 3 * PI / 4)),
    (Unary.LOG, complex(INF, NAN), complex(INF, NAN)),
    (Unary.LOG, complex(NAN, INF), complex(INF, NAN)),
    (Unary.LOG2, complex(0, 0), complex(-INF, 0)),
    (Unary.SQRT, complex(-0.0, 0), complex(0, 0)),
    (Unary.SQRT, complex(NAN, INF), complex(INF, INF)),
    (Unary.SQRT, complex(-INF, 1), complex(0, INF)),
    (Unary.SQRT, complex(INF, 1), complex(INF, 0)),
    (Unary.SQRT, complex(INF, NAN), complex(INF, NAN)),
]


@pytest.mark.parametrize("dtype", [C64, C128])
def test_special_values(dtype: Dtype) -> None:
    part = reference.COMPLEX[dtype]
    for kind, z, expected in SPECIAL:
        (found,) = run(kind, dtype, [z])
        pairs = ((found.real, expected.real), (found.imag, expected.imag))
        for actual, value in pairs:
            assert same(actual, reference.rounded(part, value)), (kind, z, found, expected)


VALUES = [0.0, 1.0, 0.5, HALF, 3.0, 1e-300, 1e300, INF, NAN]
SIGNED = [math.copysign(x, sign) for x in VALUES for sign in (1.0, -1.0)]
ODD = (
    *(Unary.SIN, Unary.TAN, Unary.ASIN, Unary.ATAN),
    *(Unary.SINH, Unary.TANH, Unary.ASINH, Unary.ATANH),
)
EVEN = (Unary.COS, Unary.COSH)


@pytest.mark.parametrize("kind", [kind for kind in BOUNDS if kind in FUNCTIONS])
def test_symmetries_hold_bit_for_bit(kind: Unary) -> None:
    """Where the sign of a result does not come from a NaN."""
    operands = [complex(x, y) for x, y in itertools.product(SIGNED, repeat=2)]
    results = run(kind, C128, operands)
    conjugates = run(kind, C128, [z.conjugate() for z in operands])
    negatives = run(kind, C128, [complex(-z.real, -z.imag) for z in operands])
    for z, f, conjugate, negative in zip(operands, results, conjugates, negatives, strict=True):
        assert same(conjugate.real, f.real), z
        assert same(conjugate.imag, -f.imag), z
        if kind in ODD:
            assert same(negative.real, -f.real), z
            assert same(negative.imag, -f.imag), z
        if kind in EVEN:
            assert same(negative.real, f.real), z
            assert same(negative.imag, f.imag), z


@pytest.mark.parametrize("dtype", [C64, C128])
@pytest.mark.parametrize("kind", [k for k in FUNCTIONS if {Dtype.float64, C128} <= DOMAINS[k]])
def test_the_real_axis_is_the_float_kind(kind: Unary, dtype: Dtype) -> None:
    part = reference.COMPLEX[dtype]
    generator = np.random.default_rng(8)
    x = np.ldexp(generator.uniform(-2, 2, 400), generator.integers(-8, 8, 400))
    x = x.astype(reference.NUMPY[part])
    (real,) = evaluate(Program.of_node([part], Op1(kind, part, 0)), [x], x.shape)
    for y in (0.0, -0.0):
        results = run(kind, dtype, [complex(a, y) for a in x.tolist()])
        for a, value, z in zip(x.tolist(), real.tolist(), results, strict=True):
            assert math.isnan(value) or same(z.real, value), (a, z)


def test_pow_on_the_real_axis_is_the_float_kind() -> None:
    generator = np.random.default_rng(9)
    x, y = generator.uniform(0, 9, 300), generator.uniform(-9, 9, 300)
    (real,) = evaluate(Program.of_node([Dtype.float64] * 2, Op2(Binary.POW, 0, 1)), [x, y], x.shape)
    results = run(Binary.POW, C128, (x + 0j).tolist(), (y + 0j).tolist())
    assert [z.real for z in results] == real.tolist()


@pytest.mark.parametrize("kind", list(CUTS))
def test_the_sign_of_a_zero_picks_the_side_of_a_cut(kind: Unary) -> None:
    sides = [complex(x, y) for x in (2.5, -2.5, -0.5) for y in (0.0, -0.0)]
    sides += [complex(z.imag, z.real) for z in sides]
    for z, result in zip(sides, run(kind, C128, sides), strict=True):
        expected = CUTS[kind](z)
        for actual, value in ((result.real, expected.real), (result.imag, expected.imag)):
            assert math.isclose(actual, value, rel_tol=1e-14), (z, result, expected)
            assert math.copysign(1, actual) == math.copysign(1, value), (z, result, expected)


def test_nan_parts_of_arithmetic() -> None:
    z = [complex(NAN, 1.0)]
    (total,) = run(Binary.ADD, C128, z, [1 + 1j])
    assert math.isnan(total.real)
    assert total.imag == 2.0
    (negated,) = run(Unary.NEG, C128, z)
    assert negated.imag == -1.0
    for result in (
        *run(Binary.MUL, C128, z, [1 + 1j]),
        *run(Binary.FDIV, C128, [1 + 1j], z),
        *run(Unary.RECIP, C128, z),
    ):
        assert math.isnan(result.real)
        assert math.isnan(result.imag)


def test_a_quotient_overflows_only_where_a_part_of_it_does() -> None:
    (quotient,) = run(Binary.FDIV, C128, [complex(0.0, 2.0**-50)], [complex(0.0, -(2.0**-1074))])
    assert (quotient.real, quotient.imag) == (-INF, 0.0)
    large = complex(1.7e308, 1.7e308)
    assert run(Binary.FDIV, C128, [large, large, 1e-308j], [large, 2j, large]) == [
        1.0,
        complex(8.5e307, -8.5e307),
        0.0,
    ]
    (quotient,) = run(Binary.FDIV, C64, [complex(3e38, 3e38)], [complex(3e38, -3e38)])
    assert quotient == 1j


def test_sign_of_zero_and_of_subnormal_numbers() -> None:
    zero = run(Unary.SIGN, C128, [complex(-0.0, 0.0)])[0]
    assert math.copysign(1, zero.real) == -1.0
    tiny = run(Unary.SIGN, C128, [complex(2.0**-1074, -(2.0**-1074))])[0]
    assert abs(tiny - complex(1, -1) / math.sqrt(2)) < 1e-15


def test_maximum_gives_the_whole_operand_that_is_a_nan() -> None:
    z, w = complex(1.0, NAN), complex(NAN, 2.0)
    for kind in (Binary.MAXIMUM, Binary.MINIMUM):
        (first,) = run(kind, C128, [z], [w])
        assert first.real == 1.0
        (second,) = run(kind, C128, [5 + 0j], [w])
        assert second.imag == 2.0
