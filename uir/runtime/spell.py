"""Arrays as the text writes them."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from dialects.uir.elements import format_element


def spell_array(array: npt.NDArray[Any]) -> str:
    """An array of bool, int32 or float32 as nested lists, row-major: `[[1 2] [3 4]]`."""
    items = [format_element(element) for element in array.reshape(-1).tolist()]
    for extent in reversed(array.shape):
        items = [
            f"[{' '.join(items[start : start + extent])}]" for start in range(0, len(items), extent)
        ]
    (text,) = items
    return text
