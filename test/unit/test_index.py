"""Index expressions mean what they were built to mean, and become as simple as they should."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import NoReturn

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr

from dialects.prog import Program, evaluate
from passes.index import (
    Coordinate,
    Index,
    Quotient,
    Remainder,
    Symbol,
    compose,
    coordinate,
    flatten,
    unflatten,
)

Point = tuple[int, ...]
EXTENTS = st.sampled_from((1, 2, 3, 4, 6))
DIVISORS = st.sampled_from((1, 2, 3, 4, 6, 12))
SYMBOLS = (5, 1)
"""The greatest values of the symbols."""


def value_of(index: Index, point: Point, symbols: Point) -> int:
    """`index` computed by its definition."""
    total = index.constant
    for atom, coefficient in index.terms:
        match atom:
            case Coordinate(axis, _):
                value = point[axis]
            case Symbol(number, _):
                value = symbols[number]
            case Quotient(inner, divisor):
                value = value_of(inner, point, symbols) // divisor
            case Remainder(inner, divisor):
                value = value_of(inner, point, symbols) % divisor
        total += coefficient * value
    return total


Case = tuple[Sequence[int], list[Index], list[npt.NDArray[np.int_]]]


@st.composite
def indices(draw: st.DrawFn) -> Case:
    """A shape, indices over it and over SYMBOLS, and their values at all points and symbols."""
    shape = draw(st.lists(EXTENTS, min_size=1, max_size=3))
    extents = [*shape, *(greatest + 1 for greatest in SYMBOLS)]
    grids = list(np.indices(extents).reshape(len(extents), -1))
    built = [coordinate(axis, dim) for axis, dim in enumerate(shape)]
    built += [Index.symbol(number, greatest) for number, greatest in enumerate(SYMBOLS)]
    values = list(grids)
    for _ in range(draw(st.integers(1, 8))):
        a, b = (draw(st.integers(0, len(built) - 1)) for _ in range(2))
        number = draw(DIVISORS)
        match draw(st.sampled_from(("add", "shift", "scale", "floordiv", "mod"))):
            case "add":
                index, value = built[a] + built[b], values[a] + values[b]
            case "shift":
                index, value = built[a] + (number - 5), values[a] + (number - 5)
            case "scale":
                index, value = built[a] * (number - 3), values[a] * (number - 3)
            case "floordiv":
                index, value = built[a].floordiv(number), values[a] // number
            case _:
                index, value = built[a].mod(number), values[a] % number
        built.append(index)
        values.append(value)
    return shape, built, values


@settings(deadline=None)
@given(indices())
def test_operations(case: Case) -> None:
    shape, built, values = case
    extents = [*shape, *(greatest + 1 for greatest in SYMBOLS)]
    for number, point in enumerate(product(*map(range, extents))):
        coordinates, symbols = point[: len(shape)], point[len(shape) :]
        for index, value in zip(built, values, strict=True):
            assert value_of(index, coordinates, symbols) == value[number]
            assert index.to_affine().eval(list(coordinates), list(symbols)) == value[number]


@settings(deadline=None)
@given(indices())
def test_bounds(case: Case) -> None:
    _, built, values = case
    for index, value in zip(built, values, strict=True):
        low, high = index.bounds
        assert low <= value.min()
        assert value.max() <= high


@settings(deadline=None)
@given(indices())
def test_expressions(case: Case) -> None:
    """As Prog expressions, whose division truncates, where no division is of a negative number."""
    shape, built, _ = case
    kept = [index for index in built if not list(index.symbols()) and divides_no_negative(index)]
    program = Program.of_exprs([], [index.to_expression(refuse) for index in kept])
    coordinates = [np.asarray(axis, np.int64) for axis in np.indices(shape)]
    found = evaluate(program, [], tuple(shape), coordinates)
    for index, values in zip(kept, found, strict=True):
        for point in product(*map(range, shape)):
            assert value_of(index, point, ()) == np.broadcast_to(values, shape)[point]


def refuse(symbol: Symbol) -> NoReturn:
    raise AssertionError(symbol)


def divides_no_negative(index: Index) -> bool:
    inner = [atom.index for atom, _ in index.terms if isinstance(atom, Quotient | Remainder)]
    return all(i.bounds[0] >= 0 and divides_no_negative(i) for i in inner)


@given(st.lists(EXTENTS, max_size=4), st.data())
def test_flatten_and_unflatten_are_inverse(shape: list[int], data: st.DataObject) -> None:
    coordinates = [coordinate(axis, dim) for axis, dim in enumerate(shape)]
    assert unflatten(flatten(coordinates, shape), shape) == coordinates
    position = coordinate(0, prod(shape))
    assert flatten(unflatten(position, shape), shape) == position
    other = data.draw(st.permutations(shape))
    through = unflatten(flatten(unflatten(position, shape), shape), other)
    assert flatten(through, other) == position


ROW, COLUMN, PART = coordinate(0, 4), coordinate(1, 6), coordinate(2, 3)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ((ROW * 6 + COLUMN).floordiv(6), ROW),
        ((ROW * 6 + COLUMN).mod(6), COLUMN),
        ((ROW * 6 + COLUMN).mod(3), COLUMN.mod(3)),
        ((ROW * 3 + PART).floordiv(6), ROW.floordiv(2)),
        ((ROW * 3 + PART).mod(6), ROW.mod(2) * 3 + PART),
        (ROW.floordiv(2) * 2 + ROW.mod(2), ROW),
        ((ROW * -1 + 3).floordiv(4), Index()),
        ((ROW * -1 + 3).mod(4), ROW * -1 + 3),
        (COLUMN.floordiv(2).floordiv(3), Index()),
        (COLUMN.mod(6), COLUMN),
        (COLUMN.mod(4).mod(2), COLUMN.mod(2)),
        (ROW + ROW * -1, Index()),
        ((ROW * 8 + 5).floordiv(4), ROW * 2 + 1),
    ],
)
def test_simplification(found: Index, expected: Index) -> None:
    assert found == expected


AXES = (3, 1, 4)
COORDINATES = [coordinate(axis, extent) for axis, extent in enumerate(AXES)]


def grown(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
    factors, divisors = st.integers(-9, 9), st.integers(1, 9)
    return st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, factors).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, divisors).map(lambda pair: pair[0] // pair[1]),
        st.tuples(inner, divisors).map(lambda pair: pair[0] % pair[1]),
        st.tuples(inner, divisors).map(lambda pair: pair[0].ceil_div(pair[1])),
    )


EXPRESSIONS = st.recursive(
    st.one_of(
        st.integers(0, 2).map(AffineExpr.dimension),
        st.integers(0, 1).map(AffineExpr.symbol),
        st.integers(-9, 9).map(AffineExpr.constant),
    ),
    grown,
    max_leaves=8,
)


def composed(expr: AffineExpr) -> Index:
    symbols = [Index.symbol(number, greatest) for number, greatest in enumerate(SYMBOLS)]
    return compose(expr, COORDINATES, symbols)


def points() -> Iterator[tuple[Point, Point]]:
    for point in product(*map(range, AXES)):
        for symbols in product(*(range(greatest + 1) for greatest in SYMBOLS)):
            yield point, symbols


@given(EXPRESSIONS)
def test_compose_has_the_values_of_the_affine_expression(expr: AffineExpr) -> None:
    index = composed(expr)
    for point, symbols in points():
        assert value_of(index, point, symbols) == expr.eval(point, symbols)


@given(EXPRESSIONS)
def test_stride(expr: AffineExpr) -> None:
    index = composed(expr)
    stride = index.stride(0)
    assert 0 in index.axes() or stride == 0
    for (d0, d1, d2), symbols in points():
        if stride is not None and d0 + 1 < AXES[0]:
            step = expr.eval((d0 + 1, d1, d2), symbols) - expr.eval((d0, d1, d2), symbols)
            assert step == stride


@given(EXPRESSIONS)
def test_substitute(expr: AffineExpr) -> None:
    """Axis 0 reversed, axis 2 in two parts, which are axes 0 and 1 of the new index."""
    halves = [coordinate(axis, 2) for axis in range(3)]
    new = {0: halves[2] * -1 + 2, 2: halves[0] * 2 + halves[1]}
    index = composed(expr).substitute(lambda atom: new[atom.axis])
    for d0, d1, d2 in product(range(2), repeat=3):
        for symbols in product(*(range(greatest + 1) for greatest in SYMBOLS)):
            expected = expr.eval((2 - d2, 0, 2 * d0 + d1), symbols)
            assert value_of(index, (d0, d1, d2), symbols) == expected
