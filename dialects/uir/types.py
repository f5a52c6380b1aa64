"""The types of the `uir` dialect: tensor values, memory references and effects.

A value is a builtin `tensor` of `i1`, `i32` or `f32` (`bool`, `i32`, `f32` in the text); a scalar
is a tensor of rank 0. Memory is `!uir.mem<4x8xf32>`; an effect is `!uir.effect`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    Float32Type,
    IntAttr,
    IntegerType,
    TensorType,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

DType: TypeAlias = IntegerType | Float32Type
"""An element type: `i1`, `i32` or `f32`."""

DTYPES: dict[str, DType] = {"bool": i1, "i32": i32, "f32": f32}
DTYPE_NAMES: dict[Attribute, str] = {dtype: name for name, dtype in DTYPES.items()}

MAX_RANK = 32
MAX_DIMENSION = 2**31
MAX_BUFFER_SIZE = 2**31
MAX_VALUE_SIZE = 2**63


@irdl_attr_definition
class MemType(ParametrizedAttribute, TypeAttribute):
    """Elements of a buffer, seen through a shape: `!uir.mem<4x8xf32>`."""

    name = "uir.mem"

    shape: ArrayAttr[IntAttr]
    element_type: DType

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
        return ArrayAttr([IntAttr(dim) for dim in shape]), element_type

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            for dim in self.shape:
                printer.print_string(f"{dim.data}x")
            printer.print_attribute(self.element_type)

    def get_shape(self) -> tuple[int, ...]:
        return tuple(dim.data for dim in self.shape)

    def verify(self) -> None:
        if self.element_type not in DTYPE_NAMES:
            raise VerifyException(f"memory holds i1, i32 or f32, not {self.element_type}")


@irdl_attr_definition
class EffectType(ParametrizedAttribute, TypeAttribute):
    """The result of a store, a group of effects or a finished loop: what `after` waits for."""

    name = "uir.effect"


EFFECT = EffectType()

ShapedType: TypeAlias = TensorType[DType] | MemType


@lru_cache(maxsize=4096)
def tensor_type(dtype: DType, shape: tuple[int, ...] = ()) -> TensorType[DType]:
    """The value type of `dtype` and `shape`; equal requests give one object."""
    return TensorType(dtype, shape)


@lru_cache(maxsize=4096)
def mem_type(dtype: DType, shape: tuple[int, ...]) -> MemType:
    """The memory type of `dtype` and `shape`; equal requests give one object."""
    return MemType(ArrayAttr([IntAttr(dim) for dim in shape]), dtype)


def is_value(type: Attribute) -> bool:
    """Whether `type` is a value's: a tensor of one of the three dtypes."""
    return isinstance(type, TensorType)


def is_memory(type: Attribute) -> bool:
    return isinstance(type, MemType)


def _shape_of_type(type: Attribute) -> tuple[int, ...]:
    assert isinstance(type, TensorType | MemType), type
    # Faster than to look it up: the hash of a type is computed each time.
    return tuple([dim.data for dim in cast(ShapedType, type).shape.data])


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a value or a memory reference."""
    return _shape_of_type(value.type)


def element_type(type: Attribute) -> DType:
    """The element type of a value's or memory's type."""
    assert isinstance(type, TensorType | MemType), type
    return cast(ShapedType, type).element_type


def dtype_of(value: SSAValue) -> DType:
    """The element type of a value or a memory reference."""
    return element_type(value.type)


def size_of(value: SSAValue) -> int:
    """The number of elements of a value or a memory reference."""
    return prod(shape_of(value))


def with_shape(value: SSAValue, shape: Iterable[int]) -> ShapedType:
    """The type of `value` (a value's or a memory's) with another shape."""
    make = mem_type if is_memory(value.type) else tensor_type
    return make(dtype_of(value), tuple(shape))


def spell_shape(shape: Iterable[int]) -> str:
    """A shape as the text writes it: `[4 8]`."""
    return f"[{' '.join(map(str, shape))}]"


def spell_type(type: Attribute) -> str:
    """A type as messages name it: `f32 [4 8]`, `an i32 scalar`, `memory f32 [4]`, `an effect`."""
    if isinstance(type, EffectType):
        return "an effect"
    dtype, shape = DTYPE_NAMES[element_type(type)], _shape_of_type(type)
    if isinstance(type, MemType):
        return f"memory {dtype} {spell_shape(shape)}"
    article = "an" if dtype[0] in "fi" else "a"
    return f"{dtype} {spell_shape(shape)}" if shape else f"{article} {dtype} scalar"
