"""What kinds of integers and booleans compute, in Python's integers.

For a few values while compiling, where numpy would take longer to import than all of it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TypeAlias

from .dtypes import BOOLEANS, INTEGERS, Dtype, integer_range, width
from .kinds import Binary, Compare, Kind1, Kind2, Kind3, Move, Ternary, Unary
from .program import Const, Coord, In, Program, references
from .storage import value_of

Rule: TypeAlias = Callable[..., int]
"""The exact result of operands that are in range; the dtype that stores it wraps it."""


def _idiv(x: int, y: int) -> int:
    """Toward zero; 0 by zero."""
    if y == 0:
        return 0
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def _mod(x: int, y: int) -> int:
    """Of the dividend's sign; the dividend by zero."""
    return x - _idiv(x, y) * y


def _pow(x: int, y: int) -> int:
    """The power, or one equal to it modulo 2^64; of a negative exponent 0, but ±1 of ±1."""
    if y >= 0:
        return pow(x, y, 1 << 64)
    return 0 if x not in (1, -1) else x if y % 2 else 1


_UNARY: dict[Unary, Callable[[int], int]] = {
    Unary.NEG: operator.neg,
    Unary.RECIP: lambda x: x if x in (1, -1) else 0,
    Unary.ABS: abs,
    Unary.SIGN: lambda x: (x > 0) - (x < 0),
    Unary.FLOOR: int,
    Unary.CEIL: int,
    Unary.ROUND: int,
    Unary.TRUNC: int,
}

_BINARY: dict[Binary | Compare, Callable[[int, int], int]] = {
    Binary.ADD: operator.add,
    Binary.SUB: operator.sub,
    Binary.MUL: operator.mul,
    Binary.IDIV: _idiv,
    Binary.MOD: _mod,
    Binary.POW: _pow,
    Binary.MAXIMUM: max,
    Binary.MINIMUM: min,
    Binary.AND: lambda x, y: x & y,
    Binary.OR: lambda x, y: x | y,
    Binary.XOR: lambda x, y: x ^ y,
    Compare.EQUAL: operator.eq,
    Compare.NOT_EQUAL: operator.ne,
    Compare.LESS: operator.lt,
    Compare.LESS_EQUAL: operator.le,
}

_TERNARY: dict[Ternary, Callable[[int, int, int], int]] = {
    Ternary.WHERE: lambda c, x, y: x if c else y,
    Ternary.FMA: lambda x, y, z: x * y + z,
}

_PLAIN = INTEGERS | BOOLEANS


def plain_rule(
    kind: Kind1 | Kind2 | Kind3, operands: Sequence[Dtype], result: Dtype
) -> Callable[..., int] | None:
    """What `kind` computes of integers and booleans; None for other dtypes, and for what is
    left to numpy: Threefry, and Bitcast of a boolean, whose bits a value doesn't tell."""
    if result not in _PLAIN or any(dtype not in _PLAIN for dtype in operands):
        return None
    match kind:
        case Move.BITCAST if operands[0] is not result and Dtype.bool in (operands[0], result):
            return None
        case Move():
            rule = int
        case Unary():
            rule = _UNARY.get(kind)
        case Ternary():
            rule = _TERNARY[kind]
        case _:
            rule = _BINARY.get(kind)
    return None if rule is None else _stored(result, rule)


def _stored(dtype: Dtype, rule: Rule) -> Rule:
    """`rule`, its results wrapped to elements of `dtype`."""
    if dtype in BOOLEANS:
        return lambda *operands: rule(*operands) != 0
    least, greatest = integer_range(dtype)
    modulus = 1 << width(dtype)

    def stored(*operands: int) -> int:
        value = rule(*operands)
        return value if least <= value <= greatest else (value - least) % modulus + least

    return stored


def plain(
    program: Program, nodes: Sequence[int]
) -> Callable[[Sequence[int]], tuple[int, ...]] | None:
    """A function from the operands of `program` to `nodes` of it, all integers and booleans.

    None where a node that they need is a coordinate, or has no `plain_rule`.
    """
    steps: list[tuple[int, Callable[..., int], tuple[int, ...]]] = []
    operands: list[tuple[int, int]] = []
    values: list[int] = [0] * len(program.nodes)
    for index in program.reached(nodes):
        match program.nodes[index]:
            case In(i):
                operands.append((index, i))
            case Coord():
                return None
            case Const(dtype, element):
                if dtype not in _PLAIN:
                    return None
                value = value_of(dtype, element)
                assert isinstance(value, int)
                values[index] = value
            case node:
                read = references(node)
                dtypes = [program.dtypes[i] for i in read]
                rule = plain_rule(node.kind, dtypes, program.dtypes[index])
                if rule is None:
                    return None
                steps.append((index, rule, read))

    def run(arguments: Sequence[int]) -> tuple[int, ...]:
        for index, i in operands:
            values[index] = arguments[i]
        for index, rule, read in steps:
            values[index] = rule(*[values[i] for i in read])
        return tuple([values[node] for node in nodes])

    return run
