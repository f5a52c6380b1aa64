"""The floating-point operations of a program, as benchmarks count them.

One for each element of an elementwise op, whatever its dtype (a math op is one; `detach` and
`stage` are none), and `size - result size` for a `reduce`. A call counts what its body computes
from the params, a loop its turns.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from dialects.uir.constants import constant_of
from dialects.uir.elementwise import ElementwiseOp
from dialects.uir.functions import CallOp, open_operands, open_values
from dialects.uir.loops import ForOp
from dialects.uir.math import UnaryF32Op
from dialects.uir.reduce import ReduceOp
from dialects.uir.types import size_of
from passes.node_driver import remove_dead_nodes


class UnknownTurns(ValueError):
    """A loop whose number of turns is only known when the program runs."""

    def __init__(self, loop: ForOp) -> None:
        super().__init__("the bound of a loop is computed, so its turns cannot be counted")
        self.loop = loop


def count_flops(module: ModuleOp) -> int:
    """The operations of a program in core ops, from which its dead statements are removed.

    Raises UnknownTurns.
    """
    block = module.body.block
    remove_dead_nodes(block)
    return _Counter(block).count(block)


class _Counter:
    def __init__(self, block: Block) -> None:
        ops = list(block.walk())
        self._open = open_values(ops)
        self._bodies: dict[SSAValue, int] = {}
        # A body stands before its calls, so that the bodies of calls in it are counted already.
        for op in ops:
            if isinstance(op, CallOp) and op.body not in self._bodies:
                self._bodies[op.body] = self._count_body(op.body)

    def count(self, block: Block) -> int:
        """What one run of `block` computes."""
        total = 0
        for op in block.ops:
            if isinstance(op, ForOp):
                total += self.count(op.body.block) * turns_of(op)
            elif not any(result in self._open for result in op.results):
                total += self._count_op(op)
        return total

    def _count_op(self, op: Operation) -> int:
        return self._bodies[op.body] if isinstance(op, CallOp) else flops_of(op)

    def _count_body(self, body: SSAValue) -> int:
        return sum(map(self._count_op, self._open_ops(body)))

    def _open_ops(self, body: SSAValue) -> Iterator[Operation]:
        """The ops that a call of `body` computes."""
        seen: set[SSAValue] = set()
        values = [body]
        while values:
            value = values.pop()
            if value in self._open and value not in seen:
                seen.add(value)
                assert isinstance(value.owner, Operation)
                yield value.owner
                values += open_operands(value.owner)


def flops_of(op: Operation) -> int:
    """What one evaluation of `op` by itself computes."""
    if isinstance(op, ElementwiseOp | UnaryF32Op):
        return size_of(op.result)
    if isinstance(op, ReduceOp):
        return size_of(op.x) - size_of(op.result)
    return 0


def turns_of(loop: ForOp) -> int:
    """How often the body of `loop` runs. Raises UnknownTurns."""
    turns = constant_of(loop.bound)
    if turns is None:
        raise UnknownTurns(loop)
    return max(0, int(turns))
