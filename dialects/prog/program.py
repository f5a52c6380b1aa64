"""Programs: sequences of nodes, each computed from earlier ones, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from .dtypes import Dtype, size
from .kinds import (
    Binary,
    Compare,
    Kind1,
    Kind2,
    Kind3,
    Move,
    Ternary,
    Unary,
    accepts1,
    accepts2,
    accepts3,
)
from .storage import holds

if TYPE_CHECKING:
    from .expr import E

MAX_RANK = 32
"""The greatest number of axes of an iteration space."""


class InvalidProgram(ValueError):
    """A program or an expression that breaks a rule; the message names the node and the rule."""


@dataclass(frozen=True, slots=True)
class In:
    """Operand `i`'s element at the iteration index."""

    i: int


@dataclass(frozen=True, slots=True)
class Coord:
    """The iteration index along `axis`, an int64."""

    axis: int


@dataclass(frozen=True, slots=True)
class Const:
    """The element of `dtype` with these bits, in the host's byte order.

    They are any bits of the dtype's width: a boolean is true iff its byte is not zero, but an
    element of less than a byte leaves the rest of its byte zero.
    """

    dtype: Dtype
    bits: bytes


@dataclass(frozen=True, slots=True)
class Op1:
    """`kind` of node `i` into `dtype`."""

    kind: Kind1
    dtype: Dtype
    i: int


@dataclass(frozen=True, slots=True)
class Op2:
    """`kind` of nodes `i` and `j`."""

    kind: Kind2
    i: int
    j: int


@dataclass(frozen=True, slots=True)
class Op3:
    """`kind` of nodes `i`, `j` and `l`."""

    kind: Kind3
    i: int
    j: int
    l: int  # noqa: E741 (the third index after i and j)


_DTYPES = frozenset(Dtype)

Leaf: TypeAlias = In | Coord | Const
Node: TypeAlias = Leaf | Op1 | Op2 | Op3


def references(node: Node) -> tuple[int, ...]:
    """The indices of the nodes that `node` reads, in order."""
    match node:
        case Op1():
            return (node.i,)
        case Op2():
            return (node.i, node.j)
        case Op3():
            return (node.i, node.j, node.l)
        case _:
            return ()


def check_parts(node: object) -> None:
    """Raises InvalidProgram unless `node` is a node, and each of its parts what it should be."""
    match node:
        case In(int()) | Coord(int()) | Const(Dtype(), bytes()):
            pass
        case Op1(Move() | Unary(), Dtype(), int()) | Op2(Binary() | Compare(), int(), int()):
            pass
        case Op3(Ternary(), int(), int(), int()):
            pass
        case _:
            raise InvalidProgram(f"{node!r} is no node")


def leaf_dtype(leaf: Leaf, ins: Sequence[Dtype]) -> Dtype:
    """The dtype of `leaf` over operands of dtypes `ins`; raises InvalidProgram if it has none."""
    match leaf:
        case In(i):
            if not 0 <= i < len(ins):
                raise InvalidProgram(f"reads operand {i} of {len(ins)}")
            return ins[i]
        case Coord(axis):
            if not 0 <= axis < MAX_RANK:
                raise InvalidProgram(f"axis {axis} is not between 0 and {MAX_RANK - 1}")
            return Dtype.int64
        case Const(dtype, element):
            if len(element) != size(dtype):
                raise InvalidProgram(
                    f"{len(element)} bytes of bits for {dtype.value}, which has {size(dtype)}"
                )
            if not holds(dtype, element):
                raise InvalidProgram(f"bits 0x{element.hex()} are no element of {dtype.value}")
            return dtype


def dtype1(kind: Kind1, operand: Dtype, result: Dtype) -> Dtype:
    """`result`, if `kind` takes `operand` to it; raises InvalidProgram otherwise."""
    if not accepts1(kind, operand, result):
        raise InvalidProgram(f"`{kind.value}` does not take {operand.value} to {result.value}")
    return result


def dtype2(kind: Kind2, left: Dtype, right: Dtype) -> Dtype:
    """The dtype of `kind` of two operands; raises InvalidProgram if it doesn't take them."""
    if left is not right:
        raise InvalidProgram(
            f"`{kind.value}` takes operands of one dtype, found {left.value} and {right.value}"
        )
    if not accepts2(kind, left):
        raise InvalidProgram(f"`{kind.value}` does not take {left.value}")
    match kind:
        case Binary():
            return left
        case Compare():
            return Dtype.bool


def dtype3(kind: Kind3, first: Dtype, left: Dtype, right: Dtype) -> Dtype:
    """The dtype of `kind` of three operands; raises InvalidProgram if it doesn't take them."""
    if left is not right:
        raise InvalidProgram(
            f"`{kind.value}` takes last operands of one dtype, found {left.value} and {right.value}"
        )
    if not accepts3(kind, first, left):
        raise InvalidProgram(f"`{kind.value}` does not take {first.value} and {left.value}")
    return left


@dataclass(frozen=True)
class Program:
    """A scalar program over operands of dtypes `ins`, whose results are the nodes `outs`.

    Every program holds together; making one that doesn't raises InvalidProgram.
    """

    ins: tuple[Dtype, ...]
    nodes: tuple[Node, ...]
    outs: tuple[int, ...]
    dtypes: tuple[Dtype, ...] = field(init=False, repr=False, compare=False)
    """The dtype of every node."""

    def __post_init__(self) -> None:
        dtypes: list[Dtype] = []
        for position, dtype in enumerate(self.ins):
            if dtype not in _DTYPES:
                raise InvalidProgram(f"operand {position}: {dtype!r} is no dtype")
        for index, node in enumerate(self.nodes):
            try:
                dtypes.append(self._dtype_after(node, dtypes))
            except InvalidProgram as error:
                raise InvalidProgram(f"node {index}: {error}") from None
        if not self.outs:
            raise InvalidProgram("outs: a program has at least one output")
        for position, out in enumerate(self.outs):
            if not 0 <= out < len(dtypes):
                raise InvalidProgram(f"output {position}: node {out} of {len(dtypes)}")
        object.__setattr__(self, "dtypes", tuple(dtypes))

    def _dtype_after(self, node: Node, dtypes: list[Dtype]) -> Dtype:
        check_parts(node)
        for reference in references(node):
            if not 0 <= reference < len(dtypes):
                raise InvalidProgram(f"refers to node {reference}, which is not an earlier one")
        match node:
            case In() | Coord() | Const():
                return leaf_dtype(node, self.ins)
            case Op1(kind, dtype, i):
                return dtype1(kind, dtypes[i], dtype)
            case Op2(kind, i, j):
                return dtype2(kind, dtypes[i], dtypes[j])
            case Op3(kind, i, j, l):
                return dtype3(kind, dtypes[i], dtypes[j], dtypes[l])

    @classmethod
    def v(cls, ins: Sequence[Dtype], nodes: Sequence[Node], outs: Sequence[int]) -> Program:
        """The program of these operands, nodes and outputs."""
        return cls(tuple(ins), tuple(nodes), tuple(outs))

    @classmethod
    def of_node(cls, ins: Sequence[Dtype], node: Node) -> Program:
        """The program of the one `node`, whose reference j names operand j of `ins`."""
        count = len(ins)
        return cls.v(ins, [*map(In, range(count)), node], [count])

    @classmethod
    def of_exprs(cls, ins: Sequence[Dtype], outs: Sequence[E]) -> Program:
        """The program whose results are the expressions `outs`.

        Its nodes are their distinct subexpressions, once each, in the order in which a
        depth-first walk from the outputs, operands left to right, finishes them.
        Raises InvalidProgram if an input of `outs` is not an operand of `ins` of its dtype.
        """
        from .flatten import nodes_of

        nodes, indices = nodes_of(ins, outs)
        return cls.v(ins, nodes, indices)

    def dtype(self, i: int) -> Dtype:
        """The dtype of node `i`; raises InvalidProgram if there is no such node."""
        if not 0 <= i < len(self.dtypes):
            raise InvalidProgram(f"node {i} of {len(self.dtypes)}")
        return self.dtypes[i]

    @property
    def results(self) -> tuple[Dtype, ...]:
        """The dtypes of the outputs."""
        return tuple(self.dtypes[out] for out in self.outs)

    def is_identity(self) -> bool:
        """Whether it has one operand and one output, which is that operand's node."""
        return len(self.ins) == len(self.outs) == 1 and self.nodes[self.outs[0]] == In(0)

    def single(self) -> Node | None:
        """The node n, if this is `of_node(ins, n)` and n reads each operand, in order.

        None otherwise; n is a constant or a coordinate over no operands, or a kind.
        """
        count = len(self.ins)
        if len(self.nodes) != count + 1 or self.outs != (count,):
            return None
        *operands, node = self.nodes
        if references(node) != tuple(range(count)) or operands != [*map(In, range(count))]:
            return None
        return node

    def is_single(self) -> bool:
        """Whether `single()` gives a node, the last one."""
        return self.single() is not None

    def subst(
        self,
        ins: Sequence[Dtype],
        f: Callable[[Node], E | None],
        outs: Sequence[int] | None = None,
    ) -> Program:
        """The program over operands of `ins` that computes the outputs with leaves replaced.

        `outs` picks outputs by their positions, all of them by default. `f` is called once
        with each leaf node that they reach, and gives an expression over `ins` of the leaf's
        dtype, or None to keep the leaf. Replacements are not replaced again. The nodes are
        those of `of_exprs`.

        Raises InvalidProgram for an expression of another dtype than its leaf, for an input
        that is not an operand of `ins` of its dtype, and for `outs` that is empty or names
        no output.
        """
        from .substitution import substituted

        return Program.of_exprs(ins, substituted(self, f, self.picked(outs)))

    def ranges(self, axes: int, outs: Sequence[int] | None = None) -> Program:
        """The program of the ranges of the outputs over a box, or of those that `outs` picks.

        Of n operands, its operands 2i and 2i + 1 are the least and the greatest element of
        operand i, and 2n + 2a and 2n + 2a + 1 the least and the greatest coordinate along
        axis a, for a below `axes`. Its outputs 2k and 2k + 1 are the bounds of the output
        that is picked kth: at every index whose leaves lie in the box it lies between them.
        Where a kind may wrap the range is the dtype's whole range, as it is for what is
        computed from floats and complex numbers, which have no range.

        Raises InvalidProgram if `axes` is not between 0 and MAX_RANK, if an output that is
        picked reads the coordinate of an axis past them or is of a float or complex dtype,
        and for `outs` that is empty or names no output.
        """
        from .ranges import ranges_of

        return ranges_of(self, axes, self.picked(outs))

    def exprs(self) -> list[E]:
        """The expressions of the outputs, those that `of_exprs` makes this program of."""
        from .substitution import substituted

        return substituted(self, lambda leaf: None, self.outs)

    def picked(self, outs: Sequence[int] | None) -> list[int]:
        """The nodes of the outputs at the positions `outs`, all of them by default.

        Raises InvalidProgram if `outs` is empty or names no output.
        """
        if outs is None:
            return list(self.outs)
        if not outs:
            raise InvalidProgram("outs: a program has at least one output")
        for out in outs:
            if not 0 <= out < len(self.outs):
                raise InvalidProgram(f"outs: output {out} of {len(self.outs)}")
        return [self.outs[out] for out in outs]

    def reached(self, nodes: Sequence[int]) -> list[int]:
        """The nodes that `nodes` are or read, through others, in order."""
        live = set(nodes)
        for index in range(max(live, default=-1), -1, -1):
            if index in live:
                live.update(references(self.nodes[index]))
        return sorted(live)
