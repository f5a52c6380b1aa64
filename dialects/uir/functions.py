"""`param` and `call`: a value with free params is a function of them. And the program's result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsTerminator, Pure

from dialects.uir.base import Attributes, Form, TextAttribute, TypingError, UirOp
from dialects.uir.elementwise import require_value
from dialects.uir.movement import check_shape
from dialects.uir.types import dtype_of, shape_of, tensor_type

MAX_PARAM = 65535


@irdl_op_definition
class ParamOp(UirOp):
    """`param i dtype=T [shape=[...]]`: the i-th argument of the body that contains it."""

    name = "uir.param"
    SIGNATURE: ClassVar[dict[str, TextAttribute]] = {
        "index": TextAttribute(Form.INTEGER, positional=True),
        "dtype": TextAttribute(Form.DTYPE),
        "shape": TextAttribute(Form.INTEGERS, optional=True),
    }
    index = prop_def(IntegerAttr)
    traits = traits_def(Pure())

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        if not 0 <= attributes["index"] <= MAX_PARAM:
            raise TypingError(
                f"a param's number is 0 to {MAX_PARAM}, found {attributes['index']}", "index"
            )
        shape = tuple(attributes.get("shape") or ())
        check_shape(shape, "shape")
        return tensor_type(attributes["dtype"], shape)

    @classmethod
    def properties_of(cls, attributes: Attributes) -> dict[str, Attribute]:
        return {"index": IntegerAttr(attributes["index"], i64)}

    def number(self) -> int:
        return self.index.value.data

    def text_attributes(self) -> dict[str, Any]:
        attributes: dict[str, Any] = {"index": self.number(), "dtype": dtype_of(self.result)}
        if shape_of(self.result):
            attributes["shape"] = shape_of(self.result)
        return attributes


@irdl_op_definition
class CallOp(UirOp):
    """`call %r a0 a1 ...`: the value `%r` with its free params replaced by the arguments.

    That the arguments fit the params is a rule of the whole program (`rules`).
    """

    name = "uir.call"
    body = operand_def()
    arguments = var_operand_def()
    traits = traits_def(Pure())

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        for number, operand in enumerate(operands):
            require_value(operand, number)
        return operands[0].type


@irdl_op_definition
class ResultOp(IRDLOperation):
    """The value that the program's last statement is; absent when that is no value."""

    name = "uir.result"
    value = operand_def()
    traits = traits_def(IsTerminator())
    assembly_format = "$value attr-dict `:` type($value)"
