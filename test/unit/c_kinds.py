"""The C functions of kinds, built with a compiler and called on numpy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np

from dialects.prog.c_library import (
    INCLUDES,
    definitions,
    signature,
)

Arrays = Callable[..., np.ndarray]
EXACT = ("-std=c11", "-ffp-contract=off")


def _loop(name: str) -> str:
    """A function that calls the one of this name on arrays."""
    types, result = signature(name)
    arrays = [f"const {t.replace('bool', 'uint8_t')} *a{i}" for i, t in enumerate(types)]
    call = f"{name}({', '.join(f'a{i}[i]' for i in range(len(types)))})"
    return (
        f"void loop_{name}(size_t n, {', '.join(arrays)}, {result.replace('bool', 'uint8_t')} *r) {{\n"
        f"  for (size_t i = 0; i < n; i++) r[i] = {call};\n}}\n"
    )


@cache
def library(names: tuple[str, ...], compiler: str, flags: tuple[str, ...]) -> ctypes.CDLL:
    """The loops over the functions of these names."""
    from dialects.prog.native import compile_c

    text = "\n".join([INCLUDES, definitions(names), *map(_loop, names)])
    return compile_c(text, compiler=compiler, flags=flags)


def call(loops: ctypes.CDLL, name: str, result: np.dtype, *arrays: np.ndarray) -> np.ndarray:
    """The results of the function of this name on arrays of one length."""
    arrays = tuple(np.ascontiguousarray(a) for a in arrays)
    out = np.empty(arrays[0].shape, result)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, out)]
    loops[f"loop_{name}"](ctypes.c_size_t(out.size), *pointers)
    return out
