"""Integer expressions that know whether they wrap."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

from .dtypes import SIGNED, integer_range, width
from .expr import E


class Checked(NamedTuple):
    """An integer, and whether computing it wrapped."""

    value: E
    wraps: E


def number(like: E, value: int) -> E:
    """The integer `value`, of the dtype of `like`."""
    return E.const(like.dtype, value)


def is_signed(e: E) -> bool:
    """Whether `e` is of a signed dtype."""
    return e.dtype in SIGNED


def is_negative(e: E) -> E:
    """e < 0."""
    return e < number(e, 0)


def both(a: E, *others: E) -> E:
    """Whether all hold."""
    return reduce(E.and_, others, a)


def either(a: E, *others: E) -> E:
    """Whether one holds."""
    return reduce(E.or_, others, a)


def add(a: E, b: E) -> Checked:
    """a + b."""
    total = a + b
    fell = total < a
    return Checked(total, fell ^ is_negative(b) if is_signed(a) else fell)


def sub(a: E, b: E) -> Checked:
    """a - b."""
    difference = a - b
    rose = a < difference
    return Checked(difference, rose ^ is_negative(b) if is_signed(a) else rose)


def mul(a: E, b: E) -> Checked:
    """a * b: dividing by a factor gives the other back, unless it wraps."""
    product = a * b
    wraps = E.not_equal(product // a, b)
    if is_signed(a):
        # This quotient wraps back.
        least = number(a, integer_range(a.dtype)[0])
        wraps = either(wraps, both(E.equal(a, number(a, -1)), E.equal(b, least)))
    return Checked(product, both(E.not_equal(a, number(a, 0)), wraps))


def pow(a: E, b: E) -> Checked:
    """a to the power b; neither is negative."""
    bits = width(a.dtype)
    # Every power of 2 or more past the width wraps, so that few bits of the exponent count.
    wraps = both(a > number(a, 1), b >= number(b, bits))
    result, base = number(a, 1), Checked(a, E.const(wraps.dtype, False))
    for bit in range(bits.bit_length() - 1):
        chosen = E.not_equal(b & number(b, 1 << bit), number(b, 0))
        product = mul(result, base.value)
        wraps = either(wraps, both(chosen, either(base.wraps, product.wraps)))
        result = E.where(chosen, product.value, result)
        square = mul(base.value, base.value)
        base = Checked(square.value, either(base.wraps, square.wraps))
    return Checked(result, wraps)


def ones(e: E) -> E:
    """The least 2^k - 1 that is not below `e`, which is not negative."""
    shift = 1
    while shift < width(e.dtype):
        e = e | e // number(e, 1 << shift)
        shift *= 2
    return e
