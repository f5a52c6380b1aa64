"""Building rendered kernels, many with one call of the C compiler, and calling them."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grading.compiler import execute, expect_success
from grading.headers import Test
from grading.values import DTYPES, Failed, Value
from grading.workers import Worker

C_TYPES = {"bool": "uint8_t", "i32": "int32_t", "f32": "float"}

CALL_KERNEL = Path(__file__).parents[1] / "call_kernel.py"


@dataclass(frozen=True)
class Build:
    """One way to build kernels: compiler and flags, and what their process needs preloaded."""

    command: tuple[str, ...]
    preload: str = ""
    patience: int = 1
    """What the time limits are multiplied with."""

    def __str__(self) -> str:
        return " ".join(self.command)


def full_builds() -> Iterator[Build]:
    """Every compiler that exists, at every level, and with sanitizers."""
    if gcc := shutil.which("gcc"):
        yield from builds_with(gcc, "libasan.so")
    # A system may have clang under its versioned name only.
    names = ("clang", *(f"clang-{version}" for version in range(30, 10, -1)))
    if clang := next(filter(None, map(shutil.which, names)), None):
        runtime = f"libclang_rt.asan-{os.uname().machine}.so"
        yield from builds_with(clang, runtime, "-shared-libasan")


def builds_with(compiler: str, runtime: str, *sanitizer_flags: str) -> Iterator[Build]:
    """The compiler at its usual levels, and with sanitizers if it has their runtime library."""
    for flags in (("-O0",), ("-O2",), ("-O3", "-march=native")):
        yield Build((compiler, *flags))
    command = [compiler, f"-print-file-name={runtime}"]
    library = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    # A compiler that does not have the file prints the bare name.
    if os.path.isabs(library):
        # `undefined` leaves out casts of floats to integers that do not have their value.
        checks = "-fsanitize=address,undefined,float-cast-overflow"
        sanitize = ("-O1", "-g1", checks, "-fno-sanitize-recover=all")
        # The runtime must be in the process before Python.
        yield Build((compiler, *sanitize, *sanitizer_flags), library, patience=5)


def kernel_parameters(code: str, checked: bool) -> list[str]:
    """The C types that the kernel's pointers to buffers point to."""
    returned, last = ("int", "struct uir_error *error") if checked else ("void", "")
    match = re.search(rf"\b{returned}\s+kernel\s*\(([^)]*)\)", code)
    if not match:
        raise Failed(f"`render`: expected a function `{returned} kernel(...)`, found none")
    parameters = [part.strip() for part in match[1].split(",") if part.strip() not in ("", "void")]
    if checked and (not parameters or parameters.pop() != last):
        raise Failed(f"`render --checks`: expected a last parameter `{last}`, found none")
    return [parameter.replace("const", "").split("*")[0].strip() for parameter in parameters]


@dataclass(frozen=True)
class Left:
    """What a call of a kernel left: slots and result, and what a checked one returned."""

    slots: dict[int, Value]
    result: Value | None
    error: tuple[int, int, str | None] | None
    """Status, line and kind."""


@dataclass(frozen=True)
class Kernel:
    """The C of one test, the buffers to call its kernel on, and the check of what that leaves."""

    test: Test
    folder: Path
    code: str
    slots: dict[int, Value]
    result: Value | None
    check: Callable[[Left], None]
    checked: bool = False
    calls: int = 1


class KernelCaller:
    """Builds kernels and calls them, in one process for each library that must be preloaded."""

    def __init__(self) -> None:
        self.workers: dict[str, Worker] = {}

    def close(self) -> None:
        """End every process."""
        for worker in self.workers.values():
            worker.close()

    def grade(self, build: Build, kernels: list[Kernel]) -> Iterator[tuple[Kernel, str]]:
        """Build the kernels in one way, call and check them; the failed ones and why."""
        with tempfile.TemporaryDirectory(prefix="uir-grade-") as name:
            together = build_together(build, kernels, Path(name))
            for number, kernel in enumerate(kernels):
                try:
                    if together is not None:
                        library, symbol = together, symbol_of(number)
                    else:
                        library, symbol = build_alone(build, kernel, Path(name), number), "kernel"
                    kernel.check(self.call(build, kernel, library, symbol))
                except Failed as failure:
                    yield kernel, f"{build}: {failure}"

    def call(self, build: Build, kernel: Kernel, library: Path, symbol: str) -> Left:
        """What the kernel leaves."""
        values = [*kernel.slots.values()]
        values += [kernel.result] if kernel.result else []
        buffers: list[tuple[str, int]] = []
        for i, value in enumerate(values):
            path = kernel.folder / f"buffer{i}"
            content = value.elements.tobytes()
            # The result's memory starts as something that no kernel leaves by chance.
            is_result = i == len(kernel.slots)
            path.write_bytes(b"\xa5" * len(content) if is_result else content)
            buffers.append((str(path), value.elements.itemsize))
        request: dict[str, Any] = {
            "library": str(library),
            "symbol": symbol,
            "buffers": buffers,
            "calls": kernel.calls,
            "checked": kernel.checked,
        }
        seconds = kernel.test.seconds * kernel.calls * build.patience
        reply = self.worker(build.preload).ask("kernel", request, seconds).reply
        if "failure" in reply:
            raise Failed(reply["failure"])
        left = [
            Value(value.dtype, value.shape, np.fromfile(path, DTYPES[value.dtype]))
            for value, (path, _) in zip(values, buffers, strict=True)
        ]
        slots = dict(zip(kernel.slots, left, strict=False))
        error = (reply["status"], reply["line"], reply["kind"]) if kernel.checked else None
        return Left(slots, left[-1] if kernel.result else None, error)

    def worker(self, preload: str) -> Worker:
        """The process for kernels that need `preload`."""
        if preload not in self.workers:
            environment = {**os.environ, "LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"}
            command = [sys.executable, "-I", "-S", str(CALL_KERNEL), "--serve"]
            self.workers[preload] = Worker(command, environment)
        return self.workers[preload]


def symbol_of(number: int) -> str:
    """What the kernel with this number is called in a library of many."""
    return f"graded_kernel_{number}"


def build_together(build: Build, kernels: list[Kernel], folder: Path) -> Path | None:
    """A library of all kernels; None when one does not compile, or they take too long together."""
    names: list[str] = []
    for number, kernel in enumerate(kernels):
        renamed = f"#define kernel {symbol_of(number)}\n#line 1\n{kernel.code}"
        names.append(f"kernel{number}.c")
        (folder / names[-1]).write_text(renamed, encoding="utf-8")
    try:
        seconds = min(kernel.test.seconds for kernel in kernels)
        return compile_c(build, folder, names, "kernels.so", seconds)
    except Failed:
        return None


def build_alone(build: Build, kernel: Kernel, folder: Path, number: int) -> Path:
    """The library of one kernel."""
    source = f"alone{number}.c"
    (folder / source).write_text(kernel.code, encoding="utf-8")
    return compile_c(build, folder, [source], f"alone{number}.so", kernel.test.seconds)


def compile_c(build: Build, folder: Path, sources: list[str], name: str, seconds: float) -> Path:
    """The library `name` built from the sources."""
    command = [*build.command, "-shared", "-fPIC", "-o", name, *sources, "-lm"]
    done = execute("C compiler", command, folder, seconds * build.patience)
    expect_success("C compiler", done)
    return folder / name
