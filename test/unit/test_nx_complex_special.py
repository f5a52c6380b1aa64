"""The complex kinds in C: special values, symmetries, branch cuts, arithmetic and order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import prog_reference as reference
import pytest
from mpmath import mp
from nx_complex import (
    C64,
    C128,
    EVEN,
    ODD,
    Kind,
    bits,
    error,
    of_parts,
    run_c,
    special_parts,
    strata,
)
from prog_special import CUTS

from dialects.prog import DOMAINS, Binary, Compare, Dtype, Unary

INF, NAN, PI = math.inf, math.nan, math.pi
BOTH = pytest.mark.parametrize("dtype", [C64, C128])
Row = tuple[Unary, complex, complex]

FINITE = (1e-30, 0.5, 1.5, 3.0, 1e30)
"""Stand for `finite nonzero x` or y of a row."""
NUMBERS = (0.0, *FINITE)


def cis(modulus: float, angle: float) -> complex:
    """Infinities or zeros, of the signs of cos and sin."""
    return complex(math.copysign(modulus, math.cos(angle)), math.copysign(modulus, math.sin(angle)))


def rows_of_exp(kind: Unary, scale: float) -> Iterator[Row]:
    """G.6.3.1; `scale` is the angle of i."""
    yield from ((kind, complex(x, 0.0), complex(1.0, 0.0)) for x in (0.0, -0.0))
    yield from (
        (kind, complex(s * x, y), complex(NAN, NAN))
        for s in (1, -1)
        for x in NUMBERS
        for y in (INF, NAN)
    )
    yield kind, complex(INF, 0.0), complex(INF, 0.0)
    yield kind, complex(-INF, 0.0), complex(0.0, 0.0)
    for y in (1e-30, 0.5, 1.5, 3.0, 4.0):
        yield kind, complex(-INF, y), cis(0.0, y * scale)
        yield kind, complex(INF, y), cis(INF, y * scale)
    yield from ((kind, complex(-INF, y), complex(0.0, 0.0)) for y in (INF, NAN))
    yield from ((kind, complex(INF, y), complex(INF, NAN)) for y in (INF, NAN))
    yield kind, complex(NAN, 0.0), complex(NAN, 0.0)
    yield from ((kind, complex(NAN, y), complex(NAN, NAN)) for y in (*FINITE, INF, NAN))


def rows_of_log(kind: Unary, base: object) -> Iterator[Row]:
    """G.6.3.2; `base` is the natural logarithm of the base."""
    eighth = [float(k * mp.pi / 4 / base) for k in range(5)]
    yield kind, complex(-0.0, 0.0), complex(-INF, eighth[4])
    yield kind, complex(0.0, 0.0), complex(-INF, 0.0)
    for x in NUMBERS:
        yield from ((kind, complex(s * x, INF), complex(INF, eighth[2])) for s in (1, -1))
        yield kind, complex(x, NAN), complex(NAN, NAN)
        yield kind, complex(-INF, x), complex(INF, eighth[4])
        yield kind, complex(INF, x), complex(INF, 0.0)
        yield kind, complex(NAN, x), complex(NAN, NAN)
    yield kind, complex(-INF, INF), complex(INF, eighth[3])
    yield kind, complex(INF, INF), complex(INF, eighth[1])
    yield from ((kind, complex(x, NAN), complex(INF, NAN)) for x in (INF, -INF))
    yield kind, complex(NAN, INF), complex(INF, NAN)
    yield kind, complex(NAN, NAN), complex(NAN, NAN)


def rows_of_sqrt() -> Iterator[Row]:
    """G.6.4.2."""
    kind = Unary.SQRT
    yield from ((kind, complex(x, 0.0), complex(0.0, 0.0)) for x in (0.0, -0.0))
    yield from (
        (kind, complex(x, INF), complex(INF, INF)) for x in (*NUMBERS, -1.5, INF, -INF, NAN)
    )
    for x in NUMBERS:
        yield kind, complex(x, NAN), complex(NAN, NAN)
        yield kind, complex(-x, NAN), complex(NAN, NAN)
        yield kind, complex(-INF, x), complex(0.0, INF)
        yield kind, complex(INF, x), complex(INF, 0.0)
        yield kind, complex(NAN, x), complex(NAN, NAN)
    yield kind, complex(-INF, NAN), complex(NAN, INF)
    yield kind, complex(INF, NAN), complex(INF, NAN)
    yield kind, complex(NAN, NAN), complex(NAN, NAN)


def rows_of_acos() -> Iterator[Row]:
    """G.6.1.1."""
    kind = Unary.ACOS
    for zero in (0.0, -0.0):
        yield kind, complex(zero, 0.0), complex(PI / 2, -0.0)
        yield kind, complex(zero, NAN), complex(PI / 2, NAN)
    for x in NUMBERS:
        yield from ((kind, complex(s * x, INF), complex(PI / 2, -INF)) for s in (1, -1))
        yield kind, complex(-INF, x), complex(PI, -INF)
        yield kind, complex(INF, x), complex(0.0, -INF)
        yield kind, complex(NAN, x), complex(NAN, NAN)
    yield from ((kind, complex(s * x, NAN), complex(NAN, NAN)) for s in (1, -1) for x in FINITE)
    yield kind, complex(-INF, INF), complex(3 * PI / 4, -INF)
    yield kind, complex(INF, INF), complex(PI / 4, -INF)
    yield kind, complex(INF, NAN), complex(NAN, -INF)
    yield kind, complex(NAN, INF), complex(NAN, -INF)
    yield kind, complex(NAN, NAN), complex(NAN, NAN)


def rows_of_acosh() -> Iterator[Row]:
    """G.6.2.1."""
    kind = Unary.ACOSH
    for zero in (0.0, -0.0):
        yield kind, complex(zero, 0.0), complex(0.0, PI / 2)
    yield kind, complex(0.0, NAN), complex(NAN, PI / 2)
    for x in NUMBERS:
        yield from ((kind, complex(s * x, INF), complex(INF, PI / 2)) for s in (1, -1))
        yield kind, complex(-INF, x), complex(INF, PI)
        yield kind, complex(INF, x), complex(INF, 0.0)
        yield kind, complex(NAN, x), complex(NAN, NAN)
    yield from ((kind, complex(s * x, NAN), complex(NAN, NAN)) for s in (1, -1) for x in FINITE)
    yield kind, complex(-INF, INF), complex(INF, 3 * PI / 4)
    yield kind, complex(INF, INF), complex(INF, PI / 4)
    yield from ((kind, complex(x, NAN), complex(INF, NAN)) for x in (INF, -INF))
    yield kind, complex(NAN, INF), complex(INF, NAN)
    yield kind, complex(NAN, NAN), complex(NAN, NAN)


def rows_of_asinh() -> Iterator[Row]:
    """G.6.2.2."""
    kind = Unary.ASINH
    yield kind, complex(0.0, 0.0), complex(0.0, 0.0)
    for x in NUMBERS:
        yield kind, complex(x, INF), complex(INF, PI / 2)
        yield kind, complex(x, NAN), complex(NAN, NAN)
        yield kind, complex(INF, x), complex(INF, 0.0)
    yield kind, complex(INF, INF), complex(INF, PI / 4)
    yield kind, complex(INF, NAN), complex(INF, NAN)
    yield kind, complex(NAN, 0.0), complex(NAN, 0.0)
    yield from ((kind, complex(NAN, y), complex(NAN, NAN)) for y in (*FINITE, NAN))
    yield kind, complex(NAN, INF), complex(INF, NAN)


def rows_of_atanh() -> Iterator[Row]:
    """G.6.2.3."""
    kind = Unary.ATANH
    yield kind, complex(0.0, 0.0), complex(0.0, 0.0)
    yield kind, complex(0.0, NAN), complex(0.0, NAN)
    yield kind, complex(1.0, 0.0), complex(INF, 0.0)
    for x in NUMBERS:
        yield kind, complex(x, INF), complex(0.0, PI / 2)
        yield kind, complex(INF, x), complex(0.0, PI / 2)
        yield kind, complex(NAN, x), complex(NAN, NAN)
    yield from ((kind, complex(x, NAN), complex(NAN, NAN)) for x in FINITE)
    yield kind, complex(INF, INF), complex(0.0, PI / 2)
    yield kind, complex(INF, NAN), complex(0.0, NAN)
    yield kind, complex(NAN, INF), complex(0.0, PI / 2)
    yield kind, complex(NAN, NAN), complex(NAN, NAN)


def rows_of_cosh() -> Iterator[Row]:
    """G.6.2.4."""
    kind = Unary.COSH
    yield kind, complex(0.0, 0.0), complex(1.0, 0.0)
    yield from ((kind, complex(0.0, y), complex(NAN, 0.0)) for y in (INF, NAN))
    yield from ((kind, complex(x, y), complex(NAN, NAN)) for x in FINITE for y in (INF, NAN))
    yield kind, complex(INF, 0.0), complex(INF, 0.0)
    yield from ((kind, complex(INF, y), cis(INF, y)) for y in (0.5, 1.5, 3.0, 4.0, 6.0))
    yield from ((kind, complex(INF, y), complex(INF, NAN)) for y in (INF, NAN))
    yield kind, complex(NAN, 0.0), complex(NAN, 0.0)
    yield from ((kind, complex(NAN, y), complex(NAN, NAN)) for y in (*FINITE, INF, NAN))


def rows_of_sinh() -> Iterator[Row]:
    """G.6.2.5."""
    kind = Unary.SINH
    yield kind, complex(0.0, 0.0), complex(0.0, 0.0)
    yield from ((kind, complex(0.0, y), complex(0.0, NAN)) for y in (INF, NAN))
    yield from ((kind, complex(x, y), complex(NAN, NAN)) for x in FINITE for y in (INF, NAN))
    yield kind, complex(INF, 0.0), complex(INF, 0.0)
    yield from ((kind, complex(INF, y), cis(INF, y)) for y in (0.5, 1.5, 3.0, 4.0, 6.0))
    yield from ((kind, complex(INF, y), complex(INF, NAN)) for y in (INF, NAN))
    yield kind, complex(NAN, 0.0), complex(NAN, 0.0)
    yield from ((kind, complex(NAN, y), complex(NAN, NAN)) for y in (*FINITE, INF, NAN))


def rows_of_tanh() -> Iterator[Row]:
    """G.6.2.6, with the correction for a real part of 0 that C17 has."""
    kind = Unary.TANH
    yield kind, complex(0.0, 0.0), complex(0.0, 0.0)
    yield from ((kind, complex(0.0, y), complex(0.0, NAN)) for y in (INF, NAN))
    yield from ((kind, complex(x, y), complex(NAN, NAN)) for x in FINITE for y in (INF, NAN))
    for y in (0.0, 0.5, 1.5, 3.0, 4.0, 6.0):
        yield kind, complex(INF, y), complex(1.0, math.copysign(0.0, math.sin(2 * y)))
    yield from ((kind, complex(INF, y), complex(1.0, 0.0)) for y in (INF, NAN))
    yield kind, complex(NAN, 0.0), complex(NAN, 0.0)
    yield from ((kind, complex(NAN, y), complex(NAN, NAN)) for y in (*FINITE, INF, NAN))


def of_imaginary(kind: Unary, even: bool, rows: Iterator[Row]) -> Iterator[Row]:
    """Of a trigonometric kind: f(z) = -i h(iz), or h(iz) for cos, with h's rows."""
    for _, iz, h in rows:
        z = complex(iz.imag, -iz.real)
        yield kind, z, h if even else complex(h.imag, -h.real)


ANNEX_G = [
    *rows_of_exp(Unary.EXP, 1.0),
    *rows_of_exp(Unary.EXP2, math.log(2)),
    *rows_of_log(Unary.LOG, mp.one),
    *rows_of_log(Unary.LOG2, mp.ln2),
    *rows_of_sqrt(),
    *rows_of_acos(),
    *rows_of_acosh(),
    *rows_of_asinh(),
    *rows_of_atanh(),
    *rows_of_cosh(),
    *rows_of_sinh(),
    *rows_of_tanh(),
    *of_imaginary(Unary.ASIN, False, rows_of_asinh()),
    *of_imaginary(Unary.ATAN, False, rows_of_atanh()),
    *of_imaginary(Unary.COS, True, rows_of_cosh()),
    *of_imaginary(Unary.SIN, False, rows_of_sinh()),
    *of_imaginary(Unary.TAN, False, rows_of_tanh()),
    # What the document fixes and no row above says of positive parts.
    (Unary.ASIN, complex(INF, NAN), complex(NAN, INF)),
    (Unary.ATAN, complex(INF, NAN), complex(PI / 2, 0.0)),
]


def negated(kind: Unary, z: complex) -> complex:
    """f(-z) of f(z), for a kind that is odd or even."""
    return complex(-z.real, -z.imag) if kind in ODD else z


@BOTH
@pytest.mark.parametrize("kind", list(dict.fromkeys(kind for kind, _, _ in ANNEX_G)))
def test_special_values(kind: Unary, dtype: Dtype) -> None:
    rows = [(z, value) for of, z, value in ANNEX_G if of is kind]
    rows += [(z.conjugate(), value.conjugate()) for z, value in rows]
    if kind in ODD + EVEN:
        rows += [(complex(-z.real, -z.imag), negated(kind, value)) for z, value in rows]
    part = reference.COMPLEX[dtype]
    for (z, value), found in zip(
        rows, run_c(kind, dtype, [z for z, _ in rows]).tolist(), strict=True
    ):
        expected = [reference.rounded(part, x) for x in (value.real, value.imag)]
        actual = [found.real, found.imag]
        assert reference.comparable(actual) == reference.comparable(expected), (z, found, value)


@BOTH
@pytest.mark.parametrize("kind", list(dict.fromkeys(kind for kind, _, _ in ANNEX_G)))
def test_symmetries_hold_bit_for_bit(kind: Unary, dtype: Dtype) -> None:
    """A NaN part's sign bit counts as its sign."""
    special = of_parts(dtype, *zip(*itertools.product(special_parts(dtype), repeat=2), strict=True))
    z = np.concatenate([special, *strata(dtype, 50, 8).values()])
    value = run_c(kind, dtype, z)
    of_conjugate = run_c(kind, dtype, of_parts(dtype, z.real, -z.imag))
    np.testing.assert_array_equal(
        bits(of_conjugate), bits(of_parts(dtype, value.real, -value.imag))
    )
    if kind in ODD + EVEN:
        of_negative = run_c(kind, dtype, -z)
        expected = -value if kind in ODD else value
        np.testing.assert_array_equal(bits(of_negative), bits(expected))


@BOTH
def test_powers_keep_conjugates(dtype: Dtype) -> None:
    drawn = strata(dtype, 60, 9)
    z = np.concatenate([drawn["near 1"], drawn["axes"], drawn["moderate"]])
    w = np.random.default_rng(10).permutation(z)
    value = run_c(Binary.POW, dtype, z, w)
    conjugates = (of_parts(dtype, x.real, -x.imag) for x in (z, w))
    found, expected = (
        run_c(Binary.POW, dtype, *conjugates),
        of_parts(dtype, value.real, -value.imag),
    )
    np.testing.assert_array_equal(bits(found), bits(expected))


@BOTH
@pytest.mark.parametrize("kind", list(CUTS))
def test_the_sign_of_a_zero_picks_the_side_of_a_cut(kind: Unary, dtype: Dtype) -> None:
    sides = [complex(x, y) for x in (2.5, -2.5, 0.5, -0.5, 1.25, -8.0) for y in (0.0, -0.0)]
    sides += [complex(z.imag, z.real) for z in sides]
    tolerance = {C64: 1e-6, C128: 1e-14}[dtype]
    for z, result in zip(sides, run_c(kind, dtype, sides).tolist(), strict=True):
        expected = CUTS[kind](z)
        for actual, value in ((result.real, expected.real), (result.imag, expected.imag)):
            assert math.isclose(actual, value, rel_tol=tolerance), (z, result, expected)
            assert math.copysign(1, actual) == math.copysign(1, value), (z, result, expected)


def test_powers_of_negative_and_of_zero_bases() -> None:
    z = [complex(-4.0, 0.0), complex(-4.0, -0.0), complex(-1.0, 0.0), 0j]
    w = [0.5 + 0j, 0.5 + 0j, 1j, 2 + 0j]
    above, below, unit, zero = run_c(Binary.POW, C128, z, w).tolist()
    assert abs(above - 2j) < 1e-15
    assert abs(below + 2j) < 1e-15
    assert abs(unit - math.exp(-PI)) < 1e-17
    assert zero == 0


@BOTH
def test_nan_parts_of_arithmetic(dtype: Dtype) -> None:
    numbers = [1 + 2j, complex(0, INF), complex(-0.0, 3)]
    for nan, z in itertools.product((complex(NAN, 1), complex(1, NAN), complex(NAN, NAN)), numbers):
        for operands in ([nan], [z]), ([z], [nan]):
            for kind in (Binary.MUL, Binary.FDIV):
                (found,) = run_c(kind, dtype, *operands).tolist()
                assert math.isnan(found.real)
                assert math.isnan(found.imag)
    (reciprocal,) = run_c(Unary.RECIP, dtype, [complex(1, NAN)]).tolist()
    assert math.isnan(reciprocal.real)
    assert math.isnan(reciprocal.imag)


@BOTH
@pytest.mark.parametrize("kind", [Binary.ADD, Binary.SUB])
def test_sums_are_those_of_the_parts(kind: Binary, dtype: Dtype) -> None:
    """A NaN part leaves the other one alone."""
    generator = np.random.default_rng(11)
    z, w = generator.choice(special_parts(dtype), (2, 600, 2)).tolist()
    part = reference.COMPLEX[dtype]
    z, w = (of_parts(dtype, *zip(*pairs, strict=True)) for pairs in (z, w))
    for a, b, found in zip(z.tolist(), w.tolist(), run_c(kind, dtype, z, w).tolist(), strict=True):
        expected = [
            reference.apply2(kind, part, x, y) for x, y in ((a.real, b.real), (a.imag, b.imag))
        ]
        actual = [found.real, found.imag]
        assert reference.comparable(actual) == reference.comparable(expected), (a, b)


@BOTH
def test_negation_flips_the_sign_bits_of_nans_too(dtype: Dtype) -> None:
    z = of_parts(dtype, *zip(*itertools.product(special_parts(dtype), repeat=2), strict=True))
    word = {C64: np.uint32, C128: np.uint64}[dtype]
    sign = word(1 << (8 * np.dtype(word).itemsize - 1))
    np.testing.assert_array_equal(run_c(Unary.NEG, dtype, z).view(word), z.view(word) ^ sign)


def test_a_quotient_overflows_only_where_a_part_of_it_does() -> None:
    (quotient,) = run_c(Binary.FDIV, C128, [complex(0, 2.0**-50)], [complex(0, -(2.0**-1074))])
    assert quotient.real == -INF
    assert quotient.imag == 0
    assert not np.signbit(quotient.imag)
    for dtype, large in ((C64, 3.0e38), (C128, 1.7e308)):
        corners = [complex(large, large), complex(large, -large), complex(-large, large)]
        found = run_c(Binary.FDIV, dtype, [corners[0]] * 3, corners).tolist()
        assert found == [1, 1j, -1j]
        for z, w in ((corners[0], 2j), (2j, corners[0]), (large, corners[1]), (corners[1], large)):
            z, w = run_c(Unary.NEG, dtype, [z, w]).tolist()
            (found,) = run_c(Binary.FDIV, dtype, [z], [w]).tolist()
            assert math.isfinite(found.real)
            assert math.isfinite(found.imag)
            assert error(Binary.FDIV, dtype, found, z, w) <= 4


@BOTH
def test_sign_of_zeros_infinities_and_nans(dtype: Dtype) -> None:
    zeros = [complex(x, y) for x in (0.0, -0.0) for y in (0.0, -0.0)]
    assert (
        bits(run_c(Unary.SIGN, dtype, zeros)).tolist()
        == bits(np.array(zeros, reference.NUMPY[dtype])).tolist()
    )
    infinite = {
        complex(INF, 2): complex(1, 0),
        complex(-INF, -0.0): complex(-1, -0.0),
        complex(-3, INF): complex(-0.0, 1),
        complex(INF, -INF): complex(math.sqrt(0.5), -math.sqrt(0.5)),
    }
    expected = np.array(list(infinite.values()), reference.NUMPY[dtype])
    assert bits(run_c(Unary.SIGN, dtype, list(infinite))).tolist() == bits(expected).tolist()
    nans = [complex(NAN, 1), complex(1, NAN), complex(NAN, INF), complex(0, NAN), complex(NAN, NAN)]
    found = run_c(Unary.SIGN, dtype, nans)
    assert np.isnan(found.real).all()
    assert np.isnan(found.imag).all()


ORDER: list[Kind] = [*Compare, Binary.MAXIMUM, Binary.MINIMUM]


@BOTH
@pytest.mark.parametrize("kind", ORDER)
def test_order(kind: Binary | Compare, dtype: Dtype) -> None:
    """With NaN parts and signed zeros."""
    numbers = [
        complex(x, y) for x, y in itertools.product((0.0, -0.0, 1.0, -2.0, INF, NAN), repeat=2)
    ]
    z, w = (list(column) for column in zip(*itertools.product(numbers, repeat=2), strict=True))
    expected = [reference.apply2(kind, dtype, a, b) for a, b in zip(z, w, strict=True)]
    found = run_c(kind, dtype, z, w).tolist()
    assert reference.comparable(found) == reference.comparable(expected)


def test_every_complex_kind_is_tested_for_special_values() -> None:
    """All but the arithmetic ones, which have tests of their own, have rows."""
    arithmetic = {Unary.NEG, Unary.RECIP, Unary.SIGN}
    kinds = {k for k, domain in DOMAINS.items() if isinstance(k, Unary) and C128 in domain}
    assert kinds - arithmetic == {kind for kind, _, _ in ANNEX_G}
