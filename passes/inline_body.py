"""Bodies: values of free params, put in place of an op with the params replaced."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.ir import Operation, SSAValue

from dialects.uir.base import NodeBuilder, UirOp
from dialects.uir.constants import ConstantOp
from dialects.uir.functions import ParamOp, ResultOp
from dialects.uir.math import MathOp, body_text, kernel_body_text
from dialects.uir.movement import ExpandOp
from dialects.uir.types import shape_of
from uir.text.parser import parse_body


@cache
def body_of(op: type[UirOp]) -> Sequence[Operation]:
    """The ops of the program that defines `op`; the last is a `uir.result`."""
    return _parsed(op, body_text(op))


@cache
def kernel_body_of(op: type[MathOp]) -> Sequence[Operation]:
    """The ops of the program that computes `op` in a kernel; the last is a `uir.result`."""
    return _parsed(op, kernel_body_text(op))


def _parsed(op: type[UirOp], text: str) -> Sequence[Operation]:
    module = parse_body(text, f"{op.spelling()}.uir")
    return tuple(module.body.block.ops)


def inline_scalar_body(body: Sequence[Operation], x: SSAValue, b: NodeBuilder) -> SSAValue:
    """The scalar program `body`, with one param, applied to every element of `x`."""
    shape = shape_of(x)
    values: dict[SSAValue, SSAValue] = {}
    for op in body:
        if isinstance(op, ResultOp):
            return values[op.value]
        assert isinstance(op, UirOp)
        if isinstance(op, ParamOp):
            value = x
        else:
            value = b.make(type(op), *(values[v] for v in op.operands), **op.text_attributes())
            if isinstance(op, ConstantOp) and shape:
                value = b.make(ExpandOp, value, shape=shape)
        values[op.result] = value
    raise AssertionError("a body ends in its result")
