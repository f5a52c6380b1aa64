"""Sums of terms have the values of the affine expressions that they stand for."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr

from passes.loops.linear import Division, Linear, of_affine

EXTENTS = (3, 1, 4)
RANGES = {axis: (0, extent - 1) for axis, extent in enumerate(EXTENTS)}
D0, _, D2 = (AffineExpr.dimension(axis) for axis in range(3))


def grown(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
    factors, divisors = st.integers(-9, 9), st.integers(1, 9)
    return st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, factors).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, divisors).map(lambda pair: pair[0] // pair[1]),
        st.tuples(inner, divisors).map(lambda pair: pair[0] % pair[1]),
        st.tuples(inner, divisors).map(lambda pair: pair[0].ceil_div(pair[1])),
    )


LEAVES = st.one_of(
    st.integers(0, 2).map(AffineExpr.dimension), st.integers(-9, 9).map(AffineExpr.constant)
)
EXPRESSIONS = st.recursive(LEAVES, grown, max_leaves=8)


def value(linear: Linear, point: tuple[int, ...]) -> int:
    total = linear.constant
    for term, coefficient in linear.terms:
        if isinstance(term, Division):
            quotient, remainder = divmod(value(term.dividend, point), term.divisor)
            total += coefficient * (remainder if term.remainder else quotient)
        else:
            total += coefficient * point[term]
    return total


@given(EXPRESSIONS)
def test_values_and_ranges(expr: AffineExpr) -> None:
    linear = of_affine(expr, RANGES)
    least, greatest = linear.range(RANGES)
    for point in itertools.product(*map(range, EXTENTS)):
        assert value(linear, point) == expr.eval(point, ())
        assert least <= value(linear, point) <= greatest


@given(EXPRESSIONS)
def test_strides(expr: AffineExpr) -> None:
    linear = of_affine(expr, RANGES)
    stride = linear.stride(0)
    for d0, d2 in itertools.product(range(2), range(4)):
        step = value(linear, (d0 + 1, 0, d2)) - value(linear, (d0, 0, d2))
        assert stride is None or stride == step


@given(EXPRESSIONS)
def test_substitution(expr: AffineExpr) -> None:
    """Axis 0 reversed, axis 2 in two parts."""
    ranges = {0: (0, 2), 5: (0, 1), 6: (0, 1)}
    new = {
        0: Linear(((0, -1),), 2),
        1: Linear((), 0),
        2: Linear(((5, 2), (6, 1)), 0),
    }
    linear = of_affine(expr, RANGES).substitute(new.__getitem__, ranges)
    for d0, d5, d6 in itertools.product(range(3), range(2), range(2)):
        point = (d0, 0, 0, 0, 0, d5, d6)
        assert value(linear, point) == expr.eval((2 - d0, 0, 2 * d5 + d6), ())


def test_divisions_that_ranges_decide_disappear() -> None:
    flat = D0 * 4 + D2
    assert of_affine(flat // 4, RANGES) == Linear.dimension(0)
    assert of_affine(flat % 4, RANGES) == Linear.dimension(2)
    assert of_affine((flat + 8) // 4, RANGES) == Linear(((0, 1),), 2)
    assert of_affine(D2 // 4, RANGES) == Linear((), 0)
