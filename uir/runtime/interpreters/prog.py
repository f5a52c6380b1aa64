"""Scalar programs run by numpy, over many points at a time.

A `prog.program` is called on the shape, a tuple, at whose indices it runs, and on an array
for each operand, of its dtype and broadcast to the shape; an array for each output comes out.

In a `prog.loop`, a memory is a 1-D numpy array of its dtype, a symbol a Python int. Points
are taken in blocks, and a reduction in runs of its indices, so that no intermediate array
is large however large the loop is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    impl_callable,
    register_impls,
)
from xdsl.ir.affine import AffineConstraintKind, AffineExpr

from dialects.prog import (
    Access,
    LoopOp,
    Program,
    ProgramOp,
    evaluate,
    fold,
)

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_BLOCK = 1 << 16
"""Points, or points times indices of a reduction, that are computed at a time."""


@register_impls
class ProgFunctions(InterpreterFunctions):
    """The implementations of the dialect's two ops that can be run."""

    @impl_callable(ProgramOp)
    def run_program(
        self, interpreter: Interpreter, op: ProgramOp, args: PythonValues
    ) -> PythonValues:
        shape, *arrays = args
        return evaluate(op.program, arrays, shape)

    @impl(LoopOp)
    def run_loop(self, interpreter: Interpreter, op: LoopOp, args: PythonValues) -> PythonValues:
        count = len(op.memories)
        _Run(op, args[:count], [int(symbol) for symbol in args[count:]]).run()
        return ()


class _Run:
    """One execution of a loop."""

    def __init__(self, op: LoopOp, memories: Sequence[Array], symbols: Sequence[int]) -> None:
        self._memories = memories
        self._symbols = symbols
        self._shape = op.shape.get_values()
        self._reduction = op.reduction.get_values()
        self._monoids = [attr.data for attr in op.monoids]
        self._body = op.body.data
        self._epilogue = None if op.epilogue is None else op.epilogue.data
        self._reads = [attr.data for attr in op.reads]
        self._epilogue_reads = [attr.data for attr in op.epilogue_reads]
        self._writes = [attr.data for attr in op.writes]

    def run(self) -> None:
        """Points are independent, so a block of them may be written before the next is read."""
        points = math.prod(self._shape)
        for first in range(0, points, _BLOCK):
            flat = np.arange(first, min(points, first + _BLOCK))
            coords = _unravel(flat, self._shape)
            results = self._results(coords, len(flat))
            for access, result in zip(self._writes, results, strict=True):
                # Without axes there is one point, and one address, which is no array yet.
                address = np.broadcast_to(self._address(access, coords), result.shape)
                self._memories[access.memory][address] = _canonical(result)

    def _results(self, coords: list[Array], points: int) -> Sequence[Array]:
        if not self._reduction:
            return self._program(self._body, (), self._reads, coords, (points,))
        accumulators = self._fold(coords, points)
        if self._epilogue is None:
            return accumulators
        reads = self._epilogue_reads
        return self._program(self._epilogue, accumulators, reads, coords, (points,))

    def _fold(self, coords: list[Array], points: int) -> list[Array]:
        """The accumulators, one row of `points` each."""
        accumulators: list[Array | None] = [None] * len(self._monoids)
        total = math.prod(self._reduction)
        step = max(1, _BLOCK // points)
        for first in range(0, total, step):
            flat = np.arange(first, min(total, first + step))
            inner = [c[:, np.newaxis] for c in _unravel(flat, self._reduction)]
            shape = (len(flat), points)
            elements = self._program(self._body, (), self._reads, [*coords, *inner], shape)
            accumulators = [
                fold(monoid, element, 1, accumulator)
                for monoid, element, accumulator in zip(
                    self._monoids, elements, accumulators, strict=True
                )
            ]
        return cast("list[Array]", accumulators)

    def _program(
        self,
        program: Program,
        first: Sequence[Array],
        reads: Sequence[Access],
        coords: list[Array],
        shape: tuple[int, ...],
    ) -> Sequence[Array]:
        """The results at `coords`, which broadcast to `shape`; operands are `first`, then
        the elements of `reads`."""
        elements = [*first, *(self._read(access, coords) for access in reads)]
        return evaluate(program, elements, shape, coords)

    def _address(self, access: Access, coords: list[Array]) -> Array:
        return self._affine(access.map.results[0], coords)

    def _affine(self, expr: AffineExpr, coords: list[Array]) -> Array:
        """The value of an affine expression at every point."""
        # `eval` is typed for ints, but does only arithmetic that arrays have as well.
        return np.asarray(expr.eval(cast("list[int]", coords), self._symbols))

    def _read(self, access: Access, coords: list[Array]) -> Array:
        """The elements; zero where the condition fails, whatever the address is there."""
        memory = self._memories[access.memory]
        address = self._address(access, coords)
        if not access.condition.constraints:
            return memory[address]
        inside = np.asarray(True)
        for constraint in access.condition.constraints:
            value = self._affine(constraint.lhs - constraint.rhs, coords)
            is_equality = constraint.kind is AffineConstraintKind.eq
            inside = inside & (value == 0 if is_equality else value >= 0)
        elements = memory[np.where(inside, address, 0)]
        return np.where(inside, elements, memory.dtype.type(0))


def _canonical(result: Array) -> Array:
    """Elements as memories hold them: a true boolean, which may be any byte, as 1."""
    return result.view(np.uint8) != 0 if result.dtype == np.bool_ else result


def _unravel(flat: Array, extents: tuple[int, ...]) -> list[Array]:
    """The coordinates, by axis, of row-major indices."""
    return list(np.unravel_index(flat, extents)) if extents else []
