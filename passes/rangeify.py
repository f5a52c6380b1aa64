"""`rangeify`: kernels become loop nests without shapes, and the program a function of its buffers.

    uir.kernel @c ...                     func.func private @c(%m: memref<?xf32>, ...) {
                                            prog.loop ...
                                          }
    %m = uir.buffer {slot = 0} ...   ->   func.func @kernel(%slot0: memref<?xf32>, ...) {
    uir.launch @c(%m, %n) ...               func.call @c(%slot0, %slot1)
                                          }

Works on what `form-kernels` leaves, with math ops expanded. Temporaries lie in one allocation. An
offset that is the same in all launches of a kernel is part of its addresses; others are arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    i1,
    i8,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineExpr,
    AffineMap,
    AffineSet,
)
from xdsl.passes import ModulePass

from dialects.prog import Access, In, LoopOp, Program
from dialects.uir.elementwise import PROG_DTYPES
from dialects.uir.kernel import KernelOp, LaunchOp, OutputOp, TemporaryOp
from dialects.uir.memory import BufferOp
from dialects.uir.types import DType, MemType, dtype_of, element_type
from passes.index import Index
from passes.kernel_program import KernelProgram, Read, program_of

INDEX = IndexType()
ALIGNMENT = 64
"""The alignment of a temporary in the arena, in bytes: a cache line."""


def flat_memref(dtype: DType) -> MemRefType[DType]:
    """The type of a memory on this level and below: flat, of any size."""
    return MemRefType(dtype, [DYNAMIC_INDEX])


class _OffsetTable:
    """The offsets of a kernel's accesses over all its launches."""

    def __init__(self, launches: Sequence[LaunchOp]):
        rows = [launch.offsets.get_values() for launch in launches]
        columns = list(zip(*rows, strict=True))
        self.constants = [column[0] if len(set(column)) == 1 else None for column in columns]
        varying = dict.fromkeys(
            c for c, k in zip(columns, self.constants, strict=True) if k is None
        )
        self.arguments = {column: number for number, column in enumerate(varying)}
        self.columns = columns

    def place(self, access: int) -> tuple[int, int]:
        """The constant offset of an access, and its offset argument's number or -1."""
        constant = self.constants[access]
        if constant is not None:
            return constant, -1
        return 0, self.arguments[self.columns[access]]

    def values(self, launch: int) -> list[int]:
        """The offset arguments of one launch."""
        return [column[launch] for column in self.arguments]


def loop_function(
    kernel: KernelOp, memories: Sequence[MemType], offsets: _OffsetTable
) -> func.FuncOp:
    """The function that runs `kernel` on flat memories and the offsets that vary."""
    types = [flat_memref(element_type(memory)) for memory in memories]
    block = Block(arg_types=[*types, *[INDEX] * len(offsets.arguments)])
    arguments = list(block.args)
    name_arguments(kernel, arguments, len(types))
    loop = build_loop(kernel, program_of(kernel), arguments, len(types), offsets)
    block.add_ops([loop, func.ReturnOp()])
    function = func.FuncOp(
        kernel.sym_name.data,
        FunctionType.from_lists([argument.type for argument in arguments], []),
        Region(block),
        visibility="private",
    )
    if kernel.source is not None:
        function.attributes["uir.source"] = kernel.source
    return function


def name_arguments(kernel: KernelOp, arguments: Sequence[SSAValue], memories: int) -> None:
    """Names memories for the values read from them, the written one `out`, offsets `offset`."""
    names: dict[int, str] = {}
    for argument, memory in zip(
        kernel.body.block.args, kernel.read_memories.get_values(), strict=True
    ):
        names.setdefault(memory, argument.name_hint or "x")
    for memory in kernel.write_memories.get_values():
        names.setdefault(memory, "out")
    for number, argument in enumerate(arguments):
        argument.name_hint = names.get(number) if number < memories else "offset"


def build_loop(
    kernel: KernelOp,
    program: KernelProgram,
    arguments: Sequence[SSAValue],
    memories: int,
    offsets: _OffsetTable,
) -> LoopOp:
    """The `prog.loop` of a kernel's program."""
    parallel, total = len(program.shape), len(program.shape) + len(program.reduction)
    read_memories = kernel.read_memories.get_values()
    dtypes = [PROG_DTYPES[dtype_of(argument)] for argument in kernel.body.block.args]

    def access(
        memory: int, number: int, address: Index, guards: Sequence[Index], rank: int
    ) -> Access:
        constant, argument = offsets.place(number)
        zero = AffineExpr.constant(0)
        constraints = tuple(
            AffineConstraintExpr(AffineConstraintKind.ge, guard.to_affine(), zero)
            for guard in guards
        )
        map = AffineMap(rank, 0, ((address + constant).to_affine(),))
        return Access(memory, argument, map, AffineSet(rank, 0, constraints))

    def reads(items: Sequence[Read], rank: int) -> list[Access]:
        return [
            access(read_memories[read.operand], read.operand, read.address, read.guards, rank)
            for read in items
        ]

    write = access(
        kernel.write_memories.get_values()[0], len(read_memories), program.write, (), parallel
    )
    assert program.result is not None
    accumulators = [fold.dtype for fold in program.folds]
    result = Program.of_exprs(
        [*accumulators, *(dtypes[read.operand] for read in program.reads)], [program.result]
    )
    if not program.folds:
        return LoopOp(
            arguments[:memories],
            arguments[memories:],
            shape=program.shape,
            body=result,
            reads=reads(program.reads, parallel),
            writes=[write],
        )
    body = Program.of_exprs([dtypes[read.operand] for read in program.fold_reads], program.folds)
    return LoopOp(
        arguments[:memories],
        arguments[memories:],
        shape=program.shape,
        reduction=program.reduction,
        monoids=program.monoids,
        body=body,
        reads=reads(program.fold_reads, total),
        epilogue=None if result.nodes == (In(0),) else result,
        epilogue_reads=reads(program.reads, parallel),
        writes=[write],
    )


class _MainBuilder:
    """Builds the function of the whole program."""

    def __init__(self, module: ModuleOp):
        self.ops = list(module.body.block.ops)
        buffers = [op for op in self.ops if isinstance(op, BufferOp)]
        buffers.sort(key=lambda op: op.slot.value.data)
        parameters = [(op.result, f"slot{op.slot.value.data}") for op in buffers]
        parameters += [(op.memory, "result") for op in self.ops if isinstance(op, OutputOp)]
        types = [flat_memref(dtype_of(value)) for value, _ in parameters]
        self.block = Block(arg_types=types)
        self.memories: dict[SSAValue, SSAValue] = {}
        for (value, name), argument in zip(parameters, self.block.args, strict=True):
            argument.name_hint = name
            self.memories[value] = argument
        self.constants: dict[int, SSAValue] = {}

    def constant(self, value: int) -> SSAValue:
        if value not in self.constants:
            op = arith.ConstantOp(IntegerAttr(value, INDEX))
            self.block.add_op(op)
            self.constants[value] = op.result
        return self.constants[value]

    def allocate(self) -> memref.AllocOp | None:
        """Lays all temporaries out in one allocation; None if there are none."""
        temporaries = [op for op in self.ops if isinstance(op, TemporaryOp)]
        if not temporaries:
            return None
        starts: list[int] = []
        end = 0
        for op in temporaries:
            starts.append(end)
            end += -(-byte_size(op.memory) // ALIGNMENT) * ALIGNMENT
        arena = memref.AllocOp.get(i8, shape=[end])
        arena.memref.name_hint = "arena"
        self.block.add_op(arena)
        for op, start in zip(temporaries, starts, strict=True):
            assert isinstance(op.memory.type, MemType)
            size = prod(op.memory.type.get_shape())
            view = memref.ViewOp.create(
                operands=[arena.memref, self.constant(start), self.constant(size)],
                result_types=[flat_memref(dtype_of(op.memory))],
            )
            view.results[0].name_hint = op.memory.name_hint
            self.block.add_op(view)
            self.memories[op.memory] = view.results[0]
        return arena

    def build(self, offsets: dict[str, _OffsetTable]) -> func.FuncOp:
        arena = self.allocate()
        counts: dict[str, int] = {}
        for op in self.ops:
            if isinstance(op, LaunchOp):
                name = op.kernel.root_reference.data
                number = counts[name] = counts.get(name, -1) + 1
                arguments = [self.memories[memory] for memory in op.memories]
                arguments += [self.constant(value) for value in offsets[name].values(number)]
                self.block.add_op(func.CallOp(name, arguments, []))
        if arena is not None:
            self.block.add_op(memref.DeallocOp.get(arena.memref))
        self.block.add_op(func.ReturnOp())
        types = [argument.type for argument in self.block.args]
        return func.FuncOp("kernel", FunctionType.from_lists(types, []), Region(self.block))


def byte_size(memory: SSAValue) -> int:
    """The bytes that a memory's elements take."""
    assert isinstance(memory.type, MemType)
    width = 1 if dtype_of(memory) == i1 else 4
    return prod(memory.type.get_shape()) * width


class RangeifyPass(ModulePass):
    """Turns kernels into loop nests and launches into calls."""

    name = "rangeify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        launches: dict[str, list[LaunchOp]] = {}
        for launch in op.ops:
            if isinstance(launch, LaunchOp):
                launches.setdefault(launch.kernel.root_reference.data, []).append(launch)
        offsets = {name: _OffsetTable(items) for name, items in launches.items()}
        functions: list[Operation] = []
        for kernel in op.ops:
            if isinstance(kernel, KernelOp) and kernel.sym_name.data in launches:
                name = kernel.sym_name.data
                types = [memory.type for memory in launches[name][0].memories]
                memories = [type for type in types if isinstance(type, MemType)]
                functions.append(loop_function(kernel, memories, offsets[name]))
        functions.append(_MainBuilder(op).build(offsets))
        block = op.body.block
        op.body.detach_block(block)
        op.body.add_block(Block(functions))
        block.erase()
