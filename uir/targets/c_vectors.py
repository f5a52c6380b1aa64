"""How vectors are spelled in C: as the vector types of GNU C, which clang has too.

A vector is in a variable of its own; it is loaded and stored through functions that assume no more
alignment than an element's.
"""

from collections.abc import Sequence

from xdsl.dialects import vector
from xdsl.dialects.builtin import VectorType, f32, i32
from xdsl.ir import Attribute

_LANES = 4

VECTOR_TYPES: dict[Attribute, str] = {
    VectorType(f32, [_LANES]): "f32x4",
    VectorType(i32, [_LANES]): "i32x4",
}
"""The C types of vectors."""


def load_text(op: vector.LoadOp, element: str) -> str:
    """The expression that loads the vector which starts at `element`."""
    return f"load_{VECTOR_TYPES[op.result.type]}(&{element})"


def store_text(op: vector.StoreOp, element: str, value: str) -> str:
    """The statement that stores `value` from `element` on."""
    return f"store_{VECTOR_TYPES[op.vector.type]}(&{element}, {value});"


def shuffle_text(op: vector.ShuffleOp, operands: Sequence[str]) -> str:
    """The elements of both operands, named, that the mask picks."""
    lanes = [f"{operand}[{lane}]" for operand in operands for lane in range(_LANES)]
    picked = [lanes[lane] for lane in op.mask.get_values()]
    return f"({VECTOR_TYPES[op.result.type]}){{{', '.join(picked)}}}"
