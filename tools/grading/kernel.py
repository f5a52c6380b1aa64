"""Building a rendered kernel and calling it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grading.headers import Test
from grading.values import DTYPES, Failed, Value, shorten

C_TYPES = {"bool": "uint8_t", "i32": "int32_t", "f32": "float"}

CALL_KERNEL = Path(__file__).parents[1] / "call_kernel.py"


@dataclass(frozen=True)
class Build:
    """One way to build a kernel: compiler and flags, and what its process needs preloaded."""

    command: tuple[str, ...]
    preload: str = ""

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
        sanitize = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
        # The runtime must be in the process before Python.
        yield Build((compiler, *sanitize, *sanitizer_flags), preload=library)


def execute(
    what: str,
    command: list[str],
    folder: Path,
    seconds: float,
    environment: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder; `Failed` when it takes too long or cannot be started."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            timeout=seconds,
            capture_output=True,
            text=True,
            errors="replace",
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{what}: expected an end within {seconds:g} s, found none") from error
    except OSError as error:
        raise Failed(f"{what}: cannot run `{command[0]}`: {error.strerror}") from error


def expect_success(what: str, done: subprocess.CompletedProcess[str]) -> None:
    """Fail unless the command's exit status is 0."""
    if done.returncode:
        message = shorten(done.stderr.strip(), 2000)
        raise Failed(f"{what}: expected exit status 0, found {done.returncode}\n{message}".rstrip())


def kernel_parameters(code: str) -> list[str]:
    """The C types that the kernel's pointers point to."""
    match = re.search(r"\bvoid\s+kernel\s*\(([^)]*)\)", code)
    if not match:
        raise Failed("`render`: expected a function `void kernel(...)`, found none")
    if match[1].strip() in ("", "void"):
        return []
    return [
        parameter.replace("const", "").split("*")[0].strip() for parameter in match[1].split(",")
    ]


def call_kernel(
    test: Test, folder: Path, build: Build, initial: dict[int, Value], result: Value | None
) -> tuple[dict[int, Value], Value | None]:
    """Build the C and call the kernel once; the slots and the result that it leaves."""
    library = folder / "kernel.so"
    command = [*build.command, "-shared", "-fPIC", "-o", library.name, "kernel.c", "-lm"]
    expect_success("C compiler", execute("C compiler", command, folder, test.seconds))
    values = list(initial.values()) + ([result] if result else [])
    arguments: list[str] = []
    for i, value in enumerate(values):
        content = value.elements.tobytes()
        # The result's memory starts as something that no kernel leaves by chance.
        is_result = i == len(initial)
        (folder / f"buffer{i}").write_bytes(b"\xa5" * len(content) if is_result else content)
        arguments.append(f"buffer{i}:{value.elements.itemsize}")
    environment = {**os.environ, "LD_PRELOAD": build.preload, "ASAN_OPTIONS": "detect_leaks=0"}
    interpreter = [sys.executable, "-I", "-S", str(CALL_KERNEL), str(library)]
    done = execute("kernel", [*interpreter, *arguments], folder, test.seconds, environment)
    expect_success("kernel", done)
    left = [
        Value(value.dtype, value.shape, np.fromfile(folder / f"buffer{i}", DTYPES[value.dtype]))
        for i, value in enumerate(values)
    ]
    return dict(zip(initial, left, strict=False)), left[-1] if result else None
