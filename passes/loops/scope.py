"""The programs of a nest where some of what they test is decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

from .condition import Condition, conditions
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
    code: int
    """The number of nodes."""


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
        self._known: dict[E, Condition] = {}
        guards = [[self._guard(guard) for guard in view.guards or ()] for view in views]
        self._conditions([e for tests in guards for e in tests])
        self._guards = [self._conditions(tests) for tests in guards]

    def _guard(self, guard: Guard) -> E:
        """A guard as programs write conditions."""

        def symbol(symbol: Symbol) -> E:
            return E.input(len(self._ins) + symbol.number, Dtype.int64)

        value = guard.value.to_expression(symbol)
        zero, minus_one = (E.const(Dtype.int64, number) for number in (0, -1))
        return E.equal(value, zero) if guard.equal else E.less(minus_one, value)

    def _conditions(self, exprs: Sequence[E]) -> list[Condition]:
        """The conditions that `exprs` are."""
        new = [e for e in dict.fromkeys(exprs) if e not in self._known]
        ins = (*self._ins, *[Dtype.int64] * self._symbols)
        bounds = [*map(_bounds, self._ins), *[(0, GREATEST_SYMBOL)] * self._symbols]
        self._known.update(zip(new, conditions(new, ins, bounds), strict=True))
        return [self._known[e] for e in exprs]

    def part(self, outs: Sequence[E], truth: Truth) -> Part:
        """What `outs` are, and still test, where `truth` says what conditions are."""
        known: dict[E, E] = {}
        tests = _tests(outs)
        for e, condition in zip(tests, self._conditions(tests), strict=True):
            value = truth(condition)
            if value is not None:
                known[e] = E.const(Dtype.bool, value)
        for number, e in self._reads(outs):
            guards = self._guards[number]
            if self._views[number].guards is None or False in map(truth, guards):
                known[e] = E.const(e.dtype, False if e.dtype is Dtype.bool else 0)
        outs = simplified(outs, known)
        tested = self._conditions(_tests(outs))
        for number, _ in self._reads(outs):
            tested += self._guards[number]
        still_open = tuple(c for c in dict.fromkeys(tested) if truth(c) is None)
        return Part(outs, still_open, sum(1 for _ in post_order(outs)))

    def program(
        self, part: Part, truth: Truth, coords: Mapping[int, Index], accumulators: int
    ) -> tuple[Program, list[View]]:
        """The program of `part`, its first operands so many accumulators, and the reads that
        it needs, with the guards that stay."""
        known: dict[E, E] = {}
        for axis, index in coords.items():
            if not index.terms:
                known[E.coord(axis)] = E.const(Dtype.int64, index.constant)
        ins = [*self._ins[:accumulators]]
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


def _tests(outs: Sequence[E]) -> list[E]:
    """The conditions in `outs` on integers that are computed from coordinates."""
    found: list[E] = []
    cones: dict[int, int] = {}
    """How many integers each expression is computed from; coordinates are among them."""
    for e in post_order(outs):
        if e.dtype not in INTEGERS | BOOLEANS:
            continue
        nodes = sum(cones.get(id(operand), 0) for operand in e.operands)
        if nodes or isinstance(e.head, Coord):
            cones[id(e)] = nodes + 1
            is_test = isinstance(e.head, Compare) or e.head is Move.CAST
            if is_test and e.dtype is Dtype.bool and nodes <= _CONE:
                found.append(e)
    return found
