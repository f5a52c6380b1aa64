"""The ranges of integer and boolean kinds, as expressions of the ranges of their operands."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

from . import checked
from .checked import both, either, is_negative, is_signed, number
from .dtypes import BOOLEANS, INTEGERS, Dtype, extremes, integer_range
from .expr import E
from .kinds import Binary, Compare, Unary


class Interval(NamedTuple):
    """A least and a greatest value, of one dtype."""

    least: E
    greatest: E

    @property
    def dtype(self) -> Dtype:
        """The dtype of the bounds."""
        return self.least.dtype

    def contains(self, value: int) -> E:
        """Whether `value` lies between the bounds."""
        e = number(self.least, value)
        return both(self.least <= e, e <= self.greatest)

    def is_just(self, value: int) -> E:
        """Whether `value` is both bounds."""
        e = number(self.least, value)
        return both(E.equal(self.least, e), E.equal(self.greatest, e))


def whole(dtype: Dtype) -> Interval:
    """All values of an integer or boolean dtype."""
    least, greatest = extremes(dtype)
    return Interval(E.const(dtype, least), E.const(dtype, greatest))


def _choose(condition: E, x: Interval, y: Interval) -> Interval:
    """`x` where `condition`, else `y`."""
    return Interval(
        E.where(condition, x.least, y.least), E.where(condition, x.greatest, y.greatest)
    )


def _unless(wraps: E, x: Interval) -> Interval:
    """`x`, or all values where computing it may wrap."""
    return _choose(wraps, whole(x.dtype), x)


def _constant(like: Interval, least: int, greatest: int) -> Interval:
    return Interval(number(like.least, least), number(like.least, greatest))


def _hull(x: Interval, y: Interval) -> Interval:
    return Interval(E.minimum(x.least, y.least), E.maximum(x.greatest, y.greatest))


def unary(kind: Unary, x: Interval) -> Interval:
    """The range of a kind of one integer."""
    match kind:
        case Unary.NEG:
            return _neg(x)
        case Unary.ABS if is_signed(x.least):
            return _abs(x)
        case Unary.SIGN:
            return Interval(E.sign(x.least), E.sign(x.greatest))
        case Unary.RECIP:
            return _recip(x)
        case _:  # the others are the identity on integers
            return x


def _neg(x: Interval) -> Interval:
    if is_signed(x.least):
        wraps = E.equal(x.least, whole(x.dtype).least)
    else:
        wraps = E.not_equal(x.greatest, number(x.greatest, 0))
    return _unless(wraps, Interval(E.neg(x.greatest), E.neg(x.least)))


def _abs(x: Interval) -> Interval:
    zero, low, high = number(x.least, 0), E.neg(x.least), E.neg(x.greatest)
    least = E.maximum(zero, E.maximum(x.least, high))
    wraps = E.equal(x.least, whole(x.dtype).least)
    return _unless(wraps, Interval(least, E.maximum(low, x.greatest)))


def _recip(x: Interval) -> Interval:
    zero, one = number(x.least, 0), number(x.least, 1)
    least = E.where(x.is_just(1), one, zero)
    greatest = E.where(x.contains(1), one, zero)
    if is_signed(x.least):
        minus_one = number(x.least, -1)
        least = E.where(x.contains(-1), minus_one, least)
        greatest = E.where(x.is_just(-1), minus_one, greatest)
    return Interval(least, greatest)


def compare(kind: Compare, x: Interval, y: Interval) -> Interval:
    """The range of a comparison of integers or booleans."""
    match kind:
        case Compare.EQUAL:
            return Interval(_is_one_value(x, y), _meet(x, y))
        case Compare.NOT_EQUAL:
            return Interval(_not(_meet(x, y)), _not(_is_one_value(x, y)))
        case Compare.LESS:
            return Interval(x.greatest < y.least, x.least < y.greatest)
        case Compare.LESS_EQUAL:
            return Interval(x.greatest <= y.least, x.least <= y.greatest)


def _is_one_value(x: Interval, y: Interval) -> E:
    return both(E.equal(x.least, y.greatest), E.equal(x.greatest, y.least))


def _meet(x: Interval, y: Interval) -> E:
    return both(x.least <= y.greatest, y.least <= x.greatest)


def _not(e: E) -> E:
    return e ^ E.const(e.dtype, True)


def binary(kind: Binary, x: Interval, y: Interval) -> Interval:
    """The range of a kind of two integers, or of two booleans."""
    if x.dtype in BOOLEANS:
        return _boolean(kind, x, y)
    return _INTEGER_RULES[kind](x, y)


def _boolean(kind: Binary, x: Interval, y: Interval) -> Interval:
    if kind is not Binary.XOR:
        return _of_bounds(kind)(x, y)
    unknown = (x.least ^ x.greatest) | (y.least ^ y.greatest)
    value = x.least ^ y.least
    return Interval(value & _not(unknown), value | unknown)


def _of_bounds(kind: Binary) -> Callable[[Interval, Interval], Interval]:
    """The rule of a kind that never falls as an operand rises, and never wraps."""

    def rule(x: Interval, y: Interval) -> Interval:
        return Interval(
            E.of_kind2(kind, x.least, y.least), E.of_kind2(kind, x.greatest, y.greatest)
        )

    return rule


def _add(x: Interval, y: Interval) -> Interval:
    low, high = checked.add(x.least, y.least), checked.add(x.greatest, y.greatest)
    return _unless(either(low.wraps, high.wraps), Interval(low.value, high.value))


def _sub(x: Interval, y: Interval) -> Interval:
    low, high = checked.sub(x.least, y.greatest), checked.sub(x.greatest, y.least)
    return _unless(either(low.wraps, high.wraps), Interval(low.value, high.value))


def _mul(x: Interval, y: Interval) -> Interval:
    """The extremes are at corners."""
    corners = [checked.mul(a, b) for a in x for b in y]
    values = [corner.value for corner in corners]
    wraps = either(*(corner.wraps for corner in corners))
    return _unless(wraps, Interval(reduce(E.minimum, values), reduce(E.maximum, values)))


def _idiv(x: Interval, y: Interval) -> Interval:
    """The extremes are at bounds of the dividend, and of the divisor's two signs."""
    all_values = whole(x.dtype)
    zero = number(x.least, 0)
    divisors = [(y.least, E.not_equal(y.least, zero)), (y.greatest, E.not_equal(y.greatest, zero))]
    units = [1, -1] if is_signed(x.least) else [1]
    divisors += [(number(x.least, unit), y.contains(unit)) for unit in units]
    quotients = [(a // b, possible) for a in x for b, possible in divisors]
    quotients.append((zero, y.contains(0)))
    least = [E.where(possible, q, all_values.greatest) for q, possible in quotients]
    greatest = [E.where(possible, q, all_values.least) for q, possible in quotients]
    result = Interval(reduce(E.minimum, least), reduce(E.maximum, greatest))
    if not is_signed(x.least):
        return result
    return _unless(both(E.equal(x.least, all_values.least), y.contains(-1)), result)


def _mod(x: Interval, y: Interval) -> Interval:
    """Exact by one divisor where all dividends have one quotient; x where no divisor of y
    reaches it, else between 0 and the greatest divisor; x by 0."""
    zero, one = number(x.least, 0), number(x.least, 1)
    dividends = Interval(E.minimum(x.least, zero), E.maximum(x.greatest, zero))
    if is_signed(x.least):
        # Magnitudes are kept negative, as the least value's has no positive counterpart.
        low, high = (E.minimum(bound, E.neg(bound)) for bound in y)
        nearest, farthest = E.maximum(low, high), E.minimum(low, high)
        untouched = both(nearest < x.least, nearest < E.neg(x.greatest))
        limit = farthest + one
        limits = Interval(limit, E.neg(limit))
    else:
        untouched = x.greatest < y.least
        limits = Interval(zero, y.greatest - one)
    clamped = Interval(
        E.maximum(dividends.least, limits.least), E.minimum(dividends.greatest, limits.greatest)
    )
    result = _choose(y.contains(0), dividends, _choose(untouched, x, clamped))
    quotients = (x.least // y.least, x.greatest // y.greatest)
    rises = both(E.equal(y.least, y.greatest), E.equal(*quotients))
    return _choose(rises, _of_bounds(Binary.MOD)(x, y), result)


def _pow(x: Interval, y: Interval) -> Interval:
    """Exact for an exponent of 0, for bases of 0 and 1, and where nothing is negative."""
    zero, one = number(x.least, 0), number(x.least, 1)
    power = checked.pow(x.greatest, y.greatest)
    least = E.where(E.equal(x.least, zero), zero, E.pow(x.least, y.least))
    result = _unless(power.wraps, Interval(least, power.value))
    if is_signed(x.least):
        negative = either(is_negative(x.least), is_negative(y.least))
        result = _unless(negative, result)
        minus_one = number(x.least, -1)
        units = both(minus_one <= x.least, x.greatest <= one)
        result = _choose(units, _constant(x, -1, 1), result)
    unsigned_units = both(zero <= x.least, x.greatest <= one)
    result = _choose(unsigned_units, Interval(x.least, one), result)
    return _choose(y.is_just(0), _constant(x, 1, 1), result)


def _and(x: Interval, y: Interval) -> Interval:
    zero = number(x.least, 0)
    smaller = Interval(zero, E.minimum(x.greatest, y.greatest))
    if not is_signed(x.least):
        return smaller
    x_is, y_is = zero <= x.least, zero <= y.least
    result = Interval(whole(x.dtype).least, E.maximum(x.greatest, y.greatest))
    result = _choose(y_is, Interval(zero, y.greatest), result)
    result = _choose(x_is, Interval(zero, x.greatest), result)
    return _choose(both(x_is, y_is), smaller, result)


def _or(x: Interval, y: Interval) -> Interval:
    larger, filled = E.maximum(x.least, y.least), checked.ones(E.maximum(x.greatest, y.greatest))
    positive = Interval(larger, filled)
    if not is_signed(x.least):
        return positive
    zero, minus_one = number(x.least, 0), number(x.least, -1)
    x_negative, y_negative = is_negative(x.greatest), is_negative(y.greatest)
    result = Interval(E.minimum(x.least, y.least), filled)
    result = _choose(both(zero <= x.least, zero <= y.least), positive, result)
    result = _choose(y_negative, Interval(y.least, minus_one), result)
    result = _choose(x_negative, Interval(x.least, minus_one), result)
    return _choose(both(x_negative, y_negative), Interval(larger, minus_one), result)


def _xor(x: Interval, y: Interval) -> Interval:
    filled = checked.ones(E.maximum(x.greatest, y.greatest))
    result = Interval(number(x.least, 0), filled)
    if not is_signed(x.least):
        return result
    return _unless(either(is_negative(x.least), is_negative(y.least)), result)


_INTEGER_RULES: dict[Binary, Callable[[Interval, Interval], Interval]] = {
    Binary.ADD: _add,
    Binary.SUB: _sub,
    Binary.MUL: _mul,
    Binary.IDIV: _idiv,
    Binary.MOD: _mod,
    Binary.POW: _pow,
    Binary.MAXIMUM: _of_bounds(Binary.MAXIMUM),
    Binary.MINIMUM: _of_bounds(Binary.MINIMUM),
    Binary.AND: _and,
    Binary.OR: _or,
    Binary.XOR: _xor,
    Binary.THREEFRY: lambda x, _: whole(x.dtype),
}


def fma(x: Interval, y: Interval, z: Interval) -> Interval:
    """The range of the product plus `z`; all values where the product alone may wrap."""
    return _add(_mul(x, y), z)


def where(condition: Interval, x: Interval, y: Interval) -> Interval:
    """The range of a choice: of one side where the condition is decided."""
    undecided = _choose(condition.greatest, _hull(x, y), y)
    return _choose(condition.least, x, undecided)


def cast(target: Dtype, x: Interval) -> Interval:
    """The range of integers or booleans stored into an integer or boolean dtype."""
    if target in BOOLEANS and x.dtype in INTEGERS:
        return _to_boolean(target, x)
    bounds = Interval(*(E.cast(target, bound) for bound in x))
    if target in BOOLEANS or x.dtype in BOOLEANS:
        return bounds
    (least, greatest), (lowest, highest) = integer_range(target), integer_range(x.dtype)
    outside: list[E] = []
    if lowest < least:
        outside.append(x.least < number(x.least, least))
    if greatest < highest:
        outside.append(number(x.least, greatest) < x.greatest)
    return _unless(either(*outside), bounds) if outside else bounds


def _to_boolean(target: Dtype, x: Interval) -> Interval:
    zero = number(x.least, 0)
    truth = either(zero < x.least, is_negative(x.greatest))
    bounds = (truth, _not(x.is_just(0)))
    return Interval(*(bound if target is Dtype.bool else E.cast(target, bound) for bound in bounds))


def bitcast(target: Dtype, x: Interval) -> Interval:
    """The range of the bits of integers or booleans read in an integer or boolean dtype."""
    if x.dtype is target:
        return x
    if x.dtype is Dtype.bool:
        return whole(target)  # a true element is any byte but 0
    if target is Dtype.bool:
        return _to_boolean(target, x)
    bounds = Interval(*(E.bitcast(target, bound) for bound in x))
    # A range across the end of either order comes out back to front.
    return _unless(bounds.greatest < bounds.least, bounds)
