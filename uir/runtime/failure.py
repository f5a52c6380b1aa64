"""Why a valid program stops, or is not run at all."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation

from uir.text.diagnostics import Diagnostic, place_of


@dataclass
class RuntimeFailure(Exception):
    """A statement that the language makes an error on the values that it had."""

    op: Operation
    """The statement."""
    message: str

    def __str__(self) -> str:
        return f"{place_of(self.op)}: {self.message}"

    def diagnostic(self) -> Diagnostic:
        """The error at the statement's place in the text."""
        return Diagnostic(place_of(self.op), self.message)


class TooLarge(Exception):
    """A valid program that is too large to be interpreted; the message says by how much."""
