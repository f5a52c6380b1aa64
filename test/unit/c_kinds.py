"""The C functions of kinds, built with a compiler and called on numpy arrays."""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

from dialects.prog import Dtype
from dialects.prog.c_library import INCLUDES, definitions, signature
from dialects.prog.compiled import CompiledKinds, sources
from dialects.prog.native import compile_c


def _loop(name: str) -> str:
    """A function that calls the one of this name on arrays; a bool is a byte in one."""
    types, result = signature(name)
    operands = ", ".join(f"const {t} *a{i}" for i, t in enumerate(types))
    elements = ", ".join(f"a{i}[i]" for i in range(len(types)))
    return (
        f"void loop_{name}(size_t n, {operands}, {result} *r) {{\n"
        f"  for (size_t i = 0; i < n; i++) r[i] = {name}({elements});\n}}\n"
    ).replace("bool ", "uint8_t ")


@cache
def library(names: tuple[str, ...], compiler: str, flags: tuple[str, ...]) -> ctypes.CDLL:
    """The loops over the functions of these names."""
    text = "\n".join([INCLUDES, definitions(names), *map(_loop, names)])
    return compile_c(text, compiler=compiler, flags=flags)


def call(loops: ctypes.CDLL, name: str, result: np.dtype, *arrays: np.ndarray) -> np.ndarray:
    """The results of the function of this name on arrays of one length."""
    arrays = tuple(np.ascontiguousarray(a) for a in arrays)
    out = np.empty(arrays[0].shape, result)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, out)]
    loops[f"loop_{name}"](ctypes.c_size_t(out.size), *pointers)
    return out


PLAIN = ("gcc", "-std=c11", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function")


@cache
def compiled(dtype: Dtype, build: tuple[str, ...] = PLAIN) -> CompiledKinds:
    """The kinds of operands of `dtype`, built by a compiler with flags."""
    source = dict(zip(Dtype, sources(), strict=True))[dtype]
    return CompiledKinds(compile_c(source, compiler=build[0], flags=build[1:]))
