"""Programs from text or files, with every check of the language made and every error reported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp

from passes.autodiff import InvalidGradients
from passes.pipelines import RUN, apply_passes
from uir.runtime.data import Contents, read_contents
from uir.text.diagnostics import Diagnostic, InvalidProgram, Place, place_of
from uir.text.parser import parse_program

Source: TypeAlias = "str | os.PathLike[str]"
"""A program: its text, or the path of its file (a `pathlib.Path`, say)."""


@dataclass(frozen=True)
class Text:
    """The text of a program, what messages call it, and where its relative paths start."""

    text: str
    file: str
    folder: Path


@dataclass(frozen=True)
class Program:
    """A valid program in core ops, and the contents that the text gives its buffers."""

    module: ModuleOp
    contents: Contents
    warnings: list[Diagnostic]


def decode(data: bytes, file: str) -> str:
    """The text of a `.uir` file. Raises InvalidProgram where the bytes are not UTF-8."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        start = data.rfind(b"\n", 0, error.start) + 1
        column = len(data[start : error.start].decode()) + 1
        message = f"the text is not UTF-8: found the byte 0x{data[error.start]:02x}"
        diagnostic = Diagnostic(Place(line, column, file), message)
        raise InvalidProgram([diagnostic], data.decode(errors="replace")) from None


def read_source(source: Source) -> Text:
    """The text of `source`. Raises OSError, and InvalidProgram where a file is not UTF-8."""
    if isinstance(source, str):
        return Text(source, "<text>", Path())
    path = Path(source)
    return Text(decode(path.read_bytes(), os.fspath(source)), os.fspath(source), path.parent)


def load_program(source: Text) -> Program:
    """The program of `source`, with sugar and gradients expanded.

    Raises InvalidProgram with every error: of the text, of its data files and of its gradients.
    """
    module, diagnostics, warnings = parse_program(source.text, source.file)
    contents, errors = read_contents(module, source.folder)
    diagnostics += errors
    try:
        apply_passes(RUN, module)
    except InvalidGradients as error:
        diagnostics += gradient_diagnostics(error)
    if diagnostics:
        raise InvalidProgram(diagnostics, source.text)
    return Program(module, contents, warnings)


def gradient_diagnostics(error: InvalidGradients) -> Iterator[Diagnostic]:
    """A diagnostic for each gradient that has no meaning, with a note at the op in its way."""
    for op, why in error.errors:
        name = why.op.name.removeprefix("uir.")
        yield Diagnostic(
            place_of(op), why.message, notes=((place_of(why.op), f"`{name}` is here"),)
        )
