"""Programs run by numpy, at every point of a shape at once. numpy is imported on first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from .program import Const, Coord, In, Node, Op1, Op2, Op3, Program, references

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def evaluate(
    program: Program,
    arrays: Sequence[Array],
    shape: tuple[int, ...],
    coords: Sequence[Array] | None = None,
) -> tuple[Array, ...]:
    """The results of `program` at every point of `shape`, one array of that shape each.

    `arrays` are the operands' elements, of the numpy dtypes of the program's (a bit's is
    numpy's bool; ml_dtypes has those that numpy lacks), and `coords` the int64 coordinates
    by axis; both broadcast to `shape`. Without `coords` the points are the indices of
    `shape`.

    Raises ValueError for arrays of another number, dtype or shape, and for a coordinate along
    an axis that there isn't.
    """
    import numpy as np

    from .carriers import numpy_dtype
    from .meaning import apply1, apply2, apply3

    operands = _checked(program, arrays, shape)
    axes = len(shape) if coords is None else len(coords)
    live = program.reached(program.outs)
    last_use = _last_uses(program, live)
    dtypes = program.dtypes
    values: dict[int, Array] = {}

    def run(index: int, node: Node) -> Array:
        match node:
            case In(i):
                return operands[i]
            case Coord(axis):
                if axis >= axes:
                    raise ValueError(f"node {index}: axis {axis} of {axes}")
                if coords is not None:
                    return coords[axis]
                steps = [-1 if a == axis else 1 for a in range(len(shape))]
                return np.arange(shape[axis], dtype=np.int64).reshape(steps)
            case Const():
                return np.frombuffer(node.bits, numpy_dtype(node.dtype)).reshape(())
            case Op1(kind, target, i):
                return apply1(kind, dtypes[i], target, values[i])
            case Op2(kind, i, j):
                return apply2(kind, dtypes[i], values[i], values[j])
            case Op3(kind, i, j, l):
                return apply3(kind, dtypes[i], dtypes[j], values[i], values[j], values[l])

    with np.errstate(all="ignore"):
        for index in live:
            node = program.nodes[index]
            values[index] = run(index, node)
            for reference in references(node):
                if last_use[reference] == index:
                    values.pop(reference, None)
    return tuple(np.broadcast_to(values[out], shape) for out in program.outs)


def _checked(program: Program, arrays: Sequence[Array], shape: tuple[int, ...]) -> Sequence[Array]:
    """`arrays`, if they are operands of `program` at the points of `shape`."""
    import numpy as np

    from .carriers import numpy_dtype

    if len(arrays) != len(program.ins):
        raise ValueError(f"expected {len(program.ins)} operands, found {len(arrays)}")
    checked = [np.asarray(array) for array in arrays]
    for i, (array, dtype) in enumerate(zip(checked, program.ins, strict=True)):
        if array.dtype != numpy_dtype(dtype):
            raise ValueError(f"operand {i} is of {dtype.value}, found elements of {array.dtype}")
        if np.broadcast_shapes(array.shape, shape) != shape:
            raise ValueError(f"operand {i} of shape {array.shape} does not broadcast to {shape}")
    return checked


def _last_uses(program: Program, live: Sequence[int]) -> dict[int, int]:
    """For each live node, the last live one that reads it; the number of nodes for an output."""
    last_use: dict[int, int] = {}
    for index in live:
        for reference in references(program.nodes[index]):
            last_use[reference] = index
    return last_use | dict.fromkeys(program.outs, len(program.nodes))
