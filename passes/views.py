"""Memory views: which element of its buffer each element of a view is."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from dialects.uir.memory import AfterOp
from dialects.uir.movement import IndexOp, MovementOp, OffsetOp, PermuteOp, ReshapeOp, ShrinkOp
from dialects.uir.types import shape_of
from passes.index import Index, coordinate, flatten, unflatten


def operand_coordinates(op: MovementOp, coordinates: Sequence[Index]) -> list[Index]:
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
            offsets = _literal_offsets(op)
            return [index + o for index, o in zip(coordinates, offsets, strict=True)]
        case IndexOp():
            return [*(Index((), o) for o in _literal_offsets(op)), *coordinates]
        case _:
            raise AssertionError(f"{op.name} is no view")


def _literal_offsets(op: OffsetOp) -> tuple[int, ...]:
    offsets = op.literal_offsets()
    if offsets is None:
        raise NotImplementedError(f"{op.name} with computed offsets")
    return offsets


def address_in_buffer(memory: SSAValue) -> tuple[SSAValue, Index]:
    """The buffer that `memory` sees, and the position in it of the element at each coordinate."""
    coordinates = [coordinate(axis, dim) for axis, dim in enumerate(shape_of(memory))]
    while isinstance(op := memory.owner, AfterOp | MovementOp):
        if isinstance(op, AfterOp):
            memory = op.memory
        else:
            coordinates = operand_coordinates(op, coordinates)
            memory = op.x
    return memory, flatten(coordinates, shape_of(memory))
