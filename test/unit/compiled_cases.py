"""Runs kernels as compiled C, many in one executable.

A crash or a report of a sanitizer ends that process, not the tests'.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import numpy as np
from ways_to_run import Array, Case, lowered

from passes.pipelines import LOWER, LOWER_CHECKED
from uir.targets.c import print_c

C_TYPES = {np.dtype(np.float32): "float", np.dtype(np.int32): "int32_t", np.dtype("?"): "uint8_t"}
_DRIVER = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
struct uir_error {
  int32_t line;
  const char *kind;
} error;
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


def run_compiled(
    cases: Sequence[Case], command: Sequence[str], folder: Path, *, checks: bool
) -> list[list[Array]]:
    """The memories of each case after its kernel, all built by one `command`, has run.

    With `checks` the kernels are those that report runtime errors, and an error ends the run.
    """
    result = "int" if checks else "void"
    sources: list[str] = []
    driver = [_DRIVER]
    calls: list[str] = []
    for number, case in enumerate(cases):
        out = StringIO()
        print_c(lowered(case, LOWER_CHECKED if checks else LOWER), out)
        source = out.getvalue()
        name = f"test_kernel_{number}"
        assert source.count(f"{result} kernel(") == 1
        (folder / f"{name}.c").write_text(source.replace(f"{result} kernel(", f"{result} {name}("))
        sources.append(f"{name}.c")
        types = [C_TYPES[memory.dtype] for memory in case.memories]
        parameters = [f"{type} *" for type in types] + ["struct uir_error *"] * checks
        driver.append(f"{result} {name}({', '.join(parameters) or 'void'});")
        calls.append(_call(name, case, types, checks))
    driver += ["int main(void) {", *calls, "return 0; }"]
    (folder / "main.c").write_text("\n".join(driver))
    build = [*command, "-std=gnu11", "-o", "all", "main.c", *sources, "-lm"]
    subprocess.run(build, cwd=folder, check=True)
    data = b"".join(memory.tobytes() for case in cases for memory in case.memories)
    done = subprocess.run(["./all"], cwd=folder, input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return _split(done.stdout, cases)


def _call(name: str, case: Case, types: Sequence[str], checks: bool) -> str:
    arguments = [f"m{number}" for number in range(len(types))]
    takes = [
        f"{type} *{argument} = take({memory.size}, sizeof({type}));"
        for type, argument, memory in zip(types, arguments, case.memories, strict=True)
    ]
    gives = [
        f"give({argument}, {memory.size}, sizeof({type}));"
        for type, argument, memory in zip(types, arguments, case.memories, strict=True)
    ]
    call = f"{name}({', '.join(arguments + ['&error'] * checks)})"
    run = f"if ({call}) exit(3);" if checks else f"{call};"
    return "\n".join(["{", *takes, run, *gives, "}"])


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
