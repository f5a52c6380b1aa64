"""Grade a compiler: check every `.uir` test against the headers at its top.

    python tools/grade.py [--compiler "uir"] [--jobs N] [--full] [PATH...]

A test is copied, with the data files it names, to an empty folder, where `CMD run FILE` and
`CMD render FILE` are called; the C is built with the system's C compiler and the kernel called on
the buffers. The headers, as comments before the first statement:

    # run: VALUE                `run` prints this result
    # slot S: [..]              contents of the slot after `run` and after the kernel
    # invalid: TEXT             rejected with exit status 1 and a message with TEXT; every line that
                                ends in `#!` is among the reported ones; may be given repeatedly
    # error: TEXT               `run` stops with a runtime error that says TEXT
    # render                    `run` and the kernel leave the same bits in all buffers and result
    # render check: slot S >= V element 0 of the slot is at least V after the kernel
    # time: T                   seconds for the compiler, the C compiler and the kernel, each (10)
    # max_bytes: B              size limit of the C (20000)

Values are compared bit by bit, with all NaNs equal. `error` tests only `run`, not a checked kernel.
With `--full` every kernel is built by gcc and clang (those that exist) at several levels, and with
the address and undefined behaviour sanitizers. Exit status 1 when a test failed.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from grading.headers import Declaration, Test, declarations, find_tests, read_test
from grading.kernel import (
    C_TYPES,
    Build,
    call_kernel,
    execute,
    expect_success,
    full_builds,
    kernel_parameters,
)
from grading.values import Failed, Value, describe, expect_same, parse_value, shorten
from rich.console import Console
from rich.progress import Progress


@dataclass(frozen=True)
class Outcome:
    """What `run` printed: the result, if the program has one, and the stored slots."""

    result: Value | None
    slots: dict[int, Value]


def parse_output(text: str) -> Outcome:
    """Read the lines that `run` prints."""
    result: Value | None = None
    slots: dict[int, Value] = {}
    for number, line in enumerate(text.splitlines()):
        if match := re.fullmatch(r"slot (\d+) = (.+)", line):
            slots[int(match[1])] = parse_value(match[2])
        elif number == 0:
            result = parse_value(line)
        else:
            raise Failed(f"`run`: expected `slot S = [...]`, found `{shorten(line)}`")
    return Outcome(result, slots)


class Grader:
    """Grades tests with one compiler command and a list of ways to build its C."""

    def __init__(self, compiler: list[str], builds: list[Build]) -> None:
        self.compiler = compiler
        self.builds = builds

    def grade(self, path: Path) -> None:
        """Run one test; `Failed` says why it failed."""
        test = read_test(path)
        if not test.has_goal:
            raise Failed("expected a test header, found none")
        with tempfile.TemporaryDirectory(prefix="uir-grade-") as name:
            folder = Path(name)
            shutil.copy(path, folder / path.name)
            for declaration in declarations(test.text):
                copy_data(declaration, path.parent, folder)
            if test.invalid:
                self.check_invalid(test, folder)
            elif test.error is not None:
                done = self.call("run", test, folder)
                expect_rejected(test, done, [test.error])
            else:
                self.check_valid(test, folder)

    def call(self, verb: str, test: Test, folder: Path) -> subprocess.CompletedProcess[str]:
        """`CMD verb FILE` in the test's folder."""
        command = [*self.compiler, verb, test.path.name]
        return execute(f"`{verb}`", command, folder, test.seconds)

    def check_invalid(self, test: Test, folder: Path) -> None:
        """Check that the program is rejected, with the messages and lines it should be."""
        done = self.call("run", test, folder)
        expect_rejected(test, done, test.invalid)
        reported = {int(line) for line in re.findall(r":(\d+):\d+: error:", done.stderr)}
        for number, line in enumerate(test.text.split("\n"), 1):
            if line.rstrip().endswith("#!") and number not in reported:
                found = ", ".join(map(str, sorted(reported))) or "none"
                raise Failed(
                    f"expected an error at line {number}, found errors at lines: {found}\n"
                    + done.stderr.strip()
                )

    def check_valid(self, test: Test, folder: Path) -> None:
        """Check results, slots and kernels."""
        outcome = None
        if test.result is not None or test.slots or test.render:
            outcome = self.run(test, folder)
            check_printed(test, outcome)
        if test.slots or test.render or test.checks:
            self.check_kernels(test, folder, outcome)

    def run(self, test: Test, folder: Path) -> Outcome:
        """What `CMD run FILE` prints."""
        done = self.call("run", test, folder)
        expect_success("`run`", done)
        return parse_output(done.stdout)

    def check_kernels(self, test: Test, folder: Path, outcome: Outcome | None) -> None:
        """Render the program, build it every way, and check what each kernel leaves."""
        done = self.call("render", test, folder)
        expect_success("`render`", done)
        size = len(done.stdout.encode())
        if size > test.max_bytes:
            raise Failed(f"`render`: expected at most {test.max_bytes} bytes of C, found {size}")
        (folder / "kernel.c").write_text(done.stdout, encoding="utf-8")
        buffers = declarations(test.text)
        parameters = kernel_parameters(done.stdout)
        if outcome is None and len(parameters) > len(buffers):
            outcome = self.run(test, folder)
        initial = {buffer.slot: buffer.contents(folder) for buffer in buffers}
        result = outcome.result if outcome else None
        expected = [C_TYPES[buffer.dtype] for buffer in buffers]
        expected += [C_TYPES[result.dtype]] if result else []
        if parameters != expected:
            raise Failed(f"kernel: expected parameters {expected}, found {parameters}")
        for build in self.builds:
            try:
                slots, value = call_kernel(test, folder, build, initial, result)
                check_kernel(test, outcome, initial, slots, value)
            except Failed as failure:
                raise Failed(f"{build}: {failure}") from failure


def copy_data(declaration: Declaration, source: Path, folder: Path) -> None:
    """Copy the file that a buffer names next to the program, if it lies below the test's folder."""
    url = declaration.url
    if url is None or "://" in url or url.startswith("/") or ".." in url.split("/"):
        return
    if (source / url).is_file():
        (folder / url).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / url, folder / url)


def expect_rejected(
    test: Test, done: subprocess.CompletedProcess[str], messages: list[str]
) -> None:
    """Fail unless the command ended with status 1, said the messages, and printed nothing else."""
    crashed = re.search(r"Traceback|internal error", done.stderr)
    if done.returncode != 1 or crashed:
        raise Failed(
            f"expected exit status 1 and a diagnostic, found status {done.returncode}\n"
            + shorten(done.stdout + done.stderr, 2000).strip()
        )
    if done.stdout:
        raise Failed(f"expected nothing on stdout, found {shorten(done.stdout)}")
    # Neither the echoed source nor the file's name counts as part of a message.
    source = {line.strip() for line in test.text.splitlines()}
    lines = [line for line in done.stderr.splitlines() if line.strip() not in source]
    diagnostics = "\n".join(lines).replace(test.path.name, "")
    for message in messages:
        if message not in diagnostics:
            raise Failed(f"expected a message with `{message}`, found\n{done.stderr.strip()}")


def check_printed(test: Test, outcome: Outcome) -> None:
    """Check the headers `run` and `slot` against what `run` printed."""
    if test.result is not None:
        expected = parse_value(test.result)
        if outcome.result is None:
            raise Failed(f"`run`: expected the result {describe(expected)}, found none")
        expect_same("`run`, result", expected, outcome.result)
    for slot, text in test.slots.items():
        if slot not in outcome.slots:
            raise Failed(f"`run`: expected slot {slot}, found slots {sorted(outcome.slots)}")
        expect_same(f"`run`, slot {slot}", parse_value(text), outcome.slots[slot])


def check_kernel(
    test: Test,
    outcome: Outcome | None,
    initial: dict[int, Value],
    slots: dict[int, Value],
    result: Value | None,
) -> None:
    """Check what a kernel left against the headers and against `run`."""
    for slot, text in test.slots.items():
        if slot not in slots:
            raise Failed(f"expected slot {slot}, found buffers {sorted(slots)}")
        expect_same(f"kernel, slot {slot}", parse_value(text), slots[slot])
    if test.render and outcome is not None:
        for slot, found in slots.items():
            expected = outcome.slots.get(slot, initial[slot])
            expect_same(f"kernel against `run`, slot {slot}", expected, found)
        if outcome.result is not None and result is not None:
            expect_same("kernel against `run`, result", outcome.result, result)
    for slot, bound in test.checks:
        if slot not in slots:
            raise Failed(f"expected slot {slot}, found buffers {sorted(slots)}")
        found = float(slots[slot].elements[0])
        if not found >= bound:
            raise Failed(f"slot {slot}: expected at least {bound:g}, found {found:g}")


def verdict(grade: Callable[[Path], None], path: Path) -> str | None:
    """Why the test failed, or could not be run; None when it passed."""
    try:
        grade(path)
    except (Failed, OSError) as failure:
        return str(failure)
    return None


def grade_all(grader: Grader, tests: list[Path], jobs: int) -> int:
    """Grade the tests in parallel, print the failures as they come, and return their number."""
    console = Console(highlight=False, soft_wrap=True)
    failed = 0
    with (
        Progress(console=console, transient=True, disable=not console.is_terminal) as progress,
        ThreadPoolExecutor(jobs) as pool,
    ):
        task = progress.add_task("grading", total=len(tests))
        futures: dict[Future[str | None], Path] = {
            pool.submit(verdict, grader.grade, test): test for test in tests
        }
        for future in as_completed(futures):
            reason = future.result()
            if reason is not None:
                failed += 1
                console.print(f"FAIL {futures[future]}: {reason}", markup=False)
            progress.advance(task)
    console.print(f"{len(tests) - failed} passed, {failed} failed")
    return failed


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description="Check .uir tests against their headers.",
        epilog="\n".join((__doc__ or "").splitlines()[4:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--compiler", default="uir", metavar="CMD", help="default: uir")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--full", action="store_true", help="build every kernel in every way")
    parser.add_argument("paths", type=Path, nargs="*", default=[Path("test")], metavar="PATH")
    args = parser.parse_args()
    for path in args.paths:
        if not path.exists():
            parser.error(f"no such file or folder: {path}")
    builds = list(full_builds()) if args.full else [Build((os.environ.get("CC", "cc"), "-O2"))]
    grader = Grader(shlex.split(args.compiler), builds)
    return 1 if grade_all(grader, find_tests(args.paths), max(1, args.jobs)) else 0


if __name__ == "__main__":
    sys.exit(main())
