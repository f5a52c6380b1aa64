"""The text frontend: errors and their places, exact literals, and round trips."""

import contextlib
import math
import struct
from fractions import Fraction
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.printer import Printer

from dialects import get_all_dialects
from dialects.uir.elements import LiteralError, format_f32, parse_f32
from uir.program import Text, decode, load_program
from uir.text.diagnostics import InvalidProgram
from uir.text.parser import parse_text
from uir.text.printer import text_of

SHA = "0" * 64
PATH = Path("no folder")

# The text, the line and column of its error, and a part of the message.
ERRORS = [
    ("%a = adx 1 2", 1, 6, "unknown op `adx`"),
    ("%a", 1, 1, "expected `=` after `%a`"),
    ("%a =", 1, 4, "expected an op after `=`"),
    ("%a = %a", 1, 6, "expected an op, found `%a`"),
    ("  add 1 2", 1, 3, "needs a name"),
    ("%a = add 1 2\n%a = add 1 3", 2, 1, "`%a` is defined twice"),
    ("%a = add 1 %b\n%b = add 1 2", 1, 12, "unknown name `%b`"),
    ("%a = add 1 foo", 1, 12, "expected an operand (a `%name` or a literal), found `foo`"),
    ("%a = add 1", 1, 6, "`add` takes 2 operands, found 1"),
    ("%a = add 1 2 3", 1, 14, "`add` takes 2 operands, found 3"),
    ("%a = add 1 2147483648", 1, 12, "out of range for i32"),
    ("%a = add 1.0 1e39", 1, 14, "too large for f32"),
    ("%a = add 1. 2.0", 1, 10, "found `1.`"),
    ("%a = add 1 2 shape=[1]", 1, 14, "`add` has no attribute `shape`"),
    ("%a = cast 1 dtype=f32 dtype=f32", 1, 23, "attribute `dtype` is given twice"),
    ("%a = cast 1", 1, 6, "`cast` needs `dtype=`"),
    ("%a = cast dtype=f32 1", 1, 21, "operands come before attributes"),
    ("%a = cast 1 dtype=f64", 1, 19, "expected bool, i32 or f32, found `f64`"),
    ("%a = cast 1 dtype=", 1, 19, "found nothing"),
    ("%a = expand 1 shape=4", 1, 21, "expected a list `[...]`, found `4`"),
    ("%a = expand 1 shape=[4", 1, 21, "the list is not closed"),
    ("%a = expand 1 shape=[4,2]", 1, 21, "separated by spaces"),
    ("%a = expand 1 shape=[4 x]", 1, 21, "expected an integer, found `x`"),
    ("%a = expand 1 shape=[0]", 1, 21, "every dimension is at least 1"),
    ("%a = expand 1 shape=[2147483648]", 1, 21, "below 2^31"),
    (f"%a = expand 1 shape=[{' '.join(['1'] * 33)}]", 1, 21, "at most 32 axes"),
    ("%a = add 1 2.0", 1, 12, "different dtypes: i32 and f32"),
    ("%a = add true false", 1, 10, "i32 or f32 is needed"),
    ("%v = expand 1 shape=[3]\n%a = add %v 1", 2, 13, "different shapes: [3] and []"),
    ("%a = div 1.0 2.0", 1, 10, "operand 1 is f32, but i32 is needed"),
    ("%v = expand 1 shape=[3]\n%a = index %v 3", 2, 15, "offset 3 is out of bounds"),
    ("%v = expand 1 shape=[3]\n%a = shrink %v 2 shape=[2]", 2, 16, "out of bounds"),
    ("%v = expand 1 shape=[3]\n%a = permute %v order=[1]", 2, 23, "`order`"),
    ("%v = expand 1 shape=[3]\n%a = reshape %v shape=[2]", 2, 23, "number of elements"),
    ("%v = expand 1 shape=[3]\n%a = pad %v pads=[1]", 2, 18, "`pads`"),
    ("%v = expand 1 shape=[3]\n%a = reduce %v op=min pop=1", 2, 19, "`op` is add, mul or max"),
    ("%v = expand 1 shape=[3]\n%a = reduce %v op=add pop=2", 2, 27, "`pop`"),
    ("%a = stack", 1, 6, "`stack`"),
    ("%m = buffer 0 dtype=f32 slot=0", 1, 13, "at least 1"),
    ("%m = buffer x dtype=f32 slot=0", 1, 13, "expected an integer, found `x`"),
    ("%m = buffer 1 dtype=f32 slot=65536", 1, 30, "a slot is 0 to 65535"),
    ("%m = buffer 1 dtype=f32 slot=0 data=[1]", 1, 37, "i32 literals for a f32 buffer"),
    ("%m = buffer 2 dtype=i32 slot=0 data=[1]", 1, 37, "1 elements for a buffer of 2"),
    ("%m = buffer 1 dtype=i32 slot=0 url=a", 1, 36, "`url=` needs `sha256=`"),
    (f"%m = buffer 1 dtype=i32 slot=0 sha256={SHA}", 1, 39, "`sha256=` needs `url=`"),
    (f"%m = buffer 1 dtype=i32 slot=0 url=../a sha256={SHA}", 1, 36, "no `..`"),
    (f"%m = buffer 1 dtype=i32 slot=0 url=/a sha256={SHA}", 1, 36, "a relative path"),
    ("%m = buffer 1 dtype=i32 slot=0 url=a sha256=ABC", 1, 45, "64 lowercase hex digits"),
    (
        "%m = buffer 1 dtype=f32 slot=0\n%n = buffer 1 dtype=f32 slot=0",
        2,
        30,
        "slot 0 already has a buffer",
    ),
    ("%m = buffer 1 dtype=f32 slot=0\n%a = recip %m", 2, 12, "but a value is needed"),
    ("%a = load 1.0", 1, 11, "but memory is needed"),
    ("%m = buffer 1 dtype=f32 slot=0\nstore %m 1.0", 2, 10, "`store` of"),
    ("%m = buffer 1 dtype=f32 slot=0\n%a = after %m 1", 2, 15, "an effect is needed"),
    ("%p = param 0 dtype=f32", 1, 6, "depends on `param 0`"),
    ("%p = param 0 dtype=f32\n%a = call %p", 2, 6, "the body takes 1 argument"),
    ("%p = param 0 dtype=f32\n%a = call %p 1", 2, 14, "`param 0` is"),
    ("%a = gradient 1.0 2.0", 1, 19, "with respect to a literal"),
    ("%x = add 1 2\n%a = gradient 1.0 %x", 2, 19, "with respect to an f32 value"),
    (
        "%x = add 1.0 2.0\n%v = expand %x shape=[2]\n%a = gradient %v %x",
        3,
        15,
        "needs an f32 scalar",
    ),
    ("%a = cmpeq 1.0 2.0", 1, 12, "i32 or bool is needed"),
    ("%v = expand 1.0 shape=[2]\n%a = matmul %v %v", 2, 13, "two axes are needed"),
    ("%a = range 1.0", 1, 12, "i32"),
]


def errors_of(text: str) -> list[tuple[int, int, str]]:
    with pytest.raises(InvalidProgram) as error:
        parse_text(text)
    return [(d.place.line, d.place.column, d.message) for d in error.value.diagnostics]


@pytest.mark.parametrize(("text", "line", "column", "message"), ERRORS)
def test_errors(text: str, line: int, column: int, message: str) -> None:
    first, *rest = errors_of(text)
    assert first[:2] == (line, column), first
    assert message in first[2]
    assert not rest or "range" in text


def test_every_independent_error_is_reported_once() -> None:
    text = "%a = adx 1\n%b = add %a 1\n%c = mul %b %zz\n%d = add 1 true\n%d = add 1 1"
    places = [(line, column) for line, column, _ in errors_of(text)]
    assert places == [(1, 6), (3, 13), (4, 12), (5, 1)]


def test_an_error_shows_its_line_and_a_caret() -> None:
    with pytest.raises(InvalidProgram) as error:
        parse_text("%a = add 1 2\n\t%b = add %a  %ab # why", "f.uir")
    assert str(error.value) == (
        "f.uir:2:15: error: unknown name `%ab`\n"
        "     %b = add %a  %ab # why\n"
        "                  ^^^\n"
        "    help: did you mean `%a`?"
    )


def test_bytes_that_are_not_utf8_have_a_place() -> None:
    with pytest.raises(InvalidProgram) as error:
        decode("# é\n%a = é".encode() + b"\xff", "f.uir")
    assert str(error.value).startswith("f.uir:2:7: error: the text is not UTF-8")


def test_crlf_tabs_and_a_byte_order_mark() -> None:
    text = decode(b"\xef\xbb\xbf%a\t=\tadd 1 2\r\n%b=add %a %a\r\n", "f.uir")
    assert text_of(parse_text(text)) == "%a = add 1 2\n%b = add %a %a\n"


# Every op, and the literals that are easy to lose.
WHOLE = f"""\
%m = buffer 4 dtype=f32 slot=3 data=[nan -0.0 inf -inf]
%n = buffer 2 dtype=bool slot=0 data=[true false]
%u = buffer 2 dtype=i32 slot=1 url=data/x.i32 sha256={SHA}
%x = load %m
%v = reshape %x shape=[2 2]
%t = permute %v order=[1 0]
%p = pad %t pads=[1 0 0 2]
%s = shrink %p 0 1 shape=[3 2]
%i = index %s 2
%k = stack %i %i
%f = matmul %k %v
%r = reduce %f op=max pop=2
%e = exp2 %r
%l = log2 %e
%q = sqrt %l
%w = sin %q
%d = detach %w
%g = gradient %w %r
%c = cmplt %d 1e-45
%y = where %c -0.0 %g
%z = max %y nan
%b = bitcast %z dtype=i32
%h = cast %b dtype=bool
%j = xor %h true
%o = stage %z
%a0 = param 0 dtype=f32 shape=[2]
%a1 = fdiv %a0 %a0
%a2 = call %a1 %i
%n1 = index %n 1
%st = store %n1 %j
%gr = group %st
%af = after %n %gr
%ld = load %af
%ex = expand %z shape=[2]
%su = sub %ex %a2
%ne = neg %su
%re = relu %ne
%ep = exp %re
%lo = log %ep
%fl = floor %lo
%rc = recip %fl
%ze = expand -0.0 shape=[2]
%last = add %rc %ze
"""


def test_text_to_module_to_text() -> None:
    once = text_of(parse_text(WHOLE))
    assert once == WHOLE
    assert text_of(parse_text(once)) == once


@pytest.mark.parametrize("generic", [False, True])
def test_module_to_mlir_and_back(generic: bool) -> None:
    module = parse_text(WHOLE)
    out = StringIO()
    Printer(out, print_generic_format=generic).print_op(module)
    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    again = Parser(context, out.getvalue()).parse_module()
    again.verify()
    assert isinstance(again, ModuleOp)
    assert text_of(again) == WHOLE


def nearest_f32(x: Fraction) -> float:
    """The f32 nearest to `x`, ties to even, with exact arithmetic."""
    if x == 0:
        return 0.0
    size = abs(x)
    exponent = max(size.numerator.bit_length() - size.denominator.bit_length() - 25, -149)
    while (scaled := size / Fraction(2) ** exponent) >= 2**24 or (
        scaled < 2**23 and exponent > -149
    ):
        exponent += 1 if scaled >= 2**24 else -1
    # round() takes a tie to the even neighbour.
    value = math.ldexp(round(scaled), exponent)
    return math.copysign(value, x)


FINITE = st.integers(0, 0x7F7FFFFE).map(
    lambda bits: struct.unpack("<f", struct.pack("<I", bits))[0]
)


@given(FINITE, st.sampled_from([-1, 0, 1]))
@example(2.0**-149, 0)
@example(16777216.0, 0)
@example(16777216.0, 1)
def test_a_decimal_halfway_is_rounded_once(x: float, side: int) -> None:
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    following = struct.unpack("<f", struct.pack("<I", bits + 1))[0]
    halfway = (Fraction(x) + Fraction(following)) / 2
    # Far beyond a double's precision, so that rounding through one would miss the side.
    exact = halfway + side * halfway / 10**40
    digits = 300
    text = f"{int(exact * 10**digits):0{digits + 1}d}"
    text = f"{text[:-digits]}.{text[-digits:]}"
    assert parse_f32(text) == nearest_f32(Fraction(text))


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**38), max_value=10**38))
def test_decimals_are_rounded_to_the_nearest(decimal: object) -> None:
    text = f"{decimal:f}"
    if "." not in text:
        text += ".0"
    assert parse_f32(text) == nearest_f32(Fraction(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3.4028235677973367e38", None),
        ("3.4028235677973366e38", 3.4028234663852886e38),
        ("3.40282356779733661637539395458142568448e38", None),
        ("3.40282356779733661637539395458142568447e38", 3.4028234663852886e38),
        ("7.0064923216240853e-46", 0.0),
        ("7.0064923216240862e-46", 2.0**-149),
    ],
)
def test_decimals_at_the_ends_of_the_range(text: str, value: float | None) -> None:
    if value is None:
        with pytest.raises(LiteralError, match="too large"):
            parse_f32(text)
    else:
        assert parse_f32(text) == value


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (3.3333332538604736, "3.3333333"),
        (1.5252734e-05, "1.5252734e-05"),
        (8388608.0, "8388608.0"),
        (1e16, "1e+16"),
        (-0.0, "-0.0"),
        (math.inf, "inf"),
        (math.nan, "nan"),
        (2.0**-96, "1.2621775e-29"),
        (2.0**-149, "1e-45"),
        (0.1, "0.1"),
        (3.4028234663852886e38, "3.4028235e+38"),
    ],
)
def test_f32_are_spelled_shortest(x: float, text: str) -> None:
    single = struct.unpack("<f", struct.pack("<f", x))[0]
    assert format_f32(single) == text


@given(st.floats(width=32))
def test_f32_read_back(x: float) -> None:
    text = format_f32(x)
    if math.isnan(x):
        assert text == "nan"
    elif math.isinf(x):
        assert text == ("inf" if x > 0 else "-inf")
    else:
        assert struct.pack("<f", parse_f32(text)) == struct.pack("<f", x)
        assert text == repr(float(text))


ALPHABET = """
    %a %b = add mul reshape buffer load store gradient param call range end shape=[2 2] shape= 1 1.0
    -0.0 nan true [ ] dtype=f32 dtype= slot=0 data=[1] op=add pop=1 url=a # \x00 é 1e99 matmul stack
    index %a=add shape=[99999999999999999999] pads=[1 after group stage where
"""
WORDS = st.sampled_from([*ALPHABET.split(), "\t", "\r"])
LINES = st.lists(st.lists(WORDS, max_size=7).map(" ".join), max_size=8).map("\n".join)


def load(text: str) -> None:
    with contextlib.suppress(InvalidProgram):
        load_program(Text(text, "f.uir", PATH))


@given(LINES)
def test_no_text_gives_another_exception(text: str) -> None:
    load(text)


@given(st.binary(max_size=60))
def test_no_bytes_give_another_exception(data: bytes) -> None:
    try:
        text = decode(data, "f.uir")
    except InvalidProgram:
        return
    load(text)
