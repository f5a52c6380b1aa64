"""Ops that move elements without changing their bits.

`reshape permute shrink index` also work on memory, where they make a view: the same elements,
nothing copied.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, traits_def, var_operand_def
from xdsl.traits import Pure

from dialects.uir.base import Attributes, Form, NodeBuilder, TextAttribute, TypingError, UirOp
from dialects.uir.constants import ConstantOp, constant_of, literal_i32
from dialects.uir.elements import Scalar, literal_attr
from dialects.uir.requirements import (
    check_shape,
    require_dtype,
    require_same_dtype,
    require_tensor_or_memory,
    require_value,
)
from dialects.uir.types import (
    dtype_of,
    shape_of,
    spell_shape,
    spell_type,
    tensor_type,
    with_shape,
)


class MovementOp(UirOp, ABC):
    x = operand_def()
    traits = traits_def(Pure())


@irdl_op_definition
class ReshapeOp(MovementOp):
    """`reshape x shape=[...]`: the same elements in row-major order."""

    name = "uir.reshape"
    SIGNATURE: ClassVar[dict[str, TextAttribute]] = {"shape": TextAttribute(Form.INTEGERS)}

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        (x,) = operands
        require_tensor_or_memory(x)
        shape: tuple[int, ...] = attributes["shape"]
        check_shape(shape, "shape")
        found, wanted = prod(shape_of(x)), prod(shape)
        if found != wanted:
            raise TypingError(
                f"`reshape` keeps the number of elements: {spell_shape(shape_of(x))} has {found}, "
                f"{spell_shape(shape)} has {wanted}",
                "shape",
            )
        return with_shape(x, shape)

    def text_attributes(self) -> dict[str, Any]:
        return {"shape": shape_of(self.result)}

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        return b.make(ReshapeOp, g, shape=shape_of(self.x))


@irdl_op_definition
class PermuteOp(MovementOp):
    """`permute x order=[...]`: result axis i is operand axis `order[i]`."""

    name = "uir.permute"
    SIGNATURE: ClassVar[dict[str, TextAttribute]] = {"order": TextAttribute(Form.INTEGERS)}
    order = prop_def(DenseArrayBase[IntegerType])

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        (x,) = operands
        require_tensor_or_memory(x)
        order: tuple[int, ...] = attributes["order"]
        shape = shape_of(x)
        if sorted(order) != list(range(len(shape))):
            axes = f"each of 0 to {len(shape) - 1} once" if shape else "no axis"
            raise TypingError(
                f"`order` of {spell_type(x.type)} names {axes}, found {spell_shape(order)}", "order"
            )
        return with_shape(x, [shape[axis] for axis in order])

    @classmethod
    def properties_of(cls, attributes: Attributes) -> dict[str, Attribute]:
        return {"order": DenseArrayBase.from_list(i64, attributes["order"])}

    def text_attributes(self) -> dict[str, Any]:
        return {"order": self.axes()}

    def axes(self) -> tuple[int, ...]:
        return self.order.get_values()

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        order = self.axes()
        inverse = tuple(order.index(axis) for axis in range(len(order)))
        return b.make(PermuteOp, g, order=inverse)


@irdl_op_definition
class ExpandOp(MovementOp):
    """`expand x shape=[...]`: axes of size 1 repeat; a scalar fills any shape."""

    name = "uir.expand"
    SIGNATURE: ClassVar[dict[str, TextAttribute]] = {"shape": TextAttribute(Form.INTEGERS)}

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        (x,) = operands
        require_value(x, 0)
        found, shape = shape_of(x), tuple(attributes["shape"])
        check_shape(shape, "shape")
        if found and len(found) != len(shape):
            ones = (1,) * (len(shape) - len(found)) + found
            raise TypingError(
                f"`expand` keeps the rank: {spell_shape(found)} has {len(found)} axes, "
                f"{spell_shape(shape)} has {len(shape)}",
                "shape",
                f"`reshape` it first, to {spell_shape(ones)} for instance"
                if len(shape) > len(found)
                else None,
            )
        for axis, (old, new) in enumerate(zip(found, shape, strict=False)):
            if old not in (1, new):
                raise TypingError(
                    f"`expand` cannot grow axis {axis} from {old} to {new}: "
                    "only an axis of size 1 can grow",
                    "shape",
                )
        return tensor_type(dtype_of(x), shape)

    def text_attributes(self) -> dict[str, Any]:
        return {"shape": shape_of(self.result)}

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        """The sum of `g` over the grown axes, moved to the front in increasing order."""
        from dialects.uir.reduce import ReduceOp

        old, new = shape_of(self.x), shape_of(self.result)
        if not old:
            flat = b.make(ReshapeOp, g, shape=(prod(new),))
            return b.make(ReduceOp, flat, op="add", pop=1)
        grown = [axis for axis in range(len(old)) if old[axis] != new[axis]]
        if grown:
            rest = [axis for axis in range(len(old)) if old[axis] == new[axis]]
            g = b.make(PermuteOp, g, order=(*grown, *rest))
            g = b.make(ReduceOp, g, op="add", pop=len(grown))
        return b.make(ReshapeOp, g, shape=old)


@irdl_op_definition
class PadOp(MovementOp):
    """`pad x pads=[l0 r0 ...]`: `l` zeros before and `r` after each axis."""

    name = "uir.pad"
    SIGNATURE: ClassVar[dict[str, TextAttribute]] = {"pads": TextAttribute(Form.INTEGERS)}
    pads = prop_def(DenseArrayBase[IntegerType])

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        (x,) = operands
        require_value(x, 0)
        pads: tuple[int, ...] = attributes["pads"]
        shape = shape_of(x)
        if len(pads) != 2 * len(shape):
            raise TypingError(
                f"`pads` of {spell_type(x.type)} needs {2 * len(shape)} numbers, found {len(pads)}",
                "pads",
            )
        if any(pad < 0 for pad in pads):
            raise TypingError(
                f"`pads` are 0 or more, found {spell_shape(pads)}",
                "pads",
                "`shrink` removes elements",
            )
        padded = [
            before + dim + after
            for before, dim, after in zip(pads[::2], shape, pads[1::2], strict=True)
        ]
        check_shape(padded, "pads")
        return tensor_type(dtype_of(x), tuple(padded))

    @classmethod
    def properties_of(cls, attributes: Attributes) -> dict[str, Attribute]:
        return {"pads": DenseArrayBase.from_list(i64, attributes["pads"])}

    def text_attributes(self) -> dict[str, Any]:
        return {"pads": self.amounts()}

    def amounts(self) -> tuple[int, ...]:
        return self.pads.get_values()

    def before(self) -> tuple[int, ...]:
        """The padding before each axis."""
        return self.amounts()[::2]

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        offsets = [literal_i32(b, before) for before in self.before()]
        return b.make(ShrinkOp, g, *offsets, shape=shape_of(self.x))


OFFSET_FAILURE = "offset out of bounds"
"""The runtime error of a computed offset."""


class OffsetOp(MovementOp, ABC):
    """An op that picks a block at i32 scalar offsets, literal or computed."""

    # Restated, because xDSL takes a subclass's operands before its base's.
    x = operand_def()
    offsets = var_operand_def()

    @abstractmethod
    def bounds(self) -> Sequence[tuple[SSAValue, int]]:
        """Each offset and the greatest value that is in bounds; the least is 0."""

    def literal_offsets(self) -> tuple[int, ...] | None:
        """The offsets when all are literals, else None."""
        values = [constant_of(offset) for offset in self.offsets]
        literals = [value for value in values if isinstance(value, int)]
        return tuple(literals) if len(literals) == len(values) else None


def check_offsets(
    offsets: Sequence[SSAValue], extents: Sequence[int], sizes: Sequence[int]
) -> None:
    """Raises TypingError unless each offset is an i32 scalar and, if literal, within bounds."""
    for axis, (offset, extent, size) in enumerate(zip(offsets, extents, sizes, strict=True)):
        require_dtype(offset, axis + 1, ("i32",))
        if shape_of(offset):
            raise TypingError(
                f"offset {axis} is {spell_type(offset.type)}, but an i32 scalar is needed", axis + 1
            )
        value = constant_of(offset)
        if value is not None and not 0 <= value <= extent - size:
            raise TypingError(
                f"offset {value} is out of bounds: axis {axis} has size {extent}, "
                f"so it is 0 to {extent - size}",
                axis + 1,
            )


@irdl_op_definition
class ShrinkOp(OffsetOp):
    """`shrink x o0 o1 ... shape=[...]`: the block of that shape at the offsets."""

    name = "uir.shrink"
    SIGNATURE: ClassVar[dict[str, TextAttribute]] = {"shape": TextAttribute(Form.INTEGERS)}

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        x, *offsets = operands
        require_tensor_or_memory(x)
        found, shape = shape_of(x), tuple(attributes["shape"])
        check_shape(shape, "shape")
        if len(shape) != len(found):
            raise TypingError(
                f"`shrink` keeps the rank: {spell_shape(found)} has {len(found)} axes, "
                f"{spell_shape(shape)} has {len(shape)}",
                "shape",
            )
        if len(offsets) != len(found):
            raise TypingError(
                f"`shrink` of {spell_type(x.type)} needs {len(found)} offsets, found {len(offsets)}"
            )
        for axis, (old, new) in enumerate(zip(found, shape, strict=True)):
            if new > old:
                raise TypingError(f"`shrink` cannot grow axis {axis} from {old} to {new}", "shape")
        check_offsets(offsets, found, shape)
        return with_shape(x, shape)

    def text_attributes(self) -> dict[str, Any]:
        return {"shape": shape_of(self.result)}

    def bounds(self) -> Sequence[tuple[SSAValue, int]]:
        extents, sizes = shape_of(self.x), shape_of(self.result)
        greatest = [extent - size for extent, size in zip(extents, sizes, strict=True)]
        return list(zip(self.offsets, greatest, strict=True))

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        offsets = self.literal_offsets()
        assert offsets is not None
        pads: list[int] = []
        for offset, old, new in zip(offsets, shape_of(self.x), shape_of(self.result), strict=True):
            pads += [offset, old - offset - new]
        return b.make(PadOp, g, pads=tuple(pads))


@irdl_op_definition
class IndexOp(OffsetOp):
    """`index x j0 ...`: picks on the leading axes, which disappear."""

    name = "uir.index"

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        x, *indices = operands
        require_tensor_or_memory(x)
        shape = shape_of(x)
        if not 1 <= len(indices) <= len(shape):
            wanted = "1 index" if len(shape) == 1 else f"1 to {len(shape)} indices"
            if not shape:
                raise TypingError("`index` needs an operand with axes, found a scalar", 0)
            raise TypingError(
                f"`index` of {spell_type(x.type)} needs {wanted}, found {len(indices)}"
            )
        check_offsets(indices, shape[: len(indices)], [1] * len(indices))
        return with_shape(x, shape[len(indices) :])

    def bounds(self) -> Sequence[tuple[SSAValue, int]]:
        return [(j, dim - 1) for j, dim in zip(self.offsets, shape_of(self.x), strict=False)]

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        """`pad` of `g` back to its place."""
        indices = self.literal_offsets()
        assert indices is not None
        shape = shape_of(self.x)
        rest = shape[len(indices) :]
        pads: list[int] = []
        for j, dim in zip(indices, shape, strict=False):
            pads += [j, dim - 1 - j]
        g = b.make(ReshapeOp, g, shape=(1,) * len(indices) + rest)
        return b.make(PadOp, g, pads=(*pads, *[0] * (2 * len(rest))))


@irdl_op_definition
class StackOp(UirOp):
    """`stack a0 ... an`: a new leading axis over values of one type."""

    name = "uir.stack"
    values = var_operand_def()
    traits = traits_def(Pure())

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        if not operands:
            raise TypingError("`stack` needs at least one operand")
        for number, operand in enumerate(operands):
            require_value(operand, number)
        require_same_dtype(operands)
        shape = shape_of(operands[0])
        for number, operand in enumerate(operands):
            if shape_of(operand) != shape:
                raise TypingError(
                    "operands of `stack` have different shapes: "
                    f"{spell_shape(shape)} and {spell_shape(shape_of(operand))}",
                    number,
                )
        stacked = (len(operands), *shape)
        check_shape(stacked)
        return tensor_type(dtype_of(operands[0]), stacked)

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        return b.make(IndexOp, g, literal_i32(b, operand))


def literal_like(b: NodeBuilder, value: Scalar, like: SSAValue) -> SSAValue:
    """The literal `value` in the dtype of `like`, expanded to its shape unless it is a scalar."""
    data = literal_attr(dtype_of(like), value).data
    literal = b.make(ConstantOp, value=data)
    return b.make(ExpandOp, literal, shape=shape_of(like)) if shape_of(like) else literal
