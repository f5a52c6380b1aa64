"""The kinds in C: the functions of `nx_kinds.h`, and those composed of them at every dtype.

In goes a kind and its dtypes, out comes the name of the C function that computes it from elements
to an element, for a call; `definitions` gives the text of such functions and of all that they call.

A function is named `nx_<kind>_<suffix>`, `nx_cast_<from>_<to>` or `nx_bitcast_<from>_<to>`, with
the suffixes of `SUFFIXES`. The header holds the kinds at the compute types, and the conversions of
narrow floats; at the other dtypes a kind is store(kind(load x, load y)).

`python -m dialects.prog.c_library` writes the header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from string import Template
from typing import NamedTuple

from .c_templates import C_TYPES, SUFFIXES, Definition, definition, sections
from .dtypes import BOOLEANS, COMPLEX, FLOATS, INTEGERS, PARTS, SIGNED, Dtype, compute_type, width
from .kinds import (
    BITCAST,
    CAST,
    DOMAINS,
    FMA,
    WHERE,
    Compare,
    Kind1,
    Kind2,
    Kind3,
    Move,
    Unary,
    accepts1,
    accepts3,
)

__all__ = [
    "C_TYPES",
    "INCLUDES",
    "PREFIX",
    "SUFFIXES",
    "Signature",
    "definitions",
    "function1",
    "function2",
    "function3",
    "header",
    "is_function",
    "load",
    "signature",
    "store",
]

PREFIX = "nx_"
"""Begins every name of the library."""


def function1(kind: Kind1, operand: Dtype, result: Dtype) -> str:
    """The function of one element; `accepts1(kind, operand, result)` holds.

    Copy, and a Cast or Bitcast into the operand's own dtype, are the operand, and have none.
    """
    if isinstance(kind, Unary):
        return f"nx_{kind.value}_{SUFFIXES[operand]}"
    assert operand is not result, f"{kind.value} of {operand.value} is the operand"
    return f"nx_{kind.value}_{SUFFIXES[operand]}_{SUFFIXES[result]}"


def function2(kind: Kind2, operand: Dtype) -> str:
    """The function of two elements; `accepts2(kind, operand)` holds. A Compare gives C's bool."""
    return f"nx_{kind.value}_{SUFFIXES[operand]}"


def function3(kind: Kind3, operand: Dtype) -> str:
    """The function of three elements, of Where a condition, C's bool, and two elements."""
    return f"nx_{kind.value}_{SUFFIXES[operand]}"


def load(dtype: Dtype) -> str | None:
    """The function from an element to its compute type, None where they are one."""
    wide = compute_type(dtype)
    return None if wide is dtype else function1(CAST, dtype, wide)


def store(dtype: Dtype) -> str | None:
    """The function from the compute type to an element, None where they are one."""
    wide = compute_type(dtype)
    return None if wide is dtype else function1(CAST, wide, dtype)


class Signature(NamedTuple):
    """The C types of a function."""

    operands: tuple[str, ...]
    result: str


_SIGNATURE = re.compile(r"^static inline ([\w ]+) \w+\((.*)\) \{", re.MULTILINE)


def is_function(name: str) -> bool:
    """Whether the library has a function of this name."""
    return name in _definitions() and _SIGNATURE.search(_definitions()[name].text) is not None


def signature(name: str) -> Signature:
    """The types of the function of this name."""
    found = _SIGNATURE.search(_definitions()[name].text)
    assert found is not None, f"{name} is no function"
    operands = (parameter.rpartition(" ")[0] for parameter in found[2].split(", "))
    return Signature(tuple(operands), found[1])


def definitions(names: Iterable[str]) -> str:
    """The C text of the functions of these names and of all that they use, callees first.

    It goes below `INCLUDES` into files whose products and sums are not fused, as `header` sees to.
    """
    library = _definitions()
    needed: set[str] = set()
    pending = list(names)
    while pending:
        if (name := pending.pop()) not in needed:
            needed.add(name)
            pending += library[name].uses
    return "\n\n".join(library[name].text for name in library if name in needed) + "\n"


INCLUDES = """\
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
"""
"""What the text of `definitions` needs above it."""


@cache
def _definitions() -> dict[str, Definition]:
    """Every function, type and table by name, callees first."""
    library = {name: d for section in sections().values() for name, d in section.items()}
    for name, text in _composed():
        library.setdefault(name, definition(text))
    return library


def _composed() -> Iterator[tuple[str, str]]:
    """The functions at the dtypes that compute in another one, and the conversions."""
    for source in Dtype:
        for target in Dtype:
            if source is not target:
                yield _conversion(CAST, source, target, _cast(source, target, "x"))
                if accepts1(BITCAST, source, target):
                    yield _conversion(BITCAST, source, target, _bitcast(source, target, "x"))
    for dtype in Dtype:
        element = C_TYPES[dtype]
        yield _function(
            function3(WHERE, dtype),
            element,
            ("bool c", f"{element} x", f"{element} y"),
            "c ? x : y",
        )
        if compute_type(dtype) is dtype:
            continue
        for kind, domain in DOMAINS.items():
            if dtype in domain:
                yield _of_loaded(
                    kind.value,
                    dtype,
                    1 if isinstance(kind, Unary) else 2,
                    isinstance(kind, Compare),
                )
        if accepts3(FMA, dtype, dtype):
            yield _of_loaded(FMA.value, dtype, 3, False)


def _function(name: str, result: str, parameters: Iterable[str], value: str) -> tuple[str, str]:
    head = f"static inline {result} {name}({', '.join(parameters)}) {{"
    line = f"{head} return {value}; }}"
    return name, line if len(line) <= 100 else f"{head}\n  return {value};\n}}"


def _conversion(kind: Move, source: Dtype, target: Dtype, value: str) -> tuple[str, str]:
    name = function1(kind, source, target)
    return _function(name, C_TYPES[target], [f"{C_TYPES[source]} x"], value)


def _of_loaded(kind: str, dtype: Dtype, count: int, compares: bool) -> tuple[str, str]:
    """store(kind(load x, load y)), or what a comparison gives."""
    wide, parameters = compute_type(dtype), "xyz"[:count]
    loads = ", ".join(_cast(dtype, wide, x) for x in parameters)
    result = f"nx_{kind}_{SUFFIXES[wide]}({loads})"
    return _function(
        f"nx_{kind}_{SUFFIXES[dtype]}",
        "bool" if compares else C_TYPES[dtype],
        [f"{C_TYPES[dtype]} {x}" for x in parameters],
        result if compares else _cast(wide, dtype, result),
    )


def _cast(source: Dtype, target: Dtype, x: str) -> str:
    """The C expression of `x`, an element of `source`, stored into `target`."""
    if source is target:
        return x
    if target in COMPLEX:
        part = PARTS[target]
        if source in COMPLEX:
            parts = [_cast(PARTS[source], part, f"{x}.{name}") for name in ("re", "im")]
        else:
            parts = [_cast(source, part, x), "0"]
        return f"({C_TYPES[target]}){{{', '.join(parts)}}}"
    if target in BOOLEANS:
        return _truth(source, x)
    if source in COMPLEX:
        return _cast(PARTS[source], target, f"{x}.re")
    if source in BOOLEANS:
        # An integer of 0 or 1.
        return _from_integer(Dtype.int32, target, _truth(source, x))
    if source in INTEGERS:
        return _from_integer(source, target, x)
    return _from_float(source, target, x)


def _truth(source: Dtype, x: str) -> str:
    if source in COMPLEX:
        return f"{x}.re != 0 || {x}.im != 0"
    if source in FLOATS:
        return f"{_from_float(source, compute_type(source), x)} != 0"
    return f"{x} != 0"


def _from_integer(source: Dtype, target: Dtype, x: str) -> str:
    if target in INTEGERS:
        if width(target) < 8:
            return f"nx_cast_i64_{SUFFIXES[target]}((int64_t){x})"
        return f"({C_TYPES[target]}){x}"
    if compute_type(target) is target:
        return f"({C_TYPES[target]}){x}"
    # Exactly in a wider float, or to odd, so that the narrow one is rounded to once.
    if width(source) < 32:
        return f"nx_cast_f32_{SUFFIXES[target]}((float){x})"
    exact = f"(double){x}" if width(source) == 32 else f"nx_odd_{SUFFIXES[source]}_f64({x})"
    return f"nx_cast_f64_{SUFFIXES[target]}({exact})"


def _from_float(source: Dtype, target: Dtype, x: str) -> str:
    wide = compute_type(source)
    if source is not wide:
        x = f"nx_cast_{SUFFIXES[source]}_f32({x})"
    if target is wide:
        return x
    if target in FLOATS and compute_type(target) is target:
        return f"({C_TYPES[target]}){x}"
    return f"nx_cast_{SUFFIXES[wide]}_{SUFFIXES[target]}({x})"


_OF_BITS = (Dtype.float64, Dtype.float32, Dtype.complex64)
"""The dtypes whose elements in C are no integers, and that share their width with another."""


def _bitcast(source: Dtype, target: Dtype, x: str) -> str:
    """The C expression of the bits of `x`, an element of `source`, read in `target`."""
    if source in _OF_BITS:
        x = f"nx_bits_{SUFFIXES[source]}({x})"
    if target in _OF_BITS:
        word = f"(uint{width(target)}_t){x}" if source in SIGNED else x
        return f"nx_of_bits_{SUFFIXES[target]}({word})"
    if width(target) < 8 and target is Dtype.int4:
        return f"nx_cast_i64_i4({x})"
    if source is Dtype.int4:
        return f"nx_cast_i64_u4({x})"
    return f"({C_TYPES[target]}){x}"


_HEADER = Path(__file__).with_name("nx_kinds.h")

_EXACT_FLOATS = """\
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \\
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "${file} needs exact floating point: compile it without -ffast-math and its parts"
#endif
// 16 is 0 with half floats: either way, float arithmetic has the precision of float.
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "${file} needs float arithmetic without excess precision (FLT_EVAL_METHOD 0 or 16)"
#endif
"""


def exact_floats(file: str) -> str:
    """The lines by which `file` refuses to be compiled for floats that are not exact. clang tells
    of -ffast-math, but not of its parts."""
    return Template(_EXACT_FLOATS).substitute(file=file)


_OPENING = (
    """\
// nx_kinds.h: what the kinds of scalar programs compute, one function per kind and compute type.
// Made by `python -m dialects.prog.c_library` from the templates in `c/`.
//
// nx_exp_f32 is the kind Exp of float32. The types are f32 f64 i32 u32 i64 u64 c64 c128; the floats
// narrower than float32 (f16 bf16 f8e4m3fn f8e5m2 f4e2m1fn) are codes that convert to and from f32
// and f64. Link with -lm.
//
// Products and sums are not fused here, whatever the including file asks for, but in clang with
// -ffp-contract=fast, which overrules the pragma. gcc inlines the functions into code that is not
// to be fused either: compile with -ffp-contract=off or -std=c11.

#ifndef NX_KINDS_H
#define NX_KINDS_H

"""
    + INCLUDES
    + "\n"
    + exact_floats("nx_kinds.h")
    + """\
#if defined(__clang__)
#pragma float_control(push)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off,trapping-math")
#endif
"""
)

_CLOSING = """\
#if defined(__clang__)
#pragma float_control(pop)
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

#endif
"""


def header() -> str:
    """The text of `nx_kinds.h`."""
    parts = [_OPENING.strip()]
    for title, section in sections().items():
        parts += [title, *(one.text for one in section.values())]
    return "\n\n".join([*parts, _CLOSING])


if __name__ == "__main__":
    _HEADER.write_text(header(), encoding="utf-8")
