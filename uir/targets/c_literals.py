"""Numbers as C literals that have exactly their value."""

import math
import re
import struct
import sys

_HEX_FLOAT = re.compile(r"(-?0x[01](?:\.[0-9a-f]+)?p[+-]\d+)(f?)\b")


def integer_literal(value: int, width: int) -> str:
    """A literal of a signed integer of at most 64 bits.

    The least integer has a macro: in C, `-2147483648` negates a number that is no `int`.
    """
    return f"INT{width}_MIN" if width >= 32 and value == -(2 ** (width - 1)) else str(value)


def code_literal(element: bytes) -> str:
    """The bits of an element, in hexadecimal."""
    return f"0x{int.from_bytes(element, sys.byteorder):0{2 * len(element)}x}"


def float_literal(value: float, *, single: bool) -> str:
    """A hexadecimal literal of an f32, if `single`, or an f64.

    Zeros, infinities and the quiet NaN have their usual spelling.
    """
    suffix = "f" if single else ""
    if math.isnan(value):
        return "NAN"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if math.isinf(value):
        return f"{sign}INFINITY"
    if value == 0:
        return f"{sign}0.0{suffix}"
    mantissa, exponent = value.hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}{suffix}"


def decimals(text: str) -> list[str]:
    """The shortest decimals of the hexadecimal float literals in a C statement, each once."""
    literals = dict.fromkeys(_HEX_FLOAT.findall(text))
    return [
        _shortest_decimal(float.fromhex(number)) if single else repr(float.fromhex(number))
        for number, single in literals
    ]


def _shortest_decimal(value: float) -> str:
    """The shortest decimal that rounds to the f32 `value`."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        # From 2^128 - 2^103 on, a number rounds to infinity.
        is_finite = abs(float(text)) < 2**128 - 2**103
        if is_finite and struct.pack("f", float(text)) == struct.pack("f", value):
            return text
    raise AssertionError(f"{value} is no f32")
