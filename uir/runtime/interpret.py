"""Runs a program on the `uir` level: what `uir run` does, and the oracle of the other levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation, SSAValue

from dialects.uir.functions import CallOp, ParamOp, ResultOp, open_operands
from dialects.uir.loops import ForOp
from dialects.uir.memory import BufferOp, StoreOp, buffer_of
from dialects.uir.types import dtype_of, size_of
from passes.node_driver import remove_dead_nodes
from uir.runtime.interpreters.memory import ELEMENTS, Array
from uir.runtime.interpreters.uir import UirFunctions
from uir.runtime.needs import check_needs
from uir.runtime.plan import Plan, Schedule


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
    remove_dead_nodes(module.body.block)
    plan = Plan(module)
    check_needs(plan, module)
    buffers = [op for op in plan.ops if isinstance(op, BufferOp)]
    arrays = {
        op.slot.value.data: _initial(op, contents.get(op.slot.value.data))
        for op in buffers
        if op.result.first_use is not None
    }
    result = _Machine(module, plan, arrays).run()
    stored = {buffer_of(op.memory) for op in plan.ops if isinstance(op, StoreOp)}
    slots = sorted(op.slot.value.data for op in buffers if op.result in stored)
    return Outcome(result, {slot: arrays[slot] for slot in slots})


def _initial(op: BufferOp, content: Array | bytes | None) -> Array:
    """A new flat array with the buffer's elements at the start."""
    dtype = ELEMENTS[dtype_of(op.result)]
    if content is None:
        return np.zeros(size_of(op.result), dtype)
    if isinstance(content, bytes):
        content = np.frombuffer(content, dtype.newbyteorder("<"))
    return content.astype(dtype).reshape(-1)


@dataclass
class _Frame:
    """A schedule that is being run: the program's, that of a loop, or that of a call's body."""

    schedule: Schedule
    around: _Frame | None = None
    """The frame that has the values that the schedule does not."""
    origin: Operation | None = None
    """The loop or call that is being run."""
    params: Sequence[Any] = ()
    turn: int = 0
    turns: int = 1
    values: dict[SSAValue, Any] = field(default_factory=dict[SSAValue, Any])
    position: int = 0

    def value(self, value: SSAValue) -> Any:
        frame = self
        while value not in frame.values:
            assert frame.around is not None
            frame = frame.around
        return frame.values[value]

    def finish(self, op: Operation, results: Sequence[Any]) -> None:
        """Notes the results of `op`, and frees what is not used any more."""
        self.values.update(zip(op.results, results, strict=True))
        for value in self.schedule.dying[self.position]:
            self.values.pop(value, None)
        self.position += 1

    def start_turn(self) -> None:
        """Begins the turn number `turn` of a loop."""
        assert isinstance(self.origin, ForOp)
        self.values = {self.origin.index: np.array(self.turn, np.int32)}
        self.position = 0


class _Machine:
    """Runs the schedules of a plan with an explicit stack of loops and calls."""

    def __init__(self, module: ModuleOp, plan: Plan, buffers: dict[int, Array]):
        self.plan = plan
        self.functions = UirFunctions(buffers, plan.deferred)
        self.interpreter = Interpreter(module)
        self.interpreter.register_implementations(self.functions)
        self.main = _Frame(plan.block(module.body.block))
        self.frames = [self.main]
        self.result: Array | None = None

    def run(self) -> Array | None:
        """The program's result, a new array, if it has one. Raises RuntimeFailure."""
        with np.errstate(all="ignore"):
            while self.frames:
                frame = self.frames[-1]
                if frame.position < len(frame.schedule.ops):
                    self._step(frame)
                elif frame.turn + 1 < frame.turns:
                    frame.turn += 1
                    frame.start_turn()
                else:
                    self._leave()
        return self.result

    def _step(self, frame: _Frame) -> None:
        op = frame.schedule.ops[frame.position]
        operands = open_operands(op)
        args = tuple(frame.value(operand) for operand in operands)
        match op:
            case CallOp():
                body = self.plan.body(op.body)
                self.frames.append(_Frame(body, around=self.main, origin=op, params=args))
            case ForOp():
                self._enter_loop(op, int(args[0]), frame)
            case ParamOp():
                frame.finish(op, (frame.params[op.number()],))
            case ResultOp():
                self.result = np.array(args[0])
                frame.finish(op, ())
            case _:
                results = self.interpreter.run_op(op, args)
                if (failure := self.functions.failure) is not None:
                    raise failure
                frame.finish(op, results)

    def _enter_loop(self, op: ForOp, turns: int, frame: _Frame) -> None:
        if turns <= 0:
            frame.finish(op, (None,))
            return
        loop = _Frame(self.plan.block(op.body.block), around=frame, origin=op, turns=turns)
        loop.start_turn()
        self.frames.append(loop)

    def _leave(self) -> None:
        """Goes on after the loop or call whose last op has been run."""
        frame = self.frames.pop()
        match frame.origin:
            case CallOp() as op:
                self.frames[-1].finish(op, (frame.value(op.body),))
            case ForOp() as op:
                self.frames[-1].finish(op, (None,))
            case _:
                pass
