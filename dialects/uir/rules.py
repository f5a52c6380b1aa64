"""Rules that span statements: slots, free params, and what a `call` may be given."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue

from dialects.uir.base import TypingError
from dialects.uir.functions import CallOp, ParamOp, ResultOp, open_operands
from dialects.uir.loops import RangeOp
from dialects.uir.memory import BufferOp, LoadOp, StoreOp
from dialects.uir.types import spell_type


class ProgramRules:
    """Checks the statements of a program, visited in order, in time linear in the program."""

    def __init__(self) -> None:
        self._slots: set[int] = set()
        self._free: dict[SSAValue, dict[int, set[Attribute]]] = {}
        self._impure: set[SSAValue] = set()

    def visit(self, op: Operation) -> None:
        """Checks `op`. Raises TypingError."""
        if isinstance(op, BufferOp):
            self._visit_buffer(op)
        elif isinstance(op, CallOp):
            self._check_call(op)
        elif isinstance(op, StoreOp):
            for number, operand in enumerate(op.operands):
                self._require_no_free_param(operand, "an effect", number)
        elif isinstance(op, RangeOp):
            self._require_no_free_param(op.bound, "a loop", 0)
        elif isinstance(op, ResultOp):
            self.check_result(op.value)
        self._record(op)

    def _visit_buffer(self, op: BufferOp) -> None:
        slot = op.slot.value.data
        if slot in self._slots:
            raise TypingError(f"slot {slot} already has a buffer: one statement a slot", "slot")
        self._slots.add(slot)

    def _check_call(self, op: CallOp) -> None:
        if op.body in self._impure:
            raise TypingError(
                "the body of a `call` is pure, but this one reads memory or depends on a range", 0
            )
        free = self._free.get(op.body, {})
        wanted = max(free, default=-1) + 1
        if len(op.arguments) != wanted:
            raise TypingError(
                f"the body takes {wanted} argument{'s' if wanted > 1 else ''} (its largest param "
                f"is {wanted - 1}), found {len(op.arguments)}"
                if wanted
                else f"the body has no free param, so it takes no argument, "
                f"found {len(op.arguments)}"
            )
        for number, argument in enumerate(op.arguments):
            for type in free.get(number, ()):
                if argument.type != type:
                    raise TypingError(
                        f"argument {number} is {spell_type(argument.type)}, "
                        f"but `param {number}` is {spell_type(type)}",
                        number + 1,
                    )

    def check_result(self, value: SSAValue) -> None:
        """Checks that `value` may be the program's result. Raises TypingError."""
        self._require_no_free_param(value, "the program's result", None)

    def _require_no_free_param(self, value: SSAValue, what: str, where: int | None) -> None:
        if free := self._free.get(value):
            raise TypingError(
                f"{what} depends on `param {min(free)}`, which no `call` replaces", where
            )

    def _record(self, op: Operation) -> None:
        if not op.results:
            return
        result = op.results[0]
        if isinstance(op, ParamOp):
            self._free[result] = {op.number(): {result.type}}
            return
        if isinstance(op, LoadOp | RangeOp) or any(
            operand in self._impure for operand in op.operands
        ):
            self._impure.add(result)
        # The body's own params are replaced; what is free in the arguments stays free.
        operands = open_operands(op)
        frees = [self._free[operand] for operand in operands if operand in self._free]
        if len(frees) == 1:
            self._free[result] = frees[0]
        elif frees:
            merged: dict[int, set[Attribute]] = {}
            for free in frees:
                for number, types in free.items():
                    merged.setdefault(number, set()).update(types)
            self._free[result] = merged
