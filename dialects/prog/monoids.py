"""The monoids that reductions fold with: a kind and its identity."""

from __future__ import annotations

from enum import Enum

from .dtypes import BOOLEANS, COMPLEX, FLOATS, Dtype, Value, extremes
from .kinds import Binary, accepts2


class Monoid(Enum):
    """A monoid; the member's value is its name in printed IR."""

    SUM = "sum"
    PRODUCT = "product"
    MAX = "max"
    MIN = "min"
    __hash__ = object.__hash__

    def kind(self, dtype: Dtype) -> Binary:
        """The kind that combines the accumulator, its left operand, with an element."""
        match self:
            case Monoid.SUM:
                return Binary.ADD
            case Monoid.PRODUCT:
                return Binary.AND if dtype in BOOLEANS else Binary.MUL
            case Monoid.MAX:
                return Binary.MAXIMUM
            case Monoid.MIN:
                return Binary.MINIMUM

    def accepts(self, dtype: Dtype) -> bool:
        """Whether elements of `dtype` can be folded."""
        ordered = dtype not in COMPLEX or self in (Monoid.SUM, Monoid.PRODUCT)
        return ordered and accepts2(self.kind(dtype), dtype)

    def is_associative(self, dtype: Dtype) -> bool:
        """Whether elements of `dtype` may be folded in any order: all but sums and products of
        floats."""
        return self in (Monoid.MAX, Monoid.MIN) or dtype not in FLOATS | COMPLEX

    def identity(self, dtype: Dtype) -> Value:
        """The value that a fold starts from: 0, 1 or true, the least or the greatest value."""
        match self:
            case Monoid.SUM:
                return 0.0 if dtype in FLOATS | COMPLEX else 0
            case Monoid.PRODUCT:
                return 1.0 if dtype in FLOATS | COMPLEX else 1
            case Monoid.MAX:
                return extremes(dtype)[0]
            case Monoid.MIN:
                return extremes(dtype)[1]
