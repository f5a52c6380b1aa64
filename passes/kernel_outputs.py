"""Which stored values live in a buffer of the program, until its results are written there.

A buffer that one store fills, and nothing else reads or writes, is free until then. A value of the
same elements that this store is the last to read, point by point, needs no other memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from xdsl.ir import Block, Operation, SSAValue

from dialects.uir.checks import AssertOp
from dialects.uir.memory import BufferOp, LoadOp, StoreOp, buffer_of
from dialects.uir.movement import ReshapeOp
from dialects.uir.types import dtype_of, shape_of
from passes.kernel_plan import block_of, is_pointwise
from passes.views import resolve


def free_buffers(
    block: Block, stored: Mapping[SSAValue, int], positions: Mapping[Operation, int]
) -> dict[SSAValue, BufferOp]:
    """Values of `block` to the buffers that hold them; `stored` has the last reader of each.

    A program that may stop before the store has none: its buffers keep what they hold.
    """
    ops = list(block.walk())
    if any(isinstance(op, AssertOp) for op in ops):
        return {}
    accesses = [buffer_of(op.memory) for op in ops if isinstance(op, LoadOp | StoreOp)]
    counts = Counter(accesses)
    homes: dict[SSAValue, BufferOp] = {}
    for store in block.ops:
        if not isinstance(store, StoreOp):
            continue
        buffer, value = whole_buffer(store.memory), resolve(store.value)
        if buffer is None or counts[buffer.result] > 1 or value in stored:
            continue
        for leaf in read_at_own_point(value, stored):
            is_last = block_of(leaf) is block and stored[leaf] == positions[store]
            same_shape = shape_of(leaf) == shape_of(value)
            same_dtype = dtype_of(leaf) == dtype_of(value)
            if is_last and same_shape and same_dtype and leaf not in homes:
                homes[leaf] = buffer
                break
    return homes


def whole_buffer(memory: SSAValue) -> BufferOp | None:
    """The buffer that `memory` is all of, in its order."""
    while isinstance(memory.owner, ReshapeOp):
        memory = memory.owner.x
    return memory.owner if isinstance(memory.owner, BufferOp) else None


def read_at_own_point(root: SSAValue, stored: Mapping[SSAValue, int]) -> list[SSAValue]:
    """The stored values of which each element of `root` depends on no other than its own one."""
    own: dict[SSAValue, None] = {}
    other: set[SSAValue] = set()
    pending, seen = [(root, True)], {(root, True)}
    while pending:
        value, is_own = pending.pop()
        op = value.owner
        if not isinstance(op, Operation) or isinstance(op, LoadOp):
            continue
        for operand in map(resolve, op.operands):
            step = (operand, is_own and is_pointwise(op))
            if operand not in stored:
                if step not in seen:
                    seen.add(step)
                    pending.append(step)
            elif step[1]:
                own[operand] = None
            else:
                other.add(operand)
    return [value for value in own if value not in other]
