"""Exact left folds of numpy arrays. numpy is imported on first use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from .dtypes import COMPLEX, FLOATS, Dtype
from .monoids import Monoid

if TYPE_CHECKING:
    import numpy as np

    from .evaluate import Array

_CHUNK = 1 << 18
"""The greatest number of elements of an accumulated block: bounds the memory of a fold."""

_FEW = 64
"""Below this many accumulators, a row at a time costs more than numpy's accumulate."""

_ACCUMULATED = frozenset({Dtype.float32, Dtype.float64})
"""The dtypes whose Add and Mul are numpy's own."""


def fold(monoid: Monoid, array: Array, axes: int = 1, start: Array | None = None) -> Array:
    """The left fold of the `axes` leading axes of `array`, in row-major order.

    Starts from the monoid's identity, or from `start`, of the result's shape. The result
    has the array's dtype, and never shares its memory.
    """
    import numpy as np

    from .carriers import dtype_of, numpy_dtype
    from .meaning import apply2

    dtype = dtype_of(array.dtype)
    shape = array.shape[axes:]
    rows = array.reshape((math.prod(array.shape[:axes]), *shape))
    if start is None:
        start = np.full(shape, monoid.identity(dtype), numpy_dtype(dtype))

    def combine(left: Array, right: Array) -> Array:
        return apply2(monoid.kind(dtype), dtype, left, right)

    with np.errstate(all="ignore"):
        if dtype not in FLOATS | COMPLEX or monoid in (Monoid.MAX, Monoid.MIN):
            return _fold_halves(combine, rows, start)
        if start.size < _FEW and dtype in _ACCUMULATED:
            ufunc = np.add if monoid is Monoid.SUM else np.multiply
            return _accumulate(ufunc, rows, start)
        accumulator = start.copy()
        for row in rows:
            accumulator = combine(accumulator, row)
        return accumulator


def _fold_halves(combine: Callable[[Array, Array], Array], rows: Array, start: Array) -> Array:
    """The fold of an exact, commutative monoid, whose result no order changes."""
    while (count := len(rows)) > 1:
        half = count // 2
        folded = combine(rows[:half], rows[half : 2 * half])
        if count % 2:
            folded[0] = combine(folded[0], rows[-1])
        rows = folded
    return combine(start, rows[0]) if len(rows) else start.copy()


def _accumulate(ufunc: np.ufunc, rows: Array, start: Array) -> Array:
    """The fold in order, a block of rows at a time."""
    import numpy as np

    step = max(1, _CHUNK // max(1, start.size))
    accumulator = start.copy()
    for first in range(0, len(rows), step):
        # Unlike reduce, which adds pairwise, accumulate must go in order.
        block = np.concatenate((accumulator[np.newaxis], rows[first : first + step]))
        accumulator = ufunc.accumulate(block, axis=0)[-1].copy()
    return accumulator
