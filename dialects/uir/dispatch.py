"""The mark of functions that are compiled for more than one machine."""

from __future__ import annotations

DISPATCH = "uir.dispatch"
"""The attribute of a private function whose work is worth code for each width of vectors."""
