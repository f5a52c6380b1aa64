"""Literals: the op, and what makes and reads one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure

from dialects.uir.base import Attributes, NodeBuilder, UirOp
from dialects.uir.elements import ElementsAttr, LiteralError, Scalar, literal_attr, parse_element
from dialects.uir.types import DTYPES, DType, tensor_type


@irdl_op_definition
class ConstantOp(UirOp):
    """A literal, a scalar: `uir.constant 1.0 : tensor<f32>`."""

    name = "uir.constant"
    value = prop_def(ElementsAttr)
    traits = traits_def(Pure(), ConstantLike())

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        return tensor_type(DTYPES[attributes["value"].dtype])

    @classmethod
    def properties_of(cls, attributes: Attributes) -> dict[str, Attribute]:
        return {"value": ElementsAttr(attributes["value"])}

    def text_attributes(self) -> dict[str, Any]:
        return {"value": self.value.data}

    @staticmethod
    def literal(dtype: DType, value: Scalar) -> ConstantOp:
        """The op for `value`, an element of `dtype`."""
        return ConstantOp.create(
            result_types=[tensor_type(dtype)], properties={"value": literal_attr(dtype, value)}
        )

    def scalar_value(self) -> Scalar:
        return self.value.data.values()[0]

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.value.data.spell())
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        text = parser.parse_str_literal("a literal")
        parser.parse_punctuation(":")
        type = parser.parse_type()
        try:
            dtype, value = parse_element(text)
        except LiteralError as error:
            parser.raise_error(str(error))
        if type != tensor_type(DTYPES[dtype]):
            parser.raise_error(f"`{text}` is a literal of type {tensor_type(DTYPES[dtype])}")
        return cls.literal(DTYPES[dtype], value)


def constant_of(value: SSAValue) -> Scalar | None:
    """The literal that `value` is; None for any other value."""
    return value.owner.scalar_value() if isinstance(value.owner, ConstantOp) else None


def literal_i32(b: NodeBuilder, value: int) -> SSAValue:
    """The i32 literal `value`."""
    return b.make(ConstantOp, value=literal_attr(i32, value).data)
