"""Index expressions as sums: `c + sum of coefficient * term`, with known ranges.

A term is a dimension, a number that stands for an axis, a symbol or a loop, or a quotient or a
remainder of a sum by a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

Ranges: TypeAlias = Mapping[int, tuple[int, int]]
"""The least and the greatest value of each dimension."""


@dataclass(frozen=True)
class Division:
    """The floor quotient of `dividend` by a positive constant, or its remainder."""

    dividend: Linear
    divisor: int
    remainder: bool


Term: TypeAlias = int | Division


@dataclass(frozen=True)
class Linear:
    """`constant + sum of coefficient * term`; each term once, no coefficient zero."""

    terms: tuple[tuple[Term, int], ...]
    constant: int

    @classmethod
    def of(cls, terms: Iterable[tuple[Term, int]], constant: int) -> Linear:
        """The sum of these terms, equal ones joined."""
        coefficients: dict[Term, int] = {}
        for term, coefficient in terms:
            coefficients[term] = coefficients.get(term, 0) + coefficient
        return cls(tuple((t, c) for t, c in coefficients.items() if c), constant)

    @classmethod
    def dimension(cls, dim: int) -> Linear:
        """The value of a dimension."""
        return cls(((dim, 1),), 0)

    def __add__(self, other: Linear | int) -> Linear:
        if isinstance(other, int):
            return Linear(self.terms, self.constant + other)
        return Linear.of((*self.terms, *other.terms), self.constant + other.constant)

    def __mul__(self, factor: int) -> Linear:
        return Linear.of(((t, c * factor) for t, c in self.terms), self.constant * factor)

    def dimensions(self) -> frozenset[int]:
        """The dimensions that the value depends on."""
        return frozenset[int]().union(
            *({t} if isinstance(t, int) else t.dividend.dimensions() for t, _ in self.terms)
        )

    def stride(self, dim: int) -> int | None:
        """By how much a step of `dim` moves the value; None if that's not one number."""
        if any(isinstance(t, Division) and dim in t.dividend.dimensions() for t, _ in self.terms):
            return None
        return dict(self.terms).get(dim, 0)

    def range(self, ranges: Ranges) -> tuple[int, int]:
        """Bounds of the value."""
        least = greatest = self.constant
        for term, coefficient in self.terms:
            bounds = [coefficient * bound for bound in _term_range(term, ranges)]
            least += min(bounds)
            greatest += max(bounds)
        return least, greatest

    def substitute(self, values: Callable[[int], Linear], ranges: Ranges) -> Linear:
        """The value with `values` for the dimensions; `ranges` are of the new ones."""
        result = Linear((), self.constant)
        for term, coefficient in self.terms:
            if isinstance(term, int):
                value = values(term)
            else:
                value = divide(
                    term.dividend.substitute(values, ranges),
                    term.divisor,
                    ranges,
                    remainder=term.remainder,
                )
            result += value * coefficient
        return result


def _term_range(term: Term, ranges: Ranges) -> tuple[int, int]:
    if isinstance(term, int):
        return ranges[term]
    if term.remainder:
        return 0, term.divisor - 1
    least, greatest = term.dividend.range(ranges)
    return least // term.divisor, greatest // term.divisor


def divide(dividend: Linear, divisor: int, ranges: Ranges, *, remainder: bool) -> Linear:
    """The floor quotient by a positive constant, or the remainder.

    (divisor * whole + part) divided gives whole + part / divisor, remainder part % divisor.
    """
    assert divisor > 0
    whole = Linear(
        tuple((t, c // divisor) for t, c in dividend.terms if c % divisor == 0),
        dividend.constant // divisor,
    )
    part = Linear(
        tuple((t, c) for t, c in dividend.terms if c % divisor), dividend.constant % divisor
    )
    least, greatest = part.range(ranges)
    if least // divisor == greatest // divisor:
        quotient = least // divisor
        return part + -quotient * divisor if remainder else whole + quotient
    rest = Linear(((Division(part, divisor, remainder), 1),), 0)
    return rest if remainder else whole + rest


def symbol_dimension(symbol: int) -> int:
    """The dimension that stands for a symbol: a negative number, which no axis has."""
    return -1 - symbol


def of_affine(expr: AffineExpr, ranges: Ranges) -> Linear:
    """The sum that an affine expression is; its symbols are `symbol_dimension`s."""
    match expr:
        case AffineConstantExpr():
            return Linear((), expr.value)
        case AffineDimExpr():
            least, greatest = ranges[expr.position]
            if least == greatest:
                return Linear((), least)
            return Linear.dimension(expr.position)
        case AffineSymExpr():
            return Linear.dimension(symbol_dimension(expr.position))
        case AffineBinaryOpExpr():
            left, right = of_affine(expr.lhs, ranges), of_affine(expr.rhs, ranges)
            match expr.kind:
                case AffineBinaryOpKind.Add:
                    return left + right
                case AffineBinaryOpKind.Mul:
                    left, right = (right, left) if not left.terms else (left, right)
                    return left * _constant(right)
                case AffineBinaryOpKind.FloorDiv:
                    return divide(left, _constant(right), ranges, remainder=False)
                case AffineBinaryOpKind.Mod:
                    return divide(left, _constant(right), ranges, remainder=True)
                case AffineBinaryOpKind.CeilDiv:
                    return divide(left * -1, _constant(right), ranges, remainder=False) * -1
        case _:
            raise AssertionError(f"unknown affine expression: {expr}")


def _constant(linear: Linear) -> int:
    assert not linear.terms, "expected a factor or a divisor that is a constant"
    return linear.constant
