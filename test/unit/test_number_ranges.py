"""The ranges of numbers hold what programs compute, and are narrow where programs clamp."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ways_to_run import assert_same_bits

from dialects.prog import Dtype, E, Move, Program
from dialects.prog.evaluate import evaluate
from passes.loops.number_ranges import ANY, NumberRange, known_comparisons, number_ranges
from passes.loops.simplify import with_known_comparisons

F32 = np.float32
X, Y = E.input(0, Dtype.float32), E.input(1, Dtype.float32)
SPECIAL = [0.0, -0.0, 1.0, -1.5, 2.0**31, 3e38, 1e-40, math.inf, -math.inf, math.nan]


BELOW_4 = math.nextafter(4.0, 0.0)
WHOLE = NumberRange(-(2**31), 2**31 - 1, False)
TRUE, FALSE = (E.const(Dtype.bool, value) for value in (True, False))


def number(value: float) -> E:
    return E.const(Dtype.float32, value)


def integer(value: int) -> E:
    return E.const(Dtype.int32, value)


def bits_of(e: E) -> E:
    return E.bitcast(Dtype.int32, e)


INTEGERS = {
    Dtype.int32: [*map(integer, (-1, 0, 3, 0x3F800000, -(2**31))), bits_of(X)],
    Dtype.int64: [E.const(Dtype.int64, value) for value in (-1, 10, 2**54 + 2**30 + 1)],
    Dtype.uint8: [E.const(Dtype.uint8, value) for value in (0, 1, 200)],
}
"""Integers of some dtypes; one that rounds to another float32 by way of a float64."""

UNIT = E.const(Dtype.uint32, 1)
UP_TO_2 = E.where(E.less(number(1.0), X), number(2.0), number(1.0))
WORD = E.cast(Dtype.int32, X)
POSITIVE = E.where(E.less(number(0.0), X), X, number(1.0))


AT_MOST_1 = E.where(E.less(number(1.0), X), number(1.0), X)
AT_LEAST_1 = E.where(E.less(X, number(1.0)), number(1.0), X)
CLAMPED = E.where(E.less(AT_MOST_1, number(-1.0)), number(-1.0), AT_MOST_1)
"""Or they are a NaN."""


def range_of(e: E) -> NumberRange:
    program = Program.of_exprs([Dtype.float32] * 2, [e])
    return number_ranges(program)[program.outs[0]]


@st.composite
def expressions(draw: st.DrawFn) -> list[E]:
    """Sums, products, maxima, choices and conversions of two floats, and of integers of them."""
    floats = [X, Y, *map(number, SPECIAL), number(-1.0)]
    integers = {dtype: [E.cast(dtype, X), *constants] for dtype, constants in INTEGERS.items()}
    conditions = [E.const(Dtype.bool, False)]
    made: list[E] = []
    for _ in range(draw(st.integers(1, 8))):
        a, b, c = (draw(st.sampled_from(floats)) for _ in range(3))
        test = E.less(a, b)
        flipped = test ^ E.const(Dtype.bool, True)
        other = draw(st.sampled_from(conditions))
        conditions += [test, flipped, E.where(test, other, flipped), test & other, test ^ other]
        conditions.append(E.equal(a, a))
        absolute = E.maximum(a, a * number(-1.0))
        condition = draw(st.sampled_from([*conditions, E.less(absolute, c)]))
        dtype, source = (draw(st.sampled_from(list(INTEGERS))) for _ in range(2))
        i, j = (draw(st.sampled_from(integers[dtype])) for _ in range(2))
        k = draw(st.sampled_from(integers[source]))
        casts = [E.cast(dtype, e) for e in (a, condition, k)]
        words = [i + j, i * j, E.mod(i, j), E.maximum(i, j), E.where(condition, i, j), *casts]
        word = draw(st.sampled_from([*words, bits_of(a)]))
        integers[word.dtype].append(word)
        last = E.bitcast(Dtype.float32, integers[Dtype.int32][-1])
        converted = draw(st.sampled_from([E.cast(Dtype.float32, i), last]))
        choice = E.where(condition, draw(st.sampled_from([a, b, c])), draw(st.sampled_from([a, b])))
        sums = [a + b, a * b, E.maximum(a, b), absolute, E.recip(a), converted, choice, choice]
        e = draw(st.sampled_from(sums))
        floats.append(e)
        made += [e, word]
    return made


@settings(max_examples=200, deadline=None)
@given(expressions(), st.sampled_from(SPECIAL), st.floats(width=32))
def test_ranges_hold_every_value(made: list[E], x: float, y: float) -> None:
    program = Program.of_exprs([Dtype.float32] * 2, made)
    ranges = number_ranges(program)
    values = evaluate(program, [np.array(x, np.float32), np.array(y, np.float32)], ())
    for out, array in zip(program.outs, values, strict=True):
        value, (least, greatest, nan) = array.item(), ranges[out]
        assert nan if math.isnan(value) else least <= value <= greatest


@settings(max_examples=200, deadline=None)
@given(expressions(), st.sampled_from(SPECIAL), st.floats(width=32))
def test_known_comparisons(made: list[E], x: float, y: float) -> None:
    program = Program.of_exprs([Dtype.float32] * 2, made)
    arrays = [np.array(x, np.float32), np.array(y, np.float32)]
    known = known_comparisons(program)
    if known:
        comparisons = Program.v(program.ins, program.nodes, list(known))
        assert list(map(bool, evaluate(comparisons, arrays, ()))) == list(known.values())
    folded = with_known_comparisons(program)
    assert (folded == program) is (not known)
    assert_same_bits(evaluate(program, arrays, ()), evaluate(folded, arrays, ()))


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (X, ANY),
        (number(2.5), NumberRange(2.5, 2.5, False)),
        (number(-253.0) + number(0.5), NumberRange(-252.5, -252.5, False)),
        (number(1e-30) * number(1e-10), NumberRange(float(F32(1e-40)), float(F32(1e-40)), False)),
        (number(3e38) + number(3e38), NumberRange(math.inf, math.inf, False)),
        (E.cast(Dtype.float32, E.less(X, Y)), NumberRange(0.0, 1.0, False)),
        (E.where(E.less(X, number(3.0)), X, number(3.0)), NumberRange(-math.inf, 3.0, False)),
        # Not less may be because it is a NaN.
        (E.where(E.less(X, number(3.0)), number(3.0), X), NumberRange(3.0, math.inf, True)),
        (E.where(E.less(number(3.0), X), number(0.0), X), NumberRange(-math.inf, 3.0, True)),
        # Nor do numbers tell anything if the other one is a NaN.
        (E.where(E.less(AT_MOST_1, Y), number(0.0), Y), ANY),
        (E.where(E.less(Y, AT_LEAST_1), number(0.0), Y), ANY),
        (
            E.where(E.less(E.maximum(X, X * number(-1.0)), number(4.0)), X, number(0.0)),
            NumberRange(-BELOW_4, BELOW_4, False),
        ),
        (
            E.where(E.less(E.maximum(X, X * number(-2.0)), number(4.0)), X, number(0.0)),
            NumberRange(-math.inf, math.inf, True),
        ),
        (E(Move.CAST, Dtype.float32, (X,)), ANY),
        (E.maximum(UP_TO_2, number(1.5)), NumberRange(1.5, 2.0, False)),
        (CLAMPED + number(3.0), NumberRange(2.0, 4.0, True)),
        (number(3.0) + CLAMPED, NumberRange(2.0, 4.0, True)),
        (E.recip(CLAMPED + number(3.0)), NumberRange(0.25, 0.5, True)),
        (E.recip(UP_TO_2), NumberRange(0.5, 1.0, False)),
        (E.recip(UP_TO_2 + number(-1.5)), ANY),
        # From the least number on: its product with a half is a zero, and that of infinity isn't.
        (POSITIVE * number(0.5), NumberRange(0.0, math.inf, False)),
        (POSITIVE * (UP_TO_2 + number(-1.0)), ANY),
        (bits_of(UP_TO_2), NumberRange(0x3F800000, 0x40000000, False)),
        (bits_of(POSITIVE), NumberRange(1, 0x7F800000, False)),
        (bits_of(UP_TO_2 + number(-1.0)), WHOLE),  # it may be -0.0 as far as a range says
        (bits_of(AT_LEAST_1), WHOLE),
        (bits_of(UP_TO_2) + integer(-2), NumberRange(0x3F7FFFFE, 0x3FFFFFFE, False)),
        (bits_of(UP_TO_2) + bits_of(UP_TO_2), WHOLE),  # they wrap
        (bits_of(UP_TO_2) * integer(-2), NumberRange(-(2**31), -0x7F000000, False)),
        (bits_of(UP_TO_2) * integer(-3), WHOLE),
        (E.mod(bits_of(UP_TO_2), integer(10)), NumberRange(0, 9, False)),
        (E.mod(bits_of(UP_TO_2), integer(0x7FFFFFFF)), NumberRange(0, 0x40000000, False)),
        (E.mod(WORD, integer(10)), WHOLE),
        (E.mod(bits_of(UP_TO_2), WORD), WHOLE),
        (
            E.bitcast(Dtype.float32, E.mod(bits_of(X) * integer(0), integer(9)) + integer(1)),
            NumberRange(2.0**-149, 2.0**-149, False),
        ),
        (E.bitcast(Dtype.float32, bits_of(POSITIVE) + integer(1)), ANY),
        (E.bitcast(Dtype.int32, E.maximum(E.cast(Dtype.uint32, X), UNIT)), WHOLE),
        (E.cast(Dtype.int32, AT_LEAST_1), NumberRange(0, 2**31 - 1, False)),
        (E.cast(Dtype.int32, UP_TO_2 * number(1.5)), NumberRange(1, 3, False)),
        (E.cast(Dtype.float32, bits_of(POSITIVE)), NumberRange(1.0, float(0x7F800000), False)),
    ],
)
def test_what_comparisons_tell(e: E, expected: NumberRange) -> None:
    assert range_of(e) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (E.less(number(0.0), X) & E.less(X, number(4.0)), (2.0**-149, BELOW_4, False)),
        (
            E.where(E.less(X, number(4.0)), E.less(number(0.0), X), FALSE),
            (2.0**-149, BELOW_4, False),
        ),
        # It isn't told which of the two holds, but either leaves no NaN.
        (
            E.where(E.less(number(2.0), X), TRUE, E.less(X, number(4.0))),
            (-math.inf, math.inf, False),
        ),
        (
            E.where(E.less(number(5.0), X), E.less(X, number(1.0)), E.less(X, Y)),
            (-math.inf, 5.0, False),
        ),
        (E.less(X, number(2.0)) ^ TRUE, (2.0, math.inf, True)),
        (E.equal(X, X), (-math.inf, math.inf, False)),
    ],
)
def test_what_conditions_tell(condition: E, expected: tuple[float, float, bool]) -> None:
    assert range_of(E.where(condition, X, number(3.0))) == expected


@pytest.mark.parametrize(
    ("comparison", "truth"),
    [
        (E.less(AT_MOST_1, number(1.5)), None),  # not if it is a NaN
        (E.less(number(1.0), AT_MOST_1), False),  # whether or not it is a NaN
        (E.less(E.where(E.less(AT_MOST_1, Y), AT_MOST_1, number(0.0)), number(1.5)), True),
        (E.less(AT_MOST_1, number(1.0)), None),
        (E.equal(AT_MOST_1, AT_MOST_1), None),
        (E.equal(E.cast(Dtype.float32, E.less(X, Y)), E.cast(Dtype.float32, E.less(X, Y))), True),
        (E.equal(AT_MOST_1, X), None),
    ],
)
def test_which_comparisons_are_known(comparison: E, truth: bool | None) -> None:
    program = Program.of_exprs([Dtype.float32] * 2, [comparison])
    assert known_comparisons(program).get(program.outs[0]) is truth


def test_conditions_that_share_their_parts_take_no_longer() -> None:
    condition = E.less(X, Y)
    for _ in range(3000):
        condition = condition ^ E.where(condition, condition, condition & condition)
    assert range_of(E.where(condition, X, Y)) == ANY


@pytest.mark.parametrize(
    ("bounds", "fits"),
    [
        (NumberRange(-(2.0**31), 2.0**31 - 128, False), True),
        (NumberRange(-(2.0**31) - 256, 0.0, False), False),
        (NumberRange(0.0, 2.0**31, False), False),
        (NumberRange(0.0, 1.0, True), False),
    ],
)
def test_what_fits_an_i32(bounds: NumberRange, fits: bool) -> None:
    assert bounds.fits(Dtype.int32) is fits
