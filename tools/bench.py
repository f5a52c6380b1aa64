"""Measure a program: how long its compilation takes, and how fast its kernel is.

    python tools/bench.py [--compiler "uir"] FILE

Renders FILE with `CMD render`, builds the C with `cc -O2` (or $CC), and calls the kernel a number
of times on the buffers that the program describes, filled anew before each call: with the contents
that it gives, else zeros; a program of `test/bench` has the inputs of `tools/bench_peers.py`.
Reports the times of both compilations, the kernel's median time, the program's operations as
`uir.flops` counts them, and the operations per second.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.build import CommandFailed, build_library, spell_seconds, timed
from benchmarks.workloads import WORKLOADS

from dialects.uir.functions import ResultOp
from dialects.uir.memory import BufferOp
from dialects.uir.types import DTYPE_NAMES, dtype_of, size_of
from uir.flops import UnknownTurns, count_flops
from uir.program import Program, load_program, read_source
from uir.text.diagnostics import InvalidProgram

CC = os.environ.get("CC", "cc")
MIN_CALLS, MAX_CALLS = 5, 1000
SECONDS = 2.0
"""How long the kernel is called, unless MIN_CALLS take longer."""


def initial_contents(file: Path, program: Program) -> list[bytes]:
    """What the memory of each of the kernel's parameters holds before a call."""
    for workload in WORKLOADS.values():
        if workload.program == file.resolve():
            return [array.tobytes() for array in workload.make_arrays().values()]
    ops = list(program.module.body.block.ops)
    buffers = {op.slot.value.data: op.result for op in ops if isinstance(op, BufferOp)}
    contents = [
        program.contents.get(slot, bytes(byte_size(DTYPE_NAMES[dtype_of(m)], size_of(m))))
        for slot, m in sorted(buffers.items())
    ]
    if ops and isinstance(last := ops[-1], ResultOp):
        contents.append(bytes(byte_size(DTYPE_NAMES[dtype_of(last.value)], size_of(last.value))))
    return contents


def byte_size(dtype: str, elements: int) -> int:
    return elements if dtype == "bool" else 4 * elements


def call_times(library: ctypes.CDLL, contents: Sequence[bytes]) -> list[float]:
    """The seconds of each of a number of calls, after one that warms up."""
    kernel = library.kernel
    kernel.restype = None
    buffers = [ctypes.create_string_buffer(content, len(content)) for content in contents]
    times: list[float] = []
    while len(times) <= MIN_CALLS or (sum(times) < SECONDS and len(times) <= MAX_CALLS):
        for buffer, content in zip(buffers, contents, strict=True):
            ctypes.memmove(buffer, content, len(content))
        start = time.perf_counter()
        kernel(*buffers)
        times.append(time.perf_counter() - start)
    return times[1:]


def bench(compiler: Sequence[str], file: Path) -> None:
    """Measures one program, and prints a line for each measure."""
    program = load_program(read_source(file))
    contents = initial_contents(file, program)
    with tempfile.TemporaryDirectory(prefix="uir-bench-") as folder:
        source = Path(folder, "kernel.c")
        rendering = timed([*compiler, "render", str(file), "-o", str(source)])
        size = source.stat().st_size
        library, building = build_library(source, Path(folder), [CC, "-O2"])
        times = call_times(library, contents)
    median = statistics.median(times)
    print(f"to C         {spell_seconds(rendering)}, {size} bytes")
    print(f"{CC} -O2       {spell_seconds(building)}")
    print(f"kernel       {spell_seconds(median)}, the median of {len(times)} calls")
    try:
        giga = count_flops(program.module) / 1e9
    except UnknownTurns as error:
        print(f"work         unknown: {error}")
    else:
        print(f"work         {giga:.6g} GFLOP, {giga / median:.4g} GFLOP/s")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description="\n".join((__doc__ or "").splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--compiler", default="uir", metavar="CMD", help="the compiler to measure")
    parser.add_argument("file", type=Path, metavar="FILE", help="a .uir program")
    args = parser.parse_args()
    try:
        bench(shlex.split(args.compiler), args.file)
    except (CommandFailed, OSError) as error:
        sys.exit(f"error: {error}")
    except InvalidProgram as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
