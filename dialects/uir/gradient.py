"""`gradient`, and which nodes lie on a path from `x` to `y`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, traits_def
from xdsl.traits import Pure

from dialects.uir.base import Attributes, TypingError, UirOp
from dialects.uir.constants import ConstantOp
from dialects.uir.functions import CallOp
from dialects.uir.loops import ForOp, ancestor_in
from dialects.uir.memory import LoadOp
from dialects.uir.movement import OffsetOp
from dialects.uir.nodes import Nodes
from dialects.uir.reduce import ReduceOp
from dialects.uir.requirements import require_value
from dialects.uir.types import dtype_of, shape_of, spell_type


@irdl_op_definition
class GradientOp(UirOp):
    """`gradient y x`: the derivative of the f32 scalar `y` with respect to `x`, in `x`'s shape."""

    name = "uir.gradient"
    y = operand_def()
    x = operand_def()
    traits = traits_def(Pure())

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        y, x = operands
        for number, operand in enumerate(operands):
            require_value(operand, number)
        if dtype_of(y) != f32 or shape_of(y):
            raise TypingError(
                f"`gradient` needs an f32 scalar to differentiate, found {spell_type(y.type)}",
                0,
                "`reduce` it first" if shape_of(y) else None,
            )
        if dtype_of(x) != f32:
            raise TypingError(
                f"`gradient` is with respect to an f32 value, found {spell_type(x.type)}", 1
            )
        if isinstance(x.owner, ConstantOp):
            raise TypingError(
                "`gradient` with respect to a literal: equal literals are one node, "
                "so it would mean each of them",
                1,
            )
        return x.type


@dataclass
class NotDifferentiable(Exception):
    """A path of `gradient` leads through an op that has no rule."""

    op: Operation
    message: str


def path_between(x: SSAValue, y: SSAValue, nodes: Nodes) -> list[Operation]:
    """The nodes on a path from `x` to `y`, in the post-order of a walk from `y`.

    A walk over all of `y`'s graph finishes these nodes in this order too, because no other node
    leads to one of them. Empty when `y` does not depend on `x`; never includes `x`'s own node.
    The cost is the number of nodes between `x` and `y`, however long the program is.
    """
    if x is y or not isinstance(y.owner, Operation):
        return []
    reached = _users_up_to(x, y.owner, nodes)
    if y.owner not in reached:
        return []
    order: list[Operation] = []
    seen = {y.owner}
    stack = [(y.owner, iter(y.owner.operands))]
    while stack:
        op, operands = stack[-1]
        for operand in operands:
            producer = operand.owner
            if producer in reached and producer not in seen:
                assert isinstance(producer, Operation)
                seen.add(producer)
                stack.append((producer, iter(producer.operands)))
                break
        else:
            order.append(op)
            stack.pop()
    return order


def _users_up_to(x: SSAValue, last: Operation, nodes: Nodes) -> set[Operation]:
    """The nodes that depend on `x` and stand no later than `last`; a loop is one node."""
    end = nodes.position(last)
    assert end is not None
    assert last.parent is not None
    reached: set[Operation] = set()
    values = [x]
    while values:
        for use in values.pop().uses:
            position = nodes.position(use.operation)
            if position is None or position > end:
                continue
            user = ancestor_in(last.parent, use.operation)
            if user is not None and user not in reached:
                reached.add(user)
                values += user.results
    return reached


def check_path(path: Sequence[Operation]) -> None:
    """Raises NotDifferentiable for the first op of `path` that `gradient` cannot pass."""
    for op in path:
        if isinstance(op, ForOp):
            raise NotDifferentiable(op, "a loop has no gradient")
        if isinstance(op, CallOp):
            raise NotDifferentiable(op, "a `call` has no gradient")
        if isinstance(op, LoadOp):
            raise NotDifferentiable(op, "a `load` has no gradient")
        if isinstance(op, ReduceOp) and op.kind.data == "mul":
            raise NotDifferentiable(op, "`reduce op=mul` has no gradient")
        if isinstance(op, OffsetOp) and op.literal_offsets() is None:
            raise NotDifferentiable(op, f"`{op.spelling()}` with computed offsets has no gradient")
