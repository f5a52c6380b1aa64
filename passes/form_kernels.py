"""`form-kernels`: a tensor program becomes a list of launches of a few distinct kernels.

    %a = uir.load %m                      uir.kernel @c reads .. writes .. {
    %b = uir.add %a, %a                   ^bb0(%a: tensor<4xf32>):
    %c = uir.mul %b, %a           ->        %b = uir.add %a, %a
    uir.store %n, %c                        %c = uir.mul %b, %a
                                            uir.yield %c
                                          }
                                          uir.launch @c(%m, %n) offsets [0, 0]

An analysis (`kernel_plan`) says which values are stored; each of these and each `store` is the root
of one kernel, whose body is all that the root needs down to loads and stored values. Kernels that
differ only in their memories and in constant offsets are one. Launches stand where their roots
stood, so the order of effects is the order of the text.

On entry sugar, gradients and calls are expanded. Math ops may stay whole: `expand-math` works
inside kernels, once for each distinct one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from dialects.uir.base import UirOp
from dialects.uir.elementwise import ConstantOp, SameValueOp
from dialects.uir.functions import ResultOp
from dialects.uir.kernel import KernelOp, LaunchOp, OutputOp, TemporaryOp, YieldOp
from dialects.uir.memory import BufferOp, LoadOp, StoreOp
from dialects.uir.types import MemType, dtype_of, mem_type, shape_of, size_of
from passes.index import Index, coordinate, flatten
from passes.kernel_plan import Planner, Stored, is_pointwise, resolve
from passes.node_driver import remove_dead_nodes
from passes.views import address_in_buffer
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
    """What one root computes: ops in order, and the leaves that they read."""

    root: SSAValue
    ops: list[UirOp] = field(default_factory=list)
    leaves: list[SSAValue] = field(default_factory=list)

    def moved_leaves(self) -> set[SSAValue]:
        """The leaves that some point of the root reads at other coordinates than its own."""
        moved: set[SSAValue] = set()
        for op in reversed(self.ops):
            if op.result in moved or not is_pointwise(op):
                moved.update(map(resolve, op.operands))
        return {leaf for leaf in self.leaves if leaf in moved}


def collect_body(root: SSAValue, stored: Stored) -> Body:
    """The ops that `root` needs, in post-order, down to loads and stored values."""
    body = Body(root)
    seen: set[SSAValue] = set()
    stack: list[tuple[SSAValue, bool]] = [(root, False)]
    while stack:
        value, operands_done = stack.pop()
        op = value.owner
        assert isinstance(op, UirOp)
        if operands_done:
            body.ops.append(op)
            continue
        if value in seen:
            continue
        seen.add(value)
        if isinstance(op, LoadOp) or (value in stored and value is not root):
            body.leaves.append(value)
            continue
        stack.append((value, True))
        stack += [(resolve(operand), False) for operand in reversed(op.operands)]
    return body


class _KernelFormer:
    """Builds the launches of a block, and the kernels that they run."""

    def __init__(self, block: Block):
        self.planner = Planner(block)
        self.stored = self.planner.plan()
        self.memories: dict[SSAValue, SSAValue] = {}
        self.homes: dict[SSAValue, SSAValue] = {}
        self.kernels: dict[KernelKey, KernelOp] = {}
        self.names: set[str] = set()
        self.launches: list[Operation] = []
        self.free: dict[MemType, list[SSAValue]] = {}
        self.ends: dict[int, list[SSAValue]] = {}

    def run(self) -> list[Operation]:
        for position, op in enumerate(self.planner.ops):
            if isinstance(op, BufferOp):
                buffer = op.clone()
                self.launches.append(buffer)
                self.memories[op.result] = buffer.result
            elif isinstance(op, StoreOp):
                buffer, address = address_in_buffer(op.memory)
                self.store(op.value, Place.of(self.memories[buffer], address), position)
            elif isinstance(op, ResultOp):
                output = OutputOp.create(result_types=[self.flat_type(op.value)])
                self.launches.append(output)
                self.store(op.value, self.whole(op.value, output.memory), position)
            elif isinstance(op, UirOp) and op.result in self.stored:
                self.materialize(op.result, position)
            for memory in self.ends.pop(position, ()):
                assert isinstance(memory.type, MemType)
                self.free.setdefault(memory.type, []).append(memory)
        return [*self.kernels.values(), *self.launches]

    def flat_type(self, value: SSAValue) -> MemType:
        return mem_type(dtype_of(value), (size_of(value),))

    def whole(self, value: SSAValue, memory: SSAValue) -> Place:
        """All of `memory`, in the shape of `value`."""
        shape = shape_of(value)
        return Place.of(memory, flatten([coordinate(a, n) for a, n in enumerate(shape)], shape))

    def materialize(self, value: SSAValue, position: int) -> None:
        """Computes a stored value into a temporary, which lives until its last reader."""
        home = self.new_temporary(value)
        self.ends.setdefault(self.stored[value], []).append(home)
        self.launch(self.body_of(value), self.whole(value, home))
        self.homes[value] = home

    def new_temporary(self, value: SSAValue) -> SSAValue:
        type = self.flat_type(value)
        if unused := self.free.get(type):
            return unused.pop()
        temporary = TemporaryOp.create(result_types=[type])
        self.launches.append(temporary)
        temporary.memory.name_hint = value.name_hint
        return temporary.memory

    def store(self, value: SSAValue, target: Place, position: int) -> None:
        """Computes `value` into `target`, through a temporary where that would change its operands.

        In place is right only where each point reads no other element of the target than its own.
        """
        value = resolve(value)
        body = self.leaf(value) if value in self.stored else self.body_of(value)
        moved = body.moved_leaves()
        for leaf in body.leaves:
            source = self.place_of(leaf)
            if source.overlaps(target) and (leaf in moved or source != target):
                home = self.new_temporary(value)
                self.ends.setdefault(position, []).append(home)
                self.launch(body, self.whole(value, home))
                self.homes[value] = home
                self.launch(self.leaf(value), target)
                return
        self.launch(body, target)

    def leaf(self, value: SSAValue) -> Body:
        return Body(value, [], [value])

    def body_of(self, root: SSAValue) -> Body:
        """What `root` computes; a copy of a load stays a leaf."""
        if isinstance(root.owner, LoadOp):
            return self.leaf(root)
        return collect_body(root, self.stored)

    def place_of(self, leaf: SSAValue) -> Place:
        if leaf in self.homes:
            return self.whole(leaf, self.homes[leaf])
        assert isinstance(leaf.owner, LoadOp)
        buffer, address = address_in_buffer(leaf.owner.memory)
        return Place.of(self.memories[buffer], address)

    def launch(self, body: Body, target: Place) -> None:
        places = [*(self.place_of(leaf) for leaf in body.leaves), target]
        numbers: dict[SSAValue, int] = {}
        for place in places:
            numbers.setdefault(place.memory, len(numbers))
        accesses = [(numbers[place.memory], place.map) for place in places]
        key = kernel_key(body, accesses)
        kernel = self.kernels.get(key)
        if kernel is None:
            kernel = build_kernel(self.new_name(body.root), body, accesses)
            self.kernels[key] = kernel
        offsets = [place.offset for place in places]
        self.launches.append(LaunchOp.of(kernel.sym_name.data, list(numbers), offsets))

    def new_name(self, root: SSAValue) -> str:
        """A name for the kernel of `root`: the text's name for it, with a number where needed."""
        stem = f"kernel_{root.name_hint or len(self.names)}"
        stem = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem)
        name, number = stem, 0
        while name in self.names:
            number += 1
            name = f"{stem}_{number}"
        self.names.add(name)
        return name


def kernel_key(body: Body, accesses: Sequence[tuple[int, Index]]) -> KernelKey:
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
    return (*nodes, "at", *accesses)


def build_kernel(name: str, body: Body, accesses: Sequence[tuple[int, Index]]) -> KernelOp:
    """The kernel of `body`; the last access is its result's."""
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
    block.add_op(YieldOp.create(operands=[values[body.root]]))
    ranks = [*(len(shape_of(leaf)) for leaf in body.leaves), len(shape_of(body.root))]
    maps = [
        (memory, AffineMap(rank, 0, (index.to_affine(),)))
        for (memory, index), rank in zip(accesses, ranks, strict=True)
    ]
    return KernelOp.of(name, maps[:-1], maps[-1:], source_of(body), Region(block))


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


class FormKernelsPass(ModulePass):
    """Groups a tensor program into kernels and launches."""

    name = "form-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        block = op.body.block
        remove_dead_nodes(block)
        ops = _KernelFormer(block).run()
        op.body.detach_block(block)
        op.body.add_block(Block(ops))
        block.erase()
