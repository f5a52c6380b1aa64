"""Attributes of functions: of `func.func`, which knows nothing of them."""

from __future__ import annotations

DISPATCH = "uir.dispatch"
"""On a private function whose work is worth code for each width of vectors."""

SOURCE = "uir.source"
"""The statements of the text that a function computes, one a line; an array of such texts where
each of its loops has its own."""
