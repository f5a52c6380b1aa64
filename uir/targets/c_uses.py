"""What the C of a function uses: the values that its text mentions, the memories it stores to."""

from collections import Counter
from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, cf, func, memref, vector
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Operation, SSAValue

from uir.targets.c_expressions import is_expression, is_library_call


def stored_arguments(function: func.FuncOp, stored: Mapping[str, frozenset[int]]) -> frozenset[int]:
    """The positions of the memories that `function` stores to, itself or through a callee.

    `stored` holds the same of every function that it calls, by symbol.
    """
    origins: dict[SSAValue, int] = {
        argument: position for position, argument in enumerate(function.body.block.args)
    }
    positions: set[int] = set()

    def mark(memory: SSAValue) -> None:
        if memory in origins:
            positions.add(origins[memory])

    for op in function.walk():
        match op:
            case memref.ViewOp() | memref.CastOp() if op.source in origins:
                origins[op.results[0]] = origins[op.source]
            case memref.StoreOp():
                mark(op.memref)
            case vector.StoreOp():
                mark(op.base)
            case func.CallOp() if not is_library_call(op):
                for position in stored[op.callee.string_value()]:
                    mark(op.arguments[position])
            case _:
                pass
    return frozenset(positions)


def count_uses(function: func.FuncOp) -> tuple[Counter[SSAValue], dict[SSAValue, Operation]]:
    """How often live ops use each value, and the op that uses it last."""
    uses: Counter[SSAValue] = Counter()
    last_user: dict[SSAValue, Operation] = {}
    for op in reversed(list(function.walk())):
        if is_live(op, uses):
            for operand in printed_operands(op):
                uses[operand] += 1
                last_user.setdefault(operand, op)
    return uses, last_user


def printed_operands(op: Operation) -> Sequence[SSAValue]:
    """The values that the text of `op` mentions."""
    if isinstance(op, cf.AssertOp):
        negated = negated_value(op.arg)
        return [op.arg if negated is None else negated]
    return op.operands


def negated_value(value: SSAValue) -> SSAValue | None:
    """`x`, where `value` is `x xor true`."""
    op = value.owner
    if isinstance(op, arith.XOrIOp) and isinstance(op.rhs.owner, arith.ConstantOp):
        return op.lhs if op.rhs.owner.value == IntegerAttr(1, i1) else None
    return None


def is_live(op: Operation, uses: Counter[SSAValue]) -> bool:
    """Whether `op` has an effect or a result in use."""
    loads = memref.LoadOp | memref.ViewOp | memref.CastOp | vector.LoadOp
    if is_expression(op) or isinstance(op, loads):
        return any(uses[result] for result in op.results)
    return True
