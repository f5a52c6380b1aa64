"""The meaning of the loop level (func, scf, arith, vector, memref of rank 1), exact to the bit.

Values: an element of a dtype is a numpy scalar, index a Python `int`; a vector and a memory are 1-D
numpy arrays, a view shares the memory of its source. Every float op rounds once, integers wrap.

What C leaves undefined is an InterpretationError here: an access out of bounds, a zero divisor, a
quotient or a conversion out of range, an index beyond 64 bits, overlapping memories in a call.
Fresh memory holds garbage, so that a read before a write shows in the results.
"""

import itertools
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects import cf, func, memref, scf, vector
from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.interpreters.func import FuncFunctions
from xdsl.utils.exceptions import InterpretationError

from dialects.vector import VScaleOp
from uir.runtime.interpreters.library import Function, library
from uir.runtime.interpreters.loop_scalars import ELEMENTS, ScalarFunctions, integer

Memory: TypeAlias = npt.NDArray[Any]

_GARBAGE = 0xA5


class AssertionFailed(Exception):
    """A `cf.assert` whose condition was false; `str` is its message."""


def register_loop_functions(interpreter: Interpreter, vscale: int = 1) -> None:
    """Teaches `interpreter` every op of the loop level; `vscale` is what `vector.vscale` gives."""
    interpreter.register_implementations(CallFunctions())
    interpreter.register_implementations(ControlFlowFunctions())
    interpreter.register_implementations(ScalarFunctions())
    interpreter.register_implementations(MemoryFunctions())
    interpreter.register_implementations(VectorFunctions(vscale))


@register_impls
class CallFunctions(FuncFunctions):
    """Calls of the kind library, and calls that hand over memories that do not overlap."""

    @impl(func.CallOp)
    def run_call(
        self, interpreter: Interpreter, op: func.CallOp, args: PythonValues
    ) -> PythonValues:
        if (function := library().get(op.callee.string_value())) is not None:
            return (_call_library(function, op, args),)
        memories = [cast(Memory, arg) for arg in args if isinstance(arg, np.ndarray)]
        for one, other in itertools.combinations(memories, 2):
            if np.may_share_memory(one, other):
                raise InterpretationError(f"memories overlap in the call of {op.callee}")
        return interpreter.call_op(op.callee, args)


def _call_library(function: Function, op: func.CallOp, args: PythonValues) -> np.generic:
    """What a function of the library gives."""
    types = op.operand_types
    elements = [np.array([arg], ELEMENTS[type_]) for arg, type_ in zip(args, types, strict=True)]
    with np.errstate(all="ignore"):
        return function(*elements)[0]


@register_impls
class ControlFlowFunctions(InterpreterFunctions):
    """Loops and conditionals."""

    @impl(cf.AssertOp)
    def run_assert(
        self, interpreter: Interpreter, op: cf.AssertOp, args: PythonValues
    ) -> PythonValues:
        if not args[0]:
            raise AssertionFailed(op.msg.data)
        return ()

    @impl(scf.ForOp)
    def run_for(self, interpreter: Interpreter, op: scf.ForOp, args: PythonValues) -> PythonValues:
        start, end, step, *carried = args
        if step <= 0:
            raise InterpretationError(f"loop step {step} is not positive")
        values = tuple(carried)
        for i in range(int(start), int(end), int(step)):
            induction = integer(i, op.lb.type)
            values = interpreter.run_ssacfg_region(op.body, (induction, *values), "for")
        return values

    @impl(scf.ParallelOp)
    def run_parallel(
        self, interpreter: Interpreter, op: scf.ParallelOp, args: PythonValues
    ) -> PythonValues:
        """Runs the turns of a loop over one variable, the last first: their order is free."""
        if len(args) != 3:
            raise InterpretationError("a parallel loop has one variable, and carries no value")
        start, end, step = args
        for i in reversed(range(start, end, step)):
            interpreter.run_ssacfg_region(op.body, (i,), "parallel")
        return ()

    @impl_terminator(scf.ReduceOp)
    def run_reduce(
        self, interpreter: Interpreter, op: scf.ReduceOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(scf.IfOp)
    def run_if(self, interpreter: Interpreter, op: scf.IfOp, args: PythonValues) -> PythonValues:
        (condition,) = args
        region = op.true_region if condition else op.false_region
        return interpreter.run_ssacfg_region(region, (), "if")

    @impl_terminator(scf.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: scf.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()


@register_impls
class MemoryFunctions(InterpreterFunctions):
    """Memory of rank 1."""

    @impl(memref.AllocOp)
    def run_alloc(
        self, interpreter: Interpreter, op: memref.AllocOp, args: PythonValues
    ) -> PythonValues:
        return (_fresh(op.memref.type),)

    @impl(memref.AllocaOp)
    def run_alloca(
        self, interpreter: Interpreter, op: memref.AllocaOp, args: PythonValues
    ) -> PythonValues:
        return (_fresh(op.memref.type),)

    @impl(memref.DeallocOp)
    def run_dealloc(
        self, interpreter: Interpreter, op: memref.DeallocOp, args: PythonValues
    ) -> PythonValues:
        _spoil(args[0])
        return ()

    @impl(memref.ViewOp)
    def run_view(
        self, interpreter: Interpreter, op: memref.ViewOp, args: PythonValues
    ) -> PythonValues:
        source, shift, *sizes = args
        element = ELEMENTS[op.result.type.element_type]
        size = sizes[0] if sizes else op.result.type.get_shape()[0]
        end = shift + size * element.itemsize
        if shift < 0 or size < 0 or end > len(source):
            raise InterpretationError(f"view of bytes {shift} to {end} of {len(source)}")
        if shift % element.itemsize:
            raise InterpretationError(f"view at byte {shift} is not aligned for {element}")
        return (source[shift:end].view(element),)

    @impl(memref.CastOp)
    def run_cast(
        self, interpreter: Interpreter, op: memref.CastOp, args: PythonValues
    ) -> PythonValues:
        return args

    @impl(memref.LoadOp)
    def run_load(
        self, interpreter: Interpreter, op: memref.LoadOp, args: PythonValues
    ) -> PythonValues:
        memory, index = args
        return (memory[_checked(index, memory)],)

    @impl(memref.StoreOp)
    def run_store(
        self, interpreter: Interpreter, op: memref.StoreOp, args: PythonValues
    ) -> PythonValues:
        value, memory, index = args
        memory[_checked(index, memory)] = value
        return ()


@register_impls
class VectorFunctions(InterpreterFunctions):
    """Vectors, which are arrays of their elements."""

    def __init__(self, vscale: int) -> None:
        super().__init__()
        self._vscale = vscale

    def _size(self, type_: VectorType) -> int:
        """The number of lanes of vectors of rank 1."""
        (lanes,), (is_scalable,) = type_.get_shape(), type_.get_scalable_dims()
        return lanes * self._vscale if is_scalable else lanes

    @impl(VScaleOp)
    def run_vscale(
        self, interpreter: Interpreter, op: VScaleOp, args: PythonValues
    ) -> PythonValues:
        return (self._vscale,)

    @impl(vector.BroadcastOp)
    def run_broadcast(
        self, interpreter: Interpreter, op: vector.BroadcastOp, args: PythonValues
    ) -> PythonValues:
        (scalar,) = args
        return (np.full(self._size(op.vector.type), scalar),)

    @impl(vector.LoadOp)
    def run_load(
        self, interpreter: Interpreter, op: vector.LoadOp, args: PythonValues
    ) -> PythonValues:
        memory, index = args
        return (_span(memory, index, self._size(op.result.type)).copy(),)

    @impl(vector.StoreOp)
    def run_store(
        self, interpreter: Interpreter, op: vector.StoreOp, args: PythonValues
    ) -> PythonValues:
        value, memory, index = args
        _span(memory, index, len(value))[:] = value
        return ()

    @impl(vector.ShuffleOp)
    def run_shuffle(
        self, interpreter: Interpreter, op: vector.ShuffleOp, args: PythonValues
    ) -> PythonValues:
        return (np.concatenate(args)[list(op.mask.get_values())],)


def _span(memory: Memory, index: int, size: int) -> Memory:
    """The elements of `memory` that a vector at `index` covers."""
    end = index + size
    if not 0 <= index <= end <= len(memory):
        raise InterpretationError(f"elements {index} to {end} are out of bounds of {len(memory)}")
    return memory[index:end]


def _fresh(type_: MemRefType) -> Memory:
    (size,) = type_.get_shape()
    memory = np.empty(size, ELEMENTS[type_.element_type])
    _spoil(memory)
    return memory


def _spoil(memory: Memory) -> None:
    memory.view(np.uint8)[:] = _GARBAGE


def _checked(index: int, memory: Memory) -> int:
    if not 0 <= index < len(memory):
        raise InterpretationError(f"index {index} is out of bounds of {len(memory)} elements")
    return index
