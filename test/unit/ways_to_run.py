"""Ways to run one program: on each level of the compiler, and as C that a compiler has built."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
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
from passes.pipelines import LOWER, apply_passes
from uir.program import Program, load_program, read_source
from uir.runtime.interpret import ELEMENTS, interpret
from uir.runtime.interpreters.loops import register_loop_functions
from uir.runtime.interpreters.prog import ProgFunctions
from uir.targets.c import print_c

Array = np.ndarray[Any, np.dtype[Any]]
C_TYPES = {np.dtype(np.float32): "float", np.dtype(np.int32): "int32_t", np.dtype("?"): "uint8_t"}


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


def run_lowered(case: Case, module: ModuleOp) -> list[Array]:
    """The memories after a run of `module`, which has the kernel as a function of memories."""
    interpreter = Interpreter(module)
    register_loop_functions(interpreter)
    interpreter.register_implementations(ProgFunctions())
    memories = case.copies()
    with np.errstate(all="ignore"):
        interpreter.call_op("kernel", tuple(memories))
    return memories


def lowered(case: Case, last: str) -> ModuleOp:
    """The case's module after the passes up to `last`, verified."""
    module = case.module.clone()
    apply_passes(LOWER[: LOWER.index(last) + 1], module)
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
    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    copy = Parser(context, out.getvalue()).parse_module()
    copy.verify()
    return copy


def c_source(module: ModuleOp) -> str:
    out = StringIO()
    print_c(module, out)
    return out.getvalue()


def assert_same_bits(expected: Sequence[Array], found: Sequence[Array], text: str = "") -> None:
    """All memories are equal bit for bit, but for the signs and payloads of NaNs."""
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        assert one.dtype == other.dtype
        assert canonical(one) == canonical(other), f"memory {number}: {one} became {other}\n{text}"


def canonical(array: Array) -> bytes:
    if array.dtype == np.float32:
        array = np.where(np.isnan(array), np.float32(np.nan), array)
    return array.tobytes()


# Compiled C, many kernels in one executable. A crash or a report of a sanitizer ends that process.

_DRIVER = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* Exactly as large as its elements, and aligned as they are and no more. */
static void *take(size_t count, size_t size) {
  char *memory = (char *)malloc((count + 1) * size) + size;
  if (fread(memory, size, count, stdin) != count) exit(2);
  return memory;
}
static void give(void *memory, size_t count, size_t size) {
  fwrite(memory, size, count, stdout);
  free((char *)memory - size);
}
"""


def compilers() -> list[str]:
    """The C compilers that this machine has; a system may have clang under a versioned name."""
    clangs = ("clang", *(f"clang-{version}" for version in range(30, 10, -1)))
    found = [shutil.which("gcc"), next(filter(None, map(shutil.which, clangs)), None)]
    return [compiler for compiler in found if compiler]


def run_compiled(cases: Sequence[Case], command: Sequence[str], folder: Path) -> list[list[Array]]:
    """The memories of each case after its kernel, all built by one `command`, has run."""
    sources: list[str] = []
    driver = [_DRIVER]
    calls: list[str] = []
    for number, case in enumerate(cases):
        source = c_source(lowered(case, LOWER[-1]))
        name = f"test_kernel_{number}"
        assert source.count("void kernel(") == 1
        (folder / f"{name}.c").write_text(source.replace("void kernel(", f"void {name}("))
        sources.append(f"{name}.c")
        types = [C_TYPES[memory.dtype] for memory in case.memories]
        driver.append(f"void {name}({', '.join(f'{t} *' for t in types) or 'void'});")
        calls.append(_call(name, case, types))
    driver += ["int main(void) {", *calls, "return 0; }"]
    (folder / "main.c").write_text("\n".join(driver))
    build = [*command, "-std=gnu11", "-o", "all", "main.c", *sources, "-lm"]
    subprocess.run(build, cwd=folder, check=True)
    data = b"".join(memory.tobytes() for case in cases for memory in case.memories)
    done = subprocess.run(["./all"], cwd=folder, input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return _split(done.stdout, cases)


def _call(name: str, case: Case, types: Sequence[str]) -> str:
    arguments = [f"m{number}" for number in range(len(types))]
    takes = [
        f"{type} *{argument} = take({memory.size}, sizeof({type}));"
        for type, argument, memory in zip(types, arguments, case.memories, strict=True)
    ]
    gives = [
        f"give({argument}, {memory.size}, sizeof({type}));"
        for type, argument, memory in zip(types, arguments, case.memories, strict=True)
    ]
    return "\n".join(["{", *takes, f"{name}({', '.join(arguments)});", *gives, "}"])


def _split(data: bytes, cases: Sequence[Case]) -> list[list[Array]]:
    """The memories of each case, which lie in `data` one after the other."""
    start = 0
    results: list[list[Array]] = []
    for case in cases:
        results.append([])
        for memory in case.memories:
            end = start + memory.nbytes
            results[-1].append(np.frombuffer(data[start:end], memory.dtype))
            start = end
    assert start == len(data)
    return results
