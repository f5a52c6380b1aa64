"""The programs of a nest where some of what they test is decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from dialects.prog import (
    BOOLEANS,
    INTEGERS,
    Compare,
    Coord,
    Dtype,
    E,
    In,
    Move,
    Program,
    extremes,
)
from dialects.prog.flatten import post_order
from passes.index import Index, Symbol

from .condition import Condition
from .nest import GREATEST_SYMBOL, Guard, View
from .simplify import simplified

Truth: TypeAlias = Callable[[Condition], bool | None]
"""What a condition is, None where that is open."""

_CONE = 64
"""The greatest number of nodes of a condition that is decided: larger ones are only tested."""


class Part(NamedTuple):
    """The outputs of a program in a part of the domain, and the conditions tested there."""

    outs: tuple[E, ...]
    open: tuple[Condition, ...]

    @property
    def code(self) -> int:
        """The number of nodes."""
        return sum(1 for _ in post_order(self.outs))


class Scope:
    """A program and its reads: those are the operands behind the `first` ones, accumulators.

    `symbols` is the number of symbols that the views may have.
    """

    def __init__(
        self, ins: Sequence[Dtype], first: int, views: Sequence[View], symbols: int
    ) -> None:
        self._ins = tuple(ins)
        self._first = first
        self._views = views
        self._symbols = symbols
        self._conditions: dict[E, Condition] = {}
        self._guards = [[self._guard(guard) for guard in view.guards or ()] for view in views]

    def _guard(self, guard: Guard) -> Condition:
        """A guard as a condition, written as programs write it."""

        def symbol(symbol: Symbol) -> E:
            return E.input(len(self._ins) + symbol.number, Dtype.int64)

        value = guard.value.to_expression(symbol)
        zero, minus_one = (E.const(Dtype.int64, number) for number in (0, -1))
        return self._condition(E.equal(value, zero) if guard.equal else E.less(minus_one, value))

    def _condition(self, e: E) -> Condition:
        if e not in self._conditions:
            bounds = [*map(_bounds, self._ins), *[(0, GREATEST_SYMBOL)] * self._symbols]
            ins = (*self._ins, *[Dtype.int64] * self._symbols)
            self._conditions[e] = Condition(e, ins, bounds)
        return self._conditions[e]

    def part(self, outs: Sequence[E], truth: Truth) -> Part:
        """What `outs` are, and still test, where `truth` says what conditions are."""
        known: dict[E, E] = {}
        for e in _conditions(outs):
            value = truth(self._condition(e))
            if value is not None:
                known[e] = E.const(Dtype.bool, value)
        for number, e in self._reads(outs):
            guards = self._guards[number]
            if self._views[number].guards is None or False in map(truth, guards):
                known[e] = E.const(e.dtype, False if e.dtype is Dtype.bool else 0)
        outs = simplified(outs, known)
        tested = [self._condition(e) for e in _conditions(outs)]
        for number, _ in self._reads(outs):
            tested += self._guards[number]
        return Part(outs, tuple(c for c in dict.fromkeys(tested) if truth(c) is None))

    def program(
        self, part: Part, truth: Truth, coords: Mapping[int, Index]
    ) -> tuple[Program, list[View]]:
        """The program of `part` and the reads that it needs, with the guards that stay."""
        known: dict[E, E] = {}
        for axis, index in coords.items():
            if not index.terms:
                known[E.coord(axis)] = E.const(Dtype.int64, index.constant)
        ins = [*self._ins[: self._first]]
        views: list[View] = []
        for number, e in self._reads(part.outs):
            known[e] = E.input(len(ins), e.dtype)
            ins.append(e.dtype)
            view = self._views[number]
            tests = zip(view.guards or (), self._guards[number], strict=True)
            kept = (guard for guard, condition in tests if truth(condition) is None)
            views.append(replace(view, guards=tuple(kept)))
        return Program.of_exprs(ins, simplified(part.outs, known)), views

    def _reads(self, outs: Sequence[E]) -> list[tuple[int, E]]:
        """The operands of `outs` that are read, with the numbers of their views."""
        first = self._first
        operands = ((e.head.i, e) for e in post_order(outs) if isinstance(e.head, In))
        return [(i - first, e) for i, e in operands if i >= first]

    def uses_accumulators(self, part: Part) -> bool:
        """Whether `part` is computed from accumulators."""
        leaves = (e.head for e in post_order(part.outs))
        return any(isinstance(leaf, In) and leaf.i < self._first for leaf in leaves)


def _bounds(dtype: Dtype) -> tuple[int, int]:
    """The least and the greatest value of an operand; `ranges` reads none of a float's."""
    if dtype not in INTEGERS | BOOLEANS:
        return 0, 0
    least, greatest = extremes(dtype)
    assert isinstance(least, int)
    assert isinstance(greatest, int)
    return least, greatest


def _conditions(outs: Iterable[E]) -> list[E]:
    """The conditions in `outs` on integers that are computed from coordinates."""
    found: list[E] = []
    cones: dict[int, int] = {}
    """How many integers each expression is computed from; coordinates are among them."""
    for e in post_order(tuple(outs)):
        if e.dtype not in INTEGERS | BOOLEANS:
            continue
        nodes = sum(cones.get(id(operand), 0) for operand in e.operands)
        if nodes or isinstance(e.head, Coord):
            cones[id(e)] = nodes + 1
            is_test = isinstance(e.head, Compare) or e.head is Move.CAST
            if is_test and e.dtype is Dtype.bool and nodes <= _CONE:
                found.append(e)
    return found
