"""The functions of a program and of called bodies: loops, scalar code and calls of kernels.

Small temporaries are on the stack, the others in one allocation, the arena (`passes/arena.py`).
"""

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
from dialects.uir.constants import ConstantOp, constant_of
from dialects.uir.elementwise import PROG_DTYPES, ElementwiseOp
from dialects.uir.functions import FunctionOp
from dialects.uir.kernel import KernelOp, LaunchOp, OutputOp, TemporaryOp
from dialects.uir.loops import ForOp
from dialects.uir.memory import BufferOp, LoadOp, StoreOp
from dialects.uir.types import MemType, dtype_of
from passes.arena import lay_out, spans_of
from passes.index import Coordinate, Index, Symbol
from passes.loops.builder import LoopBuilder
from passes.loops.indices import emit_index
from passes.scalar_code import emit_clamped, emit_elementwise
from passes.scalar_ranges import is_in_bounds
from passes.views import address_in_buffer

INDEX = IndexType()
ALIGNMENT = 64
"""The alignment of a temporary in the arena, in bytes: a cache line."""
SMALL = 1024
"""The most bytes of a temporary on the stack."""
STACK = 16 * 1024
"""The most bytes of temporaries on the stack; if small ones take more, none is there."""


def flat_memref(dtype: Attribute) -> MemRefType[Attribute]:
    """The type of a memory on this level and below: flat, of any size."""
    return MemRefType(dtype, [DYNAMIC_INDEX])


class _ProgramBuilder:
    """Builds the code of a program or function that `form-kernels` has made.

    `offsets` are the offset arguments of each launch, `sizes` the bytes of temporaries that each
    function takes, those of what it calls included.
    """

    def __init__(
        self, block: Block, offsets: Mapping[LaunchOp, Sequence[int]], sizes: Mapping[str, int]
    ):
        self.ops = [op for op in block.ops if not isinstance(op, KernelOp | FunctionOp)]
        self.offsets = offsets
        self.sizes = sizes
        self.builder = LoopBuilder()
        self.arena: SSAValue | None = None
        self.memories: dict[SSAValue, SSAValue] = {}
        self.scalars: dict[SSAValue, SSAValue] = {}
        self.indices: dict[SSAValue, tuple[SSAValue, int]] = {}
        """The variable and the extent of each loop that has a literal bound."""
        self.spans = spans_of(self.ops)
        self.slots = self.stack_slots()
        arena_sizes: dict[Operation, int] = {}
        for op in self.spans:
            if isinstance(op, LaunchOp):
                size = sizes.get(op.kernel.root_reference.data, 0)
            else:
                size = 0 if op in self.slots else byte_size(memory_of(op))
            if size:
                arena_sizes[op] = -(-size // ALIGNMENT) * ALIGNMENT
        self.starts = lay_out(self.spans, arena_sizes)
        self.size = max((start + arena_sizes[op] for op, start in self.starts.items()), default=0)
        """The bytes of the arena that this takes, with what its callees take."""

    def stack_slots(self) -> dict[Operation, int]:
        """The small temporaries, each with a number of its own among those of its type."""
        groups: dict[Attribute, list[Operation]] = {}
        for op in self.spans:
            if isinstance(op, TemporaryOp) and byte_size(op.memory) <= SMALL:
                groups.setdefault(op.memory.type, []).append(op)
        slots: dict[Operation, int] = {}
        total = 0
        for ops in groups.values():
            numbers = lay_out(self.spans, dict.fromkeys(ops, 1))
            total += byte_size(memory_of(ops[0])) * (max(numbers.values()) + 1)
            slots |= numbers
        return slots if total <= STACK else {}

    def emit(self) -> None:
        """Emits the code, once the memories of the arguments and the arena are set."""
        slots: dict[tuple[Attribute, int], SSAValue] = {}
        for op in self.spans:
            if isinstance(op, TemporaryOp):
                if op in self.slots:
                    slot = (op.memory.type, self.slots[op])
                    if slot not in slots:
                        slots[slot] = self.local(op.memory)
                    memory = slots[slot]
                else:
                    size = self.builder.index(element_count(op.memory))
                    memory = self.view(self.starts[op], size, flat_memref(dtype_of(op.memory)))
                memory.name_hint = memory.name_hint or op.memory.name_hint
                self.memories[op.memory] = memory
        for op in self.ops:
            self.visit(op)

    def local(self, memory: SSAValue) -> SSAValue:
        """Memory on the stack for a temporary."""
        alloca = memref.AllocaOp.get(dtype_of(memory), shape=[element_count(memory)])
        alloca.memref.name_hint = memory.name_hint
        (array,) = self.builder.effect(alloca)
        return self.builder.pure(memref.CastOp.get(array, flat_memref(dtype_of(memory))))

    def view(self, start: int, size: SSAValue, type: Attribute) -> SSAValue:
        """The part of the arena from byte `start`."""
        assert self.arena is not None
        operands = [self.arena, self.builder.index(start), size]
        return self.builder.pure(memref.ViewOp.create(operands=operands, result_types=[type]), type)

    def visit(self, op: Operation) -> None:
        match op:
            case LaunchOp():
                self.visit_launch(op)
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

    def visit_launch(self, op: LaunchOp) -> None:
        name = op.kernel.root_reference.data
        arguments = [self.memories[memory] for memory in op.memories]
        arguments += [self.builder.index(offset) for offset in self.offsets[op]]
        if size := self.sizes.get(name, 0):
            part = self.view(self.starts[op], self.builder.index(size), flat_memref(i8))
            arguments.append(part)
        self.builder.effect(func.CallOp(name, arguments, []))

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

        def variable(atom: Coordinate | Symbol) -> SSAValue:
            assert isinstance(atom, Symbol)
            return symbols[atom.number]

        return self.memories[buffer], emit_index(self.builder, address, variable)

    def offset(self, offset: SSAValue, greatest: int) -> SSAValue:
        """A computed offset as an index to `greatest`, clamped unless `ranges` keeps it there."""
        variable, extent = self.indices.get(offset, (None, 0))
        if variable is not None and extent <= greatest + 1:
            return variable
        if is_in_bounds(offset, greatest):
            return self.builder.pure(arith.IndexCastOp(self.scalars[offset], INDEX), INDEX)
        return emit_clamped(self.builder, self.scalars[offset], greatest)


def build_main(
    block: Block, offsets: Mapping[LaunchOp, Sequence[int]], sizes: Mapping[str, int]
) -> func.FuncOp:
    """The function `kernel` of a whole program.

    Its arguments are the buffers, by slot, and the memory of the result. Large temporaries, those
    of the functions that it calls included, lie in one allocation.
    """
    program = _ProgramBuilder(block, offsets, sizes)
    buffers = [op for op in program.ops if isinstance(op, BufferOp)]
    buffers.sort(key=lambda op: op.slot.value.data)
    memories = [(op.result, f"slot{op.slot.value.data}") for op in buffers]
    memories += [(op.memory, "result") for op in program.ops if isinstance(op, OutputOp)]
    body = Block(arg_types=[flat_memref(dtype_of(memory)) for memory, _ in memories])
    for (memory, name), argument in zip(memories, body.args, strict=True):
        argument.name_hint = name
        program.memories[memory] = argument
    if program.size:
        arena = memref.AllocOp.get(i8, ALIGNMENT, [program.size])
        (program.arena,) = program.builder.effect(arena)
        program.arena.name_hint = "arena"
    program.emit()
    if program.arena is not None:
        program.builder.effect(memref.DeallocOp.get(program.arena))
    return _function("kernel", body, program, None)


def build_function(
    op: FunctionOp, offsets: Mapping[LaunchOp, Sequence[int]], sizes: dict[str, int]
) -> func.FuncOp:
    """The function of a called body, whose size is added to `sizes`.

    Its arguments are memories and, if it needs temporaries, the part of the arena for them.
    """
    program = _ProgramBuilder(op.body.block, offsets, sizes)
    name = op.sym_name.data
    sizes[name] = program.size
    arguments = op.body.block.args
    types: list[Attribute] = [flat_memref(dtype_of(argument)) for argument in arguments]
    body = Block(arg_types=[*types, flat_memref(i8)] if sizes[name] else types)
    program.memories.update(zip(arguments, body.args, strict=False))
    if sizes[name]:
        program.arena = body.args[-1]
        program.arena.name_hint = "arena"
    program.emit()
    return _function(name, body, program, "private")


def _function(
    name: str, body: Block, program: _ProgramBuilder, visibility: str | None
) -> func.FuncOp:
    body.add_ops([*program.builder.ops, func.ReturnOp()])
    types = FunctionType.from_lists([argument.type for argument in body.args], [])
    return func.FuncOp(name, types, Region(body), visibility=visibility)


def memory_of(op: Operation) -> SSAValue:
    """The memory of a temporary."""
    assert isinstance(op, TemporaryOp)
    return op.memory


def element_count(memory: SSAValue) -> int:
    """The number of elements of a memory."""
    assert isinstance(memory.type, MemType)
    return prod(memory.type.get_shape())


def byte_size(memory: SSAValue) -> int:
    """The bytes that a memory's elements take."""
    return element_count(memory) * (1 if dtype_of(memory) == i1 else 4)
