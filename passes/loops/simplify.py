"""Expressions with some of their parts known: what follows from that, exactly.

Integers and booleans of constants are computed, a choice that is made leaves one side, and floats
are added and multiplied where both are constants. A zero is dropped from a float sum only where no
operand could tell: `x + -0.0` is x, and `x + 0.0` is x unless x may be -0.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import copysign

from dialects.prog import (
    FLOATS,
    INTEGERS,
    Binary,
    Const,
    Dtype,
    E,
    Move,
    Program,
    Ternary,
    of_float,
    value_of,
)
from dialects.prog.flatten import post_order
from dialects.prog.kinds import Kind1, Kind2, Kind3
from dialects.prog.plain import plain_rule
from dialects.prog.substitution import substituted

from .number_ranges import known_comparisons

_EXACT = frozenset({Dtype.float32, Dtype.float64})
"""The floats whose sums and products a Python float rounds right, before it is stored."""


def simplified(outs: Iterable[E], known: Mapping[E, E]) -> tuple[E, ...]:
    """`outs` with every expression that `known` has replaced, and what follows folded."""
    outs = tuple(outs)
    fold = _Folder()
    values: dict[int, E] = {}
    for e in post_order(outs):
        new = known.get(e)
        values[id(e)] = new if new is not None else fold(e, [values[id(o)] for o in e.operands])
    return tuple(values[id(out)] for out in outs)


def with_known_comparisons(program: Program) -> Program:
    """`program` without the comparisons of floats that their ranges decide."""
    truths = known_comparisons(program)
    if not truths:
        return program
    exprs = substituted(program, lambda leaf: None, [*program.outs, *truths])
    outs, comparisons = exprs[: len(program.outs)], exprs[len(program.outs) :]
    constants = [E.const(Dtype.bool, truth) for truth in truths.values()]
    return Program.of_exprs(
        program.ins, simplified(outs, dict(zip(comparisons, constants, strict=True)))
    )


def constant_of(e: E) -> bool | int | float | complex | None:
    """The value of a constant, None of another expression."""
    return value_of(e.dtype, e.head.bits) if isinstance(e.head, Const) else None


def is_zero(e: E, sign: float) -> bool:
    """Whether `e` is the constant zero of a float dtype, of this sign."""
    value = constant_of(e) if e.dtype in FLOATS else None
    return isinstance(value, float) and not value and copysign(1, value) == sign


class _Folder:
    """Folds expressions, operands first."""

    def __init__(self) -> None:
        self._signed: set[E] = set()
        """Float sums that are -0.0 at no point."""

    def __call__(self, e: E, operands: Sequence[E]) -> E:
        """`e` of `operands`, which are its own or what they became."""
        match e.head:
            case Ternary.WHERE:
                folded = self._where(*operands)
            case Binary.AND | Binary.OR if e.dtype is Dtype.bool:
                folded = self._logical(e.head, *operands)
            case Binary.ADD if e.dtype in _EXACT:
                folded = self._sum(*operands)
            case _:
                folded = None
        if folded is None:
            folded = self._constant(e, operands)
        if folded is None:
            same = all(map(_is_same, e.operands, operands))
            folded = e if same else E(e.head, e.dtype, tuple(operands))
        if e.head is Binary.ADD and any(map(self._never_negative_zero, operands)):
            self._signed.add(folded)
        return folded

    def _where(self, condition: E, x: E, y: E) -> E | None:
        if x == y:
            return x
        value = constant_of(condition)
        return None if value is None else x if value else y

    def _logical(self, kind: Binary, x: E, y: E) -> E | None:
        neutral = kind is Binary.AND
        for value, other in ((constant_of(x), y), (constant_of(y), x)):
            if value is not None:
                return other if value is neutral else E.const(Dtype.bool, value)
        return None

    def _sum(self, x: E, y: E) -> E | None:
        for one, other in ((x, y), (y, x)):
            if is_zero(one, -1) or (is_zero(one, 1) and self._never_negative_zero(other)):
                return other
        return None

    def _never_negative_zero(self, e: E) -> bool:
        """Whether `e` is -0.0 at no point: no integer is, a sum only where both operands are."""
        if isinstance(e.head, Const):
            return not is_zero(e, -1)
        if e.head is Move.CAST:
            return e.operands[0].dtype in INTEGERS
        return e in self._signed

    def _constant(self, e: E, operands: Sequence[E]) -> E | None:
        """The value of a kind of constants."""
        values = [constant_of(operand) for operand in operands]
        if not values or None in values or not isinstance(e.head, Kind1 | Kind2 | Kind3):
            return None
        if e.dtype in _EXACT and e.head in (Binary.ADD, Binary.MUL):
            x, y = values
            assert isinstance(x, float)
            assert isinstance(y, float)
            return E.const(e.dtype, of_float(e.dtype, x + y if e.head is Binary.ADD else x * y))
        rule = plain_rule(e.head, [operand.dtype for operand in operands], e.dtype)
        return None if rule is None else E.const(e.dtype, rule(*values))


def _is_same(x: E, y: E) -> bool:
    return x is y
