"""Views: which element of its buffer, or of a value, each element of a view is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from dialects.uir.constants import constant_of
from dialects.uir.elementwise import DetachOp
from dialects.uir.movement import (
    IndexOp,
    MovementOp,
    OffsetOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
    StackOp,
)
from dialects.uir.types import shape_of
from passes.index import Index, coordinate, flatten, unflatten

SymbolOf: TypeAlias = Callable[[SSAValue, int], Index]
"""The index of a computed offset, given its greatest value; the least is 0."""


def resolve(value: SSAValue) -> SSAValue:
    """`value` without the `detach`es around it, which mean nothing once gradients are taken."""
    while isinstance(value.owner, DetachOp):
        value = value.owner.x
    return value


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


def stacked_view(
    op: StackOp, coordinates: Sequence[Index], symbol_of: SymbolOf
) -> tuple[SSAValue, list[Index]] | None:
    """The value that the operands of a stack are evenly spaced blocks of, as the windows of a
    convolution are, and where it has the element at `coordinates`; None if they are no such blocks.
    """
    position, *rest = coordinates
    (value, first), *others = (_source(operand, rest, symbol_of) for operand in op.operands)
    if any(other is not value for other, _ in others):
        return None
    moved: list[Index] = []
    for axis, start in enumerate(first):
        steps = [place[axis] + start * -1 for _, place in others]
        if any(step.terms for step in steps):
            return None
        offset = _evenly_spaced(position, [0, *(step.constant for step in steps)])
        if offset is None:
            return None
        moved.append(start + offset)
    return value, moved


def _source(
    value: SSAValue, coordinates: Sequence[Index], symbol_of: SymbolOf
) -> tuple[SSAValue, Sequence[Index]]:
    """What `value` is a view of, and where that has the element at `coordinates`."""
    value = resolve(value)
    while isinstance(op := value.owner, ReshapeOp | PermuteOp | ShrinkOp | IndexOp):
        coordinates = operand_coordinates(op, coordinates, symbol_of)
        value = resolve(op.x)
    return value, coordinates


def _evenly_spaced(position: Index, places: Sequence[int]) -> Index | None:
    """The index that is `places[p]` where `position` is `p`: rows of even steps, and so on for
    the starts of the rows; None if they aren't spaced like that."""
    start, step = places[0], places[1] - places[0] if len(places) > 1 else 0
    row = [start + p * step for p in range(len(places))]
    width = next((p for p, place in enumerate(places) if place != row[p]), len(places))
    if width == len(places):
        return position * step + start
    starts = places[::width]
    if any(place != starts[p // width] + p % width * step for p, place in enumerate(places)):
        return None
    outer = _evenly_spaced(position.floordiv(width), starts)
    return None if outer is None else position.mod(width) * step + outer
