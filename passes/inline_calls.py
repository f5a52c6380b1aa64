"""`inline-calls`: a `call` becomes its body, with the params replaced by the arguments.

    %p = uir.param {index = 0}
    %r = uir.mul %p, %p             ->      %y = uir.mul %a, %a
    %y = uir.call %r, %a

A nested call's body keeps its own params. Equal nodes are merged on the way, and bodies that
nothing calls any more are removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from dialects.uir.base import NodeBuilder, UirOp
from dialects.uir.functions import CallOp, ParamOp
from passes.node_driver import builder_before, remove_dead_nodes, rewrite_nodes


class InlineCall(RewritePattern):
    """A call becomes a copy of its body. Calls in the copy are visited next."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, CallOp)
        rewriter.replace(op, [], [instantiate(op.body, op.arguments, builder_before(op, rewriter))])


def instantiate(body: SSAValue, arguments: Sequence[SSAValue], b: NodeBuilder) -> SSAValue:
    """A copy of what `body` computes from its free params, on `arguments`."""
    values: dict[SSAValue, SSAValue] = {}
    stack = [(body, False)]
    while stack:
        value, operands_done = stack.pop()
        op = value.owner
        assert isinstance(op, UirOp)
        if value in values:
            continue
        if isinstance(op, ParamOp):
            values[value] = arguments[op.number()]
        elif operands_done:
            values[value] = _copy(op, values, b)
        else:
            stack.append((value, True))
            stack += [(operand, False) for operand in reversed(_open_operands(op))]
    return values[body]


def _open_operands(op: UirOp) -> Sequence[SSAValue]:
    """The operands in which params are replaced: not the body of a nested call."""
    return op.arguments if isinstance(op, CallOp) else op.operands


def _copy(op: UirOp, values: Mapping[SSAValue, SSAValue], b: NodeBuilder) -> SSAValue:
    if all(values[operand] is operand for operand in _open_operands(op)):
        return op.result
    operands = [values[operand] for operand in _open_operands(op)]
    if isinstance(op, CallOp):
        operands.insert(0, op.body)
    return b.make(type(op), *operands, **op.text_attributes())


class InlineCallsPass(ModulePass):
    """Replaces every call by its body."""

    name = "inline-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_nodes(op, {CallOp: InlineCall()})
        remove_dead_nodes(op.body.block)
