"""Sugar: ops that mean their expansion into core ops (week 6, section 3), and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, traits_def
from xdsl.traits import Pure

from dialects.uir.base import Attributes, NodeBuilder, TypingError, UirOp
from dialects.uir.elementwise import AddOp, CmpltOp, MaxOp, MulOp, RecipOp, WhereOp, XorOp
from dialects.uir.math import LN2, Exp2Op, Log2Op, UnaryF32Op
from dialects.uir.movement import ExpandOp, PermuteOp, ReshapeOp, literal_like
from dialects.uir.reduce import ReduceOp
from dialects.uir.requirements import (
    check_shape,
    require_dtype,
    require_same_dtype,
    require_same_shape,
)
from dialects.uir.types import dtype_of, shape_of, spell_type, tensor_type

LOG2_E = 1.442695


class SugarOp(UirOp, ABC):
    """An op that `expand-sugar` replaces."""

    traits = traits_def(Pure())

    @abstractmethod
    def expand(self, b: NodeBuilder) -> SSAValue:
        """The value that this op means, built from core ops."""


class UnaryNumberOp(SugarOp, ABC):
    """Sugar of one i32 or f32."""

    x = operand_def()

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        require_dtype(operands[0], 0, ("i32", "f32"))
        return operands[0].type


class BinarySugarOp(SugarOp, ABC):
    """Sugar of two values of one shape and dtype."""

    lhs = operand_def()
    rhs = operand_def()

    @classmethod
    def check(cls, operands: Sequence[SSAValue], accepted: Sequence[str]) -> None:
        for number, operand in enumerate(operands):
            require_dtype(operand, number, accepted)
        require_same_dtype(operands)
        require_same_shape(operands)


@irdl_op_definition
class NegOp(UnaryNumberOp):
    """`neg x`: `mul x -1`."""

    name = "uir.neg"

    def expand(self, b: NodeBuilder) -> SSAValue:
        return b.make(MulOp, self.x, literal_like(b, -1, self.x))


@irdl_op_definition
class SubOp(BinarySugarOp):
    """`sub a b`: `add a (neg b)`."""

    name = "uir.sub"

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        cls.check(operands, ("i32", "f32"))
        return operands[0].type

    def expand(self, b: NodeBuilder) -> SSAValue:
        negated = b.make(MulOp, self.rhs, literal_like(b, -1, self.rhs))
        return b.make(AddOp, self.lhs, negated)


@irdl_op_definition
class FdivOp(BinarySugarOp):
    """`fdiv a b`: `mul a (recip b)`, which rounds twice."""

    name = "uir.fdiv"

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        cls.check(operands, ("f32",))
        return operands[0].type

    def expand(self, b: NodeBuilder) -> SSAValue:
        return b.make(MulOp, self.lhs, b.make(RecipOp, self.rhs))


@irdl_op_definition
class ReluOp(UnaryNumberOp):
    """`relu x`: `max x 0`."""

    name = "uir.relu"

    def expand(self, b: NodeBuilder) -> SSAValue:
        return b.make(MaxOp, self.x, literal_like(b, 0, self.x))


@irdl_op_definition
class ExpOp(SugarOp, UnaryF32Op):
    """`exp x`: `exp2 (mul x 1.442695)`."""

    name = "uir.exp"

    def expand(self, b: NodeBuilder) -> SSAValue:
        return b.make(Exp2Op, b.make(MulOp, self.x, literal_like(b, LOG2_E, self.x)))


@irdl_op_definition
class LogOp(SugarOp, UnaryF32Op):
    """`log x`: `mul (log2 x) 0.6931472`."""

    name = "uir.log"

    def expand(self, b: NodeBuilder) -> SSAValue:
        logarithm = b.make(Log2Op, self.x)
        return b.make(MulOp, logarithm, literal_like(b, LN2, logarithm))


@irdl_op_definition
class FloorOp(UnaryF32Op):
    """`floor x`: the program of its name in `bodies`."""

    name = "uir.floor"


@irdl_op_definition
class CmpeqOp(BinarySugarOp):
    """`cmpeq a b`: whether two i32 or two bool are equal."""

    name = "uir.cmpeq"

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        for number, operand in enumerate(operands):
            try:
                require_dtype(operand, number, ("i32", "bool"))
            except TypingError as error:
                if "f32" in error.message:
                    error.help = "a NaN is neither less nor greater, so f32 has no `cmpeq`"
                raise
        cls.check(operands, ("i32", "bool"))
        return tensor_type(i1, shape_of(operands[0]))

    def expand(self, b: NodeBuilder) -> SSAValue:
        lhs, rhs = self.lhs, self.rhs
        true = literal_like(b, True, self.result)
        if dtype_of(lhs) == i1:
            return b.make(XorOp, b.make(XorOp, lhs, rhs), true)
        false = literal_like(b, False, self.result)
        not_greater = b.make(WhereOp, b.make(CmpltOp, rhs, lhs), false, true)
        return b.make(WhereOp, b.make(CmpltOp, lhs, rhs), false, not_greater)


@irdl_op_definition
class MatmulOp(SugarOp):
    """`matmul A B`: the product of `M x K` and `K x N`, summed over K in order."""

    name = "uir.matmul"
    lhs = operand_def()
    rhs = operand_def()

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        for number, operand in enumerate(operands):
            require_dtype(operand, number, ("i32", "f32"))
            if len(shape_of(operand)) != 2:
                raise TypingError(
                    f"operand {number + 1} of `matmul` is {spell_type(operand.type)}, "
                    "but two axes are needed",
                    number,
                )
        require_same_dtype(operands)
        (m, k), (inner, n) = (shape_of(operand) for operand in operands)
        if k != inner:
            raise TypingError(
                f"`matmul` of {spell_type(operands[0].type)} and {spell_type(operands[1].type)}: "
                f"the inner dimensions {k} and {inner} differ",
                1,
            )
        check_shape((k, m, n))
        return tensor_type(dtype_of(operands[0]), (m, n))

    def expand(self, b: NodeBuilder) -> SSAValue:
        (m, k), (_, n) = shape_of(self.lhs), shape_of(self.rhs)
        lhs = b.make(ReshapeOp, self.lhs, shape=(m, k, 1))
        lhs = b.make(PermuteOp, lhs, order=(1, 0, 2))
        lhs = b.make(ExpandOp, lhs, shape=(k, m, n))
        rhs = b.make(ReshapeOp, self.rhs, shape=(k, 1, n))
        rhs = b.make(ExpandOp, rhs, shape=(k, m, n))
        return b.make(ReduceOp, b.make(MulOp, lhs, rhs), op="add", pop=1)
