"""Index expressions: integers computed from coordinates, in one simplified form.

An index is a sum of multiples of atoms, plus a constant. An atom is a coordinate, a symbol, or the
quotient or remainder of an index by a constant. Bounds are known, so that most reshapes turn into
strides: with `i` below 4 and `j` below 6, `(6*i + j) floordiv 6` is `i`, `(6*i + j) mod 6` is `j`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import gcd
from typing import TypeAlias

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from dialects.prog import Dtype, E


@dataclass(frozen=True)
class Coordinate:
    """The coordinate along `axis`, from 0 to `extent - 1`."""

    axis: int
    extent: int


@dataclass(frozen=True)
class Quotient:
    """`index floordiv divisor`."""

    index: Index
    divisor: int


@dataclass(frozen=True)
class Remainder:
    """`index mod divisor`, from 0 to `divisor - 1`."""

    index: Index
    divisor: int


@dataclass(frozen=True)
class Symbol:
    """A number that is known when a kernel starts: symbol `number`, from 0 to `greatest`."""

    number: int
    greatest: int


Atom: TypeAlias = Coordinate | Symbol | Quotient | Remainder


@dataclass(frozen=True)
class Index:
    """`sum(coefficient * atom) + constant`, each atom once, in one order."""

    terms: tuple[tuple[Atom, int], ...] = ()
    constant: int = 0

    @staticmethod
    def symbol(number: int, greatest: int) -> Index:
        """The symbol `number`."""
        return Index(((Symbol(number, greatest), 1),))

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest value, both included."""
        low = high = self.constant
        for atom, coefficient in self.terms:
            least, greatest = _bounds(atom)
            ends = (coefficient * least, coefficient * greatest)
            low, high = low + min(ends), high + max(ends)
        return low, high

    def __add__(self, other: Index | int) -> Index:
        if isinstance(other, int):
            return Index(self.terms, self.constant + other)
        return _sum([*self.terms, *other.terms], self.constant + other.constant)

    def __mul__(self, factor: int) -> Index:
        if factor == 0:
            return Index()
        terms = tuple((atom, coefficient * factor) for atom, coefficient in self.terms)
        return Index(terms, self.constant * factor)

    def floordiv(self, divisor: int) -> Index:
        """The quotient by a positive `divisor`, rounded down."""
        low, high = self.bounds
        if low // divisor == high // divisor:
            return Index((), low // divisor)
        whole, rest = self._split(divisor)
        low, high = rest.bounds
        if low // divisor == high // divisor:
            return whole + low // divisor
        # (s*x + y) floordiv (s*d) is x floordiv d where 0 <= y < s.
        for step in rest._steps(divisor):
            coarse, fine = rest._split(step)
            if fine.is_below(step):
                return whole + coarse.floordiv(divisor // step)
        if len(rest.terms) == 1 and rest.constant == 0:
            (atom, coefficient), *_ = rest.terms
            if isinstance(atom, Quotient) and coefficient == 1:
                return whole + atom.index.floordiv(atom.divisor * divisor)
        return whole + Index(((Quotient(rest, divisor), 1),))

    def mod(self, divisor: int) -> Index:
        """The remainder by a positive `divisor`, from 0 to `divisor - 1`."""
        low, high = self.bounds
        if low // divisor == high // divisor:
            return self + -divisor * (low // divisor)
        _, rest = self._split(divisor)
        low, high = rest.bounds
        if low // divisor == high // divisor:
            return rest + -divisor * (low // divisor)
        # (s*x + y) mod (s*d) is s*(x mod d) + y where 0 <= y < s.
        for step in rest._steps(divisor):
            coarse, fine = rest._split(step)
            if fine.is_below(step):
                return coarse.mod(divisor // step) * step + fine
        if len(rest.terms) == 1 and rest.constant == 0:
            (atom, coefficient), *_ = rest.terms
            if isinstance(atom, Remainder) and coefficient == 1 and atom.divisor % divisor == 0:
                return atom.index.mod(divisor)
        return Index(((Remainder(rest, divisor), 1),))

    def is_below(self, bound: int) -> bool:
        """Whether the index is always from 0 to `bound - 1`."""
        low, high = self.bounds
        return low >= 0 and high < bound

    def _steps(self, divisor: int) -> list[int]:
        """The factors that `divisor` shares with coefficients, the largest first."""
        steps = {gcd(divisor, coefficient) for _, coefficient in self.terms}
        return sorted(steps - {1}, reverse=True)

    def _split(self, divisor: int) -> tuple[Index, Index]:
        """`whole` and `rest` with `self = divisor * whole + rest`."""
        whole: list[tuple[Atom, int]] = []
        rest: list[tuple[Atom, int]] = []
        for atom, coefficient in self.terms:
            quotient, remainder = divmod(coefficient, divisor)
            if quotient:
                whole.append((atom, quotient))
            if remainder:
                rest.append((atom, remainder))
        quotient, remainder = divmod(self.constant, divisor)
        return Index(tuple(whole), quotient), Index(tuple(rest), remainder)

    def axes(self) -> frozenset[int]:
        """The axes that the value depends on."""
        axes: set[int] = set()
        for atom, _ in self.terms:
            if isinstance(atom, Coordinate):
                axes.add(atom.axis)
            elif isinstance(atom, Quotient | Remainder):
                axes |= atom.index.axes()
        return frozenset(axes)

    def stride(self, axis: int) -> int | None:
        """By how much a step along `axis` moves the value; None if that is not one number."""
        stride = 0
        for atom, coefficient in self.terms:
            if isinstance(atom, Coordinate):
                stride += coefficient if atom.axis == axis else 0
            elif isinstance(atom, Quotient | Remainder) and axis in atom.index.axes():
                return None
        return stride

    def substitute(self, value: Callable[[Coordinate], Index]) -> Index:
        """The index with `value` in the place of each coordinate, simplified."""
        result = Index((), self.constant)
        for atom, coefficient in self.terms:
            match atom:
                case Coordinate():
                    new = value(atom)
                case Symbol():
                    new = Index(((atom, 1),))
                case Quotient(index, divisor):
                    new = index.substitute(value).floordiv(divisor)
                case Remainder(index, divisor):
                    new = index.substitute(value).mod(divisor)
            result += new * coefficient
        return result

    def to_affine(self) -> AffineExpr:
        """The index as an affine expression of the coordinates."""
        result: AffineExpr | None = None
        for atom, coefficient in self.terms:
            term = _atom_to_affine(atom)
            term = term if coefficient == 1 else term * coefficient
            result = term if result is None else result + term
        if result is None:
            return AffineExpr.constant(self.constant)
        return result + self.constant if self.constant else result

    def symbols(self) -> Iterator[Symbol]:
        """The symbols in the index."""
        for atom, _ in self.terms:
            if isinstance(atom, Symbol):
                yield atom
            elif isinstance(atom, Quotient | Remainder):
                yield from atom.index.symbols()

    def to_expression(self, symbol: Callable[[Symbol], E]) -> E:
        """The index as a Prog expression, an int64; `symbol` gives those of symbols."""
        result: E | None = None
        for atom, coefficient in self.terms:
            term = _atom_to_expression(atom, symbol)
            if coefficient != 1:
                term = E.mul(term, E.const(Dtype.int64, coefficient))
            result = term if result is None else E.add(result, term)
        constant = E.const(Dtype.int64, self.constant)
        if result is None:
            return constant
        return E.add(result, constant) if self.constant else result


def compose(map: AffineExpr, coordinates: Sequence[Index], symbols: Sequence[Index]) -> Index:
    """The affine expression `map` of `coordinates` and `symbols`, simplified.

    Products, quotients and remainders are by constants; divisors are positive.
    """
    match map:
        case AffineDimExpr():
            return coordinates[map.position]
        case AffineSymExpr():
            return symbols[map.position]
        case AffineConstantExpr():
            return Index((), map.value)
        case AffineBinaryOpExpr():
            lhs = compose(map.lhs, coordinates, symbols)
            rhs = compose(map.rhs, coordinates, symbols)
            match map.kind:
                case AffineBinaryOpKind.Add:
                    return lhs + rhs
                case AffineBinaryOpKind.Mul:
                    return rhs * lhs.constant if not lhs.terms else lhs * rhs.constant
                case AffineBinaryOpKind.FloorDiv:
                    return lhs.floordiv(rhs.constant)
                case AffineBinaryOpKind.CeilDiv:
                    return (lhs * -1).floordiv(rhs.constant) * -1
                case AffineBinaryOpKind.Mod:
                    return lhs.mod(rhs.constant)
        case _:
            raise AssertionError(f"unknown affine expression: {map}")


def _bounds(atom: Atom) -> tuple[int, int]:
    match atom:
        case Coordinate(_, extent):
            return 0, extent - 1
        case Symbol(_, greatest):
            return 0, greatest
        case Quotient(index, divisor):
            low, high = index.bounds
            return low // divisor, high // divisor
        case Remainder(_, divisor):
            return 0, divisor - 1


def _sum(terms: Iterable[tuple[Atom, int]], constant: int) -> Index:
    """The sum of `terms`, where `(x floordiv d)*(c*d) + (x mod d)*c` is joined to `c*x`."""
    coefficients: dict[Atom, int] = {}
    for atom, coefficient in terms:
        coefficients[atom] = coefficients.get(atom, 0) + coefficient
    for atom, coefficient in list(coefficients.items()):
        if not isinstance(atom, Remainder):
            continue
        quotient = atom.index.floordiv(atom.divisor)
        if len(quotient.terms) == 1 and quotient.terms[0][1] == 1 and quotient.constant == 0:
            partner = quotient.terms[0][0]
            if coefficient and coefficients.get(partner) == coefficient * atom.divisor:
                del coefficients[atom], coefficients[partner]
                rest = Index(tuple(sorted(coefficients.items(), key=_order)), constant)
                return rest + atom.index * coefficient
    kept = [(atom, coefficient) for atom, coefficient in coefficients.items() if coefficient]
    return Index(tuple(sorted(kept, key=_order)), constant)


def _order(term: tuple[Atom, int]) -> tuple[int, int, str]:
    atom = term[0]
    match atom:
        case Coordinate(axis, _):
            return 0, axis, ""
        case Symbol(number, _):
            return 1, number, ""
        case Quotient(_, divisor) | Remainder(_, divisor):
            return 2, divisor, repr(atom)


def _atom_to_affine(atom: Atom) -> AffineExpr:
    match atom:
        case Coordinate(axis, _):
            return AffineExpr.dimension(axis)
        case Symbol(number, _):
            return AffineExpr.symbol(number)
        case Quotient(index, divisor):
            return index.to_affine() // divisor
        case Remainder(index, divisor):
            return index.to_affine() % divisor


def _atom_to_expression(atom: Atom, symbol: Callable[[Symbol], E]) -> E:
    match atom:
        case Coordinate(axis, _):
            return E.coord(axis)
        case Symbol():
            return symbol(atom)
        case Quotient(index, divisor):
            return E.idiv(index.to_expression(symbol), E.const(Dtype.int64, divisor))
        case Remainder(index, divisor):
            return E.mod(index.to_expression(symbol), E.const(Dtype.int64, divisor))


def coordinate(axis: int, extent: int) -> Index:
    """The coordinate along `axis`; an axis of one element is always 0."""
    return Index(((Coordinate(axis, extent), 1),)) if extent > 1 else Index()


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides, in elements."""
    strides: list[int] = []
    step = 1
    for dim in reversed(shape):
        strides.append(step)
        step *= dim
    return tuple(reversed(strides))


def flatten(coordinates: Sequence[Index], shape: Sequence[int]) -> Index:
    """The row-major position of `coordinates` in an array of `shape`."""
    total = Index()
    for index, stride in zip(coordinates, strides_of(shape), strict=True):
        total = total + index * stride
    return total


@lru_cache(maxsize=1024)
def row_major(shape: tuple[int, ...]) -> Index:
    """The position of each element in an array of `shape`, by its own coordinates."""
    return flatten([coordinate(axis, dim) for axis, dim in enumerate(shape)], shape)


def unflatten(position: Index, shape: Sequence[int]) -> list[Index]:
    """The coordinates in an array of `shape` of the element at row-major `position`."""
    coordinates: list[Index] = []
    for dim, stride in zip(shape, strides_of(shape), strict=True):
        index = position.floordiv(stride)
        # The leading quotient is below its dimension already.
        coordinates.append(index if index.bounds[1] < dim else index.mod(dim))
    return coordinates
