"""Errors with a place in the text, and how they are shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation

_TOKEN = re.compile(r"\[[^\]#]*\]|[^\s\[\]#]+")


@dataclass(frozen=True, order=True)
class Place:
    """A place in a file: line and column, counted from 1."""

    line: int
    column: int
    file: str = field(compare=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Diagnostic:
    """One error or warning: what is wrong and where, what else to look at, and what to do."""

    place: Place
    message: str
    help: str | None = None
    notes: tuple[tuple[Place, str], ...] = ()
    severity: str = "error"

    def render(self, source: str) -> str:
        """The message in full, with the line of `source` that it is about and a caret."""
        lines = [f"{self.place}: {self.severity}: {self.message}", *_excerpt(self.place, source)]
        lines += [f"    note: {message}: {place}" for place, message in self.notes]
        if self.help:
            lines.append(f"    help: {self.help}")
        return "\n".join(lines)


@lru_cache(maxsize=1)
def _lines_of(source: str) -> Sequence[str]:
    """The lines of `source`, split once for all its errors."""
    return source.split("\n")


def _excerpt(place: Place, source: str) -> list[str]:
    lines = _lines_of(source)
    if not 1 <= place.line <= len(lines):
        return []
    # Tabs are spaces; other control characters would move the caret or the terminal.
    line = "".join(c if c.isprintable() else " " for c in lines[place.line - 1])
    token = _TOKEN.match(line, place.column - 1)
    width = len(token.group()) if token else 1
    start = 0
    if len(line) > 160:
        start = max(0, place.column - 61)
        line = line[start : start + 160]
        width = min(width, 100)
    return [f"    {line}", f"    {' ' * (place.column - 1 - start)}{'^' * width}"]


class InvalidProgram(Exception):
    """A program with errors. `str` shows all of them, in the order of the text."""

    def __init__(self, diagnostics: Iterable[Diagnostic], source: str):
        self.diagnostics = sorted(diagnostics, key=lambda diagnostic: diagnostic.place)
        self.source = source
        super().__init__("\n".join(d.render(source) for d in self.diagnostics))


def place_of(op: Operation) -> Place:
    """Where the text has `op`; line 0 when it came from no text."""
    location = op.location
    if isinstance(location, FileLineColLoc):
        return Place(location.line.data, location.column.data, location.filename.data)
    return Place(0, 0, "<unknown>")
