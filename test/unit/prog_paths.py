"""Programs run by numpy and by the C library: both give the same bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from prog_reference import COMPLEX, FLOATS, NUMPY

import dialects.prog
from dialects.prog import Dtype, Padded, Program
from dialects.prog.compiled import compiled_kinds


def words(dtype: Dtype, array: np.ndarray) -> np.ndarray:
    """The bits of elements, the same for all NaNs, as bytes along a last axis."""
    array = np.array(array, order="C", ndmin=1)
    if dtype in COMPLEX:
        parts = array.view(NUMPY[COMPLEX[dtype]]).reshape(*array.shape, 2)
        both = words(COMPLEX[dtype], parts)
        return both.reshape(*array.shape, array.dtype.itemsize)
    raw = array[..., np.newaxis].view(np.uint8)
    if dtype in FLOATS:
        with np.errstate(invalid="ignore"):
            raw[np.isnan(array.astype(np.float64))] = 0xFF
    return raw


def evaluate(
    program: Program,
    arrays: Sequence[np.ndarray | Padded],
    shape: tuple[int, ...],
    coords: Sequence[np.ndarray] | None = None,
) -> tuple[np.ndarray, ...]:
    """The results, which are the same in both paths."""
    by_numpy = dialects.prog.evaluate(program, arrays, shape, coords)
    by_c = dialects.prog.evaluate(program, arrays, shape, coords, compiled_kinds())
    for dtype, one, other in zip(program.results, by_numpy, by_c, strict=True):
        assert one.dtype == other.dtype == NUMPY[dtype]
        assert one.shape == other.shape == shape
        np.testing.assert_array_equal(words(dtype, one), words(dtype, other))
    return by_c
