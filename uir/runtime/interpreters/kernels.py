"""The meaning of the `uir` level once calls are functions or kernels are formed.

A block is run op by op, on the arrays and references of `interpreters/uir.py`. A launch reads the
operands of its kernel through their maps, computes the kernel's body on whole arrays, and writes
the results; temporaries hold garbage at first, so that a read before a write shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.traits import SymbolTable

from dialects.uir.functions import ApplyOp, FunctionOp, ResultOp
from dialects.uir.kernel import KernelOp, LaunchOp, OutputOp, TemporaryOp, YieldOp
from dialects.uir.loops import ForOp
from dialects.uir.types import dtype_of, shape_of, size_of
from uir.runtime.interpreters.memory import ELEMENTS, Array, Reference
from uir.runtime.interpreters.uir import UirFunctions

_GARBAGE = 0xA5


def run_kernels(module: ModuleOp, buffers: dict[int, Array], output: Array | None) -> None:
    """Runs `module` on the arrays of its slots, which it changes, and of its result.

    Raises RuntimeFailure where an assertion of `insert-checks` fails.
    """
    with np.errstate(all="ignore"):
        _Runner(module, buffers, output).run(module.body.block, {})


class _Runner:
    def __init__(self, module: ModuleOp, buffers: dict[int, Array], output: Array | None):
        self.module = module
        self.output = output
        self.functions = UirFunctions(buffers)
        self.interpreter = Interpreter(module)
        self.interpreter.register_implementations(self.functions)

    def run(self, block: Block, values: dict[SSAValue, Any]) -> Sequence[Any]:
        """What the terminator of `block` is given; `values` has what is known outside."""
        for op in block.ops:
            args = tuple(values[operand] for operand in op.operands)
            if isinstance(op, ResultOp | YieldOp):
                if op.parent_op() is self.module and self.output is not None:
                    self.output[...] = args[0].reshape(-1)
                return args
            values.update(zip(op.results, self.step(op, args, values), strict=True))
        return ()

    def step(
        self, op: Operation, args: tuple[Any, ...], values: dict[SSAValue, Any]
    ) -> Sequence[Any]:
        """The results of `op` on `args`."""
        match op:
            case KernelOp() | FunctionOp():
                return ()
            case ForOp():
                for turn in range(int(args[0])):
                    self.run(op.body.block, {**values, op.index: np.array(turn, np.int32)})
                return (None,)
            case TemporaryOp():
                garbage = np.full(size_of(op.memory) * 4, _GARBAGE, np.uint8)
                memory = garbage.view(ELEMENTS[dtype_of(op.memory)])[: size_of(op.memory)]
                return (Reference.whole(memory),)
            case OutputOp():
                assert self.output is not None
                return (Reference.whole(self.output),)
            case ApplyOp():
                body = self.named(op.function.root_reference.data).regions[0].block
                return self.run(body, dict(zip(body.args, args, strict=True)))
            case LaunchOp():
                self.launch(op, args)
                return ()
            case _:
                results = self.interpreter.run_op(op, args)
                if self.functions.failure is not None:
                    raise self.functions.failure
                return results

    def named(self, symbol: str) -> Operation:
        op = SymbolTable.lookup_symbol(self.module, symbol)
        assert op is not None
        return op

    def launch(self, op: LaunchOp, memories: Sequence[Reference]) -> None:
        target = self.named(op.kernel.root_reference.data)
        if isinstance(target, FunctionOp):
            body = target.body.block
            self.run(body, dict(zip(body.args, memories, strict=True)))
            return
        assert isinstance(target, KernelOp)
        arrays = [reference.buffer for reference in memories]
        self.run_kernel(target, arrays, op.offsets.get_values())

    def run_kernel(self, kernel: KernelOp, arrays: list[Array], offsets: Sequence[int]) -> None:
        """Reads, computes and writes; `offsets` are of the reads, then of the writes."""
        block = kernel.body.block
        numbers = kernel.read_memories.get_values()
        symbols: list[int] = []
        for operand, greatest in kernel.symbol_operands():
            scalar = int(arrays[numbers[operand]][offsets[operand]])
            in_bounds = kernel.is_in_bounds(operand)
            symbols.append(scalar if in_bounds else min(max(scalar, 0), greatest))
        values: dict[SSAValue, Any] = {}
        for k, (argument, read) in enumerate(zip(block.args, kernel.reads, strict=True)):
            at = addresses(read.data, shape_of(argument), symbols) + offsets[k]
            values[argument] = arrays[numbers[k]][at]
        results = self.run(block, values)
        writes = zip(kernel.writes, kernel.write_memories.get_values(), results, strict=True)
        for k, (write, number, result) in enumerate(writes, len(numbers)):
            at = addresses(write.data, result.shape, symbols) + offsets[k]
            arrays[number][at] = result


def addresses(map: AffineMap, shape: tuple[int, ...], symbols: Sequence[int]) -> Array:
    """The address that `map` gives to each index of `shape`."""
    coordinates = list(np.indices(shape)) if shape else []
    # `eval` is typed for ints, but does only arithmetic that arrays have as well.
    address = map.results[0].eval(cast("list[int]", coordinates), symbols)
    return np.broadcast_to(np.asarray(address), shape)
