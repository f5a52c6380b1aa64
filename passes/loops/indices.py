"""Index expressions as ops."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from passes.index import Atom, Coordinate, Index, Quotient, Remainder, Symbol

from .builder import LoopBuilder


def emit_index(
    builder: LoopBuilder, index: Index, variable: Callable[[Coordinate | Symbol], SSAValue]
) -> SSAValue:
    """The value of `index`, whose coordinates and symbols `variable` gives.

    Outermost terms come first, so that each partial sum is made once for all the loops inside.
    """
    pieces = [
        _scaled(builder, _emit_atom(builder, atom, variable), coefficient)
        for atom, coefficient in index.terms
    ]
    if index.constant:
        pieces.append(builder.index(index.constant))
    if not pieces:
        return builder.index(0)
    total, *rest = sorted(pieces, key=builder.depth)
    for piece in rest:
        total = builder.pure(arith.AddiOp(total, piece))
    return total


def _scaled(builder: LoopBuilder, value: SSAValue, factor: int) -> SSAValue:
    return value if factor == 1 else builder.pure(arith.MuliOp(value, builder.index(factor)))


def _emit_atom(
    builder: LoopBuilder, atom: Atom, variable: Callable[[Coordinate | Symbol], SSAValue]
) -> SSAValue:
    match atom:
        case Coordinate() | Symbol():
            return variable(atom)
        case Quotient(index, divisor):
            divide = arith.DivSIOp
        case Remainder(index, divisor):
            divide = arith.RemSIOp
    # A dividend is never negative (`Index.floordiv` takes whole multiples out), so that truncation
    # rounds down.
    assert index.bounds[0] >= 0
    dividend = emit_index(builder, index, variable)
    return builder.pure(divide(dividend, builder.index(divisor)))
