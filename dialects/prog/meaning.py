"""What each kind computes, with numpy: the one table of the kinds' meaning.

Imported when a program is first run, because numpy is slow to import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .dtypes import FLOATS, Dtype, integer_range, width
from .kinds import Binary, Compare, Kind1, Kind2, Kind3, Move, Ternary, Unary

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_NUMPY: dict[Dtype, np.dtype[Any]] = {
    Dtype.bool: np.dtype(np.bool_),
    Dtype.int32: np.dtype(np.int32),
    Dtype.int64: np.dtype(np.int64),
    Dtype.float32: np.dtype(np.float32),
}
_DTYPES = {numpy: dtype for dtype, numpy in _NUMPY.items()}


def numpy_dtype(dtype: Dtype) -> np.dtype[Any]:
    """The numpy dtype of arrays of `dtype`."""
    return _NUMPY[dtype]


def dtype_of(dtype: np.dtype[Any]) -> Dtype:
    """The dtype of arrays of numpy dtype `dtype`; raises KeyError if there is none."""
    return _DTYPES[dtype]


def _plain(function: Callable[..., Array]) -> Callable[..., Array]:
    """The meaning of a kind that numpy's `function` computes whatever the dtype."""

    def meaning(_: Dtype, *operands: Array) -> Array:
        return function(*operands)

    return meaning


def _recip(dtype: Dtype, x: Array) -> Array:
    if dtype in FLOATS:
        return np.divide(_NUMPY[dtype].type(1), x)
    return np.where((x == 1) | (x == -1), x, _NUMPY[dtype].type(0))


def _idiv(dtype: Dtype, x: Array, y: Array) -> Array:
    zero, one = _NUMPY[dtype].type(0), _NUMPY[dtype].type(1)
    divisor = np.where((y == 0) | (y == -1), one, y)
    quotient = np.floor_divide(x - np.fmod(x, divisor), divisor)
    return np.where(y == 0, zero, np.where(y == -1, np.negative(x), quotient))


def _mod(dtype: Dtype, x: Array, y: Array) -> Array:
    if dtype in FLOATS:
        return np.fmod(x, y)
    zero, one = _NUMPY[dtype].type(0), _NUMPY[dtype].type(1)
    remainder = np.fmod(x, np.where((y == 0) | (y == -1), one, y))
    return np.where(y == 0, x, np.where(y == -1, zero, remainder))


def _extremum(
    larger: Callable[[Array, Array], Array], equal: Callable[[Array, Array], Array]
) -> Callable[[Dtype, Array, Array], Array]:
    """Maximum or minimum; `equal` joins the bits of equal floats, zeros of two signs included."""

    def extremum(dtype: Dtype, x: Array, y: Array) -> Array:
        if dtype not in FLOATS:
            return larger(x, y)
        word = f"i{width(dtype)}"
        same = equal(_view(x, word), _view(y, word)).view(_NUMPY[dtype])
        chosen = np.where(x == y, same, larger(x, y))
        return np.where(np.isnan(x), x, np.where(np.isnan(y), y, chosen))

    return extremum


def _cast(dtype: Dtype, x: Array) -> Array:
    target = _NUMPY[dtype]
    if dtype is Dtype.bool:
        return np.not_equal(x, 0)
    if x.dtype.kind != "f" or dtype in FLOATS:
        return np.asarray(x).astype(target)
    least, greatest = integer_range(dtype)
    # Both bounds are powers of two, so exact in any float format.
    below, above = x < float(least), x >= float(greatest + 1)
    inside = np.where(below | above | np.isnan(x), x.dtype.type(0), x).astype(target)
    return np.where(above, target.type(greatest), np.where(below, target.type(least), inside))


def _bitcast(dtype: Dtype, x: Array) -> Array:
    return _view(x, _NUMPY[dtype])


def _view(x: Array, target: np.dtype[Any] | str) -> Array:
    return np.asarray(x).view(target)


MEANINGS: dict[Kind1 | Kind2 | Kind3, Callable[..., Array]] = {
    Unary.RECIP: _recip,
    Binary.ADD: _plain(np.add),
    Binary.MUL: _plain(np.multiply),
    Binary.IDIV: _idiv,
    Binary.MOD: _mod,
    Binary.MAXIMUM: _extremum(np.maximum, np.bitwise_and),
    Binary.MINIMUM: _extremum(np.minimum, np.bitwise_or),
    Binary.AND: _plain(np.bitwise_and),
    Binary.OR: _plain(np.bitwise_or),
    Binary.XOR: _plain(np.bitwise_xor),
    Compare.EQUAL: _plain(np.equal),
    Compare.LESS: _plain(np.less),
    Move.COPY: _plain(np.asarray),
    Move.CAST: _cast,
    Move.BITCAST: _bitcast,
    Ternary.WHERE: _plain(np.where),
}
"""Kind to function of the result's (for a comparison: `bool`'s) dtype and the operands."""
