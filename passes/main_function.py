"""The function of a whole program: its loops and scalar code, and the calls of its kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects import arith, cf, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FileLineColLoc,
    FunctionType,
    IndexType,
    MemRefType,
    i1,
    i8,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from dialects.prog import Dtype
from dialects.uir.checks import AssertOp
from dialects.uir.elementwise import PROG_DTYPES, ConstantOp, ElementwiseOp, constant_of
from dialects.uir.kernel import KernelOp, LaunchOp, OutputOp, TemporaryOp
from dialects.uir.loops import ForOp
from dialects.uir.memory import BufferOp, LoadOp, StoreOp
from dialects.uir.types import DType, MemType, dtype_of
from passes.index import Index
from passes.loops.builder import LoopBuilder
from passes.scalar_code import emit_clamped, emit_elementwise, emit_index
from passes.views import address_in_buffer

INDEX = IndexType()
ALIGNMENT = 64
"""The alignment of a temporary in the arena, in bytes: a cache line."""


def flat_memref(dtype: DType) -> MemRefType[Attribute]:
    """The type of a memory on this level and below: flat, of any size."""
    return MemRefType(dtype, [DYNAMIC_INDEX])


class MainBuilder:
    """Builds the function of a program that `form-kernels` has made.

    `offsets` are the offset arguments of each launch.
    """

    def __init__(self, block: Block, offsets: Mapping[LaunchOp, Sequence[int]]):
        self.ops = [op for op in block.ops if not isinstance(op, KernelOp)]
        self.offsets = offsets
        self.builder = LoopBuilder()
        self.memories: dict[SSAValue, SSAValue] = {}
        self.scalars: dict[SSAValue, SSAValue] = {}
        self.indices: dict[SSAValue, tuple[SSAValue, int]] = {}
        """The variable and the extent of each loop that has a literal bound."""

    def build(self) -> func.FuncOp:
        block = self.parameters()
        arena = self.allocate()
        for op in self.ops:
            self.visit(op)
        if arena is not None:
            self.builder.effect(memref.DeallocOp.get(arena))
        block.add_ops([*self.builder.ops, func.ReturnOp()])
        types = [argument.type for argument in block.args]
        return func.FuncOp("kernel", FunctionType.from_lists(types, []), Region(block))

    def parameters(self) -> Block:
        """A block with an argument for each buffer, by slot, and a last one for the result."""
        buffers = [op for op in self.ops if isinstance(op, BufferOp)]
        buffers.sort(key=lambda op: op.slot.value.data)
        memories = [(op.result, f"slot{op.slot.value.data}") for op in buffers]
        memories += [(op.memory, "result") for op in self.ops if isinstance(op, OutputOp)]
        block = Block(arg_types=[flat_memref(dtype_of(memory)) for memory, _ in memories])
        for (memory, name), argument in zip(memories, block.args, strict=True):
            argument.name_hint = name
            self.memories[memory] = argument
        return block

    def allocate(self) -> SSAValue | None:
        """Lays all temporaries out in one allocation; None if there are none."""
        temporaries = [op for op in self.ops if isinstance(op, TemporaryOp)]
        if not temporaries:
            return None
        starts: list[int] = []
        end = 0
        for op in temporaries:
            starts.append(end)
            end += -(-byte_size(op.memory) // ALIGNMENT) * ALIGNMENT
        (arena,) = self.builder.effect(memref.AllocOp.get(i8, shape=[end]))
        arena.name_hint = "arena"
        for op, start in zip(temporaries, starts, strict=True):
            size = self.builder.index(element_count(op.memory))
            view = memref.ViewOp.create(
                operands=[arena, self.builder.index(start), size],
                result_types=[flat_memref(dtype_of(op.memory))],
            )
            (memory,) = self.builder.effect(view)
            memory.name_hint = op.memory.name_hint
            self.memories[op.memory] = memory
        return arena

    def visit(self, op: Operation) -> None:
        match op:
            case LaunchOp():
                arguments = [self.memories[memory] for memory in op.memories]
                arguments += [self.builder.index(offset) for offset in self.offsets[op]]
                self.builder.effect(func.CallOp(op.kernel.root_reference.data, arguments, []))
            case AssertOp():
                self.visit_assertion(op)
            case ForOp():
                self.visit_loop(op)
            case ConstantOp():
                dtype = PROG_DTYPES[dtype_of(op.result)]
                self.scalars[op.result] = self.builder.constant(dtype, op.scalar_value())
            case ElementwiseOp():
                operands = [self.scalars[operand] for operand in op.operands]
                result = op.results[0]
                self.name(result, emit_elementwise(self.builder, op, operands))
            case LoadOp():
                memory, index = self.cell(op.memory)
                (loaded,) = self.builder.effect(memref.LoadOp.get(memory, [index]))
                self.name(op.result, loaded)
            case StoreOp():
                memory, index = self.cell(op.memory)
                self.builder.effect(memref.StoreOp.get(self.scalars[op.value], memory, [index]))
            case _:
                # Views have no code of their own, and memories are laid out already.
                pass

    def name(self, value: SSAValue, new: SSAValue) -> None:
        """Notes what the scalar `value` is, and keeps its name."""
        self.scalars[value] = new
        if new.name_hint is None:
            new.name_hint = value.name_hint

    def visit_assertion(self, op: AssertOp) -> None:
        """A `cf.assert` whose message is the line and the kind of the error."""
        failed = self.scalars[op.failed]
        passed = self.builder.pure(arith.XOrIOp(failed, self.builder.constant(Dtype.bool, True)))
        location = op.location
        line = location.line.data if isinstance(location, FileLineColLoc) else 0
        self.builder.effect(cf.AssertOp(passed, f"{line}: {op.kind.data}"))

    def visit_loop(self, op: ForOp) -> None:
        extent = constant_of(op.bound)
        if not isinstance(extent, int):
            bound = self.scalars[op.bound]
            extent = self.builder.pure(arith.IndexCastOp(bound, INDEX), INDEX)
        with self.builder.loop(extent) as loop:
            loop.variable.name_hint = op.index.name_hint
            if isinstance(extent, int):
                self.indices[op.index] = loop.variable, extent
            index = self.builder.pure(arith.IndexCastOp(loop.variable, i32), i32)
            self.scalars[op.index] = index
            for inner in op.body.block.ops:
                self.visit(inner)

    def cell(self, view: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The memory and the address of a view of one element."""
        symbols: list[SSAValue] = []

        def symbol_of(offset: SSAValue, greatest: int) -> Index:
            symbols.append(self.offset(offset, greatest))
            return Index.symbol(len(symbols) - 1, greatest)

        buffer, address = address_in_buffer(view, symbol_of)
        return self.memories[buffer], emit_index(self.builder, address, symbols)

    def offset(self, offset: SSAValue, greatest: int) -> SSAValue:
        """A computed offset as an index, from 0 to `greatest`."""
        variable, extent = self.indices.get(offset, (None, 0))
        if variable is not None and extent <= greatest + 1:
            return variable
        return emit_clamped(self.builder, self.scalars[offset], greatest)


def element_count(memory: SSAValue) -> int:
    """The number of elements of a memory."""
    assert isinstance(memory.type, MemType)
    return prod(memory.type.get_shape())


def byte_size(memory: SSAValue) -> int:
    """The bytes that a memory's elements take."""
    return element_count(memory) * (1 if dtype_of(memory) == i1 else 4)
