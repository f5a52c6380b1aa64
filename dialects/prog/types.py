"""The IR types of the dtypes: those of builtin, signless where a dtype is signed.

`bool` is `i1`, whose elements in memory are bytes, and `bit` is `ui1`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    ComplexType,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    IntegerType,
    MemRefType,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from .dtypes import Dtype

_TYPES: dict[Dtype, Attribute] = {
    Dtype.float64: f64,
    Dtype.float32: f32,
    Dtype.float16: f16,
    Dtype.bfloat16: bf16,
    Dtype.float8_e4m3fn: Float8E4M3FNType(),
    Dtype.float8_e5m2: Float8E5M2Type(),
    Dtype.float4_e2m1fn: Float4E2M1FNType(),
    Dtype.int64: i64,
    Dtype.uint64: IntegerType(64, Signedness.UNSIGNED),
    Dtype.int32: i32,
    Dtype.uint32: IntegerType(32, Signedness.UNSIGNED),
    Dtype.int16: i16,
    Dtype.uint16: IntegerType(16, Signedness.UNSIGNED),
    Dtype.int8: i8,
    Dtype.uint8: IntegerType(8, Signedness.UNSIGNED),
    Dtype.int4: IntegerType(4),
    Dtype.uint4: IntegerType(4, Signedness.UNSIGNED),
    Dtype.complex128: ComplexType(f64),
    Dtype.complex64: ComplexType(f32),
    Dtype.bool: i1,
    Dtype.bit: IntegerType(1, Signedness.UNSIGNED),
}
_DTYPES = {type: dtype for dtype, type in _TYPES.items()}


def type_of(dtype: Dtype) -> Attribute:
    """The IR type of an element of `dtype`."""
    return _TYPES[dtype]


def dtype_of(type: Attribute) -> Dtype:
    """The dtype whose elements have the IR type `type`; raises KeyError if there is none."""
    return _DTYPES[type]


def memory_dtype(memory: SSAValue) -> Dtype:
    """The dtype of the elements of a memory."""
    assert isa(memory.type, MemRefType)
    return dtype_of(memory.type.element_type)
