"""Tokens of one line of `.uir` text."""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?P<name>%[A-Za-z0-9_]+(?=[\s=#]|$))"
    r"|(?P<attribute>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>\[[^\]#]*\]?|[^\s#]*)"
    r"|(?P<equals>=)"
    r"|(?P<word>[^\s=#]+)"
    r"|(?P<comment>#.*)"
)


class Token(NamedTuple):
    """A piece of a line: its kind (`name`, `attribute`, `equals`, `word`), text and column.

    An attribute's `text` is its name; its `value` starts at `value_column`. Columns count from 1.
    """

    kind: str
    text: str
    column: int
    value: str = ""
    value_column: int = 0


def tokenize(line: str) -> list[Token]:
    """The tokens of `line`, in order; comments and spaces are left out."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(line):
        kind = match.lastgroup
        if kind == "value":
            tokens.append(
                Token(
                    "attribute",
                    match["attribute"],
                    match.start() + 1,
                    match["value"],
                    match.start("value") + 1,
                )
            )
        elif kind is not None and kind != "comment":
            tokens.append(Token(kind, match.group(), match.start() + 1))
    return tokens
