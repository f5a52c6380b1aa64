"""Values too large to hold, of which a `reduce` needs one block at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dialects.prog import E, Monoid, Program, evaluate, fold
from dialects.prog.carriers import dtype_of
from uir.runtime.interpreters.scalars import substitute

Array: TypeAlias = npt.NDArray[Any]

BLOCK = 1 << 18
"""The number of elements that are evaluated at once: a few megabytes with all temporaries."""


@dataclass(frozen=True)
class Deferred:
    """A value that is an expression over arrays of its shape, which may be broadcast views."""

    expression: E
    """Its input i reads `leaves[i]`."""
    leaves: dict[int, Array]
    shape: tuple[int, ...]

    def permute(self, order: Sequence[int]) -> Deferred:
        leaves = {number: leaf.transpose(order) for number, leaf in self.leaves.items()}
        return Deferred(self.expression, leaves, tuple(self.shape[axis] for axis in order))

    def compiled(self) -> tuple[Program, list[Array]]:
        """The expression as a program, and the arrays that are its operands."""
        arrays = list(self.leaves.values())
        ins = [dtype_of(array.dtype) for array in arrays]
        inputs = {n: E.input(i, ins[i]) for i, n in enumerate(self.leaves)}
        return Program.of_exprs(ins, [substitute(self.expression, inputs)]), arrays


def blocks(shape: Sequence[int], limit: int) -> Iterator[tuple[slice, ...]]:
    """The leading axes of blocks of `shape`, in row-major order, of at most `limit` elements."""
    axis, row = len(shape), 1
    while axis > 0 and row * shape[axis - 1] <= limit:
        axis -= 1
        row *= shape[axis]
    if axis == 0:
        yield ()
        return
    axis -= 1
    step = max(1, limit // row)
    for prefix in product(*map(range, shape[:axis])):
        for start in range(0, shape[axis], step):
            stop = min(start + step, shape[axis])
            yield (*(slice(i, i + 1) for i in prefix), slice(start, stop))


def compute(program: Program, arrays: Sequence[Array], shape: tuple[int, ...]) -> Array:
    """The result of `program` at every index of `shape`."""
    if prod(shape) <= BLOCK:
        return evaluate(program, arrays, shape)[0]
    result: Array | None = None
    for block in blocks(shape, BLOCK):
        parts = [array[block] for array in arrays]
        (part,) = evaluate(program, parts, parts[0].shape)
        if result is None:
            result = np.empty(shape, part.dtype)
        result[block] = part
    assert result is not None
    return result


def fold_blocks(monoid: Monoid, value: Array | Deferred, axes: int) -> Array:
    """The left fold of the `axes` leading axes of `value`, in row-major order."""
    program: Program | None = None
    if isinstance(value, Deferred):
        program, arrays = value.compiled()
    else:
        arrays = [value]
    limit = max(1, BLOCK // prod(value.shape[axes:]))
    result: Array | None = None
    for block in blocks(value.shape[:axes], limit):
        parts = [array[block] for array in arrays]
        part = parts[0] if program is None else evaluate(program, parts, parts[0].shape)[0]
        result = fold(monoid, part, axes, result)
    assert result is not None
    return result
