"""Programs run over arrays, at every point of a shape. numpy is imported on first use."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from .dtypes import BOOLEANS, Dtype, width
from .kinds import Kind1, Kind2, Kind3
from .padded import Padded
from .program import Const, Coord, In, Node, Op1, Op2, Op3, Program, references

if TYPE_CHECKING:
    from .carriers import Array

_BLOCK = 1 << 14
"""The points that are computed at a time, so that what is between nodes stays in the cache."""

Box: TypeAlias = tuple[slice, ...]
"""A part of a shape: the points along each axis."""


class Kinds(Protocol):
    """What each kind computes: elements in arrays that broadcast to one shape, and so out."""

    def apply1(self, kind: Kind1, source: Dtype, target: Dtype, x: Array, /) -> Array:
        """`kind` of elements of `source`, into `target`."""
        ...

    def apply2(self, kind: Kind2, dtype: Dtype, x: Array, y: Array, /) -> Array:
        """`kind` of elements of `dtype`."""
        ...

    def apply3(
        self, kind: Kind3, first: Dtype, dtype: Dtype, x: Array, y: Array, z: Array, /
    ) -> Array:
        """`kind` of elements of `first`, and twice of `dtype`."""
        ...


def evaluate(
    program: Program,
    arrays: Sequence[Array | Padded],
    shape: tuple[int, ...],
    coords: Sequence[Array] | None = None,
    kinds: Kinds | None = None,
) -> tuple[Array, ...]:
    """The results of `program` at every point of `shape`, one new array of that shape each.

    `arrays` are the operands' elements, of the numpy dtypes of the program's (a bit's is
    numpy's bool; ml_dtypes has those that numpy lacks), and `coords` the int64 coordinates
    by axis; both broadcast to `shape`. Without `coords` the points are the indices of
    `shape`. `kinds` computes: numpy by default, or the C library, `compiled.compiled_kinds()`.

    Raises ValueError for arrays of another number, dtype or shape, and for a coordinate along
    an axis that there isn't.
    """
    import numpy as np

    from . import meaning
    from .carriers import numpy_dtype

    operands = _checked(program, arrays, shape)
    live = program.reached(program.outs)
    axes = len(shape) if coords is None else len(coords)
    for index in live:
        node = program.nodes[index]
        if isinstance(node, Coord) and node.axis >= axes:
            raise ValueError(f"node {index}: axis {node.axis} of {axes}")
    last_use = _last_uses(program, live)
    results = tuple(np.empty(shape, numpy_dtype(dtype)) for dtype in program.results)
    with np.errstate(all="ignore"):
        for box in _boxes(shape):
            ins = [_part(operand, box) for operand in operands]
            if coords is None:
                along = [_indices(box, axis) for axis in range(axes)]
            else:
                along = [_part(array, box) for array in coords]
            values = _values(program, live, last_use, ins, along, kinds or meaning)
            for result, out in zip(results, program.outs, strict=True):
                result[box] = values[out]
    return results


def _values(
    program: Program,
    live: Sequence[int],
    last_use: dict[int, int],
    operands: Sequence[Array],
    coords: Sequence[Array],
    kinds: Kinds,
) -> dict[int, Array]:
    """The values of the outputs by node, and of nothing else."""
    import numpy as np

    from .carriers import numpy_dtype

    dtypes = program.dtypes
    values: dict[int, Array] = {}

    def run(node: Node) -> Array:
        match node:
            case In(i):
                return operands[i]
            case Coord(axis):
                return coords[axis]
            case Const():
                return np.frombuffer(node.bits, numpy_dtype(node.dtype)).reshape(())
            case Op1(kind, target, i):
                return kinds.apply1(kind, dtypes[i], target, values[i])
            case Op2(kind, i, j):
                return kinds.apply2(kind, dtypes[i], values[i], values[j])
            case Op3(kind, i, j, l):
                return kinds.apply3(kind, dtypes[i], dtypes[j], values[i], values[j], values[l])

    for index in live:
        node = program.nodes[index]
        values[index] = run(node)
        for reference in references(node):
            if last_use[reference] == index:
                values.pop(reference, None)
    return values


def _boxes(shape: tuple[int, ...]) -> Iterator[Box]:
    """Boxes of at most _BLOCK points, which together are all of `shape`, row by row."""
    if math.prod(shape) <= _BLOCK:
        yield tuple(slice(0, size) for size in shape)
        return
    # The axes before `axis` are taken point by point, those after it whole.
    axis = next(a for a in range(len(shape)) if math.prod(shape[a + 1 :]) <= _BLOCK)
    step = _BLOCK // math.prod(shape[axis + 1 :])
    for outer in itertools.product(*map(range, shape[:axis])):
        for first in range(0, shape[axis], step):
            yield (
                *(slice(point, point + 1) for point in outer),
                slice(first, min(first + step, shape[axis])),
                *(slice(0, size) for size in shape[axis + 1 :]),
            )


def _part(array: Array, box: Box) -> Array:
    """What an array that broadcasts to the shape holds of the points of `box`."""
    inner = box[len(box) - array.ndim :]
    parts = [slice(None) if n == 1 else part for part, n in zip(inner, array.shape, strict=True)]
    # The dots keep what has no axes an array.
    return array[(..., *parts)]


def _indices(box: Box, axis: int) -> Array:
    """The indices along `axis` of the points of `box`."""
    import numpy as np

    steps = [-1 if a == axis else 1 for a in range(len(box))]
    return np.arange(box[axis].start, box[axis].stop, dtype=np.int64).reshape(steps)


def _checked(
    program: Program, arrays: Sequence[Array | Padded], shape: tuple[int, ...]
) -> Sequence[Array]:
    """The elements of `arrays`, if they are operands of `program` at the points of `shape`."""
    import numpy as np

    from .carriers import numpy_dtype

    if len(arrays) != len(program.ins):
        raise ValueError(f"expected {len(program.ins)} operands, found {len(arrays)}")
    checked = [a.elements() if isinstance(a, Padded) else np.asarray(a) for a in arrays]
    for i, (array, dtype) in enumerate(zip(checked, program.ins, strict=True)):
        if array.dtype != numpy_dtype(dtype):
            raise ValueError(f"operand {i} is of {dtype.value}, found elements of {array.dtype}")
        if not _broadcasts(array.shape, shape):
            raise ValueError(f"operand {i} of shape {array.shape} does not broadcast to {shape}")
    return [_canonical(a, dtype) for a, dtype in zip(checked, program.ins, strict=True)]


def _canonical(array: Array, dtype: Dtype) -> Array:
    """`array` with nothing beside the low bits of elements that are narrower than a byte."""
    import numpy as np

    if width(dtype) >= 8 or dtype in BOOLEANS:
        return array
    mask = (1 << width(dtype)) - 1
    codes = array.view(np.uint8)
    return (codes & mask).view(array.dtype) if np.any(codes > mask) else array


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether an array of `shape` broadcasts to the shape `to`."""
    inner = to[len(to) - len(shape) :]
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape, inner, strict=True))


def _last_uses(program: Program, live: Sequence[int]) -> dict[int, int]:
    """For each live node, the last live one that reads it; the number of nodes for an output."""
    last_use: dict[int, int] = {}
    for index in live:
        for reference in references(program.nodes[index]):
            last_use[reference] = index
    return last_use | dict.fromkeys(program.outs, len(program.nodes))
