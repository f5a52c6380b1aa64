"""Loops over memories of any dtypes, in one module each, and ways to run them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

import numpy as np
from prog_reference import FLOATS, NUMPY
from ways_to_run import Array
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Block, Region
from xdsl.ir.affine import AffineExpr, AffineMap

from dialects.prog import COMPLEX, Access, Dtype, LoopOp, Monoid, Program, type_of
from dialects.prog.native import compile_c
from passes.lower_loops import LowerLoopsPass
from uir.runtime.interpreters.loops import register_loop_functions
from uir.runtime.interpreters.prog import ProgFunctions
from uir.targets.c import print_c


@dataclass(frozen=True)
class Loop:
    """A program at every index of `shape`, or folded over it, and its operands' elements."""

    program: Program
    arrays: Sequence[Array]
    shape: tuple[int, ...]
    monoids: Sequence[Monoid] = ()
    """Where there are some, they fold the last axis."""

    @property
    def outer(self) -> tuple[int, ...]:
        return self.shape[:-1] if self.monoids else self.shape

    @property
    def dtypes(self) -> tuple[Dtype, ...]:
        """Of the memories: of the operands, then of the results."""
        return (*self.program.ins, *self.program.results)

    def op(self, block: Block) -> LoopOp:
        """The loop over the arguments of `block`; operands and results lie row-major."""
        count = len(self.program.ins)
        reads = [_access(memory, self.shape) for memory in range(count)]
        writes = [
            _access(count + number, self.outer) for number in range(len(self.program.results))
        ]
        reduction = self.shape[len(self.outer) :]
        return LoopOp(
            block.args,
            shape=self.outer,
            reduction=reduction,
            monoids=self.monoids,
            body=self.program,
            reads=reads,
            writes=writes,
        )

    def memories(self) -> list[Array]:
        outputs = [np.zeros(int(np.prod(self.outer)), NUMPY[d]) for d in self.program.results]
        return [*(array.copy() for array in self.arrays), *outputs]


def _access(memory: int, shape: Sequence[int]) -> Access:
    address, stride = AffineExpr.constant(0), 1
    for axis in reversed(range(len(shape))):
        address += AffineExpr.dimension(axis) * stride
        stride *= shape[axis]
    return Access.of_map(memory, AffineMap(len(shape), 0, (address,)))


def module_of(loops: Sequence[Loop]) -> ModuleOp:
    """A module whose function `k<i>` runs the loop i over its memories."""
    functions: list[func.FuncOp] = []
    for number, loop in enumerate(loops):
        types = [MemRefType(type_of(dtype), [DYNAMIC_INDEX]) for dtype in loop.dtypes]
        block = Block(arg_types=types)
        block.add_ops((loop.op(block), func.ReturnOp()))
        functions.append(func.FuncOp(f"k{number}", (types, []), Region(block)))
    module = ModuleOp(functions)
    module.verify()
    return module


def lowered(module: ModuleOp) -> ModuleOp:
    """`module` after `lower-loops`."""
    module = module.clone()
    LowerLoopsPass().apply(Context(), module)
    module.verify()
    assert not any(isinstance(op, LoopOp) for op in module.walk())
    return module


def interpreted(module: ModuleOp, loops: Sequence[Loop]) -> list[list[Array]]:
    """The memories of each loop after a run of `module`, lowered or not."""
    interpreter = Interpreter(module)
    register_loop_functions(interpreter)
    interpreter.register_implementations(ProgFunctions())
    after = [loop.memories() for loop in loops]
    for number, memories in enumerate(after):
        interpreter.call_op(f"k{number}", tuple(memories))
    return after


def c_of(module: ModuleOp) -> str:
    """The C file of `module`, whose loops are lowered."""
    out = StringIO()
    print_c(module, out)
    return out.getvalue()


def compiled(
    source: str, loops: Sequence[Loop], compiler: str, flags: Sequence[str]
) -> list[list[Array]]:
    """The memories of each loop after a run of the C file `source`."""
    library = compile_c(source, compiler=compiler, flags=("-std=gnu11", *flags))
    after: list[list[Array]] = []
    for number, loop in enumerate(loops):
        memories = [
            _to_c(dtype, memory) for dtype, memory in zip(loop.dtypes, loop.memories(), strict=True)
        ]
        library[f"k{number}"](*(ctypes.c_void_p(memory.ctypes.data) for memory in memories))
        after.append([_of_c(d, memory) for d, memory in zip(loop.dtypes, memories, strict=True)])
    return after


def _to_c(dtype: Dtype, memory: Array) -> Array:
    """As C has the elements: ml_dtypes doesn't extend the sign of an int4 over its byte."""
    return memory.astype(np.int8) if dtype is Dtype.int4 else memory.copy()


def _of_c(dtype: Dtype, memory: Array) -> Array:
    return memory.astype(NUMPY[dtype]) if dtype is Dtype.int4 else memory


def assert_same(
    loops: Sequence[Loop], before: Sequence[Sequence[Array]], after: Sequence[Sequence[Array]]
) -> None:
    """All memories equal bit for bit, but for the signs and payloads of NaNs."""
    for loop, one, other in zip(loops, before, after, strict=True):
        for number, dtype in enumerate(loop.dtypes):
            expected, actual = codes(dtype, one[number]), codes(dtype, other[number])
            np.testing.assert_array_equal(actual, expected, f"memory {number} of {loop.program}")


def codes(dtype: Dtype, array: Array) -> Array:
    """The bits of elements; those of NaNs all alike."""
    if dtype in COMPLEX:
        array = array.view(array.real.dtype)
    elif dtype not in FLOATS:
        return array.view(np.uint8) & 15 if dtype is Dtype.int4 else array.view(np.uint8)
    bits = array.view(f"u{array.dtype.itemsize}")
    with np.errstate(invalid="ignore"):
        return np.where(np.isnan(array), np.zeros_like(bits) - 1, bits)
