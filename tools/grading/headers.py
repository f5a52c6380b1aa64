"""What a test's text says: its headers, and the buffers that its program declares."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from grading.values import DTYPES, Failed, Value, parse_value


@dataclass
class Test:
    """The headers of one file."""

    path: Path
    text: str
    result: str | None = None
    slots: dict[int, str] = field(default_factory=dict[int, str])
    invalid: list[str] = field(default_factory=list[str])
    error: str | None = None
    render: bool = False
    checks: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    seconds: float = 10
    max_bytes: int = 20_000

    @property
    def has_goal(self) -> bool:
        """Whether any header says what to test."""
        goals = (self.slots, self.invalid, self.render, self.checks)
        return any(goals) or self.result is not None or self.error is not None


def read_test(path: Path) -> Test:
    """Read a file's headers; `Failed` when one of them is malformed."""
    test = Test(path, path.read_bytes().decode("utf-8", errors="replace"))
    for line in test.text.splitlines():
        if line.strip() and not line.startswith("#"):
            break
        read_header(test, line.rstrip())
    return test


def read_header(test: Test, line: str) -> None:
    """Take one comment line into `test`, if it is a header."""
    if match := re.match(r"# run: (.+)", line):
        test.result = match[1]
    elif match := re.fullmatch(r"# slot (\d+): (.+)", line):
        test.slots[int(match[1])] = match[2]
    elif match := re.match(r"# invalid: (.+)", line):
        test.invalid.append(match[1])
    elif match := re.match(r"# error: (.+)", line):
        test.error = match[1]
    elif line == "# render":
        test.render = True
    elif match := re.fullmatch(r"# render check: slot (\d+) >= (-?[\d.]+(?:e-?\d+)?)", line):
        test.checks.append((int(match[1]), float(match[2])))
    elif match := re.fullmatch(r"# time: (\d+(?:\.\d+)?)", line):
        test.seconds = float(match[1])
    elif match := re.fullmatch(r"# max_bytes: (\d+)", line):
        test.max_bytes = int(match[1])
    elif re.match(r"# (run|slot \d+|invalid|error|render check|time|max_bytes):", line):
        raise Failed(f"malformed header `{line}`")


def find_tests(paths: list[Path]) -> list[Path]:
    """The `.uir` files at and below the paths, except those that only lit runs or benchmarks."""
    found: set[Path] = set()
    for path in paths:
        if path.is_dir():
            files = {file for file in path.rglob("*.uir") if not is_lit_test(file)}
            found |= {file for file in files if "bench" not in file.relative_to(path).parts}
        else:
            found.add(path)
    return sorted(found)


def is_lit_test(path: Path) -> bool:
    """Whether the file has a RUN line."""
    return b"# RUN:" in path.read_bytes()


@dataclass(frozen=True)
class Declaration:
    """A `buffer` statement, read with no more care than filling the buffer needs."""

    slot: int
    dtype: str
    extent: int
    data: str | None
    url: str | None

    def contents(self, folder: Path) -> Value:
        """What the buffer holds before the kernel runs."""
        dtype = DTYPES[self.dtype]
        if self.data is not None:
            return parse_value(self.data)
        if self.url is not None:
            elements = np.frombuffer((folder / self.url).read_bytes(), dtype)
        else:
            elements = np.zeros(self.extent, dtype)
        return Value(self.dtype, (self.extent,), elements)


@dataclass(frozen=True)
class Statement:
    """A statement, split into its words with no check of what they mean."""

    line: int
    name: str
    op: str
    operands: list[str]
    attributes: dict[str, str]


def statements(text: str) -> Iterator[Statement]:
    """The statements of a program; what is not one is left out."""
    for number, line in enumerate(text.splitlines(), 1):
        code = line.partition("#")[0]
        match = re.match(r"\s*(?:(%\w+)\s*=)?\s*([a-z][a-z0-9]*)(?!\S)(.*)", code)
        if match:
            rest = match[3]
            attributes = dict(re.findall(r"(\w+)=(\[[^\]]*\]|\S+)", rest))
            operands = re.split(r"\s\w+=", rest)[0].split()
            yield Statement(number, match[1] or "", match[2], operands, attributes)


def declarations(text: str) -> list[Declaration]:
    """The buffers of a program, in increasing slot number."""
    found: list[Declaration] = []
    for statement in statements(text):
        attributes = statement.attributes
        is_buffer = statement.op == "buffer" and re.fullmatch(r"\d+", "".join(statement.operands))
        if is_buffer and "slot" in attributes and attributes.get("dtype") in DTYPES:
            found.append(
                Declaration(
                    int(attributes["slot"]),
                    attributes["dtype"],
                    int(statement.operands[0]),
                    attributes.get("data"),
                    attributes.get("url"),
                )
            )
    return sorted(found, key=lambda declaration: declaration.slot)
