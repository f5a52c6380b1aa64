"""`reduce`: ordered folds over leading axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import StringAttr, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def

from dialects.prog import Monoid
from dialects.uir.base import Attributes, Form, NodeBuilder, TextAttribute, TypingError
from dialects.uir.elementwise import CastOp, CmpltOp, MulOp, RecipOp, XorOp
from dialects.uir.movement import ExpandOp, MovementOp, ReshapeOp, literal_like
from dialects.uir.requirements import require_value
from dialects.uir.types import DTYPE_NAMES, dtype_of, shape_of, spell_type, tensor_type

REDUCTIONS: dict[str, tuple[str, ...]] = {
    "add": ("i32", "f32"),
    "mul": ("i32", "f32", "bool"),
    "max": ("i32", "f32", "bool"),
}
"""The dtypes of each `reduce op=`."""

MONOIDS = {"add": Monoid.SUM, "mul": Monoid.PRODUCT, "max": Monoid.MAX}
"""What each `reduce op=` folds with."""


@irdl_op_definition
class ReduceOp(MovementOp):
    """`reduce x op=add|mul|max pop=m`: an ordered left fold over the `m` leading axes."""

    name = "uir.reduce"
    SIGNATURE: ClassVar[dict[str, TextAttribute]] = {
        "op": TextAttribute(Form.WORD),
        "pop": TextAttribute(Form.INTEGER),
    }
    kind = prop_def(StringAttr)

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        (x,) = operands
        require_value(x, 0)
        kind, pop = attributes["op"], attributes["pop"]
        if kind not in REDUCTIONS:
            raise TypingError(f"`op` is add, mul or max, found `{kind}`", "op")
        if DTYPE_NAMES[dtype_of(x)] not in REDUCTIONS[kind]:
            accepted = " or ".join(REDUCTIONS[kind])
            raise TypingError(f"`op={kind}` takes {accepted}, found {spell_type(x.type)}", 0)
        shape = shape_of(x)
        if not 1 <= pop <= len(shape):
            wanted = {0: "for a value with axes", 1: "1"}.get(len(shape), f"1 to {len(shape)}")
            raise TypingError(f"`pop` of {spell_type(x.type)} is {wanted}, found {pop}", "pop")
        return tensor_type(dtype_of(x), shape[pop:])

    @classmethod
    def properties_of(cls, attributes: Attributes) -> dict[str, Attribute]:
        return {"kind": StringAttr(attributes["op"])}

    def text_attributes(self) -> dict[str, Any]:
        return {"op": self.kind.data, "pop": self.pop()}

    def pop(self) -> int:
        """The number of leading axes that are folded away."""
        return len(shape_of(self.x)) - len(shape_of(self.result))

    def _spread(self, value: SSAValue, b: NodeBuilder) -> SSAValue:
        """`value`, of the result's shape, repeated over the folded axes."""
        kept = (1,) * self.pop() + shape_of(self.result)
        return b.make(ExpandOp, b.make(ReshapeOp, value, shape=kept), shape=shape_of(self.x))

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue:
        """`g` repeated for a sum; for a maximum divided among the elements that reach it."""
        if self.kind.data == "add":
            return self._spread(g, b)
        below = b.make(CmpltOp, self.x, self._spread(self.result, b))
        reached = b.make(XorOp, below, literal_like(b, True, below))
        hit = b.make(CastOp, reached, dtype=f32)
        count = b.make(ReduceOp, hit, op="add", pop=self.pop())
        scaled = b.make(MulOp, g, b.make(RecipOp, count))
        return b.make(MulOp, self._spread(scaled, b), hit)
