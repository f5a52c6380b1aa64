"""Names of functions that passes make."""

from __future__ import annotations

from itertools import count


def new_name(stem: str, taken: set[str]) -> str:
    """`stem`, with the first number from 1 that it needs to be none of `taken`, which gets it."""
    numbered = (f"{stem}_{number}" for number in count(1))
    name = stem if stem not in taken else next(name for name in numbered if name not in taken)
    taken.add(name)
    return name
