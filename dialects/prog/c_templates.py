"""The C functions that stand in the templates `c/*.h`, expanded for the types that they serve.

    static inline $real nx_sqrt_$float($real x) { return sqrt$m(x); }

is made for f32 and f64: the placeholders in the defined name say through which rows of `_ROWS` it
goes, and a row gives what stands for them and for the other placeholders of the text. A name
without any is defined once. Definitions are separated by blank lines, hold none, and stand below
those that they use; a comment opens each file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from string import Template
from typing import NamedTuple

from .dtypes import FORMATS, INTEGERS, SIGNED, UNSIGNED, Dtype, FloatFormat, integer_range, width

_FOLDER = Path(__file__).with_name("c")
_FILES = ("bits", "integers", "floats", "functions", "narrow", "casts", "complex")

SUFFIXES: dict[Dtype, str] = {
    **{dtype: dtype.value.lower().replace("ui", "u") for dtype in Dtype},
    Dtype.bool: "bool",
}
"""What stands for a dtype in the names of C functions."""


def _integer_type(dtype: Dtype) -> str:
    bits = max(width(dtype), 8)
    return f"int{bits}_t" if dtype in SIGNED else f"uint{bits}_t"


C_TYPES: dict[Dtype, str] = {
    Dtype.float64: "double",
    Dtype.float32: "float",
    Dtype.complex128: "nx_c128",
    Dtype.complex64: "nx_c64",
    Dtype.bool: "uint8_t",
    Dtype.bit: "uint8_t",
    **{dtype: _integer_type(dtype) for dtype in INTEGERS},
    **{dtype: f"uint{max(width(dtype), 8)}_t" for dtype in FORMATS if width(dtype) < 32},
}
"""The C type of one element.

Floats narrower than float32 are codes, those of 4 bits in the low ones. An int4 is
sign-extended, a uint4 and a bit are not; a bool is true if it is not 0.
"""

_FUNCTIONS = (
    *("exp", "exp2", "log", "log2", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos"),
    *("atan", "sinh", "cosh", "tanh", "erf"),
)
"""The functions of C's library of the kinds that are not exact."""

Row = dict[str, str]


def _float_row(float: str) -> Row:
    double = float == "f64"
    return {
        "float": float,
        "real": "double" if double else "float",
        "m": "" if double else "f",
        "limits": "DBL" if double else "FLT",
        "word": "uint64_t" if double else "uint32_t",
    }


def _integer_row(name: str, dtype: Dtype) -> Row:
    return {
        name: SUFFIXES[dtype],
        "integer": SUFFIXES[dtype],
        "int": C_TYPES[dtype],
        "word": f"uint{width(dtype)}_t",
        "of_word": f"u{width(dtype)}",
    }


def _target_row(dtype: Dtype) -> Row:
    """The bounds are powers of two or 0, so that they are floats of any format."""
    least, greatest = integer_range(dtype)
    macro = f"{'INT' if least else 'UINT'}{width(dtype)}"
    own = width(dtype) >= 8
    return {
        "to": SUFFIXES[dtype],
        "target": C_TYPES[dtype],
        "below": f"-0x1p{width(dtype) - 1}f" if least else "0",
        "above": f"0x1p{greatest.bit_length()}f",
        "least": (f"{macro}_MIN" if own else str(least)) if least else "0",
        "most": f"{macro}_MAX" if own else str(greatest),
    }


def _format_row(name: str, dtype: Dtype) -> Row:
    format = FORMATS[dtype]
    return {
        name: SUFFIXES[dtype],
        "code": C_TYPES[dtype],
        "sign": hex(format.sign),
        "magnitude": hex(format.sign - 1),
    }


def _narrow_row(dtype: Dtype) -> Row:
    """A format with a shorter exponent than float32's."""
    format, single = FORMATS[dtype], FORMATS[Dtype.float32]
    shift = single.fraction_bits - format.fraction_bits
    bias = format.least_exponent - single.least_exponent
    place = width(dtype) - 1
    return {
        **_format_row("narrow", dtype),
        "sign_shift": str(31 - place),
        "sign_place": str(place),
        "shift": str(shift),
        "scale": f"0x1p{bias}f",
        "greatest": hex(format.greatest),
        "past": hex(_past(format)),
        "nan_of_sign": f"({C_TYPES[dtype]})(sign | {hex(format.nan)}u)" if format.nan else "0",
        "least_normal": f"{hex((bias + 1) << single.fraction_bits)}u",
        "anchor": f"0x1p{format.least_exponent + shift}f",
        "rebias": f"{hex(bias << single.fraction_bits)}u",
    }


def _past(format: FloatFormat) -> int:
    """The code of what is stored past the greatest finite value."""
    if format.saturates or format.infinity is None:
        return format.greatest
    return format.infinity


_COMPUTING = (Dtype.int32, Dtype.uint32, Dtype.int64, Dtype.uint64)
_CODES = tuple(dtype for dtype in FORMATS if width(dtype) < 32)
_ROWS: dict[str, tuple[Row, ...]] = {
    "float": (_float_row("f32"), _float_row("f64")),
    "complex": tuple(
        {"complex": complex, "pair": f"nx_{complex}", **_float_row(part)}
        for complex, part in (("c64", "f32"), ("c128", "f64"))
    ),
    "integer": tuple(_integer_row("integer", d) for d in _COMPUTING),
    "signed": tuple(_integer_row("signed", d) for d in _COMPUTING if d in SIGNED),
    "unsigned": tuple(_integer_row("unsigned", d) for d in _COMPUTING if d in UNSIGNED),
    "libm": tuple({"libm": function} for function in _FUNCTIONS),
    "to": tuple(_target_row(dtype) for dtype in Dtype if dtype in INTEGERS),
    "narrow": tuple(_narrow_row(d) for d in _CODES if d is not Dtype.bfloat16),
    "format": tuple(_format_row("format", d) for d in _CODES),
    "plain": tuple(_format_row("plain", d) for d in _CODES if d is not Dtype.float8_e5m2),
}
"""By the placeholder of a name, the types that it stands for, and what the text needs of each."""


class Definition(NamedTuple):
    """A C function, type or table."""

    text: str
    uses: frozenset[str]
    """The names of the library that stand in the text, its own too."""


_NAME = re.compile(r"(nx_[\w${}]+)(?=\(|;$|(?:\[\w*\])? = )", re.MULTILINE)
_WORD = re.compile(r"\bnx_\w+")


def definition(text: str) -> Definition:
    return Definition(text, frozenset(_WORD.findall(text)))


def _expanded(template: str) -> Iterator[tuple[str, Definition]]:
    """The name and the definition that a template gives for each of its types."""
    code = "\n".join(line for line in template.splitlines() if not line.startswith("//"))
    found = _NAME.search(code)
    assert found is not None, f"no name of the library is defined by:\n{template}"
    name = Template(found[1])
    rows = [_ROWS[placeholder] for placeholder in name.get_identifiers()]
    for chosen in product(*rows):
        row = {key: value for part in chosen for key, value in part.items()}
        yield name.substitute(row), definition(Template(template).substitute(row))


@cache
def sections() -> dict[str, dict[str, Definition]]:
    """The definitions of each file by name, under the comment that opens it, callees first."""
    result: dict[str, dict[str, Definition]] = {}
    for file in _FILES:
        title, *chunks = (_FOLDER / f"{file}.h").read_text(encoding="utf-8").strip().split("\n\n")
        result[title] = dict(pair for chunk in chunks for pair in _expanded(chunk))
    return result
