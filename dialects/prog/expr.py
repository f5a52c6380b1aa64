"""Expressions: programs written as values whose operands are values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from .dtypes import Dtype, Value, bits
from .kinds import BITCAST, CAST, COPY, WHERE, Binary, Compare, Kind1, Kind2, Kind3, Unary
from .program import (
    Const,
    Coord,
    In,
    InvalidProgram,
    Leaf,
    Node,
    Op1,
    Op2,
    Op3,
    dtype1,
    dtype2,
    dtype3,
    leaf_dtype,
)

Head: TypeAlias = Leaf | Kind1 | Kind2 | Kind3
"""What an expression is apart from its operands and its dtype."""


class E:
    """An expression: a leaf, or a kind applied to expressions.

    Immutable. Each kind is a function of its name here, and some are operators; all raise
    InvalidProgram for operands that the kind does not take. `==` and `hash` are structural,
    and cost no more than the number of distinct nodes, however deep the expression is.
    """

    __slots__ = ("_hash", "dtype", "head", "operands")

    head: Head
    dtype: Dtype
    operands: tuple[E, ...]

    def __init__(self, head: Head, dtype: Dtype, operands: tuple[E, ...] = ()) -> None:
        """The parts as they are; the functions of this class check them."""
        self.head = head
        self.dtype = dtype
        self.operands = operands
        self._hash = hash((head, dtype, *(operand._hash for operand in operands)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, E) and _equal(self, other)

    def __repr__(self) -> str:
        names = f"{self.head}" if not self.operands else f"{self.head}/{len(self.operands)}"
        return f"E({names}: {self.dtype.value})"

    @staticmethod
    def input(i: int, dtype: Dtype) -> E:
        """Operand `i`, of `dtype`."""
        if i < 0:
            raise InvalidProgram(f"operand {i} is negative")
        return E(In(i), dtype)

    @staticmethod
    def const(dtype: Dtype, value: Value) -> E:
        """The constant `value`; raises ValueError if it's outside an integer dtype's range."""
        return E(Const(dtype, bits(dtype, value)), dtype)

    @staticmethod
    def coord(axis: int) -> E:
        """The iteration index along `axis`, an int64."""
        leaf = Coord(axis)
        return E(leaf, leaf_dtype(leaf, ()))

    @staticmethod
    def of_kind1(kind: Kind1, dtype: Dtype, e: E) -> E:
        """`kind` of `e` into `dtype`; raises InvalidProgram if `kind` doesn't take it."""
        return E(kind, dtype1(kind, e.dtype, dtype), (e,))

    @staticmethod
    def of_kind2(kind: Kind2, a: E, b: E) -> E:
        """`kind` of `a` and `b`; raises InvalidProgram if `kind` doesn't take them."""
        return E(kind, dtype2(kind, a.dtype, b.dtype), (a, b))

    @staticmethod
    def of_kind3(kind: Kind3, a: E, b: E, c: E) -> E:
        """`kind` of `a`, `b` and `c`; raises InvalidProgram if `kind` doesn't take them."""
        return E(kind, dtype3(kind, a.dtype, b.dtype, c.dtype), (a, b, c))

    @staticmethod
    def copy(e: E) -> E:
        return E.of_kind1(COPY, e.dtype, e)

    @staticmethod
    def cast(dtype: Dtype, e: E) -> E:
        return E.of_kind1(CAST, dtype, e)

    @staticmethod
    def bitcast(dtype: Dtype, e: E) -> E:
        return E.of_kind1(BITCAST, dtype, e)

    @staticmethod
    def recip(e: E) -> E:
        return E.of_kind1(Unary.RECIP, e.dtype, e)

    @staticmethod
    def add(a: E, b: E) -> E:
        return E.of_kind2(Binary.ADD, a, b)

    @staticmethod
    def mul(a: E, b: E) -> E:
        return E.of_kind2(Binary.MUL, a, b)

    @staticmethod
    def idiv(a: E, b: E) -> E:
        return E.of_kind2(Binary.IDIV, a, b)

    @staticmethod
    def mod(a: E, b: E) -> E:
        return E.of_kind2(Binary.MOD, a, b)

    @staticmethod
    def maximum(a: E, b: E) -> E:
        return E.of_kind2(Binary.MAXIMUM, a, b)

    @staticmethod
    def minimum(a: E, b: E) -> E:
        return E.of_kind2(Binary.MINIMUM, a, b)

    @staticmethod
    def and_(a: E, b: E) -> E:
        return E.of_kind2(Binary.AND, a, b)

    @staticmethod
    def or_(a: E, b: E) -> E:
        return E.of_kind2(Binary.OR, a, b)

    @staticmethod
    def xor(a: E, b: E) -> E:
        return E.of_kind2(Binary.XOR, a, b)

    @staticmethod
    def equal(a: E, b: E) -> E:
        return E.of_kind2(Compare.EQUAL, a, b)

    @staticmethod
    def less(a: E, b: E) -> E:
        return E.of_kind2(Compare.LESS, a, b)

    @staticmethod
    def where(condition: E, a: E, b: E) -> E:
        return E.of_kind3(WHERE, condition, a, b)

    def __add__(self, other: E) -> E:
        return E.add(self, other)

    def __mul__(self, other: E) -> E:
        return E.mul(self, other)

    def __and__(self, other: E) -> E:
        return E.and_(self, other)

    def __or__(self, other: E) -> E:
        return E.or_(self, other)

    def __xor__(self, other: E) -> E:
        return E.xor(self, other)

    def __lt__(self, other: E) -> E:
        return E.less(self, other)

    def __gt__(self, other: E) -> E:
        return E.less(other, self)


def _equal(left: E, right: E) -> bool:
    """Structural equality: every pair of nodes is compared once."""
    seen: set[tuple[int, int]] = set()
    pairs = [(left, right)]
    while pairs:
        a, b = pairs.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        if hash(a) != hash(b) or (a.head, a.dtype) != (b.head, b.dtype):
            return False
        if len(a.operands) != len(b.operands):
            return False
        seen.add((id(a), id(b)))
        pairs.extend(zip(a.operands, b.operands, strict=True))
    return True


def _walk(outs: Sequence[E], finish: Callable[[E], None]) -> None:
    """Call `finish` once for each expression object under `outs`, operands first."""
    done: set[int] = set()
    for out in outs:
        stack = [(out, False)]
        while stack:
            e, operands_done = stack.pop()
            if id(e) in done:
                continue
            if operands_done:
                done.add(id(e))
                finish(e)
            else:
                stack.append((e, True))
                stack.extend((operand, False) for operand in reversed(e.operands))


def nodes_of(ins: Sequence[Dtype], outs: Sequence[E]) -> tuple[list[Node], list[int]]:
    """The distinct nodes under `outs` in depth-first order, and the index of each output.

    Raises InvalidProgram if an input of `outs` is not an operand of `ins` of its dtype.
    """
    index_of_node: dict[Node, int] = {}
    index_of: dict[int, int] = {}

    def finish(e: E) -> None:
        node = _node(e, [index_of[id(operand)] for operand in e.operands])
        if isinstance(node, In) and leaf_dtype(node, ins) is not e.dtype:
            raise InvalidProgram(
                f"operand {node.i} is of {ins[node.i].value}, its expression of {e.dtype.value}"
            )
        index_of[id(e)] = index_of_node.setdefault(node, len(index_of_node))

    _walk(outs, finish)
    return list(index_of_node), [index_of[id(out)] for out in outs]


def _node(e: E, indices: Sequence[int]) -> Node:
    match e.head:
        case In() | Coord() | Const() as leaf:
            return leaf
        case Binary() | Compare() as kind:
            return Op2(kind, *indices)
        case Kind3() as kind:
            return Op3(kind, *indices)
        case kind:
            return Op1(kind, e.dtype, *indices)
