"""`rematerialize`: what is cheap is computed again instead of being kept for a long time.

    %a = uir.cmplt %x, %y                  %a = uir.cmplt %x, %y
    ...                                    ...
    uses of %a                     ->      uses of %a
    ... 500 ops that don't use %a          ...
    uses of %a                             %b = uir.cmplt %x, %y
                                           uses of %b

Equal statements are one node, so the second epoch of a training program uses what the first one has
computed of the same data. Kept until then, that takes memory for each batch of an epoch; computed
again, each step takes what one step takes, and looks like the others.

Left alone are reductions, `stage`, calls, and what reads memory that is stored to later.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from dialects.uir.base import UirOp
from dialects.uir.constants import ConstantOp
from dialects.uir.elementwise import StageOp
from dialects.uir.functions import FunctionOp
from dialects.uir.memory import LoadOp, buffer_of
from dialects.uir.movement import MovementOp, StackOp
from dialects.uir.nodes import stored_buffers
from dialects.uir.types import is_value
from passes.kernel_plan import is_pointwise, weight_of
from passes.node_driver import forget_order

CHEAP = 64
"""The most that an element may cost, in additions and ops."""


class _Rematerializer:
    """One walk over a block, in which a value is copied where it has not been used for long."""

    def __init__(self, block: Block, distance: int):
        self.block = block
        self.distance = distance
        self.costs: dict[SSAValue, int] = {}
        """What may be computed again, with its cost; literals and loads, at 0, stay one node."""
        self.copies: dict[SSAValue, SSAValue] = {}
        """The last copy of each value that has one."""
        self.originals: dict[SSAValue, SSAValue] = {}
        self.last_use: dict[SSAValue, int] = {}
        self.last_store: dict[SSAValue, int] = {}

    def run(self) -> None:
        ops = list(self.block.ops)
        for position, op in enumerate(ops):
            self.last_store.update((buffer, position) for buffer in stored_buffers(op))
        for position, op in enumerate(ops):
            if isinstance(op, FunctionOp):
                continue
            for user in op.walk():
                for number, operand in enumerate(user.operands):
                    value = self.near(operand, op, position)
                    if value is not operand:
                        user.operands[number] = value
            if isinstance(op, UirOp) and (cost := self.cost(op, position)) is not None:
                self.costs[op.result] = cost
                self.last_use[op.result] = position

    def cost(self, op: UirOp, position: int) -> int | None:
        """What computing `op` again costs; None if it is too much, or may give another value."""
        if isinstance(op, ConstantOp):
            return 0
        if isinstance(op, LoadOp):
            return 0 if self.last_store.get(buffer_of(op.memory), -1) < position else None
        is_movement = isinstance(op, MovementOp | StackOp) and is_value(op.result.type)
        if not is_movement and (not is_pointwise(op) or isinstance(op, StageOp)):
            return None
        cost = 1 + weight_of(op)
        for operand in op.operands:
            operand_cost = self.costs.get(self.originals.get(operand, operand))
            if operand_cost is None:
                return None
            cost += operand_cost
        return cost if cost <= CHEAP else None

    def near(self, value: SSAValue, before: Operation, position: int) -> SSAValue:
        """`value`, or its last copy; a new one where neither has been used for long."""
        if not self.costs.get(value):
            return value
        is_near = position - self.last_use[value] <= self.distance
        self.last_use[value] = position
        if not is_near:
            op = value.owner
            assert isinstance(op, UirOp)
            originals = [self.originals.get(operand, operand) for operand in op.operands]
            copy = type(op).create(
                operands=[self.near(operand, before, position) for operand in originals],
                result_types=[op.result.type],
                properties=op.properties,
                location=op.location,
            )
            copy.result.name_hint = op.result.name_hint
            self.block.insert_op_before(copy, before)
            self.copies[value] = copy.result
            self.originals[copy.result] = value
        return self.copies.get(value, value)


@dataclass(frozen=True)
class RematerializePass(ModulePass):
    """Computes a cheap value again that has not been used for more than `distance` ops."""

    name = "rematerialize"
    distance: int = 500

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        forget_order(op.body.block)
        _Rematerializer(op.body.block, self.distance).run()
