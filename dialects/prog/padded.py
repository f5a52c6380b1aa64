"""Operands that are padded, cropped or dilated: arrays as a loop's loads see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .carriers import Array


@dataclass(frozen=True, eq=False)
class Padded:
    """`array` with other elements between its own and around them.

    Along each axis `interior` elements stand between neighbours, and `low` before the first and
    `high` after the last one; of a negative `low` or `high`, as many are cropped from what is
    there. All these elements are `fill`, one of the array's dtype, bit for bit.

    Raises ValueError for a fill of another dtype or more than one, for another number of axes
    than the array's, for a negative `interior`, and where more is cropped than there is.
    """

    array: Array
    fill: Array
    low: Sequence[int]
    high: Sequence[int]
    interior: Sequence[int]

    def __post_init__(self) -> None:
        if self.fill.dtype != self.array.dtype or self.fill.shape:
            raise ValueError(
                f"the fill of {self.array.dtype} elements is one of them, "
                f"found {self.fill.dtype} of shape {self.fill.shape}"
            )
        rank = self.array.ndim
        for name, values in (("low", self.low), ("high", self.high), ("interior", self.interior)):
            if len(values) != rank:
                raise ValueError(f"`{name}` has {len(values)} axes, and the array has {rank}")
        for axis, (size, interior) in enumerate(zip(self.shape, self.interior, strict=True)):
            if interior < 0:
                raise ValueError(f"axis {axis}: `interior` is not negative, found {interior}")
            if size < 0:
                raise ValueError(f"axis {axis}: {-size} elements too many are cropped")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape with everything added and cropped."""
        sizes = zip(self.array.shape, self.low, self.high, self.interior, strict=True)
        return tuple(
            low + size + max(size - 1, 0) * interior + high for size, low, high, interior in sizes
        )

    def elements(self) -> Array:
        """The elements, as an array of `shape`."""
        import numpy as np

        result = np.full(self.shape, self.fill, self.array.dtype)
        targets: list[slice] = []
        sources: list[slice] = []
        for axis, (low, interior) in enumerate(zip(self.low, self.interior, strict=True)):
            # Element k stands at low + k * step: those from `first` to before `end` are seen.
            step = interior + 1
            first = max(0, -(low // step))
            end = max(first, min(self.array.shape[axis], -((low - self.shape[axis]) // step)))
            targets.append(slice(low + first * step, low + end * step, step))
            sources.append(slice(first, end))
        result[tuple(targets)] = self.array[tuple(sources)]
        return result
