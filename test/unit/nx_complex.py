"""The complex kinds through their C functions, and operands to try them on."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from ctypes import CDLL, c_size_t, c_void_p
from functools import cache

import numpy as np
import prog_reference as reference

from dialects.prog import DOMAINS, Binary, Compare, Dtype, Unary
from dialects.prog.c_library import C_TYPES, INCLUDES, definitions, function1, function2
from dialects.prog.meaning import apply1, apply2
from dialects.prog.native import compile_c

C64, C128 = Dtype.complex64, Dtype.complex128
Kind = Unary | Binary | Compare
KINDS = [kind for kind, domain in DOMAINS.items() if C128 in domain]
UNARY = [kind for kind in KINDS if isinstance(kind, Unary)]


def _name(kind: Kind, dtype: Dtype) -> str:
    return function1(kind, dtype, dtype) if isinstance(kind, Unary) else function2(kind, dtype)


def _loop(kind: Kind, dtype: Dtype) -> str:
    """`loop_NAME(count, result, x)` or `(count, result, x, y)`."""
    pair, name = C_TYPES[dtype], _name(kind, dtype)
    result = "bool" if isinstance(kind, Compare) else pair
    operands = "x" if isinstance(kind, Unary) else "xy"
    parameters = "".join(f", const {pair} *{x}" for x in operands)
    values = ", ".join(f"{x}[i]" for x in operands)
    return f"""
void loop_{name}(size_t count, {result} *result{parameters}) {{
  for (size_t i = 0; i < count; i++) result[i] = {name}({values});
}}
"""


def source() -> str:
    """A C file with a loop for each complex kind and dtype."""
    kinds = list(itertools.product(KINDS, (C64, C128)))
    library = definitions(_name(kind, dtype) for kind, dtype in kinds)
    return "\n".join([INCLUDES, library, *(_loop(kind, dtype) for kind, dtype in kinds)])


@cache
def _library(compiler: str, flags: tuple[str, ...]) -> CDLL:
    return compile_c(source(), compiler=compiler, flags=flags)


FLAGS = ("-std=c11", "-O2", "-march=native", "-Wall", "-Wextra", "-Werror")


def run_c(
    kind: Kind,
    dtype: Dtype,
    *operands: np.ndarray,
    compiler: str = "cc",
    flags: Sequence[str] = FLAGS,
) -> np.ndarray:
    """`kind` of these arrays of one length, by its C function."""
    arrays = [np.ascontiguousarray(x, reference.NUMPY[dtype]) for x in operands]
    count = len(arrays[0])
    result = np.empty(count, np.bool_ if isinstance(kind, Compare) else reference.NUMPY[dtype])
    loop = getattr(_library(compiler, tuple(flags)), f"loop_{_name(kind, dtype)}")
    loop(c_size_t(count), *(c_void_p(x.ctypes.data) for x in (result, *arrays)))
    return result


def run_numpy(kind: Kind, dtype: Dtype, *operands: np.ndarray) -> np.ndarray:
    """`kind` of these arrays, by numpy."""
    arrays = [np.asarray(x, reference.NUMPY[dtype]) for x in operands]
    with np.errstate(all="ignore"):
        if isinstance(kind, Unary):
            return apply1(kind, dtype, dtype, *arrays)
        return apply2(kind, dtype, *arrays)


def of_parts(dtype: Dtype, x: Sequence[float], y: Sequence[float]) -> np.ndarray:
    """The complex numbers of these parts, bit for bit."""
    result = np.empty(len(x), reference.NUMPY[dtype])
    with np.errstate(over="ignore"):
        result.real, result.imag = x, y
    return result


def words(z: np.ndarray) -> np.ndarray:
    """Bits of the parts, one for all NaNs."""
    if z.dtype == np.bool_:
        return z
    part = z.view(z.real.dtype)
    return np.where(np.isnan(part), np.nan, part).view(f"u{part.itemsize}")
