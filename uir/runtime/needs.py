"""How much memory a run needs, found before any of it is allocated."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, i1
from xdsl.ir import Operation, SSAValue

from dialects.uir.constants import ConstantOp
from dialects.uir.elementwise import SameValueOp
from dialects.uir.functions import ParamOp
from dialects.uir.loops import ForOp
from dialects.uir.memory import AfterOp, AllocOp, BufferOp
from dialects.uir.movement import ExpandOp, IndexOp, PermuteOp, ReshapeOp, ShrinkOp
from dialects.uir.types import dtype_of, is_memory, is_value, size_of, spell_type
from uir.runtime.failure import TooLarge
from uir.runtime.plan import Plan

MAX_ELEMENTS = 2**40
"""A value of more elements than this takes hours, whatever the machine."""

_VIEWS = (ExpandOp, IndexOp, PermuteOp, ShrinkOp, SameValueOp, ParamOp, AfterOp)


_SMALL = 1 << 28
"""Bytes that any machine has."""


def check_needs(plan: Plan, module: ModuleOp) -> None:
    """Raises TooLarge when the machine cannot run `module`, whose plan is `plan`."""
    for op in plan.ops:
        for result in op.results:
            if is_value(result.type) and size_of(result) > MAX_ELEMENTS:
                raise TooLarge(
                    f"the program computes {spell_type(result.type)}, which has "
                    f"{size_of(result)} elements: too many to interpret"
                )
    needed = _needed_bytes(plan, module)
    if needed > _SMALL and needed > (available := available_bytes()):
        raise TooLarge(
            f"the program needs about {spell_bytes(needed)} of memory, "
            f"but only {spell_bytes(available)} are available"
        )


def _needed_bytes(plan: Plan, module: ModuleOp) -> int:
    inner: dict[Operation, int] = {}
    for body in plan.called_bodies():
        peak = peak_of(plan.body(body).ops, plan.deferred, inner)
        inner.update((use.operation, peak) for use in body.uses if use.index == 0)
    for op in reversed(plan.ops):
        if isinstance(op, ForOp):
            inner[op] = peak_of(plan.block(op.body.block).ops, plan.deferred, inner)
    peak = peak_of(plan.block(module.body.block).ops, plan.deferred, inner)
    buffers = [op for op in plan.ops if isinstance(op, BufferOp)]
    return peak + sum(bytes_of(op.result) for op in buffers if op.result.first_use is not None)


def bytes_of(value: SSAValue) -> int:
    """The bytes of all elements of a value or a memory reference."""
    return size_of(value) * (1 if dtype_of(value) == i1 else 4)


def is_view(op: Operation) -> bool:
    """Whether the result of `op` shares the elements of its first operand."""
    if isinstance(op, ReshapeOp):
        if is_memory(op.x.type):
            return True
        # A reshape of a view has to copy, as a rule.
        return not (isinstance(op.x.owner, Operation) and is_view(op.x.owner))
    return isinstance(op, _VIEWS)


def peak_of(
    ops: Sequence[Operation], deferred: frozenset[Operation], inner: Mapping[Operation, int]
) -> int:
    """The greatest number of bytes that the values of `ops` take together, run in order.

    A value is freed after its last use, or that of the last value that holds it. `inner` has
    what each call or loop takes for itself.
    """
    death: dict[SSAValue, int] = {}
    for number, op in reversed(list(enumerate(ops))):
        held = op.operands if op in deferred else op.operands[:1] if is_view(op) else ()
        end = max((death.get(result, number) for result in op.results), default=number)
        for operand in op.operands:
            death[operand] = max(death.get(operand, 0), end if operand in held else number)
    dying: dict[int, int] = {}
    for value, number in death.items():
        dying[number] = dying.get(number, 0) + _allocated(value, deferred)
    peak = live = 0
    for number, op in enumerate(ops):
        live += sum(_allocated(result, deferred) for result in op.results)
        peak = max(peak, live + inner.get(op, 0))
        live -= dying.get(number, 0)
    return peak


def _allocated(value: SSAValue, deferred: frozenset[Operation]) -> int:
    """The bytes that the op of `value` allocates for it."""
    op = value.owner
    if not isinstance(op, Operation) or op in deferred or isinstance(op, BufferOp | ConstantOp):
        return 0
    if isinstance(op, AllocOp):
        return bytes_of(value)
    return bytes_of(value) if is_value(value.type) and not is_view(op) else 0


def available_bytes() -> int:
    """The memory that this process can still take."""
    try:
        text = Path("/proc/meminfo").read_text()
        fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        available = 1024 * int(fields["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        return min(available, max(0, limit - used))
    except (OSError, ValueError):
        return available


def spell_bytes(count: int) -> str:
    """A number of bytes for a reader: `3.2 GB`."""
    amount = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.3g} {unit}"
        amount /= 1000
    return f"{amount:.3g} TB" if amount < 1000 else f"{amount / 1000:.3g} PB"
