"""The meaning of the `uir` level after sugar and gradients are expanded, exact to the bit.

A value is a numpy array (bool, int32 or float32) of its shape, perhaps a broadcast view, which
nobody writes to; or a Deferred, of which a `reduce` takes one block at a time. A memory reference
is a Reference; an effect is None.

An op that fails leaves its FAILURE in `UirFunctions.failure` and gives Prog's total result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, impl, register_impls
from xdsl.ir import Operation

from dialects.prog import E, evaluate
from dialects.uir.checks import AssertOp
from dialects.uir.constants import ConstantOp
from dialects.uir.dialect import STATEMENTS
from dialects.uir.elements import Elements
from dialects.uir.elementwise import (
    PROG_DTYPES,
    CastFailsOp,
    DetachOp,
    DivisionFailsOp,
    ElementwiseOp,
    SameValueOp,
    StageOp,
)
from dialects.uir.math import UnaryF32Op
from dialects.uir.memory import AfterOp, AllocOp, BufferOp, GroupOp, LoadOp, StoreOp
from dialects.uir.movement import (
    OFFSET_FAILURE,
    ExpandOp,
    IndexOp,
    PadOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
    StackOp,
)
from dialects.uir.reduce import MONOIDS, ReduceOp
from dialects.uir.sugar import SugarOp
from dialects.uir.types import dtype_of, shape_of, size_of
from uir.runtime.failure import RuntimeFailure
from uir.runtime.interpreters.deferred import Deferred, compute, fold_blocks
from uir.runtime.interpreters.memory import ELEMENTS, Array, Reference, block
from uir.runtime.interpreters.scalars import ScalarOp, apply, failure_of, program_of

Value: TypeAlias = "Array | Deferred | Reference | None"
Args: TypeAlias = tuple[Any, ...]

SCALAR_OPS = [
    op
    for op in (*STATEMENTS, CastFailsOp, DivisionFailsOp)
    if issubclass(op, ElementwiseOp | UnaryF32Op) and not issubclass(op, SugarOp)
]


def array_of(elements: Elements) -> Array:
    """The elements as a flat array."""
    array = np.frombuffer(elements.data, elements.numpy_format)
    return array.astype(array.dtype.newbyteorder("="))


class UirFunctions(InterpreterFunctions):
    """What each op does, on the buffers of one run.

    `buffers` are the flat arrays of the slots; `deferred` the ops whose result is not to be held.
    """

    def __init__(self, buffers: dict[int, Array], deferred: frozenset[Operation] = frozenset()):
        self.buffers = buffers
        self.deferred = deferred
        self.failure: RuntimeFailure | None = None
        self._numbers = count()

    def fail(self, op: Operation, message: str) -> None:
        """Notes that `op` failed, unless one before it did."""
        self.failure = self.failure or RuntimeFailure(op, message)

    def run_scalar_op(self, interpreter: Interpreter, op: ScalarOp, args: Args) -> Args:
        shape = shape_of(op.result)
        if op in self.deferred:
            return (self._defer(op, args, shape),)
        if isinstance(op, ElementwiseOp) and op.can_fail():
            (failed,) = evaluate(failure_of(op), args, shape)
            if failed.any():
                assert op.FAILURE is not None
                self.fail(op, op.FAILURE)
        return (compute(program_of(op), args, shape),)

    def _defer(
        self, op: ScalarOp, args: Sequence[Array | Deferred], shape: tuple[int, ...]
    ) -> Deferred:
        leaves: dict[int, Array] = {}
        operands: list[E] = []
        for operand, arg in zip(op.operands, args, strict=True):
            if isinstance(arg, Deferred):
                leaves |= arg.leaves
                operands.append(arg.expression)
            else:
                number = next(self._numbers)
                leaves[number] = arg
                operands.append(E.input(number, PROG_DTYPES[dtype_of(operand)]))
        return Deferred(apply(op, operands), leaves, shape)

    @impl(ConstantOp)
    def run_constant(self, interpreter: Interpreter, op: ConstantOp, args: Args) -> Args:
        return (array_of(op.value.data).reshape(()),)

    @impl(DetachOp)
    def run_detach(self, interpreter: Interpreter, op: SameValueOp, args: Args) -> Args:
        return args

    @impl(StageOp)
    def run_stage(self, interpreter: Interpreter, op: SameValueOp, args: Args) -> Args:
        return args

    @impl(ReshapeOp)
    def run_reshape(self, interpreter: Interpreter, op: ReshapeOp, args: Args) -> Args:
        shape = shape_of(op.result)
        return (_move(args[0], lambda x: x.reshape(shape)),)

    @impl(PermuteOp)
    def run_permute(self, interpreter: Interpreter, op: PermuteOp, args: Args) -> Args:
        order = op.axes()
        if isinstance(args[0], Deferred):
            return (args[0].permute(order),)
        return (_move(args[0], lambda x: x.transpose(order)),)

    @impl(ExpandOp)
    def run_expand(self, interpreter: Interpreter, op: ExpandOp, args: Args) -> Args:
        return (np.broadcast_to(args[0], shape_of(op.result)),)

    @impl(PadOp)
    def run_pad(self, interpreter: Interpreter, op: PadOp, args: Args) -> Args:
        (x,) = args
        padded = np.zeros(shape_of(op.result), x.dtype)
        block(padded, op.before(), x.shape)[...] = x
        return (padded,)

    @impl(ShrinkOp)
    def run_shrink(self, interpreter: Interpreter, op: ShrinkOp, args: Args) -> Args:
        shape = shape_of(op.result)
        offsets = self._offsets(op, args[1:], shape)
        return (_move(args[0], lambda x: block(x, offsets, shape)),)

    @impl(IndexOp)
    def run_index(self, interpreter: Interpreter, op: IndexOp, args: Args) -> Args:
        indices = self._offsets(op, args[1:], [1] * len(args[1:]))
        return (_move(args[0], lambda x: x[(*indices, ...)]),)

    def _offsets(
        self, op: ShrinkOp | IndexOp, args: Sequence[Array], sizes: Sequence[int]
    ) -> list[int]:
        """The offsets of `op`, clamped into bounds where one is out of them."""
        offsets: list[int] = []
        for axis, (arg, extent, size) in enumerate(zip(args, shape_of(op.x), sizes, strict=False)):
            offset, last = int(arg), extent - size
            if not 0 <= offset <= last:
                bounds = f"axis {axis} has size {extent}, so it is 0 to {last}, found {offset}"
                self.fail(op, f"{OFFSET_FAILURE}: {bounds}")
            offsets.append(min(max(offset, 0), last))
        return offsets

    @impl(StackOp)
    def run_stack(self, interpreter: Interpreter, op: StackOp, args: Args) -> Args:
        return (np.stack(args),)

    @impl(ReduceOp)
    def run_reduce(self, interpreter: Interpreter, op: ReduceOp, args: Args) -> Args:
        return (fold_blocks(MONOIDS[op.kind.data], args[0], op.pop()),)

    @impl(BufferOp)
    def run_buffer(self, interpreter: Interpreter, op: BufferOp, args: Args) -> Args:
        array = self.buffers.get(op.slot.value.data)
        # A buffer that nothing uses has no array.
        return (None if array is None else Reference.whole(array),)

    @impl(AllocOp)
    def run_alloc(self, interpreter: Interpreter, op: AllocOp, args: Args) -> Args:
        memory = np.zeros(size_of(op.result), ELEMENTS[dtype_of(op.result)])
        return (Reference.whole(memory),)

    @impl(LoadOp)
    def run_load(self, interpreter: Interpreter, op: LoadOp, args: Args) -> Args:
        return (args[0].load(),)

    @impl(StoreOp)
    def run_store(self, interpreter: Interpreter, op: StoreOp, args: Args) -> Args:
        if self.failure is None:
            args[0].store(args[1])
        return (None,)

    @impl(AssertOp)
    def run_assert(self, interpreter: Interpreter, op: AssertOp, args: Args) -> Args:
        if args[0]:
            self.fail(op, op.kind.data)
        return ()

    @impl(AfterOp)
    def run_after(self, interpreter: Interpreter, op: AfterOp, args: Args) -> Args:
        return (args[0],)

    @impl(GroupOp)
    def run_group(self, interpreter: Interpreter, op: GroupOp, args: Args) -> Args:
        return (None,)


for _op in SCALAR_OPS:
    setattr(UirFunctions, f"run_{_op.spelling()}", impl(_op)(UirFunctions.run_scalar_op))
register_impls(UirFunctions)


def _move(x: Array | Reference, movement: Callable[[Array], Array]) -> Array | Reference:
    """`x` moved: a memory reference to the same elements, or a value."""
    return x.move(movement) if isinstance(x, Reference) else movement(x)
