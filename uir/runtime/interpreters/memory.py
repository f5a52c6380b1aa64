"""References to memory: which elements of a buffer, in which shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import f32, i1, i32
from xdsl.ir import Attribute

Array: TypeAlias = npt.NDArray[Any]

ELEMENTS: dict[Attribute, np.dtype[Any]] = {
    i1: np.dtype(np.bool_),
    i32: np.dtype(np.int32),
    f32: np.dtype(np.float32),
}
"""The numpy dtype of each element type."""


@dataclass(frozen=True)
class Reference:
    """Elements of `buffer`, which is flat: a numpy view of them, or else their indices."""

    buffer: Array
    view: Array | None
    indices: Array | None = None

    @staticmethod
    def whole(buffer: Array) -> Reference:
        """All elements of `buffer`."""
        return Reference(buffer, buffer)

    def move(self, movement: Callable[[Array], Array]) -> Reference:
        """The elements moved by `movement`, which does the same to any array of this shape."""
        if self.view is not None:
            view = movement(self.view)
            if np.may_share_memory(view, self.buffer):
                return Reference(self.buffer, view)
        return Reference(self.buffer, None, movement(self._indices()))

    def _indices(self) -> Array:
        """The index in the buffer of each element."""
        if self.indices is not None:
            return self.indices
        view = self.view
        assert view is not None
        offset = view.__array_interface__["data"][0] - self.buffer.ctypes.data
        indices = np.full(view.shape, offset // view.itemsize, np.int64)
        for axis, (extent, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
            steps = np.arange(extent, dtype=np.int64) * (stride // view.itemsize)
            indices += steps.reshape([-1 if a == axis else 1 for a in range(view.ndim)])
        return indices

    def load(self) -> Array:
        """A copy of the elements."""
        if self.view is not None:
            return self.view.copy()
        return self.buffer[self.indices]

    def store(self, value: Array) -> None:
        """Writes every element."""
        if self.view is not None:
            self.view[...] = value
        else:
            self.buffer[self.indices] = value


def block(array: Array, offsets: Sequence[int], shape: Sequence[int]) -> Array:
    """The view of `array` of that shape at the offsets."""
    slices = (slice(o, o + n) for o, n in zip(offsets, shape, strict=True))
    return array[(*slices, ...)]
