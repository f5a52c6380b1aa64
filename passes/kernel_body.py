"""The body of a kernel: what its roots compute, down to what they read from memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineMap

from dialects.uir.base import UirOp
from dialects.uir.constants import ConstantOp
from dialects.uir.elementwise import SameValueOp
from dialects.uir.kernel import KernelOp, YieldOp
from dialects.uir.memory import LoadOp
from dialects.uir.types import shape_of
from passes.index import Index
from passes.kernel_plan import is_pointwise
from passes.names import new_name
from passes.views import resolve
from uir.text.printer import spell_statement


@dataclass(frozen=True)
class Place:
    """Elements of a memory: those at `map` of the coordinates, plus `offset`."""

    memory: SSAValue
    map: Index
    offset: int

    @staticmethod
    def of(memory: SSAValue, address: Index) -> Place:
        return Place(memory, Index(address.terms), address.constant)

    def overlaps(self, other: Place) -> bool:
        """Whether the two may share an element (by the ranges of their addresses)."""
        if self.memory is not other.memory:
            return False
        low, high = self._range()
        other_low, other_high = other._range()
        return low <= other_high and other_low <= high

    def _range(self) -> tuple[int, int]:
        low, high = self.map.bounds
        return low + self.offset, high + self.offset


KernelKey: TypeAlias = tuple[object, ...]


@dataclass
class Body:
    """What the results of a kernel are computed from: ops in order, and the leaves they read."""

    roots: list[SSAValue]
    ops: list[UirOp] = field(default_factory=list)
    leaves: list[SSAValue] = field(default_factory=list)

    def moved_leaves(self) -> set[SSAValue]:
        """The leaves that some point of a root reads at other coordinates than its own."""
        moved: set[SSAValue] = set()
        for op in reversed(self.ops):
            if op.result in moved or not is_pointwise(op):
                moved.update(map(resolve, op.operands))
        return {leaf for leaf in self.leaves if leaf in moved}


def collect_body(root: SSAValue, is_stored: Callable[[SSAValue], bool]) -> Body:
    """The ops that `root` needs, in post-order, down to loads and stored values."""
    body = Body([root])
    seen: set[SSAValue] = set()
    stack: list[tuple[SSAValue, bool]] = [(root, False)]
    while stack:
        value, operands_done = stack.pop()
        op = value.owner
        if operands_done:
            assert isinstance(op, UirOp)
            body.ops.append(op)
            continue
        if value in seen:
            continue
        seen.add(value)
        if isinstance(op, LoadOp) or (is_stored(value) and value is not root):
            body.leaves.append(value)
            continue
        assert isinstance(op, UirOp)
        stack.append((value, True))
        stack += [(resolve(operand), False) for operand in reversed(op.operands)]
    return body


def kernel_key(
    body: Body,
    accesses: Sequence[tuple[int, Index]],
    symbols: Sequence[tuple[int, int]],
    in_bounds: Sequence[int],
) -> KernelKey:
    """What makes two kernels one: their ops, types and accesses, not their memories."""
    numbers: dict[SSAValue, int] = {leaf: number for number, leaf in enumerate(body.leaves)}
    nodes: list[object] = [leaf.type for leaf in body.leaves]
    for op in body.ops:
        if not isinstance(op, SameValueOp):
            operands = tuple(numbers[resolve(operand)] for operand in op.operands)
            nodes.append((type(op), op.result.type, operands, tuple(op.properties.items())))
        else:
            nodes.append(numbers[resolve(op.x)])
        numbers[op.result] = len(numbers)
    roots = [numbers[root] for root in body.roots]
    return (*nodes, "roots", *roots, "at", *accesses, "with", *symbols, "in bounds", *in_bounds)


def build_kernel(
    name: str,
    body: Body,
    accesses: Sequence[tuple[int, Index]],
    symbols: Sequence[tuple[int, int]],
    in_bounds: Sequence[int],
) -> KernelOp:
    """The kernel of `body`; the accesses are those of its leaves, then of its results.

    A symbol of the accesses is the number of an operand, a scalar, and its greatest value. The
    operands `in_bounds` are never less than 0 or more than what they are bounded by.
    """
    types: list[Attribute] = [leaf.type for leaf in body.leaves]
    block = Block(arg_types=types)
    values: dict[SSAValue, SSAValue] = dict(zip(body.leaves, block.args, strict=True))
    for leaf, arg in zip(body.leaves, block.args, strict=True):
        arg.name_hint = leaf.name_hint
    for op in body.ops:
        if isinstance(op, SameValueOp):
            values[op.result] = values[resolve(op.x)]
            continue
        node = type(op).create(
            operands=[values[resolve(operand)] for operand in op.operands],
            result_types=[op.result.type],
            properties=op.properties,
            location=op.location,
        )
        node.result.name_hint = op.result.name_hint
        values[op.result] = node.result
        block.add_op(node)
    block.add_op(YieldOp.create(operands=[values[root] for root in body.roots]))
    ranks = [len(shape_of(value)) for value in (*body.leaves, *body.roots)]
    maps = [
        (memory, AffineMap(rank, len(symbols), (index.to_affine(),)))
        for (memory, index), rank in zip(accesses, ranks, strict=True)
    ]
    reads, writes = maps[: len(body.leaves)], maps[len(body.leaves) :]
    return KernelOp.of(name, reads, writes, symbols, in_bounds, source_of(body), Region(block))


class KernelTable:
    """The distinct kernels of a program, each with a name of its own."""

    def __init__(self) -> None:
        self._kernels: dict[KernelKey, KernelOp] = {}
        self._names: set[str] = set()

    def ops(self) -> list[KernelOp]:
        return list(self._kernels.values())

    def kernel(
        self,
        body: Body,
        accesses: Sequence[tuple[int, Index]],
        symbols: Sequence[tuple[int, int]],
        in_bounds: Sequence[int],
    ) -> KernelOp:
        """The kernel of `body`, an equal one that is there already if there is one."""
        key = kernel_key(body, accesses, symbols, in_bounds)
        kernel = self._kernels.get(key)
        if kernel is None:
            name = self._new_name(body.roots[0])
            kernel = build_kernel(name, body, accesses, symbols, in_bounds)
            self._kernels[key] = kernel
        return kernel

    def _new_name(self, root: SSAValue) -> str:
        """A name for the kernel of `root`: the text's name for it, with a number where needed."""
        stem = f"kernel_{root.name_hint or len(self._kernels)}"
        stem = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem)
        return new_name(stem, self._names)


def source_of(body: Body) -> str:
    """The statements that a kernel computes, as text."""
    names: dict[SSAValue, str] = {}
    for number, value in enumerate([*body.leaves, *(op.result for op in body.ops)]):
        names[value] = f"%{value.name_hint or number}"
    lines: list[str] = []
    for op in body.ops:
        if isinstance(op, ConstantOp):
            names[op.result] = op.value.data.spell()
            continue
        operands = [names[resolve(operand)] for operand in op.operands]
        lines.append(f"{names[op.result]} = {spell_statement(op, operands)}")
    return "\n".join(lines)
