"""`outline-calls`: the bodies of the calls that are left become functions.

    %p = uir.param {index = 0}            uir.function @body_r {
    %r = ...                              ^bb0(%p: tensor<f32>):
    %y = uir.call %r, %a         ->         %r = ...
                                            uir.result %r
                                          }
                                          %y = uir.apply %a {function = @body_r}

A function takes the arguments of the call that its body reads, equal ones once. What a body
computes without its params is constant, because bodies read no memory: it is copied. Without a
call, nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from dialects.uir.base import UirOp
from dialects.uir.constants import ConstantOp
from dialects.uir.elementwise import StageOp
from dialects.uir.functions import (
    ApplyOp,
    CallOp,
    FunctionOp,
    ParamOp,
    ResultOp,
)
from passes.node_driver import builder_before, remove_dead_nodes


class _Outliner:
    """Makes the functions of one module: one for a body and a pattern of equal arguments."""

    def __init__(self) -> None:
        self.functions: dict[tuple[SSAValue, tuple[int, ...]], FunctionOp] = {}
        self._params = cache(_params_of)

    def replace(self, call: CallOp) -> None:
        """Puts the application of a function in the place of `call`."""
        rewriter = PatternRewriter(call)
        b = builder_before(call, rewriter)
        arguments = {n: call.arguments[n] for n in self._params(call.body)}
        first: dict[SSAValue, int] = {}
        pattern = tuple(first.setdefault(value, n) for n, value in arguments.items())
        function = self.functions.get((call.body, pattern))
        if function is None:
            name = f"body_{len(self.functions)}"
            function = outline(name, call.body, arguments)
            self.functions[call.body, pattern] = function
        # A function takes its arguments from memory, and a literal has none.
        operands = [
            b.make(StageOp, value) if isinstance(value.owner, ConstantOp) else value
            for value in dict.fromkeys(arguments.values())
        ]
        apply = ApplyOp.make(function.sym_name.data, operands, call.result.type)
        apply.location = call.location
        rewriter.insert(apply, InsertPoint.before(call))
        rewriter.replace(call, [], [apply.result])


def _params_of(body: SSAValue) -> tuple[int, ...]:
    """The numbers of the params that `body` reads, in order."""
    numbers: set[int] = set()
    seen: set[SSAValue] = set()
    pending = [body]
    while pending:
        if (value := pending.pop()) in seen:
            continue
        seen.add(value)
        assert isinstance(value.owner, UirOp)
        if isinstance(value.owner, ParamOp):
            numbers.add(value.owner.number())
        pending += value.owner.operands
    return tuple(sorted(numbers))


def outline(name: str, body: SSAValue, arguments: Mapping[int, SSAValue]) -> FunctionOp:
    """The function that computes `body` from values in the place of the `arguments` for its
    params, by number."""
    distinct = list(dict.fromkeys(arguments.values()))
    block = Block(arg_types=[argument.type for argument in distinct])
    places = dict(zip(distinct, block.args, strict=True))
    inside: dict[SSAValue, SSAValue] = {}
    stack = [(body, False)]
    while stack:
        value, operands_done = stack.pop()
        op = value.owner
        if value in inside:
            continue
        assert isinstance(op, UirOp)
        if isinstance(op, ParamOp):
            inside[value] = places[arguments[op.number()]]
        elif operands_done:
            copy = type(op).create(
                operands=[inside[operand] for operand in op.operands],
                result_types=[value.type],
                properties=op.properties,
                location=op.location,
            )
            copy.result.name_hint = value.name_hint
            block.add_op(copy)
            inside[value] = copy.result
        else:
            stack.append((value, True))
            stack += [(operand, False) for operand in reversed(op.operands)]
    block.add_op(ResultOp.create(operands=[inside[body]]))
    return FunctionOp.create(properties={"sym_name": StringAttr(name)}, regions=[Region(block)])


class OutlineCallsPass(ModulePass):
    """Makes functions of the bodies of calls."""

    name = "outline-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        block = op.body.block
        outliner = _Outliner()
        for inner in list(block.walk()):
            if isinstance(inner, CallOp):
                outliner.replace(inner)
        remove_dead_nodes(block)
        first = block.first_op
        for function in outliner.functions.values():
            assert first is not None
            block.insert_op_before(function, first)
