"""Measure this compiler's kernels side by side with other ways to compute the same.

    python tools/bench_peers.py [--peers NAME,...] [--threads N] [PROGRAM...]

A PROGRAM is the name of a workload: a file of `test/bench` without `.uir`, or `mnist`. Patterns
such as `gemm*` are allowed; without any, all are measured. Each contender runs in a process of its
own, on the same inputs, and they take turns: `uir`, `C` (loop nests written by hand), `numpy`, and
`jax`, `torch`, `torch-compile` and `tinygrad` where they are installed. Their results are compared.
`docs/benchmarks.md` says more. The exit status is 1 when a contender failed or its results differ.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.build import CommandFailed, timed
from benchmarks.contender import CONTENDERS, ONE_THREAD
from benchmarks.figures import find_figures
from benchmarks.measure import Measured, measure
from benchmarks.probe import Probe
from benchmarks.processes import Process, installed_versions, pin
from benchmarks.report import figures_table, to_json, workload_table
from benchmarks.with_native import hand_written
from benchmarks.workloads import WORKLOADS, Workload

from uir.flops import UnknownTurns, count_flops
from uir.program import load_program, read_source
from uir.text.diagnostics import InvalidProgram

PACKAGES = {"matplotlib", *(c.package for c in CONTENDERS.values() if c.package)}


class WrongUse(Exception):
    """Arguments that name what is not there; the message says what there is."""


def choose_workloads(patterns: Sequence[str]) -> list[Workload]:
    """The workloads that a pattern names, in the order of the table. Raises WrongUse."""
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in WORKLOADS):
            raise WrongUse(f"no program `{pattern}`; there are: {', '.join(WORKLOADS)}")
    return [
        workload
        for name, workload in WORKLOADS.items()
        if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
    ]


def choose_contenders(peers: str | None, versions: dict[str, str]) -> list[str]:
    """The contenders that are installed, or those that are asked for. Raises WrongUse."""
    everyone = [name for name in CONTENDERS if name != ONE_THREAD]
    missing = [name for name in everyone if CONTENDERS[name].package not in (None, *versions)]
    if peers is None:
        return [name for name in everyone if name not in missing]
    chosen = [name for name in peers.split(",") if name]
    for name in chosen:
        if name not in everyone:
            raise WrongUse(f"no contender `{name}`; there are: {', '.join(everyone)}")
        if name in missing:
            package = CONTENDERS[name].package
            raise WrongUse(f"`{name}` is not installed: pip install {package}")
    return [name for name in everyone if name in chosen]


def count_operations(workload: Workload) -> int | None:
    try:
        return count_flops(load_program(read_source(workload.program)).module)
    except UnknownTurns:
        return None


def measure_all(args: argparse.Namespace) -> dict[str, Measured]:
    """Measures the workloads, and prints a table after each.

    Raises CommandFailed, InvalidProgram and OSError.
    """
    build = [args.compiler, *shlex.split(args.flags)]
    if args.threads > 1:
        build.append("-fopenmp")
    probe = Probe(shutil.which("gcc") or args.compiler)
    results: dict[str, Measured] = {}
    with ExitStack() as stack:
        team: dict[str, Process] = {}
        for name in args.contenders:
            threads = 1 if name == ONE_THREAD else args.threads
            python = args.python if CONTENDERS[name].package else sys.executable
            team[name] = Process(name, python, threads)
            stack.callback(team[name].close)
        for workload in args.workloads:
            able = {
                name: process
                for name, process in team.items()
                if name != "C" or workload.name in hand_written()
            }
            with tempfile.TemporaryDirectory(prefix="uir-bench-") as folder:
                results[workload.name] = measure(
                    workload,
                    count_operations(workload),
                    able,
                    probe,
                    build,
                    args.runs,
                    Path(folder),
                )
            print(workload_table(workload.name, results[workload.name]), end="\n\n", flush=True)
    return results


def draw(python: str, report: str, picture: Path) -> None:
    """Draws the plot of a report. Raises CommandFailed, OSError."""
    script = Path(__file__).with_name("benchmarks") / "plot.py"
    with tempfile.TemporaryDirectory(prefix="uir-bench-") as folder:
        source = Path(folder, "report.json")
        source.write_text(report)
        timed([python, str(script), str(source), str(picture)])


def positive(text: str) -> int:
    """An argument that must be a positive integer."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, found {value}")
    return value


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="\n".join((__doc__ or "").splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("programs", nargs="*", metavar="PROGRAM", help="what to measure; default: all")
    add("--peers", metavar="NAME,...", help="contenders; default: all that are installed")
    add("--python", default=sys.executable, help="the interpreter that has the peers")
    add("--compiler", default="gcc", metavar="CC", help="the C compiler; default: gcc")
    add("--flags", default="-O2", help="its flags; default: -O2")
    add("--runs", type=positive, default=7, metavar="N", help="turns of each; default: 7")
    add("--threads", type=positive, default=1, metavar="N", help="for everyone; default: 1")
    add("--json", type=Path, metavar="FILE", help="write all that was measured")
    add("--plot", type=Path, metavar="FILE.png", help="draw it; needs matplotlib")
    args = parser.parse_args()
    if not shutil.which(args.compiler):
        parser.error(f"no C compiler `{args.compiler}` on the search path")
    try:
        args.versions = installed_versions(args.python, PACKAGES)
        args.workloads = choose_workloads(args.programs)
        args.contenders = choose_contenders(args.peers, args.versions)
    except (WrongUse, OSError, CommandFailed) as error:
        parser.error(str(error))
    if args.plot and "matplotlib" not in args.versions:
        parser.error(f"--plot needs matplotlib: {args.python} -m pip install matplotlib")
    if args.threads > 1 and "uir" in args.contenders:
        args.contenders.append(ONE_THREAD)
    return args


def describe(args: argparse.Namespace) -> dict[str, str]:
    """What was measured, and where."""
    versions = [f"{name} {version}" for name, version in sorted(args.versions.items())]
    missing = sorted(PACKAGES - {"matplotlib"} - args.versions.keys())
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} processors",
        "C compiler": shlex.join([args.compiler, *shlex.split(args.flags)]),
        "threads": str(args.threads),
        "contenders": ", ".join(args.contenders),
        "installed": ", ".join(versions) or "nothing",
        "not installed": ", ".join(missing) or "nothing",
    }


def main() -> int:
    """Run the command line."""
    args = parse_arguments()
    options = describe(args)
    for name, value in options.items():
        print(f"{name}: {value}")
    print(flush=True)
    pin(args.threads)
    try:
        results = measure_all(args)
        figures = find_figures(results)
        if figures:
            print(figures_table(figures))
        report = json.dumps(to_json(options, results, figures), indent=1)
        if args.json:
            args.json.write_text(report)
        if args.plot:
            draw(args.python, report, args.plot)
    except InvalidProgram as error:
        sys.exit(str(error))
    except (CommandFailed, OSError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("interrupted")
    scores = [score for measured in results.values() for score in measured.scores.values()]
    return 1 if any(score.failure is not None for score in scores) else 0


if __name__ == "__main__":
    sys.exit(main())
