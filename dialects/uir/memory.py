"""Buffers, loads and stores, and the ops that name an order of effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from dialects.uir.base import Attributes, Form, TextAttribute, TypingError, UirOp
from dialects.uir.elements import ElementsAttr
from dialects.uir.loops import is_loop_index, require_effect
from dialects.uir.requirements import require_value
from dialects.uir.types import (
    DTYPE_NAMES,
    EFFECT,
    MAX_BUFFER_SIZE,
    dtype_of,
    is_memory,
    mem_type,
    shape_of,
    spell_type,
    tensor_type,
)

MAX_SLOT = 65535


def require_memory(operand: SSAValue, number: int) -> None:
    """Raises TypingError unless operand `number` is memory."""
    if not is_memory(operand.type):
        raise TypingError(
            f"operand {number + 1} is {spell_type(operand.type)}, but memory is needed", number
        )


def check_buffer_size(size: int) -> None:
    """Raises TypingError unless a buffer can have `size` elements."""
    if not 1 <= size < MAX_BUFFER_SIZE:
        raise TypingError(
            f"a buffer has at least 1 and fewer than 2^31 elements, found {size}", "size"
        )


@irdl_op_definition
class BufferOp(UirOp):
    """`buffer N dtype= slot=S [data=[...] | url= sha256=]`: a buffer that the caller owns."""

    name = "uir.buffer"
    SIGNATURE: ClassVar[dict[str, TextAttribute]] = {
        "size": TextAttribute(Form.INTEGER, positional=True),
        "dtype": TextAttribute(Form.DTYPE),
        "slot": TextAttribute(Form.INTEGER),
        "data": TextAttribute(Form.LITERALS, optional=True),
        "url": TextAttribute(Form.PATH, optional=True),
        "sha256": TextAttribute(Form.DIGEST, optional=True),
    }
    slot = prop_def(IntegerAttr)
    data = opt_prop_def(ElementsAttr)
    url = opt_prop_def(StringAttr)
    sha256 = opt_prop_def(StringAttr)

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        size, dtype, slot = attributes["size"], attributes["dtype"], attributes["slot"]
        check_buffer_size(size)
        if not 0 <= slot <= MAX_SLOT:
            raise TypingError(f"a slot is 0 to {MAX_SLOT}, found {slot}", "slot")
        cls._check_contents(size, DTYPE_NAMES[dtype], attributes)
        return mem_type(dtype, (size,))

    @classmethod
    def _check_contents(cls, size: int, dtype: str, attributes: Attributes) -> None:
        data = attributes.get("data")
        if data is not None:
            if attributes.get("url") is not None:
                raise TypingError("`url=` replaces `data=`: a buffer has one or the other", "url")
            if len(data) != size:
                raise TypingError(
                    f"`data` gives {len(data)} elements for a buffer of {size}", "data"
                )
            if data.dtype != dtype:
                raise TypingError(f"`data` has {data.dtype} literals for a {dtype} buffer", "data")
        if (attributes.get("url") is None) != (attributes.get("sha256") is None):
            missing, given = ("sha256", "url") if attributes.get("url") else ("url", "sha256")
            raise TypingError(f"`{given}=` needs `{missing}=` beside it", given)

    @classmethod
    def properties_of(cls, attributes: Attributes) -> dict[str, Attribute]:
        properties: dict[str, Attribute] = {"slot": IntegerAttr(attributes["slot"], i64)}
        if attributes.get("data") is not None:
            properties["data"] = ElementsAttr(attributes["data"])
        for name in ("url", "sha256"):
            if attributes.get(name) is not None:
                properties[name] = StringAttr(attributes[name])
        return properties

    def text_attributes(self) -> dict[str, Any]:
        attributes: dict[str, Any] = {
            "size": shape_of(self.result)[0],
            "dtype": dtype_of(self.result),
            "slot": self.slot.value.data,
        }
        if self.data is not None:
            attributes["data"] = self.data.data
        if self.url is not None:
            attributes["url"] = self.url.data
        if self.sha256 is not None:
            attributes["sha256"] = self.sha256.data
        return attributes


@irdl_op_definition
class AllocOp(UirOp):
    """`alloc N dtype=`: scratch memory, zeros at the start of each run."""

    name = "uir.alloc"
    SIGNATURE: ClassVar[dict[str, TextAttribute]] = {
        "size": TextAttribute(Form.INTEGER, positional=True),
        "dtype": TextAttribute(Form.DTYPE),
    }

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        check_buffer_size(attributes["size"])
        return mem_type(attributes["dtype"], (attributes["size"],))

    def text_attributes(self) -> dict[str, Any]:
        return {"size": shape_of(self.result)[0], "dtype": dtype_of(self.result)}


@irdl_op_definition
class LoadOp(UirOp):
    """`load m`: the elements of `m` now."""

    name = "uir.load"
    memory = operand_def()
    traits = traits_def(MemoryReadEffect())

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        (memory,) = operands
        require_memory(memory, 0)
        return tensor_type(dtype_of(memory), shape_of(memory))


@irdl_op_definition
class StoreOp(UirOp):
    """`store m v`: writes every element of `m`."""

    name = "uir.store"
    memory = operand_def()
    value = operand_def()
    traits = traits_def(MemoryWriteEffect())

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        memory, value = operands
        require_memory(memory, 0)
        require_value(value, 1)
        if dtype_of(memory) != dtype_of(value) or shape_of(memory) != shape_of(value):
            help = None
            if dtype_of(memory) == dtype_of(value) and not shape_of(value):
                spelled = " ".join(map(str, shape_of(memory)))
                help = f"write `expand ... shape=[{spelled}]` on the value first"
            raise TypingError(
                f"`store` of {spell_type(value.type)} into {spell_type(memory.type)}", 1, help
            )
        return EFFECT


@irdl_op_definition
class AfterOp(UirOp):
    """`after m e...`: `m`, once the effects are done, or inside the loop of a range."""

    name = "uir.after"
    memory = operand_def()
    effects = var_operand_def()
    traits = traits_def(Pure())

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        memory, *effects = operands
        require_memory(memory, 0)
        if not effects:
            raise TypingError("`after` needs at least one effect")
        for number, effect in enumerate(effects, 1):
            if not is_loop_index(effect):
                require_effect(effect, number)
        return memory.type


@irdl_op_definition
class GroupOp(UirOp):
    """`group e...`: the effects together."""

    name = "uir.group"
    effects = var_operand_def()
    traits = traits_def(Pure())

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        if not operands:
            raise TypingError("`group` needs at least one effect")
        for number, effect in enumerate(operands):
            require_effect(effect, number)
        return EFFECT


def buffer_of(memory: SSAValue) -> SSAValue:
    """The buffer (or block argument) that a memory reference sees, through views and `after`."""
    while isinstance(op := memory.owner, UirOp) and op.operands:
        memory = op.operands[0]
    return memory
