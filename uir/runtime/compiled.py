"""A program as a compiled function on numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from dialects.uir.functions import ResultOp
from dialects.uir.memory import BufferOp
from dialects.uir.types import dtype_of, shape_of, size_of
from uir.api import c_of
from uir.program import Program
from uir.runtime.data import Contents
from uir.runtime.interpreters.memory import ELEMENTS
from uir.runtime.native import Kernel, Parameter


@dataclass(frozen=True)
class Buffer:
    """A buffer of the kernel: the array for it has this dtype and number of elements."""

    slot: int
    dtype: np.dtype[Any]
    size: int


@dataclass(frozen=True)
class Compiled:
    """A compiled program, callable on one array a buffer."""

    buffers: tuple[Buffer, ...]
    """The buffers, in increasing slot number: the parameters of a call."""
    source: str
    """The C file."""
    _contents: Contents
    _kernel: Kernel
    _result: tuple[np.dtype[Any], tuple[int, ...]] | None

    @staticmethod
    def build(program: Program, compiler: str, flags: Sequence[str]) -> Compiled:
        """Compiles `program`. Raises CompileError."""
        ops = list(program.module.body.block.ops)
        owned = sorted(
            (op for op in ops if isinstance(op, BufferOp)), key=lambda op: op.slot.value.data
        )
        buffers = tuple(
            Buffer(op.slot.value.data, ELEMENTS[dtype_of(op.result)], size_of(op.result))
            for op in owned
        )
        parameters: list[SSAValue] = [op.result for op in owned]
        result = None
        if ops and isinstance(ops[-1], ResultOp):
            value = ops[-1].value
            parameters.append(value)
            result = ELEMENTS[dtype_of(value)], shape_of(value)
        signature = [Parameter(str(dtype_of(value)), size_of(value)) for value in parameters]
        source = c_of(program)
        kernel = Kernel.compile(source, signature, compiler=compiler, flags=flags)
        return Compiled(buffers, source, program.contents, kernel, result)

    def new_arrays(self) -> list[npt.NDArray[Any]]:
        """A new array for each buffer, with the contents that the program gives it, or zeros."""
        arrays: list[npt.NDArray[Any]] = []
        for buffer in self.buffers:
            content = self._contents.get(buffer.slot)
            if content is None:
                arrays.append(np.zeros(buffer.size, buffer.dtype))
            else:
                stored = np.frombuffer(content, buffer.dtype.newbyteorder("<"))
                arrays.append(stored.astype(buffer.dtype))
        return arrays

    def __call__(self, *arrays: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
        """Runs the kernel once; it writes into `arrays` where they lie.

        There is one array a buffer, as `buffers` says: contiguous, of its dtype and number of
        elements, in any shape; arrays do not overlap. Returns the result as a new array of its
        shape, or None when the program's last statement is no value.
        Raises ValueError, and runs nothing, for other arrays.
        """
        if self._result is None:
            self._kernel(arrays)
            return None
        dtype, shape = self._result
        result = np.empty(shape, dtype)
        self._kernel([*arrays, result])
        return result
