"""The ranges of scalar code on the `uir` level: which values an offset or a condition can have.

Loop indices and literals bound it; a load, or what is computed from floats, has any value of its
dtype. `Program.ranges` follows the ops between.
"""

from __future__ import annotations

from xdsl.ir import Block, SSAValue

from dialects.prog import BOOLEANS, INTEGERS, Dtype, E, Program, extremes
from dialects.prog.plain import plain
from dialects.uir.constants import constant_of
from dialects.uir.elementwise import PROG_DTYPES, ElementwiseOp
from dialects.uir.loops import ForOp, is_loop_index
from dialects.uir.types import dtype_of, shape_of

_CONE = 64
"""The greatest number of ops of a scalar that are followed."""


def range_of(scalar: SSAValue) -> tuple[int, int]:
    """The least and the greatest value that an i32 or bool scalar can have."""
    ins: list[Dtype] = []
    bounds: list[int] = []
    exprs: dict[SSAValue, E] = {}
    pending = [scalar]
    while pending:
        value = pending[-1]
        if value in exprs:
            pending.pop()
            continue
        op = _followed(value) if len(exprs) < _CONE else None
        missing = [] if op is None else [o for o in op.operands if o not in exprs]
        if missing:
            pending += missing
            continue
        pending.pop()
        dtype = PROG_DTYPES[dtype_of(value)]
        if op is not None:
            exprs[value] = type(op).scalar([exprs[operand] for operand in op.operands], dtype)
        elif (literal := constant_of(value)) is not None:
            exprs[value] = E.const(dtype, literal)
        else:
            exprs[value] = E.input(len(ins), dtype)
            ins.append(dtype)
            bounds += _leaf_range(value, dtype)
    ranges = Program.of_exprs(ins, [exprs[scalar]]).ranges(0)
    run = plain(ranges, ranges.outs)
    if run is None:
        return _leaf_range(scalar, PROG_DTYPES[dtype_of(scalar)])
    least, greatest = run(bounds)
    return least, greatest


def is_in_bounds(offset: SSAValue, greatest: int) -> bool:
    """Whether an i32 scalar is always from 0 to `greatest`."""
    low, high = range_of(offset)
    return low >= 0 and high <= greatest


def _followed(value: SSAValue) -> ElementwiseOp | None:
    """The op that computes a scalar from integers and booleans alone."""
    op = value.owner
    if isinstance(op, ElementwiseOp) and not shape_of(value):
        kinds = (PROG_DTYPES[dtype_of(x)] for x in (value, *op.operands))
        if all(dtype in INTEGERS | BOOLEANS for dtype in kinds):
            return op
    return None


def _leaf_range(value: SSAValue, dtype: Dtype) -> tuple[int, int]:
    if is_loop_index(value):
        return _index_range(value)
    if dtype not in INTEGERS | BOOLEANS:
        return 0, 0  # Nothing reads the bounds of floats.
    least, greatest = extremes(dtype)
    assert isinstance(least, int)
    assert isinstance(greatest, int)
    return least, greatest


def _index_range(index: SSAValue) -> tuple[int, int]:
    """From 0 to below the loop's bound, an i32."""
    loop = index.owner.parent_op() if isinstance(index.owner, Block) else None
    bound = constant_of(loop.bound) if isinstance(loop, ForOp) else None
    last = bound - 1 if isinstance(bound, int) else 2**31 - 2
    return 0, max(last, 0)
