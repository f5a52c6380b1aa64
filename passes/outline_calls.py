"""`outline-calls`: the bodies of the calls that are left become functions.

    %p = uir.param {index = 0}            uir.function @body_r {
    %r = ...                              ^bb0(%p: tensor<f32>):
    %y = uir.call %r, %a         ->         %r = ...
                                            uir.result %r
                                          }
                                          %y = uir.apply %a {function = @body_r}

A function takes the arguments of the call, equal ones once, and then what the body reads of the
program around it. Literals are copied. Without a call, nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from dialects.uir.base import UirOp
from dialects.uir.elementwise import ConstantOp, StageOp
from dialects.uir.functions import (
    ApplyOp,
    CallOp,
    FunctionOp,
    ParamOp,
    ResultOp,
    open_operands,
    open_values,
)
from passes.node_driver import builder_before, remove_dead_nodes


class _Outliner:
    """Makes the functions of one module: one for a body and a pattern of equal arguments."""

    def __init__(self, module: ModuleOp):
        self.open = open_values(module.body.block.walk())
        self.functions: dict[tuple[SSAValue, tuple[int, ...]], FunctionOp] = {}

    def replace(self, call: CallOp) -> None:
        """Puts the application of a function in the place of `call`."""
        rewriter = PatternRewriter(call)
        b = builder_before(call, rewriter)
        body = self.closure(call.body)
        values = [*call.arguments, *captured_values(body, self.open)]
        pattern = tuple(values.index(value) for value in values)
        function = self.functions.get((call.body, pattern))
        if function is None:
            function = self.outline(call.body, body, values, len(call.arguments))
            self.functions[call.body, pattern] = function
        # A function takes its arguments from memory, and a literal has none.
        operands = [
            b.make(StageOp, value) if isinstance(value.owner, ConstantOp) else value
            for value in dict.fromkeys(values)
        ]
        apply = ApplyOp.make(function.sym_name.data, operands, call.result.type)
        apply.location = call.location
        rewriter.insert(apply, InsertPoint.before(call))
        if call.result in self.open:
            self.open.add(apply.result)
        rewriter.replace(call, [], [apply.result])

    def closure(self, body: SSAValue) -> list[UirOp]:
        """The ops that `body` computes from its params, in order."""
        ops: list[UirOp] = []
        seen: set[SSAValue] = set()
        stack = [(body, False)]
        while stack:
            value, operands_done = stack.pop()
            op = value.owner
            if operands_done:
                assert isinstance(op, UirOp)
                ops.append(op)
            elif value in self.open and value not in seen:
                assert isinstance(op, UirOp)
                seen.add(value)
                stack.append((value, True))
                stack += [(operand, False) for operand in reversed(open_operands(op))]
        return ops

    def outline(
        self, result: SSAValue, body: Sequence[UirOp], values: Sequence[SSAValue], params: int
    ) -> FunctionOp:
        """The function that computes `result` from `values`, of which `params` are for params."""
        distinct = list(dict.fromkeys(values))
        block = Block(arg_types=[value.type for value in distinct])
        inside: dict[SSAValue, SSAValue] = dict(zip(distinct, block.args, strict=True))
        for op in body:
            if isinstance(op, ParamOp):
                inside[op.result] = inside[values[op.number()]]
                continue
            for operand in op.operands:
                if isinstance(operand.owner, ConstantOp) and operand not in inside:
                    literal = operand.owner.clone()
                    block.add_op(literal)
                    inside[operand] = literal.result
            copy = type(op).create(
                operands=[inside[operand] for operand in op.operands],
                result_types=[op.result.type],
                properties=op.properties,
                location=op.location,
            )
            copy.result.name_hint = op.result.name_hint
            block.add_op(copy)
            inside[op.result] = copy.result
        # A body that is a literal or computed elsewhere has no params, and is inlined.
        block.add_op(ResultOp.create(operands=[inside[result]]))
        name = f"body_{len(self.functions)}"
        return FunctionOp.create(properties={"sym_name": StringAttr(name)}, regions=[Region(block)])


def captured_values(body: Sequence[UirOp], open: set[SSAValue]) -> list[SSAValue]:
    """What the ops of a body read of the program around it, but for literals."""
    operands = dict.fromkeys(operand for op in body for operand in op.operands)
    return [v for v in operands if v not in open and not isinstance(v.owner, ConstantOp)]


class OutlineCallsPass(ModulePass):
    """Makes functions of the bodies of calls."""

    name = "outline-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        block = op.body.block
        outliner = _Outliner(op)
        for inner in list(block.walk()):
            if isinstance(inner, CallOp):
                outliner.replace(inner)
        remove_dead_nodes(block)
        first = block.first_op
        for function in outliner.functions.values():
            assert first is not None
            block.insert_op_before(function, first)
