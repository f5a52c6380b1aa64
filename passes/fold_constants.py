"""`fold-constants`: what only literals decide becomes a literal.

    %0 = uir.constant "2.0"
    %1 = uir.constant "3.0"         ->      %0 = uir.constant "6.0"
    %a = uir.mul %0, %1                     %b = uir.expand %0 : ... -> tensor<4xf32>
    %b = uir.expand %a : ... -> tensor<4xf32>

An op is folded when all its operands are known, to the value that running it gives: i32 wraps, f32
rounds once, `-0.0` and NaN stay what they are, a `reduce` adds in its order. Known values of
different elements (a `stack` of literals) are followed but have no literal, so they stay ops.
Sugar and math ops on known operands are expanded, then folded.

Left alone are
  * a statement that is a runtime error, and a computed offset that is out of bounds (as a literal
    it would make the program invalid);
  * what a `gradient` still in the module reaches, because its contributions count per node;
  * values that some operand decides only in part. `mul x 0.0` is NaN for an infinite x, `add x 0.0`
    loses the sign of `-0.0`, and `where true a b` still needs b, which may fail;
  * calls (`inline-calls` opens them) and buffers, whose contents are the caller's.

Equal nodes are merged on the way, and dead ones removed at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from dialects.prog import evaluate, fold
from dialects.uir.base import UirOp
from dialects.uir.constants import ConstantOp
from dialects.uir.dialect import STATEMENTS
from dialects.uir.elementwise import (
    PROG_DTYPES,
    CastFailsOp,
    DivisionFailsOp,
    ElementwiseOp,
    SameValueOp,
    failure_of_kind,
    prog_dtypes,
    program_of_kind,
)
from dialects.uir.math import UnaryF32Op
from dialects.uir.movement import (
    ExpandOp,
    IndexOp,
    MovementOp,
    OffsetOp,
    PadOp,
    PermuteOp,
    StackOp,
    literal_like,
)
from dialects.uir.reduce import MONOIDS, ReduceOp
from dialects.uir.sugar import SugarOp
from dialects.uir.types import dtype_of, is_value, shape_of, size_of
from passes.expand_math import reached_by_gradients
from passes.inline_body import body_of, inline_scalar_body
from passes.node_driver import builder_before, remove_dead_nodes, rewrite_nodes

if TYPE_CHECKING:
    from dialects.prog.evaluate import Array

_MAX_HELD = 1024
"""The most elements of a known value whose elements differ: bounds the memory of the pass."""
_MAX_FOLDED = 1 << 16
"""The most elements that a `reduce` folds here: bounds the time of the pass."""

"""The numpy dtype of the bytes of a literal."""


class Known(NamedTuple):
    """A value that literals decide: all its elements, or rank 0 when they have the same bits."""

    elements: Array

    @property
    def is_uniform(self) -> bool:
        return self.elements.ndim == 0

    def whole(self, shape: tuple[int, ...]) -> Array:
        """The elements in the value's `shape`."""
        import numpy as np

        return np.broadcast_to(self.elements, shape)


class FoldConstant(RewritePattern):
    """An op on known operands becomes its literal, if it has one."""

    def __init__(self, kept: set[Operation]):
        self.kept = kept
        self._known: dict[SSAValue, Known] = {}

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, UirOp)
        if op in self.kept or not is_value(op.result.type):
            return
        operands = [self.known_of(operand) for operand in op.operands]
        known = [operand for operand in operands if operand is not None]
        if len(known) < len(operands):
            return
        b = builder_before(op, rewriter)
        if isinstance(op, SugarOp):
            rewriter.replace(op, [], [op.expand(b)])
        elif isinstance(op, UnaryF32Op):
            rewriter.replace(op, [], [inline_scalar_body(body_of(type(op)), op.x, b)])
        elif (value := value_of(op, known)) is not None:
            self._known[op.result] = value
            if value.is_uniform and not _is_literal(op) and _may_be_literal(op, value):
                literal = literal_like(b, value.elements.item(), op.result)
                rewriter.replace(op, [], [literal])

    def known_of(self, value: SSAValue) -> Known | None:
        """What literals say of `value`."""
        if isinstance(value.owner, ConstantOp):
            return _literal(value.owner)
        return self._known.get(value)


def _literal(op: ConstantOp) -> Known:
    import numpy as np

    literal = op.value.data
    return Known(np.frombuffer(literal.data, literal.numpy_format).reshape(()))


def _is_literal(op: UirOp) -> bool:
    """Whether `op` is how a literal of a shape is written."""
    return isinstance(op, ExpandOp) and isinstance(op.x.owner, ConstantOp)


def _may_be_literal(op: UirOp, value: Known) -> bool:
    """Whether no use of `op` as an offset forbids the literal of `value`."""
    for use in op.result.uses:
        user = use.operation
        if isinstance(user, OffsetOp) and use.index > 0:
            _, greatest = user.bounds()[use.index - 1]
            if not 0 <= value.elements <= greatest:
                return False
    return True


def value_of(op: UirOp, operands: Sequence[Known]) -> Known | None:
    """The result of `op` on known operands; None where it fails, or is too large to hold."""
    match op:
        case ElementwiseOp():
            return _elementwise(op, operands)
        case SameValueOp():
            return operands[0]
        case ReduceOp():
            return _reduced(op, operands[0])
        case OffsetOp() if not _in_bounds(op, operands[1:]):
            return None
        case PadOp() if any(op.amounts()) and any(operands[0].elements.tobytes()):
            return _moved(op, operands)
        case MovementOp() if operands[0].is_uniform:
            return operands[0]
        case StackOp() if len({operand.elements.tobytes() for operand in operands}) == 1:
            return operands[0] if operands[0].is_uniform else _moved(op, operands)
        case MovementOp() | StackOp():
            return _moved(op, operands)
        case _:
            return None


def _elementwise(op: ElementwiseOp, operands: Sequence[Known]) -> Known | None:
    is_uniform = all(operand.is_uniform for operand in operands)
    if not is_uniform and size_of(op.result) > _MAX_HELD:
        return None
    shape = () if is_uniform else shape_of(op.result)
    ins = prog_dtypes(op)
    arrays = [operand.elements for operand in operands]
    if op.can_fail() and evaluate(failure_of_kind(type(op), ins), arrays, shape)[0].any():
        return None
    program = program_of_kind(type(op), ins, PROG_DTYPES[dtype_of(op.result)])
    return _compressed(evaluate(program, arrays, shape)[0])


def _reduced(op: ReduceOp, x: Known) -> Known | None:
    # Every element of a uniform result is the same fold, so one is enough.
    shape = shape_of(op.x)[: op.pop()] if x.is_uniform else shape_of(op.x)
    if prod(shape) > _MAX_FOLDED:
        return None
    return _compressed(fold(MONOIDS[op.kind.data], x.whole(shape), op.pop()))


def _in_bounds(op: OffsetOp, offsets: Sequence[Known]) -> bool:
    bounds = zip(op.bounds(), offsets, strict=True)
    return all(0 <= offset.elements <= greatest for (_, greatest), offset in bounds)


def _moved(op: UirOp, operands: Sequence[Known]) -> Known | None:
    import numpy as np

    shape = shape_of(op.result)
    if size_of(op.result) > _MAX_HELD:
        return None
    x, *rest = [
        operand.whole(shape_of(value)) for operand, value in zip(operands, op.operands, strict=True)
    ]
    match op:
        case StackOp():
            return _compressed(np.stack([x, *rest]))
        case PermuteOp():
            moved = x.transpose(op.axes())
        case ExpandOp():
            moved = np.broadcast_to(x, shape)
        case PadOp():
            amounts = op.amounts()
            moved = np.pad(x, list(zip(amounts[::2], amounts[1::2], strict=True)))
        case IndexOp():
            moved = x[tuple(int(offset) for offset in rest)]
        case OffsetOp():
            starts = [int(offset) for offset in rest]
            moved = x[tuple(slice(s, s + dim) for s, dim in zip(starts, shape, strict=True))]
        case _:
            moved = x.reshape(shape)
    return _compressed(np.asarray(moved))


def _compressed(elements: Array) -> Known:
    """`elements`, as one when all have the same bits; NaNs are the same."""
    import numpy as np

    if elements.dtype == np.float32:
        elements = np.where(np.isnan(elements), np.float32(np.nan), elements)
    flat = np.ascontiguousarray(elements).reshape(-1)
    words = flat.view(f"u{flat.itemsize}")
    return Known(flat[0].reshape(()) if (words == words[0]).all() else elements)


_FOLDED = (ElementwiseOp, SameValueOp, MovementOp, StackOp, SugarOp, UnaryF32Op)


class FoldConstantsPass(ModulePass):
    """Replaces what only literals decide by a literal."""

    name = "fold-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pattern = FoldConstant(reached_by_gradients(op))
        folded = [kind for kind in STATEMENTS if issubclass(kind, _FOLDED)]
        rewrite_nodes(op, dict.fromkeys((*folded, DivisionFailsOp, CastFailsOp), pattern))
        remove_dead_nodes(op.body.block)
