"""What values the floats of a program can have, as far as constants and comparisons tell.

A program that clamps its argument before it converts it needs no saturation, and what it compares
the argument with afterwards may be known. One sweep over the nodes finds, for every float, a range,
and for every boolean, what each of its values says of the floats that it was computed from.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from math import inf, isfinite, isnan, nextafter
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
    integer_range,
    of_float,
    value_of,
)

_FACTS = 8
"""The greatest number of floats that a boolean says something of."""

_SMALLEST = 2.0**-149
"""No two f32 numbers are closer."""


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

Facts: TypeAlias = Mapping[int, FloatRange]
"""Ranges of some f32 nodes, beside those that hold anyway."""


class Outcomes(NamedTuple):
    """What holds where a boolean is true, and where it is false; None if it never is."""

    if_true: Facts | None
    if_false: Facts | None


_UNKNOWN = Outcomes({}, {})
_TRUE, _FALSE = Outcomes({}, None), Outcomes(None, {})


def float_ranges(program: Program) -> dict[int, FloatRange]:
    """The range of every f32 node of `program`."""
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
    """The ranges of the f32 nodes of a program, and the outcomes of its booleans."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.ranges: dict[int, FloatRange] = {}
        self.outcomes: dict[int, Outcomes] = {}
        for index in program.reached(program.outs):
            if program.dtypes[index] is Dtype.float32:
                self.ranges[index] = self._range(index)
            elif program.dtypes[index] is Dtype.bool:
                self.outcomes[index] = self._outcomes(index)

    def _range(self, index: int) -> FloatRange:
        ranges = self.ranges
        match self.program.nodes[index]:
            case Const():
                value = _constant(self.program, index)
                return FloatRange(value, value, False) if value is not None else ANY
            case Op1(Move.COPY, _, i):
                return ranges[i]
            case Op1(Move.CAST, _, i):
                return self._converted(i)
            case Op2(Binary.ADD, i, j):
                return _sum(ranges[i], ranges[j])
            case Op2(Binary.MUL, i, j):
                return _product(ranges[i], ranges[j])
            case Op2(Binary.MAXIMUM, i, j):
                x, y = ranges[i], ranges[j]
                return FloatRange(
                    max(x.least, y.least), max(x.greatest, y.greatest), x.nan or y.nan
                )
            case Op3(Ternary.WHERE, condition, i, j):
                outcomes = self.outcomes.get(condition, _UNKNOWN)
                x = _met(outcomes.if_true, {i: ranges[i]})
                y = _met(outcomes.if_false, {j: ranges[j]})
                if x is None:
                    return ANY if y is None else y[j]
                return x[i] if y is None else _hull(x[i], y[j])
            case _:
                return ANY

    def _converted(self, node: int) -> FloatRange:
        """The range of the f32 that `node`, of another dtype, is converted to."""
        program, dtype = self.program, self.program.dtypes[node]
        if dtype is Dtype.bool:
            return FloatRange(0.0, 1.0, False)
        if dtype not in INTEGERS:
            return ANY
        least, greatest = map(float, integer_range(dtype))
        match program.nodes[node]:
            case Op1(Move.CAST, _, i) if (x := self.ranges.get(i)) is not None:
                # Dropping a fraction moves towards zero, and a NaN becomes zero.
                least = max(least, min(x.least, 0.0))
                greatest = min(greatest, max(x.greatest, 0.0))
            case _:
                pass
        return _rounded(least, greatest)

    def _outcomes(self, index: int) -> Outcomes:
        outcomes = self.outcomes
        match self.program.nodes[index]:
            case Const(dtype, element):
                return _TRUE if value_of(dtype, element) else _FALSE
            case Op1(Move.COPY, _, i):
                return outcomes[i]
            case Op2(Compare.LESS, i, j) if i in self.ranges:
                return Outcomes(self._if_less(i, j), self._if_not_less(i, j))
            case Op2(Compare.EQUAL, i, j) if i == j and i in self.ranges:
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

    def _if_less(self, i: int, j: int) -> Facts | None:
        x, y = self.ranges[i], self.ranges[j]
        if x.least >= y.greatest:
            return None
        below, above = -_above(-y.greatest), _above(x.least)
        facts = {
            i: FloatRange(x.least, min(x.greatest, below), False),
            j: FloatRange(max(y.least, above), y.greatest, False),
        }
        if (inner := absolute_of(self.program, i)) is not None:
            facts[inner] = FloatRange(-below, below, False)
        return facts

    def _if_not_less(self, i: int, j: int) -> Facts | None:
        x, y = self.ranges[i], self.ranges[j]
        if x.greatest < y.least and not x.nan and not y.nan:
            return None
        # Unless one of them is a NaN, it is `j <= i`.
        facts: dict[int, FloatRange] = {}
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
        facts[node] = FloatRange(min(least, greatest), max(least, greatest), nan and known.nan)
    return dict(islice(facts.items(), _FACTS))


def _either(x: Facts | None, y: Facts | None) -> Facts | None:
    """What holds where all of `x` does, or all of `y`."""
    if x is None or y is None:
        return y if x is None else x
    return {node: _hull(known, y[node]) for node, known in x.items() if node in y}


def _hull(x: FloatRange, y: FloatRange) -> FloatRange:
    return FloatRange(min(x.least, y.least), max(x.greatest, y.greatest), x.nan or y.nan)


def _constant(program: Program, node: int) -> float | None:
    """The value of an f32 constant that is a number."""
    match program.nodes[node]:
        case Const(Dtype.float32, element):
            value = value_of(Dtype.float32, element)
            return value if isinstance(value, float) and not isnan(value) else None
        case _:
            return None


def _above(x: float) -> float:
    """A bound of the f32 numbers that are greater than `x`."""
    return max(nextafter(x, inf), x + _SMALLEST)


def _rounded(least: float, greatest: float, nan: bool = False) -> FloatRange:
    """The range of f32 numbers that the numbers of a range round to.

    The bounds may be sums or products of f32 numbers: that they are rounded to doubles before
    changes nothing.
    """
    least, greatest = (float(of_float(Dtype.float32, x).real) for x in (least, greatest))
    return FloatRange(least, greatest, nan)


def _sum(x: FloatRange, y: FloatRange) -> FloatRange:
    if not all(map(isfinite, (*x[:2], *y[:2]))):
        return ANY
    return _rounded(x.least + y.least, x.greatest + y.greatest, x.nan or y.nan)


def _product(x: FloatRange, y: FloatRange) -> FloatRange:
    if not all(map(isfinite, (*x[:2], *y[:2]))):
        return ANY
    corners = [a * b for a in x[:2] for b in y[:2]]
    return _rounded(min(corners), max(corners), x.nan or y.nan)
