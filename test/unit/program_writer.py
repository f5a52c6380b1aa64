"""Writes a random `.uir` program, one valid statement at a time.

Shapes are tiny, values are extreme. No program fails at run time: divisors are never zero, what is
cast to i32 is in range, and computed offsets are in bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from random import Random

Shape = tuple[int, ...]
Type = tuple[str, Shape]

MAX_SIZE = 48
"""The most elements of a value."""
MAX_RANK = 4

LITERALS = {
    "f32": (
        "0.0", "-0.0", "1.0", "-1.0", "0.5", "2.5", "-3.75", "0.1", "nan", "inf", "-inf", "1e-45",
        "-1e-40", "3e+38", "16777217.0", "-0.33333334", "126.7", "-150.25",
    ),
    "i32": (
        "0", "1", "-1", "2", "3", "-7", "28", "65536", "2147483647", "-2147483648", "1065353216",
    ),
    "bool": ("true", "false"),
}  # fmt: skip
TAME_F32 = ("1.0", "-1.0", "0.5", "2.5", "-3.75", "0.1", "-0.33333334", "0.0")
"""Literals that leave numbers to look at: a NaN or an infinity soon spreads everywhere."""


@dataclass(frozen=True)
class Node:
    """A value, memory or effect: its name or literal, and what `gradient` and `call` ask of it."""

    name: str
    dtype: str
    shape: Shape
    through: frozenset[str] = frozenset()
    """The nodes from which every path leads here through ops that have a gradient."""
    blocked: frozenset[str] = frozenset()
    """The nodes from which some path leads here through an op that has none."""
    free: frozenset[tuple[int, Type]] = frozenset()
    """The params that no call has replaced."""
    is_pure: bool = True


@dataclass
class ProgramWriter:
    """A program that grows by one statement at a time, and the pools that steps draw from."""

    rng: Random
    buffer_lines: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])
    pool: list[Node] = field(default_factory=list[Node])
    buffers: list[Node] = field(default_factory=list[Node])
    effects: list[Node] = field(default_factory=list[Node])
    bodies: list[Node] = field(default_factory=list[Node])
    by_name: dict[str, Node] = field(default_factory=dict[str, Node])
    in_body: bool = False
    indices: list[Node] = field(default_factory=list[Node])
    """The indices of the open loops."""
    outer_effects: int = 0
    """How many of the effects stand before the innermost open loop."""
    tame: bool = False
    slots: int = 0
    names: int = 0

    # What a statement is made of.

    def emit(
        self,
        op: str,
        operands: Sequence[Node],
        type: Type,
        attributes: str = "",
        keep: bool = True,
        has_gradient: bool = True,
    ) -> Node:
        """The node of a new statement; `keep` puts it into the pool of values."""
        name = f"%v{self.names}"
        self.names += 1
        words = [op, *(operand.name for operand in operands), attributes]
        lines = self.buffer_lines if op in ("buffer", "alloc") else self.lines
        lines.append(f"{name} = {' '.join(word for word in words if word)}")
        through = {x for operand in operands for x in (operand.name, *operand.through)}
        blocked = {x for operand in operands for x in operand.blocked}
        free = {param for operand in operands for param in operand.free}
        if not has_gradient:
            blocked |= through
        is_pure = op not in ("load", "range") and all(operand.is_pure for operand in operands)
        node = Node(
            name,
            *type,
            frozenset(through - blocked),
            frozenset(blocked),
            frozenset(free),
            is_pure,
        )
        self.by_name[name] = node
        if keep:
            self.pool.append(node)
        return node

    def literal(self, dtype: str) -> Node:
        texts = TAME_F32 if self.tame and dtype == "f32" else LITERALS[dtype]
        return Node(self.rng.choice(texts), dtype, ())

    def any_dtype(self) -> str:
        return self.rng.choice(("f32", "f32", "f32", "i32", "i32", "bool"))

    def pick(self, dtype: str | None = None) -> Node:
        """A value of the pool, more often a recent one; a literal when there is none."""
        nodes = [node for node in self.pool if dtype in (None, node.dtype)]
        if not nodes or self.rng.randrange(12) == 0:
            return self.expand_to(self.literal(dtype or self.any_dtype()), self.any_shape())
        return nodes[-1 - min(self.rng.randrange(len(nodes)), self.rng.randrange(len(nodes)))]

    def any_shape(self) -> Shape:
        while True:
            shape = tuple(self.rng.randint(1, 4) for _ in range(self.rng.randrange(MAX_RANK)))
            if prod(shape) <= MAX_SIZE:
                return shape

    def reshaped(self, size: int) -> Shape:
        """A shape of `size` elements."""
        dims: list[int] = []
        for factor in (2, 2, 2, 2, 2, 3, 3, 3, 5, 5, 7, 7):
            if size % factor == 0:
                size //= factor
                dims.append(factor)
        dims += [size] * (size > 1)
        self.rng.shuffle(dims)
        while len(dims) > MAX_RANK or (len(dims) > 1 and self.rng.randrange(2)):
            place = self.rng.randrange(len(dims) - 1)
            dims[place : place + 2] = [dims[place] * dims[place + 1]]
        while len(dims) < MAX_RANK and self.rng.randrange(3) == 0:
            dims.insert(self.rng.randrange(len(dims) + 1), 1)
        return tuple(dims)

    # Values of a wanted shape or range.

    def expand_to(self, scalar: Node, shape: Shape) -> Node:
        return self.emit("expand", [scalar], (scalar.dtype, shape), attr_shape(shape), keep=False)

    def reshape_to(self, x: Node, shape: Shape, keep: bool = False) -> Node:
        if x.shape == shape:
            return x
        return self.emit("reshape", [x], (x.dtype, shape), attr_shape(shape), keep=keep)

    def conform(self, x: Node, shape: Shape) -> Node:
        """A value of `shape` made from `x`, by whatever movement ops that takes."""
        if x.shape == shape:
            return x
        if not x.shape:
            return self.expand_to(x, shape)
        if len(x.shape) == len(shape) and all(a in (1, b) for a, b in zip(x.shape, shape)):  # noqa: B905
            return self.emit("expand", [x], (x.dtype, shape), attr_shape(shape), keep=False)
        found, wanted = prod(x.shape), prod(shape)
        if found != wanted:
            x = self.reshape_to(x, (found,))
            if found > wanted:
                x = self.block(x, [self.rng.randint(0, found - wanted)], (wanted,))
            else:
                before = self.rng.randint(0, wanted - found)
                attributes = f"pads=[{before} {wanted - found - before}]"
                x = self.emit("pad", [x], (x.dtype, (wanted,)), attributes, keep=False)
        return self.reshape_to(x, shape)

    def block(self, x: Node, offsets: Sequence[int], shape: Shape) -> Node:
        """The block of `x` at literal offsets."""
        literals = [Node(str(offset), "i32", ()) for offset in offsets]
        return self.emit("shrink", [x, *literals], (x.dtype, shape), attr_shape(shape), keep=False)

    def offset(self, greatest: int) -> Node:
        """An i32 scalar from 0 to `greatest`, a literal or computed."""
        if greatest == 0 or self.rng.randrange(4):
            return Node(str(self.rng.randint(0, greatest)), "i32", ())
        indices = [] if self.in_body else self.indices
        x = self.rng.choice([*indices, self.pick("i32")])
        x = self.conform(x, ())
        x = self.elementwise("max", [x, Node("0", "i32", ())])
        return self.elementwise("mod", [x, Node(str(greatest + 1), "i32", ())])

    def splat(self, text: str, like: Node) -> Node:
        """The literal in the dtype and shape of `like`."""
        literal = Node(text, like.dtype, ())
        return self.expand_to(literal, like.shape) if like.shape else literal

    def elementwise(self, op: str, operands: Sequence[Node], dtype: str = "") -> Node:
        last = operands[-1]
        return self.emit(op, operands, (dtype or last.dtype, last.shape))

    def buffer(self, dtype: str, size: int, is_scratch: bool = False) -> Node:
        """A new buffer, or scratch memory where `is_scratch`, in front of all other statements."""
        if is_scratch:
            node = self.emit("alloc", [], (dtype, (size,)), f"{size} dtype={dtype}", keep=False)
            self.buffers.append(node)
            return node
        attributes = f"{size} dtype={dtype} slot={self.slots}"
        self.slots += 1
        if self.rng.randrange(5):
            data = " ".join(self.literal(dtype).name for _ in range(size))
            attributes += f" data=[{data}]"
        node = self.emit("buffer", [], (dtype, (size,)), attributes, keep=False)
        self.buffers.append(node)
        return node

    def store(self, memory: Node, value: Node) -> None:
        self.effects.append(
            self.emit("store", [memory, value], ("effect", ()), keep=False, has_gradient=False)
        )


def attr_shape(shape: Shape) -> str:
    return f"shape=[{' '.join(map(str, shape))}]"


def type_of(node: Node) -> Type:
    return node.dtype, node.shape
