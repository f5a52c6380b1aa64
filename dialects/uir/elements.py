"""Literals and buffer contents: exact bits of `bool`, `i32` and `f32` elements, and their text.

An element list is a dtype and its bytes (little-endian, one byte a bool), so that `0.0` and
`-0.0`, and `1`, `1.0` and `true`, are different, and a NaN equals itself. There is one NaN.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_UP, Context
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from dialects.uir.types import DTYPE_NAMES, DTYPES, DType

Scalar: TypeAlias = bool | int | float

I32_PATTERN = re.compile(r"-?[0-9]+")
F32_PATTERN = re.compile(r"-?[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)")
SPECIAL_F32 = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
BOOLS = {"true": True, "false": False}
_F32_MAX = 3.4028234663852886e38
_FORMATS = {"bool": "?", "i32": "i", "f32": "f"}
_NUMPY_FORMATS = {"bool": "?", "i32": "<i4", "f32": "<f4"}
CANONICAL_NAN = struct.pack("<I", 0x7FC00000)


class LiteralError(ValueError):
    """A text that is no literal, or one out of its dtype's range."""


def round_f32(x: float) -> float:
    """`x` rounded to the nearest f32, ties to even; infinity when it is too large."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def next_f32(x: float, toward: float) -> float:
    """The f32 next to the f32 `x` in the direction of `toward`, with 2^128 past the largest."""
    if x == 0.0:
        return math.copysign(2.0**-149, toward)
    step = 1 if (toward > x) == (x > 0) else -1
    if step == 1 and abs(x) == _F32_MAX:
        return math.copysign(2.0**128, x)
    if abs(x) == 2.0**128:
        return math.copysign(_F32_MAX, x)
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.unpack("<f", struct.pack("<I", bits + step))[0]


@lru_cache(maxsize=65536)
def parse_f32(text: str) -> float:
    """The f32 nearest to the decimal `text`, rounded once, ties to even.

    Raises LiteralError when the decimal rounds to infinity.
    """
    double = float(text)
    single = round_f32(double)
    if math.isinf(single) and abs(double) == 2.0**128 - 2.0**103:
        single = math.copysign(2.0**128, double)
    if not math.isinf(single) and single != double:
        other = next_f32(single, double)
        # A double halfway between two f32s may have hidden which side the decimal is on.
        if single + other == 2.0 * double:
            exact, middle = Fraction(text), Fraction(double)
            if exact != middle:
                single = max(single, other) if exact > middle else min(single, other)
    if abs(single) > _F32_MAX:
        raise LiteralError(f"`{text}` is too large for f32 (the largest is 3.4028235e+38)")
    return single


def format_f32(x: float) -> str:
    """The shortest decimal that reads back to the f32 `x`, in the style of Python's `repr`."""
    # Zeros bypass the cache, which takes 0.0 and -0.0 for one key.
    return _shortest_decimal(x) if x else repr(x)


@lru_cache(maxsize=65536)
def _shortest_decimal(x: float) -> str:
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    # A decimal between the two numbers halfway to the neighbours reads back to x.
    inner = (x + next_f32(x, 0.0)) / 2
    outer = (x + next_f32(x, math.copysign(math.inf, x))) / 2
    least, greatest = (inner, outer) if x > 0 else (outer, inner)
    for digits in range(1, 10):
        for text in _decimals(x, digits, outer - x != x - inner):
            value = float(text)
            if least < value < greatest or (value in (least, greatest) and _reads_back(text, x)):
                return repr(value)
    raise AssertionError(f"{x!r} is no f32")


def _decimals(x: float, digits: int, is_lopsided: bool) -> Iterator[str]:
    """The decimals of this many digits that may be the shortest for `x`, the nearest first.

    Where the neighbour of `x` away from zero is the farther one, so may be the next decimal there.
    """
    yield f"{x:.{digits}g}"
    if is_lopsided:
        yield str(Context(prec=digits, rounding=ROUND_UP).create_decimal_from_float(x))


def _reads_back(text: str, x: float) -> bool:
    try:
        return parse_f32(text) == x
    except LiteralError:
        return False


def parse_element(text: str, dtype: str | None = None) -> tuple[str, Scalar]:
    """The dtype and value of a literal, which must be of `dtype` where that is given.

    Raises LiteralError with a message for the reader.
    """
    if text in BOOLS:
        found, value = "bool", BOOLS[text]
    elif text in SPECIAL_F32:
        found, value = "f32", SPECIAL_F32[text]
    elif F32_PATTERN.fullmatch(text):
        found, value = "f32", parse_f32(text)
    elif I32_PATTERN.fullmatch(text):
        found, value = "i32", _parse_i32(text)
    else:
        raise LiteralError(f"`{text}` is not a literal")
    if dtype is not None and found != dtype:
        raise LiteralError(f"expected {_article(dtype)} literal, found the {found} `{text}`")
    return found, value


def _article(dtype: str) -> str:
    return f"{'a' if dtype == 'bool' else 'an'} {dtype}"


def _parse_i32(text: str) -> int:
    # A number of more digits than any i32 is out of range; int() would be quadratic on it.
    digits = text.lstrip("-").lstrip("0")
    value = int(text) if len(digits) <= 10 else 2**31
    if not -(2**31) <= value < 2**31:
        shown = text if len(text) <= 24 else f"{text[:20]}..."
        raise LiteralError(f"`{shown}` is out of range for i32 (-2147483648 to 2147483647)")
    return value


def format_element(value: Scalar) -> str:
    """An element as the text writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else format_f32(value)


@dataclass(frozen=True)
class Elements:
    """Elements of one dtype: its name and their bytes."""

    dtype: str
    data: bytes

    @staticmethod
    def pack(dtype: str, values: Iterable[Scalar]) -> Elements:
        items = list(values)
        data = struct.pack(f"<{len(items)}{_FORMATS[dtype]}", *items)
        if dtype == "f32" and any(x != x for x in items):
            data = b"".join(
                CANONICAL_NAN if x != x else data[4 * i : 4 * i + 4] for i, x in enumerate(items)
            )
        return Elements(dtype, data)

    def __len__(self) -> int:
        return len(self.data) // struct.calcsize(_FORMATS[self.dtype])

    def values(self) -> tuple[Scalar, ...]:
        return struct.unpack(f"<{len(self)}{_FORMATS[self.dtype]}", self.data)

    @property
    def numpy_format(self) -> str:
        """The name that numpy has for the layout of `data`."""
        return _NUMPY_FORMATS[self.dtype]

    def spell(self) -> str:
        """The elements as the text writes them, separated by spaces."""
        return " ".join(map(format_element, self.values()))


@irdl_attr_definition
class ElementsAttr(Data[Elements]):
    """Exact elements: `#uir.elements<"f32 1.0 -0.0 nan">`."""

    name = "uir.elements"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Elements:
        with parser.in_angle_brackets():
            dtype, *texts = parser.parse_str_literal().split()
            if dtype not in DTYPES:
                parser.raise_error(f"expected bool, i32 or f32, found `{dtype}`")
            try:
                return Elements.pack(dtype, [parse_element(text, dtype)[1] for text in texts])
            except LiteralError as error:
                parser.raise_error(str(error))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(f"{self.data.dtype} {self.data.spell()}")


def literal_attr(dtype: DType, value: Scalar) -> ElementsAttr:
    """The attribute of one literal; `value` is of `dtype` (an f32 for f32)."""
    return _literal(DTYPE_NAMES[dtype], type(value), value, math.copysign(1.0, value))


@lru_cache(maxsize=4096)
def _literal(dtype: str, _kind: type, value: Scalar, _sign: float) -> ElementsAttr:
    return ElementsAttr(Elements.pack(dtype, [value]))
