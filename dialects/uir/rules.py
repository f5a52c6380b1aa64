"""Rules that span statements: slots, free params, and what a `call` may be given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from dialects.uir.base import TypingError
from dialects.uir.functions import CallOp, ParamOp, ResultOp, open_operands
from dialects.uir.loops import RangeOp
from dialects.uir.memory import BufferOp, LoadOp, StoreOp
from dialects.uir.types import spell_type


class _Free(NamedTuple):
    """The free params of a value. Long programs have many, so a set of them is an integer."""

    bits: int
    """Bit i is the i-th param that was visited."""
    least: int
    greatest: int
    """The greatest number of a param; `least` is the least one."""


class ProgramRules:
    """Checks the statements of a program, visited in order."""

    def __init__(self) -> None:
        self._slots: set[int] = set()
        self._params: list[ParamOp] = []
        self._free: dict[SSAValue, _Free] = {}
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
        free = self._free.get(op.body)
        wanted = 0 if free is None else free.greatest + 1
        if len(op.arguments) != wanted:
            raise TypingError(
                f"the body takes {wanted} argument{'s' if wanted > 1 else ''} (its largest param "
                f"is {wanted - 1}), found {len(op.arguments)}"
                if wanted
                else f"the body has no free param, so it takes no argument, "
                f"found {len(op.arguments)}"
            )
        for param in self._params_of(free):
            number, type = param.number(), param.result.type
            if op.arguments[number].type != type:
                raise TypingError(
                    f"argument {number} is {spell_type(op.arguments[number].type)}, "
                    f"but `param {number}` is {spell_type(type)}",
                    number + 1,
                )

    def _params_of(self, free: _Free | None) -> Iterator[ParamOp]:
        bits = 0 if free is None else free.bits
        while bits:
            lowest = bits & -bits
            yield self._params[lowest.bit_length() - 1]
            bits ^= lowest

    def check_result(self, value: SSAValue) -> None:
        """Checks that `value` may be the program's result. Raises TypingError."""
        self._require_no_free_param(value, "the program's result", None)

    def _require_no_free_param(self, value: SSAValue, what: str, where: int | None) -> None:
        if free := self._free.get(value):
            raise TypingError(
                f"{what} depends on `param {free.least}`, which no `call` replaces", where
            )

    def _record(self, op: Operation) -> None:
        if not op.results:
            return
        result = op.results[0]
        if isinstance(op, ParamOp):
            self._free[result] = _Free(1 << len(self._params), op.number(), op.number())
            self._params.append(op)
            return
        if isinstance(op, LoadOp | RangeOp) or any(
            operand in self._impure for operand in op.operands
        ):
            self._impure.add(result)
        # The body's own params are replaced; what is free in the arguments stays free.
        operands = open_operands(op)
        frees = [self._free[operand] for operand in operands if operand in self._free]
        if frees:
            self._free[result] = _union(frees)


def _union(frees: Sequence[_Free]) -> _Free:
    first, *rest = frees
    bits = first.bits
    for free in rest:
        bits |= free.bits
    # Values of the same params share one number, which may be long.
    return next(
        (free for free in frees if free.bits == bits),
        _Free(bits, min(f.least for f in frees), max(f.greatest for f in frees)),
    )
