"""What the headers of a test ask of a compiler's messages, of what `run` prints, and of kernels."""

import re
import subprocess
from dataclasses import dataclass

from grading.headers import Test, statements
from grading.kernel import Left
from grading.values import Failed, Value, describe, expect_same, parse_value, shorten


@dataclass(frozen=True)
class Outcome:
    """What `run` printed: the result, if the program has one, and the stored slots."""

    result: Value | None
    slots: dict[int, Value]


@dataclass(frozen=True)
class Diagnostic:
    """The first error that `run` reported."""

    line: int
    message: str


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


def expect_marked_lines(test: Test, done: subprocess.CompletedProcess[str]) -> None:
    """Fail unless every line that ends in `#!` is among the reported ones."""
    reported = {int(line) for line in re.findall(r":(\d+):\d+: error:", done.stderr)}
    for number, line in enumerate(test.text.split("\n"), 1):
        if line.rstrip().endswith("#!") and number not in reported:
            found = ", ".join(map(str, sorted(reported))) or "none"
            raise Failed(
                f"expected an error at line {number}, found errors at lines: {found}\n"
                + done.stderr.strip()
            )


def first_error(done: subprocess.CompletedProcess[str]) -> Diagnostic:
    """Line and message of the first error; a runtime error is the only one."""
    found = re.findall(r"^[^\n]*:(\d+):\d+: error: ([^\n]*)", done.stderr, re.MULTILINE)
    if len(found) != 1:
        raise Failed(f"`run`: expected one error with its line, found\n{done.stderr.strip()}")
    return Diagnostic(int(found[0][0]), found[0][1])


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


def check_slots(test: Test, left: Left) -> None:
    """Check the header `slot` against what a kernel left."""
    for slot, text in test.slots.items():
        if slot not in left.slots:
            raise Failed(f"expected slot {slot}, found buffers {sorted(left.slots)}")
        expect_same(f"kernel, slot {slot}", parse_value(text), left.slots[slot])


def check_kernel(
    test: Test, outcome: Outcome | None, initial: dict[int, Value], left: Left
) -> None:
    """Check what a kernel left against the headers and against `run`."""
    if left.error is not None and left.error[0] != 0:
        raise Failed(f"checked kernel: expected it to return 0, found {left.error}")
    check_slots(test, left)
    if outcome is not None:
        if test.render:
            for slot, found in left.slots.items():
                expected = outcome.slots.get(slot, initial[slot])
                expect_same(f"kernel against `run`, slot {slot}", expected, found)
        if outcome.result is not None and left.result is not None:
            expect_same("kernel against `run`, result", outcome.result, left.result)
    for slot, bound in test.checks:
        if slot not in left.slots:
            raise Failed(f"expected slot {slot}, found buffers {sorted(left.slots)}")
        found = float(left.slots[slot].elements[0])
        if not found >= bound:
            raise Failed(f"slot {slot}: expected at least {bound:g}, found {found:g}")


def check_checked_kernel(
    test: Test, error: Diagnostic, initial: dict[int, Value], left: Left
) -> None:
    """Check that a checked kernel failed as `run` did, and stored nothing that comes later."""
    assert left.error is not None
    status, line, kind = left.error
    if status != 1 or kind is None:
        raise Failed(f"checked kernel: expected it to return 1 with a kind, found {status}, {kind}")
    if (line, error.message[: len(kind)]) != (error.line, kind):
        raise Failed(
            f"checked kernel: expected `{error.message}` at line {error.line}, "
            f"found `{kind}` at line {line}"
        )
    check_slots(test, left)
    for slot in slots_stored_after(test.text, error.line):
        expect_same(f"checked kernel, slot {slot}", initial[slot], left.slots[slot])


def slots_stored_after(text: str, line: int) -> set[int]:
    """The slots all of whose stores run after the statement at `line`.

    Those stand after it, and after the end of every loop that it may be in. A statement of a body
    runs where that is called, which may be anywhere.
    """
    found = list(statements(text))
    bodies: set[str] = set()
    for statement in found:
        if statement.op == "param" or bodies & set(statement.operands):
            bodies.add(statement.name)
            if statement.line == line:
                return set()
    opened = {s.name for s in found if s.op == "range" and s.line <= line}
    ends = [s.line for s in found if s.op == "end" and opened & set(s.operands)]
    last = max([line, *ends])
    slots: dict[str, int] = {}
    before: set[int] = set()
    after: set[int] = set()
    for statement in found:
        if statement.op == "buffer" and "slot" in statement.attributes:
            slots[statement.name] = int(statement.attributes["slot"])
        elif statement.op == "store" and statement.operands[0] in slots:
            (before if statement.line <= last else after).add(slots[statement.operands[0]])
        elif statement.operands and statement.operands[0] in slots and statement.op != "load":
            # A view of the memory, or `after`.
            slots[statement.name] = slots[statement.operands[0]]
    return after - before
