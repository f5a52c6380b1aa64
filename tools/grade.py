"""Grade a compiler: check every `.uir` test against the headers at its top.

    python tools/grade.py [--compiler "uir"] [--jobs N] [--full] [PATH...]

A test is copied, with the data files it names, to an empty folder, where `CMD run FILE` and
`CMD render FILE` are called; the C is built with the system's C compiler and the kernel called on
the buffers. The headers, as comments before the first statement:

    # run: VALUE                `run` prints this result
    # slot S: [..]              contents of the slot after `run` and after the kernel
    # invalid: TEXT             rejected with exit status 1 and a message with TEXT; every line that
                                ends in `#!` is among the reported ones; may be given repeatedly
    # error: TEXT               `run` stops with a runtime error that says TEXT; the checked kernel
                                reports the same kind and line and does no store that comes later;
                                `slot` says what else it leaves, `#!` marks the line
    # render                    `run` and the kernel leave the same bits in all buffers and result
    # render check: slot S >= V element 0 of the slot is at least V after the kernel
    # time: T                   seconds for the compiler, the C compiler and the kernel, each (10)
    # max_bytes: B              size limit of the C (20000)

Values are compared bit by bit, with all NaNs equal. Buffers are aligned as their elements and no
more, between zones that must stay untouched. With `--full` every program but the invalid ones is
rendered, with checks and without, and every kernel is built by gcc and clang (those that exist) at
several levels, and with the address and undefined behaviour sanitizers, and called twice. The
project's own compiler (`uir`) and the kernels run in worker processes, many in each; any other CMD
has a process for each call. Exit status 1 when a test failed.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

import numpy as np
from grading.checks import (
    Outcome,
    check_checked_kernel,
    check_kernel,
    check_printed,
    expect_marked_lines,
    expect_rejected,
    first_error,
    parse_output,
)
from grading.compiler import Compiler, compiler_of, expect_success
from grading.headers import Declaration, Test, declarations, find_tests, read_test
from grading.kernel import (
    C_TYPES,
    Build,
    Kernel,
    KernelCaller,
    Left,
    full_builds,
    kernel_parameters,
)
from grading.values import DTYPES, Failed, Value
from rich.console import Console
from rich.progress import Progress

GROUP = 12
"""How many tests' kernels are built by one call of the C compiler."""

ROOM = 1 << 16
"""Elements for the result of a kernel that fails, whose shape is not known."""


@dataclass(frozen=True)
class Verdict:
    """The grade of one test: why it failed, None when it passed."""

    path: Path
    reason: str | None


class Grader:
    """Grades tests with one compiler and a list of ways to build its C."""

    def __init__(
        self, compiler: Compiler, caller: KernelCaller, builds: list[Build], full: bool
    ) -> None:
        self.compiler = compiler
        self.caller = caller
        self.builds = builds
        self.full = full

    def grade(self, paths: list[Path]) -> Iterator[Verdict]:
        """Grade a group of tests, whose kernels are built together."""
        reasons: dict[Path, str] = {}
        kernels: list[Kernel] = []
        with ExitStack() as stack:
            for path in paths:
                name = stack.enter_context(tempfile.TemporaryDirectory(prefix="uir-grade-"))
                try:
                    kernels += self.prepare(path, Path(name))
                except (Failed, OSError) as failure:
                    reasons[path] = str(failure)
            for build in self.builds:
                left = [kernel for kernel in kernels if kernel.test.path not in reasons]
                for kernel, reason in self.caller.grade(build, left) if left else ():
                    reasons[kernel.test.path] = reason
        for path in paths:
            yield Verdict(path, reasons.get(path))

    def prepare(self, path: Path, folder: Path) -> Iterator[Kernel]:
        """Check what the compiler says of a test, and give the kernels that must be checked."""
        test = read_test(path)
        if not test.has_goal:
            raise Failed("expected a test header, found none")
        shutil.copy(path, folder / path.name)
        buffers = declarations(test.text)
        for buffer in buffers:
            copy_data(buffer, path.parent, folder)
        if test.invalid:
            done = self.call(test, folder, "run")
            expect_rejected(test, done, test.invalid)
            expect_marked_lines(test, done)
        elif test.error is not None:
            yield from self.failing_kernels(test, folder, test.error)
        else:
            yield from self.valid_kernels(test, folder)

    def call(self, test: Test, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """`CMD ARGUMENTS FILE` in the test's folder."""
        return self.compiler.call([*arguments, test.path.name], folder, test.seconds)

    def run(self, test: Test, folder: Path) -> Outcome:
        """What `CMD run FILE` prints."""
        done = self.call(test, folder, "run")
        expect_success("`run`", done)
        return parse_output(done.stdout)

    def render(self, test: Test, folder: Path, *options: str) -> str:
        """The C that `CMD render FILE` prints."""
        done = self.call(test, folder, "render", *options)
        expect_success("`render`", done)
        size = len(done.stdout.encode())
        if not options and size > test.max_bytes:
            raise Failed(f"`render`: expected at most {test.max_bytes} bytes of C, found {size}")
        return done.stdout

    def failing_kernels(self, test: Test, folder: Path, message: str) -> Iterator[Kernel]:
        """The checked kernel of a program that fails; in full also the other one."""
        done = self.call(test, folder, "run")
        expect_rejected(test, done, [message])
        expect_marked_lines(test, done)
        error = first_error(done)
        initial = contents_of(test, folder)
        for checked in (True, False) if self.full else (True,):
            code = self.render(test, folder, *(["--checks"] if checked else []))
            parameters = kernel_parameters(code, checked)
            expected = [C_TYPES[value.dtype] for value in initial.values()]
            result = None
            if len(parameters) == len(expected) + 1:
                dtype = next(name for name in C_TYPES if C_TYPES[name] == parameters[-1])
                result = Value(dtype, (ROOM,), np.zeros(ROOM, DTYPES[dtype]))
                expected.append(parameters[-1])
            expect_parameters(expected, parameters)

            def check(left: Left) -> None:
                # What the unchecked kernel leaves is its own affair, as long as it is defined.
                if left.error is not None:
                    check_checked_kernel(test, error, initial, left)

            yield Kernel(
                test, folder, code, initial, result, check, checked=checked, calls=self.calls
            )

    def valid_kernels(self, test: Test, folder: Path) -> Iterator[Kernel]:
        """Check what `run` prints, and give the kernel if the test says something about it."""
        outcome = None
        if test.result is not None or test.slots or test.render:
            outcome = self.run(test, folder)
            check_printed(test, outcome)
        if not (test.slots or test.render or test.checks or self.full):
            return
        initial = contents_of(test, folder)
        for checked in (False, True) if self.full else (False,):
            code = self.render(test, folder, *(["--checks"] if checked else []))
            parameters = kernel_parameters(code, checked)
            if outcome is None and len(parameters) > len(initial):
                outcome = self.run(test, folder)
            result = outcome.result if outcome else None
            values = [*initial.values(), *([result] if result else [])]
            expect_parameters([C_TYPES[value.dtype] for value in values], parameters)

            def check(left: Left, outcome: Outcome | None = outcome) -> None:
                check_kernel(test, outcome, initial, left)

            yield Kernel(
                test, folder, code, initial, result, check, checked=checked, calls=self.calls
            )

    @property
    def calls(self) -> int:
        """How often each kernel is called."""
        return 2 if self.full else 1


def expect_parameters(expected: list[str], found: list[str]) -> None:
    """Fail unless the kernel takes pointers to these types."""
    if found != expected:
        raise Failed(f"kernel: expected parameters {expected}, found {found}")


def contents_of(test: Test, folder: Path) -> dict[int, Value]:
    """What each slot holds before the kernel runs."""
    return {buffer.slot: buffer.contents(folder) for buffer in declarations(test.text)}


def copy_data(declaration: Declaration, source: Path, folder: Path) -> None:
    """Copy the file that a buffer names next to the program, if it lies below the test's folder."""
    url = declaration.url
    if url is None or "://" in url or url.startswith("/") or ".." in url.split("/"):
        return
    if (source / url).is_file():
        (folder / url).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / url, folder / url)


class GroupQueue:
    """Groups of tests, for several threads to take."""

    def __init__(self, tests: list[Path]) -> None:
        # The programs of the last week take longest, so they come first.
        tests = tests[::-1]
        self.groups = iter([tests[i : i + GROUP] for i in range(0, len(tests), GROUP)])
        self.lock = Lock()

    def take(self) -> list[Path]:
        """The next group; empty when there is none."""
        with self.lock:
            return next(self.groups, list[Path]())


def grade_groups(
    command: list[str], builds: list[Build], full: bool, groups: GroupQueue
) -> Iterator[Verdict]:
    """Grade groups until there are none left."""
    with closing(compiler_of(command)) as compiler, closing(KernelCaller()) as caller:
        grader = Grader(compiler, caller, builds, full)
        while group := groups.take():
            yield from grader.grade(group)


def grade_all(
    command: list[str], builds: list[Build], full: bool, tests: list[Path], jobs: int
) -> int:
    """Grade the tests in parallel, print the failures as they come, and return their number."""
    console = Console(highlight=False, soft_wrap=True)
    groups = GroupQueue(tests)
    verdicts: SimpleQueue[Verdict | None] = SimpleQueue()

    def work() -> None:
        try:
            for verdict in grade_groups(command, builds, full, groups):
                verdicts.put(verdict)
        finally:
            verdicts.put(None)

    failed = 0
    with (
        Progress(console=console, transient=True, disable=not console.is_terminal) as progress,
        ThreadPoolExecutor(jobs) as pool,
    ):
        task = progress.add_task("grading", total=len(tests))
        workers = [pool.submit(work) for _ in range(jobs)]
        for _ in workers:
            for verdict in iter(verdicts.get, None):
                if verdict.reason is not None:
                    failed += 1
                    console.print(f"FAIL {verdict.path}: {verdict.reason}", markup=False)
                progress.advance(task)
        for worker in workers:
            worker.result()
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
    tests = find_tests(args.paths)
    command = shlex.split(args.compiler)
    return 1 if grade_all(command, builds, args.full, tests, max(1, args.jobs)) else 0


if __name__ == "__main__":
    sys.exit(main())
