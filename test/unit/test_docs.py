"""The documents are true: their programs run, their errors are reported, their passes do that.

In `docs/language.md`
  * a `uir` block is a whole program. It starts with headers as the grader has them, or is followed
    by the errors and warnings that `uir` reports: after the line that is wrong, a comment
    `# error: MESSAGE` (or `# warning: MESSAGE`), and `# help: MESSAGE` where there is help.
  * a `c` block has lines of the C that the program before it is rendered to.
In `docs/passes.md` a block, a line that is a command `uir-opt ...` and another block are a test:
given the first, the command prints the second.
In `docs/prog.md` a Python block is a session in the interpreter.
In `docs/fusion.md` the comments `# launch: KERNEL(MEMORY, ...)` of a program are its launches.
"""

from __future__ import annotations

import doctest
import hashlib
import re
import struct
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from dialects.uir.dialect import OPS
from dialects.uir.kernel import LaunchOp
from passes import get_all_passes
from passes.pipelines import LOWER, apply_passes
from uir.api import c_of
from uir.cli import run
from uir.program import load_program, read_source
from uir.text.diagnostics import InvalidProgram
from uir_opt import UirOptMain

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REPORT = re.compile(r"# (error|warning|help): (.+)")
HEADER = re.compile(r"# (run|slot \d+|error): (.+)")


class Block(NamedTuple):
    """A fenced block: its language, its text, its line in the document, and what stands before."""

    language: str
    text: str
    line: int
    before: str


def blocks_of(name: str) -> list[Block]:
    document = (DOCS / name).read_text(encoding="utf-8")
    blocks: list[Block] = []
    end = 0
    for match in FENCE.finditer(document):
        line = document.count("\n", 0, match.start()) + 2
        blocks.append(Block(match[1], match[2], line, document[end : match.start()]))
        end = match.end()
    return blocks


LANGUAGE = blocks_of("language.md")
PROGRAMS = [block for block in LANGUAGE if block.language == "uir"]


def headers_of(text: str) -> dict[str, str]:
    """The headers at the top of a program."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if match := HEADER.fullmatch(line):
            found[match[1]] = match[2]
    return found


def statements_of(text: str) -> list[str]:
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    return [words[2] if words[0].startswith("%") else words[0] for words in lines if words]


def file_of(block: Block, folder: Path) -> Path:
    """The program as a file, beside the data file that the document speaks of."""
    (folder / "data").mkdir()
    (folder / "data" / "three.f32").write_bytes(struct.pack("<3f", 1.0, 2.0, 3.0))
    path = folder / "program.uir"
    path.write_text(block.text, encoding="utf-8")
    return path


@pytest.mark.parametrize("block", PROGRAMS, ids=lambda block: f"line {block.line}")
def test_program(block: Block, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = file_of(block, tmp_path)
    headers = headers_of(block.text)
    reports = reports_of(block.text)
    assert headers or reports, "a program without a header or a report shows nothing"
    assert found_reports(path) == reports
    if any(kind == "error" for _, kind, _, _ in reports):
        return
    status = run(["run", str(path)])
    printed = capsys.readouterr()
    if "error" in headers:
        assert status == 1
        assert f"error: {headers['error']}" in printed.err
        return
    assert status == 0
    expected = [headers["run"]] if "run" in headers else []
    expected += [f"{key} = {value}" for key, value in headers.items() if key.startswith("slot")]
    assert printed.out.splitlines() == expected


def reports_of(text: str) -> list[tuple[int, str, str, str | None]]:
    """The reports that a block announces: line, kind, message and help."""
    reports: list[tuple[int, str, str, str | None]] = []
    statement = 0
    for number, line in enumerate(text.splitlines(), 1):
        match = REPORT.fullmatch(line)
        if not line.startswith("#") and line.strip():
            statement = number
        elif statement and match and match[1] == "help":
            reports[-1] = (*reports[-1][:3], match[2])
        elif statement and match:
            reports.append((statement, match[1], match[2], None))
    return reports


def found_reports(path: Path) -> list[tuple[int, str, str, str | None]]:
    try:
        found = load_program(read_source(path)).warnings
    except InvalidProgram as error:
        found = error.diagnostics
    return [(d.place.line, d.severity, d.message, d.help) for d in found]


def test_every_op_has_an_example_and_a_description() -> None:
    text = (DOCS / "language.md").read_text(encoding="utf-8")
    shown = {op for block in PROGRAMS if headers_of(block.text) for op in statements_of(block.text)}
    assert shown == set(OPS)
    for op in OPS:
        assert re.search(rf"^\| `{op}( [^`]*)?` \|", text, re.MULTILINE), op


def test_the_rendered_c_has_the_lines_that_are_shown(tmp_path: Path) -> None:
    shown = [(a, b) for a, b in pairwise(LANGUAGE) if b.language == "c"]
    assert shown
    for number, (program, c) in enumerate(shown):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = file_of(program, folder)
        checks = "uir_error" in c.text
        rendered = c_of(load_program(read_source(path)), checks=checks)
        assert normal(c.text) in normal(rendered)


def normal(c: str) -> str:
    """C with one space for any space."""
    return " ".join(c.split())


def test_the_data_file_of_the_document() -> None:
    digest = hashlib.sha256(struct.pack("<3f", 1.0, 2.0, 3.0)).hexdigest()
    assert any(f"sha256={digest}" in block.text for block in PROGRAMS)


class Rewrite(NamedTuple):
    """A block before, the arguments of `uir-opt`, and the block after."""

    before: Block
    arguments: list[str]
    after: Block


def rewrites() -> list[Rewrite]:
    found: list[Rewrite] = []
    for before, after in pairwise(blocks_of("passes.md")):
        if match := re.search(r"^`uir-opt (.+)`$", after.before, re.MULTILINE):
            found.append(Rewrite(before, match[1].split(), after))
    return found


REWRITES = rewrites()


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda rewrite: f"line {rewrite.before.line}")
def test_pass(rewrite: Rewrite, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"before.{rewrite.before.language}"
    path.write_text(rewrite.before.text, encoding="utf-8")
    UirOptMain([*rewrite.arguments, str(path)]).run()
    assert capsys.readouterr().out.strip() == rewrite.after.text.strip()


def test_every_pass_has_a_before_and_an_after() -> None:
    shown = {argument.partition("=")[0] for rewrite in REWRITES for argument in rewrite.arguments}
    assert {f"--{flag}" for flag in get_all_passes()} <= shown


def test_sessions_with_programs() -> None:
    results = doctest.testfile(str(DOCS / "prog.md"), module_relative=False)
    assert results.attempted
    assert not results.failed


FUSION = blocks_of("fusion.md")


@pytest.mark.parametrize("block", FUSION, ids=lambda block: f"line {block.line}")
def test_launches(block: Block) -> None:
    module = load_program(read_source(block.text)).module
    apply_passes(LOWER[: LOWER.index("form-kernels") + 1], module)
    launches = [
        f"{op.kernel.root_reference.data}"
        f"({', '.join(f'%{memory.name_hint}' for memory in op.memories)})"
        for op in module.walk()
        if isinstance(op, LaunchOp)
    ]
    assert launches == re.findall("^# launch: (.+)$", block.text, re.MULTILINE)
