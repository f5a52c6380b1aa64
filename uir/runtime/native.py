"""Runs a compiled kernel on numpy arrays."""

import ctypes
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dialects.prog.native import compile_c

_SYMBOL = "kernel"
_ELEMENTS = {"f32": (np.float32,), "i32": (np.int32,), "i1": (np.bool_, np.uint8)}


@dataclass(frozen=True)
class Parameter:
    """A memory that a kernel takes."""

    dtype: str
    """`f32`, `i32` or `i1`."""
    size: int
    """The number of elements."""


class Kernel:
    """The `kernel` function of a loaded library, callable on one array a parameter."""

    def __init__(self, library: ctypes.CDLL, signature: Sequence[Parameter]) -> None:
        """Raises AttributeError when the library exports no `kernel`."""
        self._signature = tuple(signature)
        self._function = library[_SYMBOL]
        self._function.argtypes = [ctypes.c_void_p] * len(self._signature)
        self._function.restype = None

    @classmethod
    def compile(
        cls,
        source: str,
        signature: Sequence[Parameter],
        *,
        compiler: str = "cc",
        flags: Sequence[str] = ("-O2",),
    ) -> "Kernel":
        """The kernel of a C file. Raises CompileError when it cannot be built."""
        return cls(compile_c(source, compiler=compiler, flags=flags), signature)

    def __call__(self, arrays: Sequence[npt.NDArray[Any]]) -> None:
        """Runs the kernel, which writes into `arrays` where they lie.

        An array is contiguous, writeable, and of the dtype and number of elements of its
        parameter: float32 for f32, int32 for i32, bool or uint8 (holding 0 and 1) for i1. Arrays do
        not overlap. Raises ValueError, and runs nothing, when they are otherwise.
        """
        if len(arrays) != len(self._signature):
            raise ValueError(f"expected {len(self._signature)} arrays, got {len(arrays)}")
        for position, (parameter, array) in enumerate(zip(self._signature, arrays, strict=True)):
            _check(position, parameter, array)
        _check_disjoint(arrays)
        self._function(*(array.ctypes.data for array in arrays))


def _check(position: int, parameter: Parameter, array: npt.NDArray[Any]) -> None:
    elements = _ELEMENTS[parameter.dtype]
    if array.dtype not in elements:
        expected = np.dtype(elements[0])
        raise ValueError(f"array {position}: expected dtype {expected}, got {array.dtype}")
    if array.size != parameter.size:
        raise ValueError(f"array {position}: expected {parameter.size} elements, got {array.size}")
    if not (array.flags.c_contiguous and array.flags.aligned and array.flags.writeable):
        raise ValueError(f"array {position}: expected contiguous, aligned, writeable memory")


def _check_disjoint(arrays: Sequence[npt.NDArray[Any]]) -> None:
    spans = sorted(
        (array.ctypes.data, array.ctypes.data + array.nbytes, position)
        for position, array in enumerate(arrays)
        if array.size
    )
    for (_, end, one), (start, _, other) in itertools.pairwise(spans):
        if start < end:
            raise ValueError(f"arrays {min(one, other)} and {max(one, other)} overlap")
