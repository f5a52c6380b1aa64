"""The contents of a program's buffers at the start, as its text and its caller give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
import numpy.typing as npt

from dialects.uir.memory import BufferOp
from dialects.uir.types import DTYPE_NAMES, dtype_of, size_of
from uir.program import Program
from uir.runtime.interpreters.memory import ELEMENTS, Array


def read_array(path: str) -> Array:
    """The array in a `.npy` file. Raises ValueError when it has none, and OSError."""
    with open(path, "rb") as file:
        try:
            array: object = np.load(file, allow_pickle=False)
        except (ValueError, EOFError) as error:
            # What numpy cannot read, it takes for a pickle, and advises to trust that.
            reason = "" if "pickle" in str(error) else f": {error}"
            raise ValueError(f"{path}: not a .npy file of numbers{reason}") from None
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path}: a .npy file is needed, this one has several arrays")
    return cast(Array, array)


def with_slots(program: Program, slots: Mapping[int, npt.ArrayLike]) -> dict[int, Array | bytes]:
    """The contents of each slot: the caller's `slots` beside those of the text.

    Raises ValueError for a slot that the program does not have or that its text fills, and for an
    array of another dtype or number of elements than the buffer's.
    """
    buffers = {
        op.slot.value.data: op for op in program.module.body.block.ops if isinstance(op, BufferOp)
    }
    contents: dict[int, Array | bytes] = dict(program.contents)
    for slot, given in slots.items():
        if slot not in buffers:
            raise ValueError(f"slot {slot}: the program has no buffer in this slot")
        if slot in program.contents:
            raise ValueError(f"slot {slot}: the program itself says what is in this buffer")
        contents[slot] = _checked(slot, np.asarray(given), buffers[slot])
    return contents


def _checked(slot: int, array: Array, op: BufferOp) -> Array:
    """`array` if it fits the buffer of `op`."""
    dtype, size = dtype_of(op.result), size_of(op.result)
    if array.dtype.newbyteorder("=") != ELEMENTS[dtype]:
        raise ValueError(
            f"slot {slot}: the buffer is {DTYPE_NAMES[dtype]}, so an array of {ELEMENTS[dtype]} is "
            f"needed, but this one is {array.dtype}"
        )
    if array.size != size:
        raise ValueError(f"slot {slot}: the buffer has {size} elements, the array {array.size}")
    return array
