"""The workloads as compiled C: this compiler's, and loop nests written by hand."""

from __future__ import annotations

import ctypes
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.build import build_library, timed
from benchmarks.contender import Prepared
from benchmarks.workloads import Arrays, Workload

HAND_WRITTEN = Path(__file__).with_name("loops.c")
UIR = Path(sys.executable).with_name("uir")


def hand_written() -> set[str]:
    """The workloads that `loops.c` has a function for, of the same name."""
    return set(re.findall(r"^void (\w+)\(", HAND_WRITTEN.read_text(), re.MULTILINE))


def prepare_uir(workload: Workload, arrays: Arrays, build: Sequence[str]) -> Prepared:
    """The program's kernel, by way of `uir render` in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="uir-bench-") as folder:
        source = Path(folder, "kernel.c")
        render = timed([str(UIR), "render", str(workload.program), "-o", str(source)])
        library, seconds = build_library(source, Path(folder), build)
    return prepare(library["kernel"], workload, arrays, {"uir render": render, build[0]: seconds})


def prepare_hand_written(workload: Workload, arrays: Arrays, build: Sequence[str]) -> Prepared:
    """The function of `loops.c`."""
    with tempfile.TemporaryDirectory(prefix="uir-bench-") as folder:
        library, seconds = build_library(HAND_WRITTEN, Path(folder), build)
    return prepare(library[workload.name], workload, arrays, {build[0]: seconds})


def prepare(
    function: ctypes._NamedFuncPointer,
    workload: Workload,
    arrays: Arrays,
    seconds: dict[str, float],
) -> Prepared:
    """A C function that takes a pointer to each array, in their order."""
    function.restype = None
    function.argtypes = [ctypes.c_void_p] * len(arrays)
    pointers = [array.ctypes.data for array in arrays.values()]
    return Prepared(
        lambda: function(*pointers),
        lambda: {name: arrays[name] for name in workload.results},
        seconds,
    )
