"""Programs rewritten by replacing their leaves with expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .expr import E
from .program import Const, Coord, In, InvalidProgram, Node, Op1, Op2, Op3, Program


def substituted(program: Program, f: Callable[[Node], E | None], nodes: Sequence[int]) -> list[E]:
    """The expressions of `nodes`, each leaf they reach replaced by what `f` gives, if not None.

    Raises InvalidProgram for an expression of another dtype than its leaf.
    """
    values: dict[int, E] = {}
    for index in program.reached(nodes):
        node = program.nodes[index]
        match node:
            case In() | Coord() | Const():
                dtype = program.dtypes[index]
                value = f(node)
                if value is None:
                    value = E(node, dtype)
                elif value.dtype is not dtype:
                    raise InvalidProgram(
                        f"node {index}: is of {dtype.value},"
                        f" the expression that replaces it of {value.dtype.value}"
                    )
                values[index] = value
            case Op1(kind, dtype, i):
                values[index] = E.of_kind1(kind, dtype, values[i])
            case Op2(kind, i, j):
                values[index] = E.of_kind2(kind, values[i], values[j])
            case Op3(kind, i, j, l):
                values[index] = E.of_kind3(kind, values[i], values[j], values[l])
    return [values[node] for node in nodes]
