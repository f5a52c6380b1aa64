"""Runs a program on the `uir` level: what `uir run` does, and the oracle of the other levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation, SSAValue

from dialects.uir.elementwise import SameValueOp
from dialects.uir.functions import CallOp, ParamOp, ResultOp
from dialects.uir.memory import BufferOp, StoreOp, buffer_of
from dialects.uir.movement import PermuteOp, ReduceOp
from dialects.uir.types import dtype_of, is_value, size_of, spell_type
from passes.node_driver import remove_dead_nodes
from uir.runtime.failure import TooLarge
from uir.runtime.interpreters.memory import ELEMENTS, Array
from uir.runtime.interpreters.uir import SCALAR_OPS, UirFunctions
from uir.runtime.needs import (
    MAX_ELEMENTS,
    available_bytes,
    bytes_of,
    peak_of,
    spell_bytes,
)

LARGE = 1 << 20
"""Values of more elements than this, of which only one `reduce` reads, are not held."""

_SMALL_RUN = 1 << 28
"""Bytes that any machine has."""


@dataclass(frozen=True)
class Outcome:
    """What a run leaves: the result, if the last statement is a value, and the stored slots."""

    result: npt.NDArray[Any] | None
    slots: dict[int, npt.NDArray[Any]]


def interpret(module: ModuleOp, contents: Mapping[int, Array | bytes]) -> Outcome:
    """Runs `module`, a valid program in core ops, from which its dead statements are removed.

    `contents` has the elements of slots at the start, as arrays of the buffer's dtype and size or
    as little-endian bytes; they are copied, and the other slots are zeros. Raises RuntimeFailure,
    and TooLarge before anything is allocated.
    """
    block = module.body.block
    remove_dead_nodes(block)
    ops = list(block.ops)
    plan = _Plan(ops)
    plan.check_needs()
    buffers = {op.slot.value.data: op for op in ops if isinstance(op, BufferOp)}
    arrays = {
        slot: _initial(op, contents.get(slot))
        for slot, op in buffers.items()
        if op.result.first_use is not None
    }
    result = _Machine(module, plan, arrays).run()
    stored = {
        buffer.owner.slot.value.data
        for op in ops
        if isinstance(op, StoreOp) and isinstance((buffer := buffer_of(op.memory)).owner, BufferOp)
    }
    return Outcome(result, {slot: arrays[slot] for slot in sorted(stored)})


def _initial(op: BufferOp, content: Array | bytes | None) -> Array:
    """A new flat array with the buffer's elements at the start."""
    dtype = ELEMENTS[dtype_of(op.result)]
    if content is None:
        return np.zeros(size_of(op.result), dtype)
    if isinstance(content, bytes):
        content = np.frombuffer(content, dtype.newbyteorder("<"))
    return content.astype(dtype).reshape(-1)


@dataclass(frozen=True)
class _Schedule:
    """Ops to run in order, and after each the values of them that are not used any more."""

    ops: Sequence[Operation]
    dying: Sequence[Sequence[SSAValue]]

    @staticmethod
    def of(ops: Sequence[Operation], kept: set[SSAValue]) -> _Schedule:
        """The schedule of `ops`, which keeps the values of `kept` to the end."""
        seen = set(kept)
        own = {result for op in ops for result in op.results}
        dying: list[list[SSAValue]] = []
        for op in reversed(ops):
            last = [value for value in {*op.operands, *op.results} if value not in seen]
            seen.update(last)
            dying.append([value for value in last if value in own])
        return _Schedule(ops, dying[::-1])


class _Plan:
    """Which ops are the program's own, which are of the bodies of calls, and what is not held.

    An op is open when it depends on a param that no call has replaced: it has a value only in one.
    """

    def __init__(self, ops: Sequence[Operation]):
        self.ops = ops
        self.open = _open_values(ops)
        self.deferred = _deferred(ops)
        self._positions = {op: number for number, op in enumerate(ops)}
        self._bodies: dict[SSAValue, _Schedule] = {}
        own = [op for op in ops if not any(result in self.open for result in op.results)]
        used = {v for op in set(ops).difference(own) for v in op.operands}
        used |= {op.body for op in ops if isinstance(op, CallOp)}
        self.main = _Schedule.of(own, used)

    def body(self, value: SSAValue) -> _Schedule:
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
                    values += op.arguments if isinstance(op, CallOp) else op.operands
            ops = sorted(found, key=self._positions.__getitem__)
            schedule = self._bodies[value] = _Schedule.of(ops, {value})
        return schedule

    def check_needs(self) -> None:
        """Raises TooLarge when the machine cannot run this."""
        for op in self.ops:
            for result in op.results:
                if is_value(result.type) and size_of(result) > MAX_ELEMENTS:
                    raise TooLarge(
                        f"the program computes {spell_type(result.type)}, which has "
                        f"{size_of(result)} elements: too many to interpret"
                    )
        bodies = [op.body for op in self.ops if isinstance(op, CallOp)]
        peaks: dict[SSAValue, int] = {}
        for body in sorted(set(bodies), key=lambda v: self._positions.get(_owner(v), -1)):
            peaks[body] = peak_of(self.body(body).ops, self.deferred, peaks)
        buffers = [op for op in self.ops if isinstance(op, BufferOp)]
        needed = peak_of(self.main.ops, self.deferred, peaks)
        needed += sum(bytes_of(op.result) for op in buffers if op.result.first_use is not None)
        if needed > _SMALL_RUN and needed > (available := available_bytes()):
            raise TooLarge(
                f"the program needs about {spell_bytes(needed)} of memory, "
                f"but only {spell_bytes(available)} are available"
            )


def _owner(value: SSAValue) -> Operation:
    assert isinstance(value.owner, Operation)
    return value.owner


def _open_values(ops: Iterable[Operation]) -> set[SSAValue]:
    """The results that depend on a param that no call has replaced."""
    found: set[SSAValue] = set()
    for op in ops:
        operands = op.arguments if isinstance(op, CallOp) else op.operands
        if isinstance(op, ParamOp) or any(operand in found for operand in operands):
            found.update(op.results)
    return found


def _deferred(ops: Sequence[Operation]) -> frozenset[Operation]:
    """The large elementwise ops of which, through others like them, one `reduce` alone reads."""
    scalar_ops = tuple(SCALAR_OPS)
    readers: dict[Operation, Operation] = {}
    for op in reversed(ops):
        if not isinstance(op, (*scalar_ops, SameValueOp, PermuteOp)):
            continue
        if not is_value(op.result.type) or size_of(op.result) <= LARGE or _can_fail(op):
            continue
        users = {use.operation for use in op.result.uses}
        found = {user if isinstance(user, ReduceOp) else readers.get(user) for user in users}
        if len(found) == 1 and (reader := found.pop()) is not None:
            readers[op] = reader
    return frozenset(readers)


def _can_fail(op: Operation) -> bool:
    can_fail = getattr(op, "can_fail", None)
    return can_fail is not None and can_fail()


@dataclass
class _Frame:
    """A schedule that is being run: the program's own, or that of a call's body."""

    schedule: _Schedule
    params: Sequence[Any] = ()
    call: CallOp | None = None
    values: dict[SSAValue, Any] = field(default_factory=dict[SSAValue, Any])
    position: int = 0


class _Machine:
    """Runs the schedules of a plan with an explicit stack of calls."""

    def __init__(self, module: ModuleOp, plan: _Plan, buffers: dict[int, Array]):
        self.plan = plan
        self.functions = UirFunctions(buffers, plan.deferred)
        self.interpreter = Interpreter(module)
        self.interpreter.register_implementations(self.functions)
        self.main = _Frame(plan.main)
        self.result: Array | None = None

    def run(self) -> Array | None:
        """The program's result, a new array, if it has one. Raises RuntimeFailure."""
        frames = [self.main]
        with np.errstate(all="ignore"):
            while frames:
                frame = frames[-1]
                if frame.position < len(frame.schedule.ops):
                    self._step(frame, frames)
                else:
                    frames.pop()
                    if frame.call is not None:
                        body = self._value(frame, frame.call.body)
                        self._finish(frames[-1], frame.call, (body,))
        return self.result

    def _step(self, frame: _Frame, frames: list[_Frame]) -> None:
        op = frame.schedule.ops[frame.position]
        args = tuple(self._value(frame, operand) for operand in self._inputs(op))
        if isinstance(op, CallOp):
            frames.append(_Frame(self.plan.body(op.body), args, op))
        elif isinstance(op, ParamOp):
            self._finish(frame, op, (frame.params[op.number()],))
        elif isinstance(op, ResultOp):
            self.result = np.array(args[0])
            self._finish(frame, op, ())
        else:
            results = self.interpreter.run_op(op, args)
            if (failure := self.functions.failure) is not None:
                raise failure
            self._finish(frame, op, results)

    @staticmethod
    def _inputs(op: Operation) -> Sequence[SSAValue]:
        return op.arguments if isinstance(op, CallOp) else op.operands

    def _value(self, frame: _Frame, value: SSAValue) -> Any:
        return frame.values[value] if value in frame.values else self.main.values[value]

    @staticmethod
    def _finish(frame: _Frame, op: Operation, results: Sequence[Any]) -> None:
        """Notes the results of `op`, and frees what is not used any more."""
        frame.values.update(zip(op.results, results, strict=True))
        for value in frame.schedule.dying[frame.position]:
            frame.values.pop(value, None)
        frame.position += 1
