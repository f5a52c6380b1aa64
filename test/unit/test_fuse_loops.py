"""Loops that run part by part leave the bits that they leave one after the other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from test_lower_loops import PRODUCT, X, access, assert_same_bits, floats, run
from test_threads import little_work
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp, f32
from xdsl.ir import Block, Region

from dialects.prog import Dtype, LoopOp, Monoid, Program
from passes.fuse_loops import FuseLoopsPass
from passes.lower_loops import LowerLoopsPass

__all__ = ["little_work"]

ROWS, COLUMNS = 6, 8
MEMORY = MemRefType(f32, [DYNAMIC_INDEX])
DOUBLED = Program.of_exprs([Dtype.float32], [X + X])
ITSELF = Program.of_exprs([Dtype.float32], [X])
ALONG, ACROSS = (COLUMNS, 1), (1, ROWS)

WAYS: dict[str, dict[str, Any]] = {
    "double": {
        "shape": [ROWS, COLUMNS],
        "body": DOUBLED,
        "reads": [access(0, ALONG)],
        "writes": [access(2, ALONG)],
    },
    "double next": {
        "shape": [ROWS - 1, COLUMNS],
        "body": DOUBLED,
        "reads": [access(0, ALONG)],
        "writes": [access(2, ALONG)],
    },
    "transpose": {
        "shape": [ROWS, COLUMNS],
        "body": DOUBLED,
        "reads": [access(0, ACROSS)],
        "writes": [access(2, ALONG)],
    },
    "sums of rows": {
        "shape": [ROWS],
        "reduction": [COLUMNS],
        "monoids": [Monoid.SUM],
        "body": ITSELF,
        "reads": [access(0, ALONG)],
        "writes": [access(2, (1,))],
    },
    "maxima of columns": {
        "shape": [COLUMNS],
        "reduction": [ROWS],
        "monoids": [Monoid.MAX],
        "body": ITSELF,
        "reads": [access(0, (1, COLUMNS))],
        "writes": [access(2, (1,))],
    },
    "scale rows": {
        "shape": [ROWS, COLUMNS],
        "body": PRODUCT,
        "reads": [access(0, ALONG), access(1, (1, 0))],
        "writes": [access(2, ALONG)],
    },
}
"""Loops over three memories, of which the last one is written."""


@st.composite
def modules(draw: st.DrawFn) -> ModuleOp:
    """A function `k` that calls some of the loops, each on three of its four memories."""
    ways = draw(st.lists(st.sampled_from(sorted(WAYS)), min_size=2, max_size=5))
    functions: dict[str, func.FuncOp] = {}
    main = Block(arg_types=[MEMORY] * 4)
    for way in ways:
        if way not in functions:
            block = Block(arg_types=[MEMORY] * 3)
            block.add_ops((LoopOp(block.args, **WAYS[way]), func.ReturnOp()))
            functions[way] = private(f"kernel_{way.replace(' ', '_')}", block)
        numbers = draw(st.permutations(range(4)))[:3]
        arguments = [main.args[number] for number in numbers]
        main.add_op(func.CallOp(functions[way].sym_name.data, arguments, []))
    main.add_op(func.ReturnOp())
    return ModuleOp([*functions.values(), func.FuncOp("k", ([MEMORY] * 4, []), Region(main))])


def private(name: str, block: Block) -> func.FuncOp:
    types = [argument.type for argument in block.args]
    return func.FuncOp(name, (types, []), Region(block), visibility="private")


@pytest.mark.usefixtures("little_work")
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(modules())
def test_random_loops_keep_their_bits(module: ModuleOp) -> None:
    """The interpreter runs the last part first."""
    module.verify()
    memories = [floats(ROWS * COLUMNS, seed) for seed in range(4)]
    before = run(module, memories, [])
    FuseLoopsPass().apply(Context(), module)
    module.verify()
    names = [op.sym_name.data for op in module.ops if isinstance(op, func.FuncOp)]
    event(f"fused: {any('_to_' in name for name in names)}")
    LowerLoopsPass().apply(Context(), module)
    module.verify()
    assert_same_bits(before, run(module, memories, []))
