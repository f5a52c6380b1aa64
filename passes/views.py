"""Memory views: which element of its buffer each element of a view is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from dialects.uir.constants import constant_of
from dialects.uir.movement import IndexOp, MovementOp, OffsetOp, PermuteOp, ReshapeOp, ShrinkOp
from dialects.uir.types import shape_of
from passes.index import Index, coordinate, flatten, unflatten
from passes.kernel_plan import resolve

SymbolOf: TypeAlias = Callable[[SSAValue, int], Index]
"""The index of a computed offset, given its greatest value; the least is 0."""


def operand_coordinates(
    op: MovementOp, coordinates: Sequence[Index], symbol_of: SymbolOf
) -> list[Index]:
    """Where `reshape permute shrink index` take the element at `coordinates` from."""
    shape = shape_of(op.x)
    match op:
        case ReshapeOp():
            return unflatten(flatten(coordinates, shape_of(op.result)), shape)
        case PermuteOp():
            moved: list[Index] = [Index()] * len(shape)
            for axis, index in zip(op.axes(), coordinates, strict=True):
                moved[axis] = index
            return moved
        case ShrinkOp():
            offsets = _offsets(op, symbol_of)
            return [index + offset for index, offset in zip(coordinates, offsets, strict=True)]
        case IndexOp():
            return [*_offsets(op, symbol_of), *coordinates]
        case _:
            raise AssertionError(f"{op.name} is no view")


def _offsets(op: OffsetOp, symbol_of: SymbolOf) -> list[Index]:
    offsets: list[Index] = []
    for offset, greatest in op.bounds():
        literal = constant_of(resolve(offset))
        if literal is not None:
            offsets.append(Index((), int(literal)))
        else:
            # The only offset in bounds is 0 where the block is the whole axis.
            offsets.append(symbol_of(offset, greatest) if greatest else Index())
    return offsets


def address_in_buffer(memory: SSAValue, symbol_of: SymbolOf) -> tuple[SSAValue, Index]:
    """The buffer that `memory` sees, and the position in it of the element at each coordinate."""
    coordinates = [coordinate(axis, dim) for axis, dim in enumerate(shape_of(memory))]
    while isinstance(op := memory.owner, MovementOp):
        coordinates = operand_coordinates(op, coordinates, symbol_of)
        memory = op.x
    return memory, flatten(coordinates, shape_of(memory))
