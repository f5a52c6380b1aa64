"""`form-kernels`: a tensor program becomes a list of launches of a few distinct kernels.

    %a = uir.load %m                      uir.kernel @c reads .. writes .. {
    %b = uir.add %a, %a                   ^bb0(%a: tensor<4xf32>):
    %c = uir.mul %b, %a           ->        %b = uir.add %a, %a
    uir.store %n, %c                        %c = uir.mul %b, %a
                                            uir.yield %c
                                          }
                                          uir.launch @c(%m, %n) offsets [0, 0]

An analysis (`kernel_plan`) says which values are stored; each of these and each `store` is the
root of one kernel, whose body is all that the root needs down to loads and stored values. Two
kernels in a row that read the same become one (`kernel_fusion`). Kernels that differ only in
memories and constant offsets are one. Launches stand where their roots stood, so the order of
effects is the order of the text. Loops stay, with their code on scalars.

On entry sugar, gradients and calls are expanded. Math ops may stay whole: `expand-math` works
inside kernels, once for each distinct one.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from dialects.uir.base import UirOp
from dialects.uir.checks import AssertOp
from dialects.uir.constants import ConstantOp
from dialects.uir.elementwise import SameValueOp
from dialects.uir.functions import ApplyOp, CallOp, FunctionOp, ResultOp
from dialects.uir.gradient import GradientOp
from dialects.uir.kernel import LaunchOp, OutputOp, TemporaryOp
from dialects.uir.loops import ForOp
from dialects.uir.memory import AllocOp, BufferOp, LoadOp, StoreOp
from dialects.uir.movement import ExpandOp, MovementOp, ReshapeOp
from dialects.uir.sugar import SugarOp
from dialects.uir.types import MemType, dtype_of, mem_type, shape_of, size_of
from passes.index import Index, row_major
from passes.kernel_body import Body, KernelTable, Place, collect_body
from passes.kernel_fusion import Job, is_safe_to_write, joined
from passes.kernel_outputs import free_buffers
from passes.kernel_plan import Planner, is_scalar_store
from passes.node_driver import forget_order, remove_dead_nodes
from passes.views import address_in_buffer, resolve


class _Symbols:
    """The computed offsets of one kernel, as numbered symbols of its indices."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[SSAValue, int], int] = {}

    def __call__(self, offset: SSAValue, greatest: int) -> Index:
        key = (resolve(offset), greatest)
        return Index.symbol(self.numbers.setdefault(key, len(self.numbers)), greatest)

    def scalars(self) -> list[SSAValue]:
        return list(dict.fromkeys(offset for offset, _ in self.numbers))


class _KernelFormer:
    """Builds the launches of a program or function, and adds the kernels that they run."""

    def __init__(self, block: Block, kernels: KernelTable):
        forget_order(block)
        remove_dead_nodes(block)
        self.source = block
        self.kernels = kernels
        self.planner = Planner(block)
        self.plan = self.planner.plan()
        self.free = free_buffers(block, self.plan.stored, self.planner.positions)
        self.memories: dict[SSAValue, SSAValue] = {}
        """Buffers, and views in scalar code, to what they are in the new program."""
        self.homes: dict[SSAValue, SSAValue] = {}
        """Values to the temporaries or buffers that hold them."""
        self.scalars: dict[SSAValue, SSAValue] = {}
        """Scalar code to what it is in the new program."""
        self.declarations: list[Operation] = []
        self.code: list[Operation] = []
        self.job: Job | None = None
        """The last kernel, until it is clear that no other one joins it."""

    def run(self, output: SSAValue | None = None) -> list[Operation]:
        """The new program; its result goes to `output`, or else to a memory of its own."""
        self.output = output
        self.visit_block(self.source)
        return [*self.declarations, *self.code]

    def visit_block(self, block: Block) -> None:
        for op in block.ops:
            self.visit(op)
        self.launch_job()

    def append(self, op: Operation) -> None:
        """Adds code, after what was launched before."""
        self.launch_job()
        self.code.append(op)

    def visit(self, op: Operation) -> None:
        match op:
            case BufferOp():
                self.declare(op)
            case AllocOp():
                self.allocate(op)
            case StoreOp() if is_scalar_store(op):
                self.emit_store(self.view(op.memory), self.scalar(op.value))
            case StoreOp():
                self.store(op.value, op.memory)
            case ResultOp():
                self.store(op.value, self.output_for(op.value))
            case FunctionOp():
                self.append(form_function(op, self.kernels))
            case ApplyOp() if op.result in self.plan.stored:
                self.apply(op)
            case AssertOp():
                check = AssertOp.of(self.scalar(op.failed), op.kind.data)
                check.location = op.location
                self.append(check)
            case ForOp():
                self.visit_loop(op)
            case UirOp() if op.result in self.plan.stored:
                self.materialize(op)
            case UirOp() if op.result in self.plan.scalars:
                self.scalars[op.result] = self.emit_scalar(op)
                self.spill(op.result)
            case _:
                pass

    def output_for(self, value: SSAValue) -> SSAValue:
        """The memory that the result goes to."""
        if self.output is None:
            output = OutputOp.create(result_types=[self.flat_type(value)])
            self.declarations.append(output)
            self.output = output.memory
        self.memories[self.output] = self.output
        return self.output

    def apply(self, op: ApplyOp) -> None:
        """Runs a function on the memories of its arguments, and of its result."""
        home = self.new_temporary(op.result)
        memories = [self.homes[resolve(argument)] for argument in op.arguments]
        name = op.function.root_reference.data
        self.append(LaunchOp.of(name, [*memories, home], []))
        self.homes[op.result] = home

    def declare(self, op: BufferOp) -> SSAValue:
        """The buffer in the new program, which may be needed before its place in the text."""
        if op.result not in self.memories:
            buffer = op.clone()
            self.declarations.append(buffer)
            self.memories[op.result] = self.memories[buffer.result] = buffer.result
        return self.memories[op.result]

    def allocate(self, op: AllocOp) -> None:
        """Scratch memory: a temporary, zeros at the start."""
        self.memories[op.result] = self.new_temporary(op.result)
        zero = ConstantOp.literal(dtype_of(op.result), 0)
        zeros = ExpandOp.of([zero.result], {"shape": shape_of(op.result)})
        body = Body([zeros.result], [zero, zeros])
        self.launch(body, op.result)

    # Loops and scalar code

    def visit_loop(self, op: ForOp) -> None:
        loop = ForOp.of(self.scalar(op.bound))
        loop.index.name_hint = op.index.name_hint
        loop.location = op.location
        self.append(loop)
        outer, self.code = self.code, []
        self.scalars[op.index] = loop.index
        self.spill(op.index)
        self.visit_block(op.body.block)
        loop.body.block.add_ops(self.code)
        self.code = outer

    def emit(self, op: UirOp, name: str | None = None) -> SSAValue:
        self.append(op)
        op.result.name_hint = name
        return op.result

    def scalar(self, value: SSAValue) -> SSAValue:
        """`value` as a scalar of the new program, at this point."""
        value = resolve(value)
        if value in self.scalars:
            return self.scalars[value]
        if isinstance(value.owner, ConstantOp):
            constant = value.owner.clone()
            self.declarations.append(constant)
            self.scalars[value] = constant.result
            return constant.result
        cell = self.emit(ReshapeOp.of([self.homes[value]], {"shape": ()}))
        return self.emit(LoadOp.of([cell], {}), value.name_hint)

    def emit_scalar(self, op: UirOp) -> SSAValue:
        if isinstance(op, SameValueOp | MovementOp):
            return self.scalar(op.operands[0])
        if isinstance(op, LoadOp):
            operands = [self.view(op.memory)]
        else:
            operands = [self.scalar(operand) for operand in op.operands]
        copy = type(op).of(operands, op.text_attributes())
        copy.location = op.location
        return self.emit(copy, op.result.name_hint)

    def emit_store(self, memory: SSAValue, value: SSAValue) -> None:
        self.append(StoreOp.of([memory, value], {}))

    def view(self, memory: SSAValue) -> SSAValue:
        """The view `memory` in the new program, built again where scalar code needs it."""
        if memory in self.memories:
            return self.memories[memory]
        chain: list[MovementOp] = []
        while memory not in self.memories:
            op = memory.owner
            assert isinstance(op, MovementOp)
            chain.append(op)
            memory = op.x
        new = self.memories[memory]
        for op in reversed(chain):
            offsets = [self.scalar(offset) for offset in op.operands[1:]]
            new = self.emit(type(op).of([new, *offsets], op.text_attributes()))
        return new

    def spill(self, value: SSAValue) -> None:
        """Keeps scalar code in memory, if a kernel reads it."""
        if value in self.plan.spilled:
            home = self.homes[value] = self.new_temporary(value)
            cell = self.emit(ReshapeOp.of([home], {"shape": ()}))
            self.emit_store(cell, self.scalars[value])

    # Kernels

    def flat_type(self, value: SSAValue) -> MemType:
        return mem_type(dtype_of(value), (size_of(value),))

    def materialize(self, op: UirOp) -> None:
        """Computes a stored value into a temporary, or a buffer that is free."""
        body = self.body_of(op.result)
        if op.result in self.free:
            home = self.declare(self.free[op.result])
        else:
            home = self.dying_home(body, self.planner.positions[op])
        if home is None:
            home = self.new_temporary(op.result)
        self.launch(body, home)
        self.homes[op.result] = home

    def dying_home(self, body: Body, position: int) -> SSAValue | None:
        """The temporary of a value that `body`, at `position`, is the last to read, point by point.

        The result may overwrite it.
        """
        for leaf in body.leaves:
            home = self.homes.get(leaf)
            if home is not None and self.plan.stored.get(leaf) == position:
                same_type = home.type == self.flat_type(body.roots[0])
                if same_type and self.is_safe_in_place(body, home):
                    return home
        return None

    def new_temporary(self, value: SSAValue) -> SSAValue:
        """A temporary for a value; which of them share memory is decided when all are known."""
        temporary = TemporaryOp.create(result_types=[self.flat_type(value)])
        self.declarations.append(temporary)
        memory = temporary.memory
        memory.name_hint = value.name_hint
        self.memories[memory] = memory
        return memory

    def store(self, value: SSAValue, target: SSAValue) -> None:
        """Computes `value` into the view `target`, in place where that is right.

        It is right where each point reads no other element of the target than the one it writes.
        """
        value = resolve(value)
        body = self.leaf(value) if value in self.homes else self.body_of(value)
        if self.is_safe_in_place(body, target):
            self.launch(body, target)
            return
        home = self.new_temporary(value)
        self.launch(body, home)
        before = self.homes.get(value)
        self.homes[value] = home
        self.launch(self.leaf(value), target)
        if before is None:
            del self.homes[value]
        else:
            self.homes[value] = before

    def is_safe_in_place(self, body: Body, target: SSAValue) -> bool:
        symbols = _Symbols()
        written = self.place(target, body.roots[0], symbols)
        return is_safe_to_write(body, self.places(body, symbols), written)

    def leaf(self, value: SSAValue) -> Body:
        return Body([value], [], [value])

    def body_of(self, root: SSAValue) -> Body:
        """What `root` computes; a copy of a load stays a leaf."""
        if isinstance(root.owner, LoadOp):
            return self.leaf(root)
        return collect_body(root, lambda value: value in self.homes)

    def place(self, memory: SSAValue, value: SSAValue, symbols: _Symbols) -> Place:
        """Where the elements of `value` are in the view, or all of the buffer, `memory`."""
        if memory in self.memories:
            return Place.of(self.memories[memory], row_major(shape_of(value)))
        buffer, address = address_in_buffer(memory, symbols)
        return Place.of(self.memories[buffer], address)

    def place_of(self, leaf: SSAValue, symbols: _Symbols) -> Place:
        if leaf in self.homes:
            return self.place(self.homes[leaf], leaf, symbols)
        assert isinstance(leaf.owner, LoadOp)
        return self.place(leaf.owner.memory, leaf, symbols)

    def places(self, body: Body, symbols: _Symbols) -> dict[SSAValue, Place]:
        return {leaf: self.place_of(leaf, symbols) for leaf in body.leaves}

    def launch(self, body: Body, target: SSAValue) -> None:
        """Runs `body` at this point, in the kernel before if that is right."""
        symbols = _Symbols()
        written = self.place(target, body.roots[0], symbols)
        reads = self.places(body, symbols)
        # A kernel reads the scalars that its indices depend on from memory, as operands.
        for scalar in symbols.scalars():
            reads.setdefault(scalar, self.place_of(scalar, symbols))
        job = Job(body, reads, (written,), symbols.numbers)
        both = None if self.job is None else joined(self.job, job)
        if both is None:
            self.launch_job()
        self.job = both or job

    def launch_job(self) -> None:
        """Launches the last kernel, if that is still to be done."""
        job, self.job = self.job, None
        if job is None:
            return
        operands = list(job.reads)
        places = [*job.reads.values(), *job.writes]
        numbers: dict[SSAValue, int] = {}
        for place in places:
            numbers.setdefault(place.memory, len(numbers))
        body = Body(job.body.roots, job.body.ops, operands)
        accesses = [(numbers[place.memory], place.map) for place in places]
        symbols = [(operands.index(scalar), greatest) for scalar, greatest in job.symbols]
        in_bounds = [operands.index(scalar) for scalar in job.offsets_in_bounds()]
        kernel = self.kernels.kernel(body, accesses, symbols, in_bounds)
        offsets = [place.offset for place in places]
        self.code.append(LaunchOp.of(kernel.sym_name.data, list(numbers), offsets))


def form_function(op: FunctionOp, kernels: KernelTable) -> FunctionOp:
    """The function with launches for its code, on memories for its arguments and its result."""
    source = op.body.block
    result = source.last_op
    assert isinstance(result, ResultOp)
    values = [*source.args, result.value]
    block = Block(arg_types=[mem_type(dtype_of(v), (size_of(v),)) for v in values])
    former = _KernelFormer(source, kernels)
    for value, memory in zip(source.args, block.args, strict=False):
        former.homes[value] = former.memories[memory] = memory
    block.add_ops(former.run(block.args[-1]))
    return FunctionOp.create(properties=op.properties, regions=[Region(block)])


def require_core_ops(module: ModuleOp) -> None:
    """Raises PassFailedException unless `module` is a program of core and math ops."""
    for op in module.body.block.walk():
        if isinstance(op, SugarOp | GradientOp | CallOp):
            raise PassFailedException(
                f"form-kernels: found `{op.name}`; expand it before this pass"
            )
        if not isinstance(op, UirOp | AssertOp | ForOp | FunctionOp | ResultOp):
            raise PassFailedException(f"form-kernels: found `{op.name}`, which is of a later level")


class FormKernelsPass(ModulePass):
    """Groups a tensor program into kernels and launches."""

    name = "form-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_core_ops(op)
        block = op.body.block
        kernels = KernelTable()
        ops = _KernelFormer(block, kernels).run()
        op.body.detach_block(block)
        op.body.add_block(Block([*kernels.ops(), *ops]))
        block.erase()
