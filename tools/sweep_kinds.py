"""Check the float32 kinds of one operand of `nx_kinds.h` at every operand.

    python tools/sweep_kinds.py [--kinds exp,log] [--jobs N] [--results FILE]
    python tools/sweep_kinds.py --sample

Prints a table (Markdown) of each kind's bound, its worst error, the number of operands at which its
result isn't the correctly rounded one, and the worst of these. The exit status is 1 if a kind is
past its bound, or gives a number for a NaN, a NaN for a number or a zero of the wrong sign.

An error is counted in ranks of the ordered bits, -0 and +0 one apart, from the correctly rounded
result. The expected results are those of `sweep/sweep_kinds.c`, which the C compiler (`cc`, or $CC)
builds, and MPFR's, through gmpy2, where the C program can't tell.

All operands take about 40 minutes of one core. They are divided into shards by the high bits of
their magnitude. A finished shard is a line of FILE, by default `build/sweep_kinds.jsonl`, and isn't
run again as long as the kind's C is the same. `--sample` checks 300,000 operands in a few seconds
and leaves FILE alone: the ends of each binade and draws from it, and the neighbours of the operands
where argument reductions and roundings change.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dialects.prog import c_library

try:
    import gmpy2
except ModuleNotFoundError:
    sys.exit("error: gmpy2 is missing (it has MPFR in it): pip install gmpy2")

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(__file__).parent / "sweep" / "sweep_kinds.c"
CC = os.environ.get("CC", "cc")
FLAGS = ("-std=c11", "-O2", "-ffp-contract=off")

BOUNDS = {
    "sqrt": 0,
    "exp": 2,
    "exp2": 2,
    "log": 1,
    "log2": 1,
    "log1p": 1,
    "expm1": 1,
    "sin": 2,
    "cos": 2,
    "tan": 4,
    "asin": 2,
    "acos": 2,
    "atan": 2,
    "sinh": 3,
    "cosh": 2,
    "tanh": 2,
    "erf": 2,
}
"""The kinds, and the most ranks that the specification of scalar programs lets them be off."""

SHARDS = 128
SHARD = 1 << 24
"""The magnitudes of a shard; each has two operands."""

WORST_SHOWN = 3


@dataclass(frozen=True)
class Wrong:
    """An operand whose result isn't the correctly rounded one, all as bits."""

    operand: int
    result: int
    expected: int

    @property
    def ranks(self) -> int | None:
        """How far apart they are; None for a NaN and a number, and for zeros of other signs."""
        result, expected = self.result, self.expected
        if is_nan(result) or is_nan(expected):
            return None
        zero = 0 in (result & 0x7FFFFFFF, expected & 0x7FFFFFFF)
        if zero and (result ^ expected) >> 31:
            return None
        return abs(rank(result) - rank(expected))

    def __str__(self) -> str:
        return " ".join(f"{bits:08x}" for bits in (self.operand, self.result, self.expected))


def is_nan(bits: int) -> bool:
    """Whether the float32 of these bits is a NaN."""
    return bits & 0x7FFFFFFF > 0x7F800000


def rank(bits: int) -> int:
    """The place of a float32 in the order of all."""
    return bits if bits < 1 << 31 else 0x7FFFFFFF - bits


def value(bits: int) -> float:
    """The float32 of these bits."""
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def correct(kind: str, operand: int) -> int:
    """The bits of the correctly rounded result, by MPFR."""
    with gmpy2.context(gmpy2.ieee(32)):
        result = float(getattr(gmpy2, kind)(gmpy2.mpfr(value(operand))))
    return struct.unpack("<I", struct.pack("<f", result))[0]


def build(folder: Path, header: str) -> Path:
    """The C program with `header` as its nx_kinds.h, built into `folder`."""
    (folder / "nx_kinds.h").write_text(header)
    path = folder / "sweep_kinds"
    command = [CC, *FLAGS, f"-I{folder}", "-o", str(path), str(PROGRAM), "-lm"]
    subprocess.run(command, check=True)
    return path


def built_by() -> str:
    """The compiler and the C library."""
    version = subprocess.run([CC, "--version"], capture_output=True, text=True, check=True).stdout
    return f"{version.splitlines()[0]}, {' '.join(platform.libc_ver())}"


def digest(kind: str) -> str:
    """A digest of all that decides the results of a kind: its C, and the C library's version."""
    code = re.sub(r"//.*", "", c_library.definitions([f"nx_{kind}_f32"])).split()
    return hashlib.sha256(repr((code, platform.libc_ver())).encode()).hexdigest()[:16]


def run(program: Path, arguments: Sequence[str], operands: bytes = b"") -> dict[str, list[Wrong]]:
    """The wrong results that the C program finds, by kind; MPFR decides where it can't."""
    done = subprocess.run([program, *arguments], input=operands, stdout=subprocess.PIPE, check=True)
    found: dict[str, list[Wrong]] = defaultdict(list)
    for line in done.stdout.decode().splitlines():
        kind, operand, result, expected = line.split()
        bits = int(operand, 16)
        right = correct(kind, bits) if expected == "?" else int(expected, 16)
        if right != int(result, 16):
            found[kind].append(Wrong(bits, int(result, 16), right))
    return found


def sweep(
    program: Path, digests: dict[str, str], jobs: int, results: Path
) -> dict[str, list[Wrong]]:
    """All wrong results of the kinds of `digests`; runs the shards that `results` lacks."""
    found: dict[str, list[Wrong]] = {kind: [] for kind in digests}
    missing = {shard: list(digests) for shard in range(SHARDS)}
    lines = results.read_text().splitlines() if results.exists() else []
    for line in map(json.loads, lines):
        kind, shard = line["kind"], line["shard"]
        if digests.get(kind) == line["digest"] and kind in missing[shard]:
            missing[shard].remove(kind)
            found[kind] += [Wrong(*(int(bits, 16) for bits in row)) for row in line["wrong"]]

    def run_shard(shard: int) -> dict[str, list[Wrong]]:
        first = shard * SHARD
        bounds = [f"{first:x}", f"{first + SHARD - 1:x}"]
        return run(program, ["range", *bounds, *missing[shard]])

    todo = [shard for shard in missing if missing[shard]]
    results.parent.mkdir(parents=True, exist_ok=True)
    with results.open("a") as file, ThreadPoolExecutor(jobs) as pool:
        for shard, wrong in zip(todo, pool.map(run_shard, todo), strict=True):
            for kind in missing[shard]:
                found[kind] += wrong[kind]
                rows = [str(row).split() for row in wrong[kind]]
                line = {"kind": kind, "shard": shard, "digest": digests[kind], "wrong": rows}
                file.write(json.dumps(line) + "\n")
            file.flush()
            print(f"shard {shard} of {SHARDS}", file=sys.stderr, flush=True)
    return found


def sample() -> np.ndarray[Any, np.dtype[np.uint32]]:
    """The operands of the sample, as bits, in order."""
    generator = np.random.default_rng(32)
    ends = [*range(8), *range((1 << 23) - 8, 1 << 23)]
    drawn = generator.integers(0, 1 << 23, (256, 256))
    strata = np.concatenate([np.tile(ends, (256, 1)), drawn], axis=1)
    strata += np.arange(256)[:, None] << 23
    multiples = np.concatenate(
        [
            np.arange(1, 1 << 13) * (np.pi / 4),
            np.arange(1, 320) * (np.log(2) / 2),
            np.arange(1, 320) / 2,
            np.sqrt(2) * 2.0 ** np.arange(-126, 128),
        ]
    )
    near = multiples.astype(np.float32).view(np.uint32).astype(np.int64)[:, None]
    near = near + np.arange(-4, 5)
    magnitudes = np.concatenate([strata.ravel(), near.ravel()])
    return np.unique(np.concatenate([magnitudes, magnitudes + (1 << 31)])).astype(np.uint32)


def table(found: dict[str, list[Wrong]]) -> str:
    """The kinds' bounds and errors, as a Markdown table."""
    rows = [["kind", "bound", "worst", "not correctly rounded", "worst operands"]]
    for kind, wrong in found.items():
        worst = sorted(wrong, key=badness, reverse=True)
        error = "fails" if worst and worst[0].ranks is None else str(worst_ranks(wrong))
        shown = ", ".join(value(row.operand).hex() for row in worst[:WORST_SHOWN])
        rows.append([kind, str(BOUNDS[kind]), error, str(len(wrong)), shown])
    rows.insert(1, ["---"] * len(rows[0]))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = [[cell.ljust(n) for cell, n in zip(row, widths, strict=True)] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in padded)


def badness(row: Wrong) -> float:
    """The error in ranks, infinite for a failure."""
    return float("inf") if row.ranks is None else row.ranks


def worst_ranks(wrong: Iterable[Wrong]) -> float:
    """The greatest error in ranks, infinite if there is a failure."""
    return max(map(badness, wrong), default=0)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", default=",".join(BOUNDS), help="comma-separated; all by default")
    parser.add_argument("--jobs", type=int, default=1, help="shards to run at a time")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "sweep_kinds.jsonl")
    parser.add_argument("--sample", action="store_true", help="check a sample of the operands")
    args = parser.parse_args()
    kinds = args.kinds.split(",")
    for kind in kinds:
        if kind not in BOUNDS:
            parser.error(f"no kind `{kind}`; there are {', '.join(BOUNDS)}")
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder), c_library.header())
        if args.sample:
            wrong = run(program, ["list", *kinds], sample().tobytes())
            found = {kind: wrong[kind] for kind in kinds}
        else:
            digests = {kind: digest(kind) for kind in kinds}
            found = sweep(program, digests, args.jobs, args.results)
    count = len(sample()) if args.sample else 1 << 32
    print(f"{count:,} operands, with {built_by()}\n\n{table(found)}")
    return int(any(worst_ranks(wrong) > BOUNDS[kind] for kind, wrong in found.items()))


if __name__ == "__main__":
    sys.exit(main())
