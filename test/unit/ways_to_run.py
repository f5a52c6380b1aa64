"""Ways to run one program: on each level of the compiler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.parser import Parser
from xdsl.printer import Printer

from dialects import get_all_dialects
from dialects.uir.functions import ResultOp
from dialects.uir.memory import BufferOp
from dialects.uir.types import dtype_of, shape_of, size_of
from passes.pipelines import apply_passes
from uir.program import Program, load_program, read_source
from uir.runtime.interpret import ELEMENTS, interpret
from uir.runtime.interpreters.kernels import run_kernels
from uir.runtime.interpreters.loops import register_loop_functions
from uir.runtime.interpreters.prog import ProgFunctions

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Case:
    """A program in core ops, and all memories of its kernel before a run.

    The memories are the buffers in increasing slot number, and then the result if there is one.
    """

    text: str
    module: ModuleOp
    memories: list[Array]

    def copies(self) -> list[Array]:
        return [memory.copy() for memory in self.memories]


def case_of(text: str) -> Case:
    """The case of a valid program's text, its data files in the current folder."""
    program: Program = load_program(read_source(text))
    ops = list(program.module.body.block.ops)
    buffers = sorted(
        (op for op in ops if isinstance(op, BufferOp)), key=lambda op: op.slot.value.data
    )
    memories: list[Array] = []
    for op in buffers:
        dtype = ELEMENTS[dtype_of(op.result)]
        content = program.contents.get(op.slot.value.data, bytes(size_of(op.result) * 4))
        memories.append(np.frombuffer(content, dtype)[: size_of(op.result)].copy())
    if ops and isinstance(result := ops[-1], ResultOp):
        memories.append(np.zeros(shape_of(result.value), ELEMENTS[dtype_of(result.value)]).ravel())
    return Case(text, program.module, memories)


def run_uir(case: Case, module: ModuleOp) -> list[Array]:
    """The memories after a run of `module`, the case's or one that means the same.

    Raises RuntimeFailure where a statement fails.
    """
    slots = sorted(op.slot.value.data for op in case.module.ops if isinstance(op, BufferOp))
    before = dict(zip(slots, case.memories, strict=False))
    outcome = interpret(module.clone(), before)
    after = [outcome.slots.get(slot, before[slot]) for slot in slots]
    return after if outcome.result is None else [*after, outcome.result.ravel()]


def run_formed(case: Case, module: ModuleOp) -> list[Array]:
    """The memories after a run of `module`, whose calls are functions or kernels are formed."""
    memories = case.copies()
    slots = sorted(op.slot.value.data for op in case.module.ops if isinstance(op, BufferOp))
    output = memories[-1] if len(memories) > len(slots) else None
    run_kernels(module, dict(zip(slots, memories, strict=False)), output)
    return memories


def run_lowered(case: Case, module: ModuleOp) -> list[Array]:
    """The memories after a run of `module`, which has the kernel as a function of memories."""
    interpreter = Interpreter(module)
    register_loop_functions(interpreter)
    interpreter.register_implementations(ProgFunctions())
    memories = case.copies()
    with np.errstate(all="ignore"):
        interpreter.call_op("kernel", tuple(memories))
    return memories


def lowered(case: Case, passes: Sequence[str]) -> ModuleOp:
    """The case's module after `passes`, verified."""
    module = case.module.clone()
    apply_passes(passes, module)
    module.verify()
    return module


def applied(module: ModuleOp, name: str) -> ModuleOp:
    """A copy of `module` after one pass, verified."""
    copy = module.clone()
    apply_passes([name], copy)
    copy.verify()
    return copy


def through_mlir(module: ModuleOp, is_generic: bool) -> ModuleOp:
    """`module` printed as MLIR and parsed again."""
    out = StringIO()
    Printer(stream=out, print_generic_format=is_generic).print_op(module)
    return parse_mlir(out.getvalue())


def parse_mlir(text: str) -> ModuleOp:
    """The module that MLIR text is."""
    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def assert_same_bits(expected: Sequence[Array], found: Sequence[Array], text: str = "") -> None:
    """All memories are equal bit for bit, but for the signs and payloads of NaNs."""
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        assert one.dtype == other.dtype
        assert canonical(one) == canonical(other), f"memory {number}: {one} became {other}\n{text}"


def canonical(array: Array) -> bytes:
    if array.dtype == np.float32:
        array = np.where(np.isnan(array), np.float32(np.nan), array)
    return array.tobytes()
