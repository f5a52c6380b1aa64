"""`inline-calls`: a `call` becomes its body, with the params replaced by the arguments.

    %p = uir.param {index = 0}
    %r = uir.mul %p, %p             ->      %y = uir.mul %a, %a
    %y = uir.call %r, %a

A nested call's body keeps its own params. Equal nodes are merged on the way, and bodies that
nothing calls any more are removed. Where bodies that call twice would expand to far more than the
text, the calls of large bodies are left: they become functions (`outline-calls`). So do scalar
bodies that loops call often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from dialects.uir.base import NodeBuilder, UirOp
from dialects.uir.constants import constant_of, literal_i32
from dialects.uir.elementwise import AddOp
from dialects.uir.functions import CallOp, ParamOp, open_operands, open_values
from dialects.uir.loops import ForOp
from dialects.uir.movement import OffsetOp
from dialects.uir.types import shape_of
from passes.node_driver import builder_before, remove_dead_nodes, rewrite_nodes

SMALL_PROGRAM = 10_000
"""The number of ops to which all calls together may expand."""
SCALAR_COPIES = 512
"""The number of ops to which the calls of one scalar body may expand in loops."""
SMALL_BODY = 256
"""The number of ops to which a body may expand whose calls are inlined whatever the program."""


class InlineCall(RewritePattern):
    """A call becomes a copy of its body, unless the body is `kept`.

    Bodies come before their calls, so the calls in a body are inlined already.
    """

    def __init__(self, open: set[SSAValue], kept: set[SSAValue]):
        self.open = open
        self.kept = kept

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, CallOp)
        if op.body not in self.kept:
            copy = self.instantiate(op.body, op.arguments, builder_before(op, rewriter))
            rewriter.replace(op, [], [copy])

    def instantiate(
        self, body: SSAValue, arguments: Sequence[SSAValue], b: NodeBuilder
    ) -> SSAValue:
        """A copy of what `body` computes from its free params, on `arguments`."""
        values: dict[SSAValue, SSAValue] = {}
        stack = [(body, False)]
        while stack:
            value, operands_done = stack.pop()
            op = value.owner
            assert isinstance(op, UirOp)
            if value in values:
                continue
            if value not in self.open:
                values[value] = value
            elif isinstance(op, ParamOp):
                values[value] = arguments[op.number()]
            elif operands_done:
                values[value] = self.copy(op, values, b)
            else:
                stack.append((value, True))
                stack += [(operand, False) for operand in reversed(open_operands(op))]
        return values[body]

    def copy(self, op: UirOp, values: Mapping[SSAValue, SSAValue], b: NodeBuilder) -> SSAValue:
        operands = [values[operand] for operand in open_operands(op)]
        is_open = any(operand in self.open for operand in operands)
        if isinstance(op, CallOp):
            operands.insert(0, op.body)
        if isinstance(op, OffsetOp):
            operands[1:] = computed_offsets(op, operands[1:], b)
        result = b.make(type(op), *operands, **op.text_attributes())
        assert isinstance(result.owner, Operation)
        # A runtime error is at the statement of the body, not at the call.
        result.owner.location = op.location
        if is_open:
            self.open.add(result)
        return result


def computed_offsets(op: OffsetOp, offsets: Sequence[SSAValue], b: NodeBuilder) -> list[SSAValue]:
    """The offsets of a copy of `op`, where a literal out of bounds is computed.

    The text computes it too, as an argument: it is an error of the run, not of the program.
    """
    computed: list[SSAValue] = []
    for offset, (_, greatest) in zip(offsets, op.bounds(), strict=True):
        value = constant_of(offset)
        if isinstance(value, int) and not 0 <= value <= greatest:
            offset = b.make(AddOp, offset, literal_i32(b, 0))
        computed.append(offset)
    return computed


def expanded_sizes(ops: Iterable[Operation], open: set[SSAValue]) -> dict[SSAValue, int]:
    """The number of ops that each called body expands to, the calls in it included."""
    sizes: dict[SSAValue, int] = {}
    for op in ops:
        if isinstance(op, CallOp) and op.body not in sizes:
            sizes[op.body] = _expanded_size(op.body, sizes, open)
    return sizes


def _expanded_size(body: SSAValue, sizes: Mapping[SSAValue, int], open: set[SSAValue]) -> int:
    size = 0
    seen: set[SSAValue] = set()
    stack = [body]
    while stack:
        value = stack.pop()
        op = value.owner
        if value in open and value not in seen and isinstance(op, UirOp):
            seen.add(value)
            size += sizes[op.body] if isinstance(op, CallOp) else 1
            stack += open_operands(op)
    return size


def large_bodies(ops: Sequence[Operation], open: set[SSAValue]) -> set[SSAValue]:
    """The bodies whose calls are not to be inlined: few where all of it stays small."""
    sizes = expanded_sizes(ops, open)
    calls = [op for op in ops if isinstance(op, CallOp) and op.result not in open]
    repeated = repeated_scalar_bodies(calls, sizes)
    if sum(sizes[call.body] for call in calls) <= max(SMALL_PROGRAM, 4 * len(ops)):
        return repeated
    return repeated | {body for body, size in sizes.items() if size > SMALL_BODY}


def repeated_scalar_bodies(calls: Iterable[CallOp], sizes: Mapping[SSAValue, int]) -> set[SSAValue]:
    """The bodies of which loops would have many copies as scalar code, which no kernel shares."""
    scalars = [op for op in calls if isinstance(op.parent_op(), ForOp) and not shape_of(op.result)]
    counts = Counter(op.body for op in scalars)
    return {
        body for body, count in counts.items() if count > 1 and count * sizes[body] > SCALAR_COPIES
    }


class InlineCallsPass(ModulePass):
    """Replaces calls by their bodies."""

    name = "inline-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_nodes(op, {})
        ops = list(op.body.block.walk())
        open = open_values(ops)
        rewrite_nodes(op, {CallOp: InlineCall(open, large_bodies(ops, open))})
        remove_dead_nodes(op.body.block)
