"""What a run does when: the order of ops, when values are freed, and what is never held.

An op is *open* when it depends on a param that no call has replaced: it has a value only in a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from dialects.uir.elementwise import ElementwiseOp, SameValueOp
from dialects.uir.functions import CallOp, open_operands, open_values
from dialects.uir.loops import ForOp
from dialects.uir.math import UnaryF32Op
from dialects.uir.movement import PermuteOp
from dialects.uir.reduce import ReduceOp
from dialects.uir.sugar import SugarOp
from dialects.uir.types import is_value, size_of

LARGE = 1 << 20
"""Values of more elements than this, of which only one `reduce` reads, are not held."""


@dataclass(frozen=True)
class Schedule:
    """Ops to run in order, and after each the values of them that are not used any more."""

    ops: Sequence[Operation]
    dying: Sequence[Sequence[SSAValue]]


class Plan:
    """The schedules of a module: of its blocks, without open ops, and of the bodies of calls."""

    def __init__(self, module: ModuleOp):
        self.ops = list(module.body.block.walk())
        self.open = open_values(self.ops)
        self.deferred = deferred_ops(self.ops)
        self._positions = {op: number for number, op in enumerate(self.ops)}
        self._captured = _captured_values(self.ops)
        # What a call or its body reads is needed whenever the call runs.
        self._kept = {op.body for op in self.ops if isinstance(op, CallOp)}
        self._kept |= {v for op in self.ops if self.is_open(op) for v in op.operands}
        self._blocks: dict[Block, Schedule] = {}
        self._bodies: dict[SSAValue, Schedule] = {}

    def is_open(self, op: Operation) -> bool:
        return any(result in self.open for result in op.results)

    def block(self, block: Block) -> Schedule:
        """The ops of `block` itself that are not open."""
        schedule = self._blocks.get(block)
        if schedule is None:
            ops = [op for op in block.ops if not self.is_open(op)]
            schedule = self._blocks[block] = self._schedule(ops, self._kept)
        return schedule

    def body(self, value: SSAValue) -> Schedule:
        """The open ops that give `value`, once its params have theirs."""
        schedule = self._bodies.get(value)
        if schedule is None:
            found: set[Operation] = set()
            values = [value]
            while values:
                current = values.pop()
                op = current.owner
                if current in self.open and isinstance(op, Operation) and op not in found:
                    found.add(op)
                    values += open_operands(op)
            ops = sorted(found, key=self._positions.__getitem__)
            schedule = self._bodies[value] = self._schedule(ops, {value})
        return schedule

    def called_bodies(self) -> list[SSAValue]:
        """The values that calls evaluate, each after those that it calls itself."""
        bodies = {op.body for op in self.ops if isinstance(op, CallOp)} & self.open
        return sorted(bodies, key=lambda value: self._positions[_producer(value)])

    def _schedule(self, ops: Sequence[Operation], kept: set[SSAValue]) -> Schedule:
        """The schedule of `ops`, which keeps the values of `kept` to the end."""
        own = {result for op in ops for result in op.results}
        seen = set(kept)
        dying: list[list[SSAValue]] = []
        for op in reversed(ops):
            used = {*op.operands, *op.results, *self._captured.get(op, ())}
            last = [value for value in used if value in own and value not in seen]
            seen.update(last)
            dying.append(last)
        return Schedule(ops, dying[::-1])


def _producer(value: SSAValue) -> Operation:
    assert isinstance(value.owner, Operation)
    return value.owner


def _captured_values(ops: Iterable[Operation]) -> dict[Operation, set[SSAValue]]:
    """What the ops inside each loop read."""
    captured: dict[Operation, set[SSAValue]] = {}
    for op in ops:
        loop = op.parent_op()
        while isinstance(loop, ForOp):
            captured.setdefault(loop, set()).update(op.operands)
            loop = loop.parent_op()
    return captured


def deferred_ops(ops: Sequence[Operation]) -> frozenset[Operation]:
    """The large elementwise ops of which, through others like them, one `reduce` alone reads."""
    readers: dict[Operation, Operation] = {}
    for op in reversed(ops):
        if not _is_deferrable(op):
            continue
        users = {use.operation for use in op.results[0].uses}
        found = {user if isinstance(user, ReduceOp) else readers.get(user) for user in users}
        # In a loop that the op is not in, the same blocks would be evaluated many times.
        if len(found) == 1 and (reader := found.pop()) is not None and reader.parent is op.parent:
            readers[op] = reader
    return frozenset(readers)


def _is_deferrable(op: Operation) -> bool:
    """Whether a block of the result of `op` needs blocks of its operands, and can't fail."""
    if isinstance(op, ElementwiseOp) and op.can_fail():
        return False
    scalar = isinstance(op, ElementwiseOp | UnaryF32Op) and not isinstance(op, SugarOp)
    if not scalar and not isinstance(op, SameValueOp | PermuteOp):
        return False
    return is_value(op.results[0].type) and size_of(op.results[0]) > LARGE
