"""What each kind computes, with the C library: a loop over arrays for each of its functions.

In go elements as numpy arrays, as for the tables of `meaning`, and out come the results; between
them one call of a C loop. The loops of all kinds and dtypes are compiled at the first use on a
machine, and kept in the user's cache directory.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import cache

import numpy as np

from .c_library import C_TYPES, INCLUDES, definitions, function1, function2, function3
from .carriers import Array, numpy_dtype
from .dtypes import Dtype
from .kinds import (
    BITCAST,
    CAST,
    COPY,
    DOMAINS,
    FMA,
    WHERE,
    Binary,
    Compare,
    Kind1,
    Kind2,
    Kind3,
    Unary,
    accepts1,
    accepts3,
)
from .native import cached_library

_FLAGS = ("-std=c11", "-O2", "-ffp-contract=off")

_LOADS = {
    Dtype.int4: "(int8_t)((({0} & 15) ^ 8) - 8)",
    Dtype.uint4: "(uint8_t)({0} & 15)",
    Dtype.float4_e2m1fn: "(uint8_t)({0} & 15)",
}
"""The element that a byte of an array holds, of the dtypes whose bytes may be others."""
_STORES = {Dtype.int4: "(int8_t)({0} & 15)"}
"""The byte of an array that holds an element, where it is another."""


class CompiledKinds:
    """The kinds as `meaning` has them, `Kinds` of the loops of a library."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._loops: dict[str, Callable[..., None]] = {}

    def apply1(self, kind: Kind1, source: Dtype, target: Dtype, x: Array) -> Array:
        """`kind` of elements of `source`, into `target`."""
        if _is_copy(kind, source, target):
            return x
        return self._call(function1(kind, source, target), target, x)

    def apply2(self, kind: Kind2, dtype: Dtype, x: Array, y: Array) -> Array:
        """`kind` of elements of `dtype`."""
        target = Dtype.bool if isinstance(kind, Compare) else dtype
        return self._call(function2(kind, dtype), target, x, y)

    def apply3(
        self, kind: Kind3, first: Dtype, dtype: Dtype, x: Array, y: Array, z: Array
    ) -> Array:
        """`kind` of elements of `first`, and twice of `dtype`."""
        return self._call(function3(kind, dtype), dtype, x, y, z)

    def _call(self, name: str, target: Dtype, *operands: Array) -> Array:
        shape = operands[0].shape
        if any(x.shape != shape for x in operands):
            shape = np.broadcast_shapes(*(x.shape for x in operands))
        result = np.empty(shape, numpy_dtype(target))
        # The arrays stay referenced until the loop has run.
        laid_out = [_laid_out(x, shape) for x in operands]
        arguments = [result.size, result.ctypes.data]
        for x in laid_out:
            arguments += [x.ctypes.data, int(x.size != 1)]
        self._loop(name, len(operands))(*arguments)
        return result

    def _loop(self, name: str, operands: int) -> Callable[..., None]:
        loop = self._loops.get(name)
        if loop is None:
            function = self._library[_loop_name(name)]
            operand = (ctypes.c_void_p, ctypes.c_size_t)
            function.argtypes = [ctypes.c_size_t, ctypes.c_void_p, *(operand * operands)]
            function.restype = None
            loop = self._loops[name] = function
        return loop


@cache
def compiled_kinds() -> CompiledKinds:
    """The kinds by the C library. Raises CompileError if it can't be compiled."""
    return CompiledKinds(cached_library(list(sources()), flags=_FLAGS))


def _laid_out(x: Array, shape: tuple[int, ...]) -> Array:
    """`x` as a loop reads it: one element, or those of `shape` one after the other."""
    if x.size != 1 and x.shape != shape:
        x = np.broadcast_to(x, shape)
    if x.flags.c_contiguous and x.flags.aligned:
        return x
    return np.require(x, requirements=("C", "A"))


def _is_copy(kind: Kind1, source: Dtype, target: Dtype) -> bool:
    """Whether the kind gives its operand, so that there is no function of it."""
    return kind is COPY or (kind in (CAST, BITCAST) and source is target)


def _loop_name(function: str) -> str:
    return f"loop_{function}"


def sources() -> Iterable[str]:
    """C files, by the dtype of the operands, which export the loops of all functions."""
    for dtype in Dtype:
        functions = list(_functions(dtype))
        names = [name for name, _, _ in functions]
        loops = "".join(itertools.starmap(_loop, functions))
        yield f"{INCLUDES}\n{definitions(names)}\n{loops}"


def _functions(dtype: Dtype) -> Iterable[tuple[str, Sequence[Dtype], Dtype]]:
    """The functions of operands of `dtype`, the dtypes of all operands and of the result."""
    for kind, result in itertools.product((*Unary, CAST, BITCAST), Dtype):
        if accepts1(kind, dtype, result) and not _is_copy(kind, dtype, result):
            yield function1(kind, dtype, result), [dtype], result
    for kind in (*Binary, *Compare):
        if dtype in DOMAINS[kind]:
            result = Dtype.bool if isinstance(kind, Compare) else dtype
            yield function2(kind, dtype), [dtype] * 2, result
    yield function3(WHERE, dtype), [Dtype.bool, dtype, dtype], dtype
    if accepts3(FMA, dtype, dtype):
        yield function3(FMA, dtype), [dtype] * 3, dtype


def _loop(name: str, operands: Sequence[Dtype], result: Dtype) -> str:
    """A C function that calls `name` on elements 0 to n - 1 of arrays, or on one element each.

    It takes n, the results' array, and each operand's array and step, 0 or 1.
    """
    parameters = "".join(
        f", const {C_TYPES[dtype]} *x{i}, size_t step{i}" for i, dtype in enumerate(operands)
    )
    elements = [
        _LOADS.get(dtype, "{0}").format(f"x{i}[i * step{i}]") for i, dtype in enumerate(operands)
    ]
    value = _STORES.get(result, "{0}").format(f"{name}({', '.join(elements)})")
    return (
        f"void {_loop_name(name)}(size_t n, {C_TYPES[result]} *restrict results{parameters}) {{\n"
        f"  for (size_t i = 0; i < n; i++) results[i] = {value};\n"
        "}\n"
    )
