"""`rangeify`: kernels become loop nests without shapes, and the program a function of its buffers.

    uir.kernel @c ...                     func.func private @c(%m: memref<?xf32>, ...) {
                                            prog.loop ...
                                          }
    %m = uir.buffer {slot = 0} ...   ->   func.func @kernel(%slot0: memref<?xf32>, ...) {
    uir.launch @c(%m, %n) ...               func.call @c(%slot0, %slot1)
                                          }

Works on what `form-kernels` leaves, with math ops expanded. Temporaries lie in one allocation. An
offset that is the same in all launches of a kernel is part of its addresses; others are arguments.
Loops of the program become loops around the calls, and scalar code becomes ops on scalars.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import FunctionType, IndexType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineExpr,
    AffineMap,
    AffineSet,
)
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from dialects.prog import Access, In, LoopOp, Program
from dialects.uir.attributes import SOURCE
from dialects.uir.checks import CHECKED
from dialects.uir.elementwise import PROG_DTYPES
from dialects.uir.functions import FunctionOp, ResultOp
from dialects.uir.kernel import KernelOp, LaunchOp
from dialects.uir.memory import AllocOp
from dialects.uir.types import MemType, dtype_of, element_type, is_value, shape_of
from passes.index import Index
from passes.kernel_program import KernelProgram, Read, program_of
from passes.loops.builder import LoopBuilder
from passes.main_function import build_function, build_main, flat_memref
from passes.scalar_code import emit_clamped

INDEX = IndexType()

OUTPUT = "out"
"""The name of what a kernel writes."""


class OffsetTable:
    """The offsets of a kernel's accesses over all its launches."""

    def __init__(self, launches: Sequence[LaunchOp]):
        rows = [launch.offsets.get_values() for launch in launches]
        self._columns = list(zip(*rows, strict=True))
        varying = dict.fromkeys(column for column in self._columns if len(set(column)) > 1)
        self.arguments = {column: number for number, column in enumerate(varying)}

    def place(self, access: int) -> tuple[int, int | None]:
        """The constant offset of an access, and the number of the argument that adds to it."""
        column = self._columns[access]
        argument = self.arguments.get(column)
        return (column[0], None) if argument is None else (0, argument)

    def values(self, launch: int) -> list[int]:
        """The offset arguments of one launch."""
        return [column[launch] for column in self.arguments]


def loop_function(
    kernel: KernelOp, memories: Sequence[MemType], offsets: OffsetTable
) -> func.FuncOp:
    """The function that runs `kernel` on flat memories and the offsets that vary."""
    types = [flat_memref(element_type(memory)) for memory in memories]
    block = Block(arg_types=[*types, *[INDEX] * len(offsets.arguments)])
    name_arguments(kernel, block.args, len(types))
    program = program_of(kernel)
    builder = LoopBuilder()
    symbols = [
        load_symbol(builder, kernel, operand, greatest, block.args)
        for operand, greatest in program.symbols
    ]
    symbols += block.args[len(types) :]
    loop = _LoopMaker(kernel, program, offsets).make(block.args[: len(types)], symbols)
    block.add_ops([*builder.ops, loop, func.ReturnOp()])
    function = func.FuncOp(
        kernel.sym_name.data,
        FunctionType.from_lists([argument.type for argument in block.args], []),
        Region(block),
        visibility="private",
    )
    if kernel.source is not None:
        function.attributes[SOURCE] = kernel.source
    return function


def load_symbol(
    builder: LoopBuilder,
    kernel: KernelOp,
    operand: int,
    greatest: int,
    arguments: Sequence[SSAValue],
) -> SSAValue:
    """A computed offset as an index to `greatest`: scalar operand `operand` of the kernel."""
    memory = arguments[kernel.read_memories.get_values()[operand]]
    (scalar,) = builder.effect(memref.LoadOp.get(memory, [builder.index(0)]))
    if kernel.is_in_bounds(operand):
        return builder.pure(arith.IndexCastOp(scalar, INDEX), INDEX)
    return emit_clamped(builder, scalar, greatest)


def name_arguments(kernel: KernelOp, arguments: Sequence[SSAValue], memories: int) -> None:
    """Names memories for the values read from them, the written one `out`, offsets `offset`."""
    names: dict[int, str] = {}
    for argument, memory in zip(
        kernel.body.block.args, kernel.read_memories.get_values(), strict=True
    ):
        names.setdefault(memory, argument.name_hint or "x")
    for memory in kernel.write_memories.get_values():
        names.setdefault(memory, OUTPUT)
    for number, argument in enumerate(arguments):
        argument.name_hint = names.get(number) if number < memories else "offset"


class _LoopMaker:
    """Makes the `prog.loop` of a kernel's program."""

    def __init__(self, kernel: KernelOp, program: KernelProgram, offsets: OffsetTable):
        self.kernel = kernel
        self.program = program
        self.offsets = offsets
        self.dtypes = [PROG_DTYPES[dtype_of(argument)] for argument in kernel.body.block.args]

    def access(
        self, memory: int, number: int, address: Index, guards: Sequence[Index], rank: int
    ) -> Access:
        """Access `number` of the kernel at `address`, where all `guards` are >= 0."""
        constant, argument = self.offsets.place(number)
        address += constant
        symbols = len(self.program.symbols)
        if argument is not None:
            # The offset arguments are the symbols after the kernel's own.
            address += Index.symbol(symbols + argument, 2**31)
        symbols += len(self.offsets.arguments)
        zero = AffineExpr.constant(0)
        constraints = tuple(
            AffineConstraintExpr(AffineConstraintKind.ge, guard.to_affine(), zero)
            for guard in guards
        )
        map = AffineMap(rank, symbols, (address.to_affine(),))
        return Access(memory, map, AffineSet(rank, symbols, constraints))

    def reads(self, reads: Sequence[Read], rank: int) -> list[Access]:
        memories = self.kernel.read_memories.get_values()
        return [
            self.access(memories[read.operand], read.operand, read.address, read.guards, rank)
            for read in reads
        ]

    def writes(self) -> list[Access]:
        memories = self.kernel.write_memories.get_values()
        writes = zip(memories, self.program.writes, strict=True)
        return [
            self.access(memory, number, address, (), len(self.program.shape))
            for number, (memory, address) in enumerate(writes, len(self.kernel.reads))
        ]

    def make(self, memories: Sequence[SSAValue], symbols: Sequence[SSAValue]) -> LoopOp:
        program = self.program
        parallel = len(program.shape)
        accumulators = [fold.dtype for fold in program.folds]
        operands = [self.dtypes[read.operand] for read in program.reads]
        result = Program.of_exprs([*accumulators, *operands], program.results)
        if not program.folds:
            return LoopOp(
                memories,
                symbols,
                shape=program.shape,
                body=result,
                reads=self.reads(program.reads, parallel),
                writes=self.writes(),
            )
        operands = [self.dtypes[read.operand] for read in program.fold_reads]
        return LoopOp(
            memories,
            symbols,
            shape=program.shape,
            reduction=program.reduction,
            monoids=program.monoids,
            body=Program.of_exprs(operands, program.folds),
            reads=self.reads(program.fold_reads, parallel + len(program.reduction)),
            epilogue=None if is_identity(result) else result,
            epilogue_reads=self.reads(program.reads, parallel),
            writes=self.writes(),
        )


def is_identity(program: Program) -> bool:
    """Whether the results are the operands, in their order."""
    numbers = range(len(program.ins))
    return program.nodes == tuple(map(In, numbers)) and program.outs == tuple(numbers)


def require_kernels(module: ModuleOp) -> None:
    """Raises PassFailedException unless `form-kernels` has left nothing but scalars outside."""
    for top in module.ops:
        for op in () if isinstance(top, KernelOp) else top.walk():
            if not op.name.startswith("uir."):
                raise PassFailedException(f"rangeify: found `{op.name}`, which is of a later level")
            values = [result for result in op.results if is_value(result.type)]
            if isinstance(op, AllocOp | ResultOp) or any(shape_of(value) for value in values):
                raise PassFailedException(
                    f"rangeify: found `{op.name}` in no kernel; run `form-kernels` before this pass"
                )


class RangeifyPass(ModulePass):
    """Turns kernels into loop nests and launches into calls."""

    name = "rangeify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_kernels(op)
        launches: dict[str, list[LaunchOp]] = {}
        for launch in op.walk():
            if isinstance(launch, LaunchOp):
                launches.setdefault(launch.kernel.root_reference.data, []).append(launch)
        offsets = {name: OffsetTable(items) for name, items in launches.items()}
        functions: list[Operation] = []
        for kernel in op.ops:
            if isinstance(kernel, KernelOp) and kernel.sym_name.data in launches:
                name = kernel.sym_name.data
                types = [memory.type for memory in launches[name][0].memories]
                memories = [type for type in types if isinstance(type, MemType)]
                functions.append(loop_function(kernel, memories, offsets[name]))
        values = {
            launch: offsets[name].values(number)
            for name, items in launches.items()
            for number, launch in enumerate(items)
        }
        checked = op.attributes.pop(CHECKED, None)
        sizes: dict[str, int] = {}
        bodies = [function for function in op.ops if isinstance(function, FunctionOp)]
        programs = [build_function(body, values, sizes) for body in bodies]
        programs.append(build_main(op.body.block, values, sizes))
        for program in programs:
            if checked is not None:
                program.attributes[CHECKED] = checked
        functions += programs
        block = op.body.block
        op.body.detach_block(block)
        op.body.add_block(Block(functions))
        block.erase()
