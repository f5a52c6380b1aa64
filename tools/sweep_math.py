"""Compares what kernels compute for `exp2 log2 sqrt sin` with the programs that define them.

    python tools/sweep_math.py [OP]... [--step N]

Both programs are compiled, and run on all 2^32 operands, or on every Nth. Prints a line for each
op; the exit status is 1 if the bits of some result differ. All NaNs are the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import uir
from passes.pipelines import apply_passes
from uir.text.printer import text_of

OPS = ("exp2", "log2", "sqrt", "sin")

BLOCK = 1 << 20
"""Operands of one call of a kernel."""


def kernels_of(op: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The kernels of the definition of `op`, and of the op itself, from BLOCK floats to others."""
    text = f"""
%m = buffer {BLOCK} dtype=f32 slot=0
%o = buffer {BLOCK} dtype=f32 slot=1
%x = load %m
%r = {op} %x
store %o %r
"""
    module = uir.parse(text)
    apply_passes(("expand-math",), module)
    return uir.compile(text_of(module)), uir.compile(text)


def count_differences(op: str, step: int) -> int:
    """At how many operands, `step` apart in the order of their bits, the two differ."""
    defined, computed = kernels_of(op)
    expected, found = np.zeros(BLOCK, np.float32), np.zeros(BLOCK, np.float32)
    differences = 0
    for start in range(0, 1 << 32, BLOCK * step):
        # Beyond the last operand they begin again.
        x = np.arange(start, start + BLOCK * step, step, np.int64).astype(np.uint32)
        defined(x.view(np.float32), expected)
        computed(x.view(np.float32), found)
        same = expected.view(np.uint32) == found.view(np.uint32)
        differences += int(np.sum(~(same | (np.isnan(expected) & np.isnan(found)))))
    return differences


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ops", nargs="*", choices=[[], *OPS], metavar="OP")
    parser.add_argument("--step", type=int, default=1, metavar="N", help="run every Nth operand")
    arguments = parser.parse_args()
    failed = False
    for op in arguments.ops or OPS:
        count = count_differences(op, arguments.step)
        operands = len(range(0, 1 << 32, arguments.step))
        print(f"{op}: {operands:,} operands, {count:,} results differ", flush=True)
        failed |= count > 0
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
