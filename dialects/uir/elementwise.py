"""The ops that compute each element of the result from one element per operand.

`scalar` is an op's meaning as a Prog expression, read by the interpreter and the lowering. It is
total; the op `FAILS` says for which operands the language makes it a runtime error, `FAILURE`.
`share` is the op's row in the week 6 gradient table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

from xdsl.dialects.builtin import f32, i1, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, traits_def
from xdsl.traits import Pure

from dialects.prog import Dtype, E, Program
from dialects.uir.base import Attributes, Form, NodeBuilder, TextAttribute, TypingError, UirOp
from dialects.uir.movement import literal_like
from dialects.uir.requirements import (
    require_dtype,
    require_same_dtype,
    require_same_shape,
    require_value,
)
from dialects.uir.types import (
    DType,
    dtype_of,
    is_value,
    shape_of,
    tensor_type,
)

PROG_DTYPES: dict[Attribute, Dtype] = {i1: Dtype.bool, i32: Dtype.int32, f32: Dtype.float32}
"""The Prog dtype that carries each element type."""


class ElementwiseOp(UirOp, ABC):
    """An op on operands of one shape, whose result has that shape."""

    ACCEPTED: ClassVar[tuple[str, ...]]
    """The dtypes of the operands."""
    FAILS: ClassVar[type[ElementwiseOp] | None] = None
    """The op, of the same operands, that says where this one is a runtime error."""
    FAILURE: ClassVar[str | None] = None
    """The runtime error of the op, if it has one."""

    traits = traits_def(Pure())

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        for number, operand in enumerate(operands):
            require_dtype(operand, number, cls.ACCEPTED)
        require_same_dtype(operands)
        require_same_shape(operands)
        return tensor_type(cls.result_dtype(operands, attributes), shape_of(operands[0]))

    @classmethod
    def result_dtype(cls, operands: Sequence[SSAValue], attributes: Attributes) -> DType:
        return dtype_of(operands[0])

    @staticmethod
    @abstractmethod
    def scalar(operands: Sequence[E], dtype: Dtype) -> E:
        """The result, of `dtype`, at one index, total: where `fails` holds, Prog's result."""

    def can_fail(self) -> bool:
        """Whether some operands of these types make the op a runtime error."""
        return self.FAILURE is not None

    @classmethod
    def fails(cls, operands: Sequence[E]) -> E:
        """Whether the op is a runtime error on these operands; only for ops with a `FAILURE`."""
        assert cls.FAILS is not None
        return cls.FAILS.scalar(operands, Dtype.bool)


class UnaryOp(ElementwiseOp, ABC):
    x = operand_def()


class BinaryOp(ElementwiseOp, ABC):
    lhs = operand_def()
    rhs = operand_def()


@irdl_op_definition
class AddOp(BinaryOp):
    """`add a b`: the sum; i32 wraps."""

    name = "uir.add"
    ACCEPTED: ClassVar[tuple[str, ...]] = ("i32", "f32")

    @staticmethod
    def scalar(operands: Sequence[E], dtype: Dtype) -> E:
        return E.add(*operands)

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        return g


@irdl_op_definition
class MulOp(BinaryOp):
    """`mul a b`: the product; i32 wraps, bool is AND."""

    name = "uir.mul"
    ACCEPTED: ClassVar[tuple[str, ...]] = ("i32", "f32", "bool")

    @staticmethod
    def scalar(operands: Sequence[E], dtype: Dtype) -> E:
        return E.and_(*operands) if dtype is Dtype.bool else E.mul(*operands)

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        return b.make(MulOp, g, self.operands[1 - operand])


@irdl_op_definition
class MaxOp(BinaryOp):
    """`max a b`: IEEE 754-2019 `maximum` on f32, the larger i32, OR on bool."""

    name = "uir.max"
    ACCEPTED: ClassVar[tuple[str, ...]] = ("i32", "f32", "bool")

    @staticmethod
    def scalar(operands: Sequence[E], dtype: Dtype) -> E:
        return E.maximum(*operands)

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        """`where (cmplt other self) g (where (cmplt self other) 0.0 (mul g 0.5))`: ties halve."""
        mine, other = self.operands[operand], self.operands[1 - operand]
        half = b.make(MulOp, g, literal_like(b, 0.5, g))
        less = b.make(CmpltOp, mine, other)
        rest = b.make(WhereOp, less, literal_like(b, 0.0, g), half)
        return b.make(WhereOp, b.make(CmpltOp, other, mine), g, rest)


@irdl_op_definition
class CmpltOp(BinaryOp):
    """`cmplt a b`: `a < b` as bool; false when either is NaN; false < true."""

    name = "uir.cmplt"
    ACCEPTED: ClassVar[tuple[str, ...]] = ("i32", "f32", "bool")

    @classmethod
    def result_dtype(cls, operands: Sequence[SSAValue], attributes: Attributes) -> DType:
        return i1

    @staticmethod
    def scalar(operands: Sequence[E], dtype: Dtype) -> E:
        return E.less(*operands)


@irdl_op_definition
class XorOp(BinaryOp):
    """`xor a b`: exclusive or, bitwise on i32."""

    name = "uir.xor"
    ACCEPTED: ClassVar[tuple[str, ...]] = ("bool", "i32")

    @staticmethod
    def scalar(operands: Sequence[E], dtype: Dtype) -> E:
        return E.xor(*operands)


@irdl_op_definition
class DivisionFailsOp(BinaryOp):
    """Whether the divisor of a division is zero; made by `insert-checks`."""

    name = "uir.division_fails"
    ACCEPTED: ClassVar[tuple[str, ...]] = ("i32",)

    @classmethod
    def result_dtype(cls, operands: Sequence[SSAValue], attributes: Attributes) -> DType:
        return i1

    @staticmethod
    def scalar(operands: Sequence[E], dtype: Dtype) -> E:
        return E.equal(operands[1], E.const(Dtype.int32, 0))


class DivisionOp(BinaryOp, ABC):
    ACCEPTED: ClassVar[tuple[str, ...]] = ("i32",)
    FAILS: ClassVar[type[ElementwiseOp] | None] = DivisionFailsOp
    FAILURE: ClassVar[str | None] = "division by zero"

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        try:
            return super().infer_type(operands, attributes)
        except TypingError as error:
            if all(is_value(operand.type) and dtype_of(operand) == f32 for operand in operands):
                error.help = "`fdiv` divides f32"
            raise


@irdl_op_definition
class DivOp(DivisionOp):
    """`div a b`: the i32 quotient truncated toward zero."""

    name = "uir.div"

    @staticmethod
    def scalar(operands: Sequence[E], dtype: Dtype) -> E:
        return E.idiv(*operands)


@irdl_op_definition
class ModOp(DivisionOp):
    """`mod a b`: the i32 remainder, of the dividend's sign."""

    name = "uir.mod"

    @staticmethod
    def scalar(operands: Sequence[E], dtype: Dtype) -> E:
        return E.mod(*operands)


@irdl_op_definition
class RecipOp(UnaryOp):
    """`recip a`: `1 / a`, correctly rounded."""

    name = "uir.recip"
    ACCEPTED: ClassVar[tuple[str, ...]] = ("f32",)

    @staticmethod
    def scalar(operands: Sequence[E], dtype: Dtype) -> E:
        return E.recip(*operands)

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        """`mul g (mul (mul u u) -1.0)`."""
        square = b.make(MulOp, self.result, self.result)
        return b.make(MulOp, g, b.make(MulOp, square, literal_like(b, -1.0, square)))


@irdl_op_definition
class WhereOp(ElementwiseOp):
    """`where c a b`: `a` where the bool `c` is true, else `b`."""

    name = "uir.where"
    condition = operand_def()
    lhs = operand_def()
    rhs = operand_def()

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        require_dtype(operands[0], 0, ("bool",))
        for number in (1, 2):
            require_value(operands[number], number)
        require_same_dtype(operands, first=1)
        require_same_shape(operands)
        return operands[1].type

    @staticmethod
    def scalar(operands: Sequence[E], dtype: Dtype) -> E:
        return E.where(*operands)

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        """`where c g 0.0` to `a`, `where c 0.0 g` to `b`."""
        zero = literal_like(b, 0.0, g)
        lhs, rhs = (g, zero) if operand == 1 else (zero, g)
        return b.make(WhereOp, self.condition, lhs, rhs)


class ConversionOp(UnaryOp, ABC):
    """An op with a `dtype=`, which the result type stores."""

    SIGNATURE: ClassVar[dict[str, TextAttribute]] = {"dtype": TextAttribute(Form.DTYPE)}

    @classmethod
    def result_dtype(cls, operands: Sequence[SSAValue], attributes: Attributes) -> DType:
        return attributes["dtype"]

    def text_attributes(self) -> dict[str, Any]:
        return {"dtype": dtype_of(self.result)}

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue | None:
        return g if dtype_of(self.x) == dtype_of(self.result) == f32 else None


@irdl_op_definition
class CastFailsOp(UnaryOp):
    """Whether an f32 is a NaN or truncates to no i32; made by `insert-checks`."""

    name = "uir.cast_fails"
    ACCEPTED: ClassVar[tuple[str, ...]] = ("f32",)

    @classmethod
    def result_dtype(cls, operands: Sequence[SSAValue], attributes: Attributes) -> DType:
        return i1

    @staticmethod
    def scalar(operands: Sequence[E], dtype: Dtype) -> E:
        low, high = (E.const(Dtype.float32, bound) for bound in (-(2.0**31), 2.0**31))
        too_low = E.less(operands[0], low)
        return E.or_(too_low, E.xor(E.less(operands[0], high), E.const(Dtype.bool, True)))


@irdl_op_definition
class CastOp(ConversionOp):
    """`cast a dtype=`: f32 to i32 truncates; to bool is `a != 0`."""

    name = "uir.cast"
    ACCEPTED: ClassVar[tuple[str, ...]] = ("i32", "f32", "bool")
    FAILS: ClassVar[type[ElementwiseOp] | None] = CastFailsOp
    FAILURE: ClassVar[str | None] = "cast out of range"

    @staticmethod
    def scalar(operands: Sequence[E], dtype: Dtype) -> E:
        return E.cast(dtype, operands[0])

    def can_fail(self) -> bool:
        return dtype_of(self.x) == f32 and dtype_of(self.result) == i32


@irdl_op_definition
class BitcastOp(ConversionOp):
    """`bitcast a dtype=`: the same 32 bits, where any NaN is 0x7fc00000."""

    name = "uir.bitcast"
    ACCEPTED: ClassVar[tuple[str, ...]] = ("i32", "f32")

    @classmethod
    def result_dtype(cls, operands: Sequence[SSAValue], attributes: Attributes) -> DType:
        if attributes["dtype"] == i1:
            raise TypingError("`bitcast` gives i32 or f32, not bool", "dtype")
        return attributes["dtype"]

    @staticmethod
    def scalar(operands: Sequence[E], dtype: Dtype) -> E:
        (x,) = operands
        if x.dtype is not Dtype.float32 or dtype is not Dtype.int32:
            return E.bitcast(dtype, x) if x.dtype is not dtype else x
        nan = E.const(Dtype.int32, 0x7FC00000)
        return E.where(E.equal(x, x), E.bitcast(dtype, x), nan)


class SameValueOp(UirOp, ABC):
    """An op whose result is its operand."""

    x = operand_def()
    traits = traits_def(Pure())

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        require_value(operands[0], 0)
        return operands[0].type


@irdl_op_definition
class DetachOp(SameValueOp):
    """`detach x`: the same value, through which no gradient flows."""

    name = "uir.detach"


@irdl_op_definition
class StageOp(SameValueOp):
    """`stage x`: the same value, computed once and kept in a buffer."""

    name = "uir.stage"

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        return b.make(StageOp, g)


def inputs(dtypes: Sequence[Dtype]) -> list[E]:
    """The operands of a program over `dtypes`, as expressions."""
    return [E.input(number, dtype) for number, dtype in enumerate(dtypes)]


@cache
def program_of_kind(kind: type[ElementwiseOp], ins: tuple[Dtype, ...], out: Dtype) -> Program:
    """The meaning of an op of `kind`, on operands of dtypes `ins`, as a program."""
    return Program.of_exprs(ins, [kind.scalar(inputs(ins), out)])


@cache
def failure_of_kind(kind: type[ElementwiseOp], ins: tuple[Dtype, ...]) -> Program:
    """On which operands of dtypes `ins` an op of `kind`, which can fail, is a runtime error."""
    return Program.of_exprs(ins, [kind.fails(inputs(ins))])


def prog_dtypes(op: UirOp) -> tuple[Dtype, ...]:
    """The Prog dtypes of the operands of `op`, which are values."""
    return tuple(PROG_DTYPES[dtype_of(operand)] for operand in op.operands)
