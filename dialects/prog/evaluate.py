"""Programs run by numpy, at every point of a shape at once. numpy is imported on first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from .dtypes import Dtype
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

    `arrays` are the operands' elements, of the program's dtypes (int64, int32, float32 or
    bool), and `coords` the int64 coordinates by axis; both broadcast to `shape`. Without
    `coords` the points are the indices of `shape`. float32 arithmetic is IEEE's, each kind
    rounded once.
    """
    import numpy as np

    from .meaning import MEANINGS, numpy_dtype

    assert len(arrays) == len(program.ins)
    last_use = _last_uses(program)
    values: dict[int, Array] = {}

    def run(node: Node, dtype: Dtype) -> Array:
        match node:
            case In(i):
                return np.asarray(arrays[i])
            case Coord(axis):
                if coords is not None:
                    return coords[axis]
                steps = [-1 if a == axis else 1 for a in range(len(shape))]
                return np.arange(shape[axis], dtype=np.int64).reshape(steps)
            case Const():
                return np.frombuffer(node.bits, numpy_dtype(node.dtype)).reshape(())
            case Op1() | Op2() | Op3():
                operands = [values[i] for i in references(node)]
                return MEANINGS[node.kind](dtype, *operands)

    with np.errstate(all="ignore"):
        for index, node in enumerate(program.nodes):
            values[index] = run(node, program.dtypes[index])
            for reference in references(node):
                if last_use[reference] == index:
                    values.pop(reference, None)
    return tuple(np.broadcast_to(values[out], shape) for out in program.outs)


def _last_uses(program: Program) -> list[int]:
    """For each node, the last node that reads it; the number of nodes for an output."""
    last_use = list(range(len(program.nodes)))
    for index, node in enumerate(program.nodes):
        for reference in references(node):
            last_use[reference] = index
    for out in program.outs:
        last_use[out] = len(program.nodes)
    return last_use
