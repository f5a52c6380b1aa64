"""How vectors are spelled in C: as the vector types of GNU C, which clang has too.

A vector is loaded and stored with no more alignment than an element's. Scalable vectors are as wide
as those of the machine that a function is compiled for (`c_dispatch.py`).
"""

from collections.abc import Sequence

from xdsl.dialects import vector
from xdsl.dialects.builtin import VectorType, f32, i32
from xdsl.ir import Attribute

from dialects.vector import scalable

_LANES = 4

VECTOR_TYPES: dict[Attribute, str] = {
    VectorType(f32, [_LANES]): "f32x4",
    VectorType(i32, [_LANES]): "i32x4",
    scalable(f32): "f32v",
}
"""The C types of vectors."""


def load_text(op: vector.LoadOp, element: str) -> str:
    """The expression that loads the vector which starts at `element`."""
    return f"load_{VECTOR_TYPES[op.result.type]}(&{element})"


def store_text(op: vector.StoreOp, element: str, value: str) -> str:
    """The statement that stores `value` from `element` on."""
    return f"store_{VECTOR_TYPES[op.vector.type]}(&{element}, {value});"


def broadcast_text(c_type: str, scalar: str) -> str:
    """The vector whose lanes are all `scalar`: minus 0, which leaves it as it is, -0 too."""
    zero = f"({c_type}){{0}}"
    return zero if scalar == "0.0f" else f"{scalar} - {zero}"


def shuffle_text(op: vector.ShuffleOp, operands: Sequence[str]) -> str:
    """The lanes of both operands that the mask picks, numbered from those of the first."""
    return f"shuffle({', '.join([*operands, *map(str, op.mask.get_values())])})"
