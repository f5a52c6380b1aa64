"""What values the floats of a program can have, as far as constants and comparisons tell.

A conversion to an integer needs no saturation where the range fits, and a program that clamps its
argument before it converts makes it fit.
"""

from __future__ import annotations

from math import inf, isfinite, isnan
from typing import NamedTuple

from dialects.prog import (
    INTEGERS,
    Binary,
    Compare,
    Const,
    Dtype,
    Move,
    Op1,
    Op2,
    Op3,
    Program,
    Ternary,
    integer_range,
    value_of,
)

_SLACK = 2.0**-22
"""More than a rounding changes a number, relative to it."""

_OVERFLOW = 2.0**127
"""No smaller number becomes infinite."""


class FloatRange(NamedTuple):
    """A number from `least` to `greatest`, or, if `nan`, a NaN."""

    least: float = -inf
    greatest: float = inf
    nan: bool = True

    def fits(self, dtype: Dtype) -> bool:
        """Whether every value, its fraction dropped, is one of an integer dtype."""
        least, greatest = integer_range(dtype)
        # The bound above is a power of two, the one before it may not be a float.
        return not self.nan and least <= self.least and self.greatest < greatest + 1


ANY = FloatRange()


def float_ranges(program: Program) -> dict[int, FloatRange]:
    """The range of every f32 node of `program`."""
    ranges: dict[int, FloatRange] = {}
    for index in program.reached(program.outs):
        if program.dtypes[index] is Dtype.float32:
            ranges[index] = _range(program, index, ranges)
    return ranges


def absolute_of(program: Program, node: int) -> int | None:
    """`x`, where an f32 node is the greater of `x` and `x * -1.0`."""
    match program.nodes[node]:
        case Op2(Binary.MAXIMUM, x, y) if program.dtypes[node] is Dtype.float32:
            match program.nodes[y]:
                case Op2(Binary.MUL, i, j) if i == x and _constant(program, j) == -1.0:
                    return x
                case _:
                    return None
        case _:
            return None


def _range(program: Program, index: int, ranges: dict[int, FloatRange]) -> FloatRange:
    match program.nodes[index]:
        case Const():
            value = _constant(program, index)
            return FloatRange(value, value, False) if value is not None else ANY
        case Op1(Move.COPY, _, i):
            return ranges[i]
        case Op1(Move.CAST, _, i):
            return _converted(program, i, ranges)
        case Op2(Binary.ADD, i, j):
            return _sum(ranges[i], ranges[j])
        case Op2(Binary.MUL, i, j):
            return _product(ranges[i], ranges[j])
        case Op2(Binary.MAXIMUM, i, j):
            x, y = ranges[i], ranges[j]
            return FloatRange(max(x.least, y.least), max(x.greatest, y.greatest), x.nan or y.nan)
        case Op3(Ternary.WHERE, condition, i, j):
            x = _refined(program, ranges, i, condition, True)
            y = _refined(program, ranges, j, condition, False)
            return FloatRange(min(x.least, y.least), max(x.greatest, y.greatest), x.nan or y.nan)
        case _:
            return ANY


def _converted(program: Program, node: int, ranges: dict[int, FloatRange]) -> FloatRange:
    """The range of the f32 that `node`, of another dtype, is converted to."""
    dtype = program.dtypes[node]
    if dtype is Dtype.bool:
        return FloatRange(0.0, 1.0, False)
    if dtype not in INTEGERS:
        return ANY
    least, greatest = map(float, integer_range(dtype))
    match program.nodes[node]:
        case Op1(Move.CAST, _, i) if i in ranges:
            # Dropping a fraction moves towards zero, and a NaN becomes zero.
            least = max(least, min(ranges[i].least, 0.0))
            greatest = min(greatest, max(ranges[i].greatest, 0.0))
        case _:
            pass
    return _rounded(least, greatest)


def _constant(program: Program, node: int) -> float | None:
    """The value of an f32 constant that is a number."""
    match program.nodes[node]:
        case Const(Dtype.float32, element):
            value = value_of(Dtype.float32, element)
            return value if isinstance(value, float) and not isnan(value) else None
        case _:
            return None


def _rounded(least: float, greatest: float) -> FloatRange:
    """The range of f32 numbers that numbers of a range round to."""
    least -= abs(least) * _SLACK + _SLACK
    greatest += abs(greatest) * _SLACK + _SLACK
    return FloatRange(
        least if least > -_OVERFLOW else -inf, greatest if greatest < _OVERFLOW else inf, False
    )


def _sum(x: FloatRange, y: FloatRange) -> FloatRange:
    if not all(map(isfinite, (*x[:2], *y[:2]))):
        return ANY
    return _rounded(x.least + y.least, x.greatest + y.greatest)._replace(nan=x.nan or y.nan)


def _product(x: FloatRange, y: FloatRange) -> FloatRange:
    if not all(map(isfinite, (*x[:2], *y[:2]))):
        return ANY
    corners = [a * b for a in x[:2] for b in y[:2]]
    return _rounded(min(corners), max(corners))._replace(nan=x.nan or y.nan)


def _refined(
    program: Program, ranges: dict[int, FloatRange], x: int, condition: int, truth: bool
) -> FloatRange:
    """The range of node `x` where node `condition` has the value `truth`."""
    known = ranges[x]
    if _if_nan(program, condition, x) is (not truth):
        known = known._replace(nan=False)
    match program.nodes[condition]:
        case Op2(Binary.XOR, i, j) if _truth(program, j) is True:
            return _refined(program, ranges, x, i, not truth)
        case Op2(Compare.LESS, i, j) if program.dtypes[i] is Dtype.float32:
            lower, upper = (i, j) if truth else (j, i)
            # Unless one of them is a NaN, `not i < j` is `j <= i`.
            least, greatest = ranges[lower], ranges[upper]
            if upper == x and not least.nan:
                known = known._replace(least=max(known.least, least.least))
            if lower == x and not greatest.nan:
                known = known._replace(greatest=min(known.greatest, greatest.greatest))
            if truth and absolute_of(program, i) == x:
                bound = greatest.greatest
                known = FloatRange(max(known.least, -bound), min(known.greatest, bound), False)
            return known
        case _:
            return known


def _if_nan(program: Program, condition: int, x: int) -> bool | None:
    """What node `condition` is where node `x` is a NaN; None if that is not known."""
    match program.nodes[condition]:
        case Const():
            return _truth(program, condition)
        case Op2(Compare.LESS, i, j):
            return False if x in (i, j, absolute_of(program, i)) else None
        case Op2(Binary.XOR, i, j):
            a, b = _if_nan(program, i, x), _if_nan(program, j, x)
            return None if a is None or b is None else a != b
        case Op3(Ternary.WHERE, test, i, j):
            taken = _if_nan(program, test, x)
            return None if taken is None else _if_nan(program, i if taken else j, x)
        case _:
            return None


def _truth(program: Program, node: int) -> bool | None:
    match program.nodes[node]:
        case Const(Dtype.bool, element):
            return bool(value_of(Dtype.bool, element))
        case _:
            return None
