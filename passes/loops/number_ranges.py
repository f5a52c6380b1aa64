"""What values the numbers of a program can have, as far as constants and comparisons tell.

A program that clamps its argument before it converts it needs no saturation, and what it compares
the argument with afterwards may be known. One sweep over the nodes finds, for every f32 and every
integer, a range, and for every boolean, what each of its values says of the floats that it was
computed from.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from math import inf, isfinite, isinf, isnan, nextafter
from typing import NamedTuple, TypeAlias

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
    Unary,
    bits,
    integer_range,
    of_float,
    value_of,
)

_NUMBERS = INTEGERS | {Dtype.float32}
"""The dtypes that have ranges."""

_FACTS = 8
"""The greatest number of floats that a boolean says something of."""

_SMALLEST = 2.0**-149
"""No two f32 numbers are closer."""


class NumberRange(NamedTuple):
    """A number from `least` to `greatest`, or, if `nan`, a NaN."""

    least: float = -inf
    greatest: float = inf
    nan: bool = True

    def fits(self, dtype: Dtype) -> bool:
        """Whether every value, its fraction dropped, is one of an integer dtype."""
        least, greatest = integer_range(dtype)
        # The bound above is a power of two, the one before it may not be a float.
        return not self.nan and least <= self.least and self.greatest < greatest + 1


ANY = NumberRange()
_ZERO = NumberRange(0, 0, False)

Facts: TypeAlias = Mapping[int, NumberRange]
"""Ranges of some f32 nodes, beside those that hold anyway."""


class Outcomes(NamedTuple):
    """What holds where a boolean is true, and where it is false; None if it never is."""

    if_true: Facts | None
    if_false: Facts | None


_UNKNOWN = Outcomes({}, {})
_TRUE, _FALSE = Outcomes({}, None), Outcomes(None, {})


def number_ranges(program: Program) -> dict[int, NumberRange]:
    """The range of every f32 and every integer node of `program`."""
    return _Analysis(program).ranges


def known_comparisons(program: Program) -> dict[int, bool]:
    """The comparisons of f32 nodes of `program` that are always true, or always false."""
    known: dict[int, bool] = {}
    for index, (if_true, if_false) in _Analysis(program).outcomes.items():
        match program.nodes[index]:
            case Op2(Compare()) if if_true is None or if_false is None:
                known[index] = if_false is None
            case _:
                pass
    return known


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


class _Analysis:
    """The ranges of the numbers of a program, and the outcomes of its booleans."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.ranges: dict[int, NumberRange] = {}
        self.outcomes: dict[int, Outcomes] = {}
        for index in program.reached(program.outs):
            if program.dtypes[index] in _NUMBERS:
                self.ranges[index] = self._range(index)
            elif program.dtypes[index] is Dtype.bool:
                self.outcomes[index] = self._outcomes(index)

    def _range(self, index: int) -> NumberRange:
        ranges, dtype = self.ranges, self.program.dtypes[index]
        match self.program.nodes[index]:
            case Const():
                value = _constant(self.program, index)
                return _any(dtype) if value is None else NumberRange(value, value, False)
            case Op1(Move.COPY, _, i):
                return ranges[i]
            case Op1(Move.CAST, _, i):
                return self._converted(i, dtype)
            case Op1(Move.BITCAST, _, i) if i in ranges:
                return _reinterpreted(self.program.dtypes[i], ranges[i], dtype)
            case Op1(Unary.RECIP, _, i) if dtype is Dtype.float32:
                return _reciprocal(ranges[i])
            case Op2(Binary.ADD, i, j):
                return _sum(dtype, ranges[i], ranges[j])
            case Op2(Binary.MUL, i, j):
                return _product(dtype, ranges[i], ranges[j])
            case Op2(Binary.MOD, i, j) if dtype in INTEGERS:
                return _remainder(dtype, ranges[i], ranges[j])
            case Op2(Binary.MAXIMUM, i, j):
                x, y = ranges[i], ranges[j]
                return NumberRange(
                    max(x.least, y.least), max(x.greatest, y.greatest), x.nan or y.nan
                )
            case Op3(Ternary.WHERE, condition, i, j):
                outcomes = self.outcomes.get(condition, _UNKNOWN)
                x = _met(outcomes.if_true, {i: ranges[i]})
                y = _met(outcomes.if_false, {j: ranges[j]})
                if x is None:
                    return _any(dtype) if y is None else y[j]
                return x[i] if y is None else _hull(x[i], y[j])
            case _:
                return _any(dtype)

    def _converted(self, node: int, dtype: Dtype) -> NumberRange:
        """The range of what `node`, of another dtype, is converted to."""
        if self.program.dtypes[node] is Dtype.bool:
            return NumberRange(0, 1, False)
        if (x := self.ranges.get(node)) is None:
            return _any(dtype)
        if dtype not in INTEGERS or not self._is_float(node):
            return _stored(dtype, *x)
        # Dropping a fraction keeps the order, and a NaN becomes zero.
        least, greatest = (of_float(dtype, bound).real for bound in x[:2])
        truncated = NumberRange(least, greatest, False)
        return _hull(truncated, _ZERO) if x.nan else truncated

    def _outcomes(self, index: int) -> Outcomes:
        outcomes = self.outcomes
        match self.program.nodes[index]:
            case Const(dtype, element):
                return _TRUE if value_of(dtype, element) else _FALSE
            case Op1(Move.COPY, _, i):
                return outcomes[i]
            case Op2(Compare.LESS, i, j) if self._is_float(i):
                return Outcomes(self._if_less(i, j), self._if_not_less(i, j))
            case Op2(Compare.EQUAL, i, j) if i == j and self._is_float(i):
                # Only a NaN isn't equal to itself.
                number = self.ranges[i]._replace(nan=False)
                return Outcomes({i: number}, {} if self.ranges[i].nan else None)
            case Op2(Binary.AND, i, j) if i in outcomes:
                return _where(outcomes[i], outcomes[j], _FALSE)
            case Op2(Binary.XOR, i, j) if i in outcomes:
                return _where(outcomes[i], Outcomes(*reversed(outcomes[j])), outcomes[j])
            case Op3(Ternary.WHERE, condition, i, j):
                return _where(outcomes.get(condition, _UNKNOWN), outcomes[i], outcomes[j])
            case _:
                return _UNKNOWN

    def _is_float(self, node: int) -> bool:
        return self.program.dtypes[node] is Dtype.float32

    def _if_less(self, i: int, j: int) -> Facts | None:
        x, y = self.ranges[i], self.ranges[j]
        if x.least >= y.greatest:
            return None
        below, above = -_above(-y.greatest), _above(x.least)
        facts = {
            i: NumberRange(x.least, min(x.greatest, below), False),
            j: NumberRange(max(y.least, above), y.greatest, False),
        }
        if (inner := absolute_of(self.program, i)) is not None:
            facts[inner] = NumberRange(-below, below, False)
        return facts

    def _if_not_less(self, i: int, j: int) -> Facts | None:
        x, y = self.ranges[i], self.ranges[j]
        if x.greatest < y.least and not x.nan and not y.nan:
            return None
        # Unless one of them is a NaN, it is `j <= i`.
        facts: dict[int, NumberRange] = {}
        if not x.nan:
            facts[j] = y._replace(greatest=min(y.greatest, x.greatest))
        if not y.nan:
            facts[i] = x._replace(least=max(x.least, y.least))
        return facts


def _where(condition: Outcomes, x: Outcomes, y: Outcomes) -> Outcomes:
    """The outcomes of a choice between booleans."""
    pairs = [
        (_met(condition.if_true, one), _met(condition.if_false, other))
        for one, other in zip(x, y, strict=True)
    ]
    return Outcomes(*(_either(*pair) for pair in pairs))


def _met(x: Facts | None, y: Facts | None) -> Facts | None:
    """What holds where all of `x` and all of `y` does."""
    if x is None or y is None:
        return None
    facts = dict(y)
    for node, known in x.items():
        least, greatest, nan = facts.get(node, ANY)
        least, greatest = max(least, known.least), min(greatest, known.greatest)
        if least > greatest and not (nan and known.nan):
            return None
        # Where only a NaN is left, any numbers may be beside it.
        facts[node] = NumberRange(min(least, greatest), max(least, greatest), nan and known.nan)
    return dict(islice(facts.items(), _FACTS))


def _either(x: Facts | None, y: Facts | None) -> Facts | None:
    """What holds where all of `x` does, or all of `y`."""
    if x is None or y is None:
        return y if x is None else x
    return {node: _hull(known, y[node]) for node, known in x.items() if node in y}


def _hull(x: NumberRange, y: NumberRange) -> NumberRange:
    return NumberRange(min(x.least, y.least), max(x.greatest, y.greatest), x.nan or y.nan)


def _constant(program: Program, node: int) -> float | None:
    """The value of a constant that is a number, of a dtype with ranges."""
    match program.nodes[node]:
        case Const(dtype, element) if dtype in _NUMBERS:
            value = value_of(dtype, element).real
            return None if isnan(value) else value
        case _:
            return None


def _above(x: float) -> float:
    """A bound of the f32 numbers that are greater than `x`."""
    return max(nextafter(x, inf), x + _SMALLEST)


def _any(dtype: Dtype) -> NumberRange:
    return NumberRange(*integer_range(dtype), False) if dtype in INTEGERS else ANY


def _stored(dtype: Dtype, least: float, greatest: float, nan: bool = False) -> NumberRange:
    """The range of `dtype` that the numbers of a range are stored as: f32 rounds, integers wrap.

    The bounds may be sums, products or reciprocals of f32 numbers: that they are rounded to doubles
    before changes nothing.
    """
    if dtype in INTEGERS:
        x = NumberRange(least, greatest, nan)
        return x if x.fits(dtype) else _any(dtype)
    least, greatest = (float(of_float(dtype, x).real) for x in (least, greatest))
    return NumberRange(least, greatest, nan)


def _sum(dtype: Dtype, x: NumberRange, y: NumberRange) -> NumberRange:
    if not all(map(isfinite, (*x[:2], *y[:2]))):
        return ANY
    return _stored(dtype, x.least + y.least, x.greatest + y.greatest, x.nan or y.nan)


def _product(dtype: Dtype, x: NumberRange, y: NumberRange) -> NumberRange:
    for one, other in ((x, y), (y, x)):
        if any(map(isinf, one[:2])) and other.least <= 0 <= other.greatest:
            return ANY
    corners = [a * b for a in x[:2] for b in y[:2]]
    return _stored(dtype, min(corners), max(corners), x.nan or y.nan)


def _reciprocal(x: NumberRange) -> NumberRange:
    if x.least <= 0 <= x.greatest:
        return ANY
    return _stored(Dtype.float32, 1 / x.greatest, 1 / x.least, x.nan)


def _remainder(dtype: Dtype, x: NumberRange, y: NumberRange) -> NumberRange:
    if x.least < 0 or y.least <= 0:
        return _any(dtype)
    return NumberRange(0, min(x.greatest, y.greatest - 1), False)


def _reinterpreted(source: Dtype, x: NumberRange, target: Dtype) -> NumberRange:
    """The range of the same bits: positive floats have the order of their bits."""
    if {source, target} != {Dtype.int32, Dtype.float32} or x.least <= 0 or x.nan:
        return _any(target)
    least, greatest = (value_of(target, bits(source, bound)).real for bound in x[:2])
    return _any(target) if isnan(greatest) else NumberRange(least, greatest, False)
