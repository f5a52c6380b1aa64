"""`param` and `call`: a value with free params is a function of them. And the program's result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import IntegerAttr, SymbolNameConstraint, SymbolRefAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    NoTerminator,
    Pure,
    SymbolOpInterface,
)

from dialects.uir.base import Attributes, Form, OpMeta, TextAttribute, TypingError, UirOp
from dialects.uir.requirements import check_shape, require_value
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


def open_operands(op: Operation) -> Sequence[SSAValue]:
    """The operands of `op` whose free params are free in its result: not the body of a call."""
    return op.arguments if isinstance(op, CallOp) else op.operands


def open_values(ops: Iterable[Operation]) -> set[SSAValue]:
    """The results that depend on a free param; `ops` are in order."""
    found: set[SSAValue] = set()
    for op in ops:
        if isinstance(op, ParamOp) or any(operand in found for operand in open_operands(op)):
            found.update(op.results)
    return found


@irdl_op_definition
class FunctionOp(IRDLOperation, metaclass=OpMeta):
    """A called body that stays a function: its arguments, its code and a `uir.result`.

    Made by `outline-calls`. Arguments are tensors; once kernels are formed they are memories, and a
    last one is the memory of the result.
    """

    name = "uir.function"
    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), NoTerminator())
    assembly_format = "$sym_name attr-dict-with-keyword $body"


@irdl_op_definition
class ApplyOp(UirOp):
    """`uir.apply %a, ... {function = @f}`: the result of a function on distinct arguments."""

    name = "uir.apply"
    arguments = var_operand_def()
    function = prop_def(SymbolRefAttr)
    traits = traits_def(Pure())

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        return attributes["type"]

    def text_attributes(self) -> dict[str, Any]:
        return {"type": self.result.type}

    @staticmethod
    def make(function: str, arguments: Sequence[SSAValue], type: Attribute) -> ApplyOp:
        return ApplyOp.create(
            operands=arguments,
            result_types=[type],
            properties={"function": SymbolRefAttr(function)},
        )


@irdl_op_definition
class ResultOp(IRDLOperation, metaclass=OpMeta):
    """The value that the program's last statement is; absent when that is no value."""

    name = "uir.result"
    value = operand_def()
    traits = traits_def(IsTerminator())
    assembly_format = "$value attr-dict `:` type($value)"
