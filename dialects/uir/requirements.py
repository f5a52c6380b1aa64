"""What the typing rules of several ops demand of operands and shapes.

Each function raises TypingError, with the operand or attribute to blame, where its demand is not
met.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from dialects.uir.base import TypingError
from dialects.uir.types import (
    DTYPE_NAMES,
    MAX_DIMENSION,
    MAX_RANK,
    MAX_VALUE_SIZE,
    EffectType,
    dtype_of,
    is_value,
    shape_of,
    spell_shape,
    spell_type,
)


def require_value(operand: SSAValue, number: int) -> None:
    """Raises TypingError unless operand `number` is a value."""
    if not is_value(operand.type):
        help = "`load` it first" if "memory" in spell_type(operand.type) else None
        raise TypingError(
            f"operand {number + 1} is {spell_type(operand.type)}, but a value is needed",
            number,
            help,
        )


def require_tensor_or_memory(operand: SSAValue) -> None:
    """Raises TypingError unless operand 1 is a value or memory."""
    if isinstance(operand.type, EffectType):
        raise TypingError("operand 1 is an effect, but a value or memory is needed", 0)


def require_dtype(operand: SSAValue, number: int, accepted: Sequence[str]) -> None:
    """Raises TypingError unless operand `number` is a value of one of the `accepted` dtypes."""
    require_value(operand, number)
    found = DTYPE_NAMES[dtype_of(operand)]
    if found not in accepted:
        raise TypingError(
            f"operand {number + 1} is {found}, but {' or '.join(accepted)} is needed", number
        )


def require_same_shape(operands: Sequence[SSAValue]) -> None:
    """Raises TypingError unless all operands have one shape; its help is the `expand` to write."""
    shape = max((shape_of(operand) for operand in operands), key=len)
    for number, operand in enumerate(operands):
        found = shape_of(operand)
        if found == shape:
            continue
        expandable = not found or (
            len(found) == len(shape) and all(a in (1, b) for a, b in zip(found, shape, strict=True))
        )
        raise TypingError(
            f"operands have different shapes: {spell_shape(shape)} and {spell_shape(found)}",
            number,
            f"write `expand ... shape={spell_shape(shape)}` on it first" if expandable else None,
        )


def require_same_dtype(operands: Sequence[SSAValue], first: int = 0) -> None:
    """Raises TypingError unless the operands from number `first` on have one dtype."""
    names = [DTYPE_NAMES[dtype_of(operand)] for operand in operands[first:]]
    for number, name in enumerate(names):
        if name != names[0]:
            raise TypingError(
                f"operands have different dtypes: {names[0]} and {name}",
                first + number,
                "there is no implicit conversion: `cast` one of them",
            )


def check_shape(shape: Sequence[int], where: str | None = None, dtype: bool = False) -> None:
    """Raises TypingError unless `shape` is one that a value can have."""
    if len(shape) > MAX_RANK:
        raise TypingError(f"a shape has at most {MAX_RANK} axes, this one has {len(shape)}", where)
    for dim in shape:
        if not 1 <= dim < MAX_DIMENSION:
            raise TypingError(
                f"shape {spell_shape(shape)}: every dimension is at least 1 and below 2^31", where
            )
    if prod(shape) >= MAX_VALUE_SIZE:
        raise TypingError(f"shape {spell_shape(shape)} has 2^63 elements or more", where)
