"""The four math ops, each defined by the `.uir` program of its name in `bodies`."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from importlib.resources import files

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, traits_def
from xdsl.traits import Pure

from dialects.uir.base import Attributes, NodeBuilder, UirOp
from dialects.uir.elementwise import AddOp, MulOp, RecipOp
from dialects.uir.movement import literal_like
from dialects.uir.requirements import require_dtype

LN2 = 0.6931472
HALF_PI = 1.5707964

_BODIES = files("dialects.uir").joinpath("bodies")


class UnaryF32Op(UirOp, ABC):
    """An elementwise op on f32."""

    x = operand_def()
    traits = traits_def(Pure())

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        require_dtype(operands[0], 0, ("f32",))
        return operands[0].type


def body_text(op: type[UirOp]) -> str:
    """The `.uir` program that defines `op` on scalars, with its operand as `param 0`."""
    return _BODIES.joinpath(f"{op.spelling()}.uir").read_text()


def kernel_body_text(op: type[MathOp]) -> str:
    """A program like that of `body_text`, with the same bits at every operand, in fewer operations:
    those count in kernels."""
    return _BODIES.joinpath(f"kernels/{op.spelling()}.uir").read_text()


class MathOp(UnaryF32Op, ABC):
    """An op that stays whole until gradients are taken."""


@irdl_op_definition
class Exp2Op(MathOp):
    """`exp2 x`: 2 to the power x."""

    name = "uir.exp2"

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        """`mul g (mul u 0.6931472)`."""
        u = self.result
        return b.make(MulOp, g, b.make(MulOp, u, literal_like(b, LN2, u)))


@irdl_op_definition
class Log2Op(MathOp):
    """`log2 x`: the logarithm of x to base 2."""

    name = "uir.log2"

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        """`mul g (recip (mul a 0.6931472))`."""
        scaled = b.make(MulOp, self.x, literal_like(b, LN2, self.x))
        return b.make(MulOp, g, b.make(RecipOp, scaled))


@irdl_op_definition
class SqrtOp(MathOp):
    """`sqrt x`: the square root."""

    name = "uir.sqrt"

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        """`mul g (recip (mul u 2.0))`."""
        u = self.result
        return b.make(MulOp, g, b.make(RecipOp, b.make(MulOp, u, literal_like(b, 2.0, u))))


@irdl_op_definition
class SinOp(MathOp):
    """`sin x`: the sine of x radians."""

    name = "uir.sin"

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        """`mul g (sin (add a 1.5707964))`."""
        shifted = b.make(AddOp, self.x, literal_like(b, HALF_PI, self.x))
        return b.make(MulOp, g, b.make(SinOp, shifted))
