"""`lower-loops` keeps every bit: random loops run before and after it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, ModuleOp, f32
from xdsl.interpreter import Interpreter
from xdsl.ir import Block, Region
from xdsl.ir.affine import (
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineExpr,
    AffineMap,
    AffineSet,
)
from xdsl.utils.exceptions import PassFailedException

from dialects.prog import INTEGERS, Access, Coord, Dtype, E, LoopOp, Monoid, Program, type_of
from dialects.vector import is_scalable
from passes.loops import schedule
from passes.lower_loops import LowerLoopsPass
from uir.runtime.interpreters.loops import register_loop_functions
from uir.runtime.interpreters.prog import ProgFunctions

Array = np.ndarray[Any, np.dtype[Any]]
DTYPES = (Dtype.float32, Dtype.int32, Dtype.bool)
LOWERED = (*DTYPES, Dtype.int64)
NUMPY = {Dtype.float32: np.float32, Dtype.int32: np.int32, Dtype.bool: np.bool_}
ZERO = AffineExpr.constant(0)
SIZE = 200
"""Elements of a memory that random loops read."""
VSCALES = (1, 2, 4)
"""Of vectors of 4, 8 and 16 lanes."""


def module_of(loop: Callable[[Block], LoopOp], dtypes: Sequence[Dtype], symbols: int) -> ModuleOp:
    """A module whose function `k` runs `loop` over memories of `dtypes`."""
    types = [MemRefType(type_of(dtype), [DYNAMIC_INDEX]) for dtype in dtypes]
    inputs = [*types, *([IndexType()] * symbols)]
    block = Block(arg_types=inputs)
    block.add_ops((loop(block), func.ReturnOp()))
    module = ModuleOp([func.FuncOp("k", (inputs, []), Region(block))])
    module.verify()
    return module


def run(
    module: ModuleOp, memories: Sequence[Array], symbols: Sequence[int], vscale: int = 1
) -> list[Array]:
    """What the memories hold after the function has run."""
    interpreter = Interpreter(module)
    register_loop_functions(interpreter, vscale)
    interpreter.register_implementations(ProgFunctions())
    copies = [memory.copy() for memory in memories]
    interpreter.call_op("k", (*copies, *symbols))
    return copies


def assert_same_bits(before: Sequence[Array], after: Sequence[Array]) -> None:
    """Equal bit for bit, but for the payloads of NaNs."""
    for one, other in zip(before, after, strict=True):
        if one.dtype == np.float32:
            nans = np.isnan(one)
            np.testing.assert_array_equal(nans, np.isnan(other))
            one, other = np.where(nans, 0, one.view("i4")), np.where(nans, 0, other.view("i4"))
        np.testing.assert_array_equal(one, other)


def check(module: ModuleOp, memories: Sequence[Array], symbols: Sequence[int] = ()) -> None:
    before = run(module, memories, symbols)
    lowered = module.clone()
    LowerLoopsPass().apply(Context(), lowered)
    lowered.verify()
    assert not any(isinstance(op, LoopOp) for op in lowered.walk())
    for vscale in VSCALES if has_vectors(lowered) else [1]:
        assert_same_bits(before, run(lowered, memories, symbols, vscale))


def has_vectors(module: ModuleOp) -> bool:
    """Whether `module` has scalable vectors."""
    return any(is_scalable(result.type) for op in module.walk() for result in op.results)


class Case:
    """A module and its memories; shown as the module's text when a test fails."""

    def __init__(self, module: ModuleOp, memories: list[Array]) -> None:
        self.module = module
        self.memories = memories

    def __repr__(self) -> str:
        return str(self.module)


@st.composite
def expressions(draw: st.DrawFn, operands: list[E], count: int) -> list[E]:
    """`operands` and `count` expressions over them."""
    pool = [*operands, E.const(Dtype.float32, -0.0), E.const(Dtype.int32, -1), E.coord(0)]
    pool += [E.const(Dtype.bool, True), E.const(Dtype.int32, 3), E.const(Dtype.float32, math.nan)]
    for _ in range(count):
        a = draw(st.sampled_from(pool))
        b = draw(st.sampled_from([e for e in pool if e.dtype is a.dtype]))
        c = draw(st.sampled_from([e for e in pool if e.dtype is Dtype.bool]))
        made = [E.maximum(a, b), E.minimum(a, b), E.less(a, b), E.equal(a, b), E.copy(a)]
        made += [E.where(c, a, b), *(E.cast(dtype, a) for dtype in LOWERED)]
        if a.dtype is not Dtype.bool:
            made += [a + b, a * b, E.recip(a)]
        if a.dtype is not Dtype.float32:
            made += [a & b, a | b, a ^ b]
        if a.dtype in INTEGERS:
            made += [E.idiv(a, b), E.mod(a, b)]
        if a.dtype is Dtype.int32:
            made.append(E.bitcast(Dtype.float32, a))
        if a.dtype is Dtype.float32:
            # The bits of a NaN are unspecified.
            number = E.where(E.equal(a, a), a, E.const(Dtype.float32, 0.0))
            made.append(E.bitcast(Dtype.int32, number))
        pool.append(draw(st.sampled_from(made)))
    return pool


def axis_sum(strides: Sequence[int], constant: int = 0) -> AffineExpr:
    terms = [AffineExpr.dimension(axis) * stride for axis, stride in enumerate(strides)]
    return sum(terms, AffineExpr.constant(constant))


@st.composite
def read_accesses(draw: st.DrawFn, memory: int, extents: Sequence[int]) -> Access:
    """An access of a memory of SIZE elements: strided, guarded or with divisions."""
    kind = draw(st.sampled_from(["strided", "guarded", "divided"]))
    order = draw(st.permutations(range(len(extents))))
    strides = [0] * len(extents)
    step = 1
    for axis in order:
        if draw(st.booleans()):
            strides[axis] = step
            step *= extents[axis]
    expr = axis_sum(strides)
    constraints: list[AffineConstraintExpr] = []
    if kind == "divided" and strides:
        split = draw(st.integers(2, 5))
        expr = (expr + draw(st.integers(-3, 3))) // split * 2 + expr % split
    if kind == "guarded" and strides:
        axis = draw(st.integers(0, len(extents) - 1))
        shifted = AffineExpr.dimension(axis) - draw(st.integers(-1, 2))
        form = draw(st.sampled_from([AffineConstraintKind.ge, AffineConstraintKind.eq]))
        constraints.append(AffineConstraintExpr(form, shifted, ZERO))
        expr = expr - draw(st.integers(0, 3))
    # Keep every address that can be read within the memory.
    for bound in (expr, AffineExpr.constant(SIZE - 2) - expr):
        constraints.append(AffineConstraintExpr(AffineConstraintKind.ge, bound, ZERO))
    rank = len(extents)
    if draw(st.booleans()):
        expr = expr + AffineExpr.symbol(0)
    return Access(memory, AffineMap(rank, 1, (expr,)), AffineSet(rank, 1, tuple(constraints)))


@st.composite
def pointwise(draw: st.DrawFn, ins: Sequence[Dtype], count: int, rank: int) -> Program:
    """A program over operands `ins`, of up to two results that a memory can hold."""
    operands = [E.input(i, dtype) for i, dtype in enumerate(ins)]
    pool = [e for e in draw(expressions(operands, count)) if e.dtype in NUMPY]
    programs = [Program.of_exprs(ins, [e]) for e in pool]
    kept = [e for e, program in zip(pool, programs, strict=True) if rank or not has_coord(program)]
    return Program.of_exprs(ins, kept[-draw(st.integers(1, 2)) :])


def has_coord(program: Program) -> bool:
    return any(isinstance(node, Coord) for node in program.nodes)


@st.composite
def write_maps(draw: st.DrawFn, shape: Sequence[int]) -> AffineMap:
    """A map of every point to its own element, from 1 on."""
    strides = [0] * len(shape)
    step = 1
    for axis in draw(st.permutations(range(len(shape)))):
        strides[axis] = step
        step *= shape[axis]
    return AffineMap(len(shape), 0, (axis_sum(strides, 1),))


def random_memories(seed: int) -> list[Array]:
    """One memory of each dtype: half of it special or any bits, half small numbers."""
    generator = np.random.default_rng(seed)
    words = generator.integers(0, 1 << 32, SIZE, dtype=np.uint64).astype(np.uint32)
    words[::9] = [0x7F800000, 0x80000000, 0x7FC00000, 0xFF800000] * 5 + [1] * 3
    small = generator.integers(-3, 4, SIZE)
    pick = generator.random(SIZE) < 0.5
    return [
        np.where(pick, words.view(np.float32), small.astype(np.float32)),
        np.where(pick, words.view(np.int32), small.astype(np.int32)),
        generator.random(SIZE) < 0.5,
    ]


def loop_case(
    draw: st.DrawFn,
    shape: Sequence[int],
    reduction: Sequence[int],
    programs: Callable[[Sequence[Dtype], int], st.SearchStrategy[Program]],
    accesses: Callable[[int, Sequence[int]], st.SearchStrategy[Access]],
) -> Case:
    """A loop over three memories to read and as many to write as it has results.

    `programs` are over operands of dtypes and a number of axes, `accesses` of a memory at points
    of extents.
    """
    axes = [*shape, *reduction]
    ins = draw(st.lists(st.sampled_from(DTYPES), min_size=1, max_size=3))
    body = draw(programs(ins, len(axes)))
    properties: dict[str, Any] = {
        "shape": shape,
        "reduction": reduction,
        "body": body,
        "reads": [draw(accesses(DTYPES.index(dtype), axes)) for dtype in ins],
    }
    results = body.results
    if reduction:
        takers = [[m for m in Monoid if m.accepts(dtype)] for dtype in results]
        properties["monoids"] = [draw(st.sampled_from(monoids)) for monoids in takers]
    if reduction and draw(st.booleans()):
        epilogue = draw(programs([*results, Dtype.float32], len(shape)))
        properties["epilogue"] = epilogue
        properties["epilogue_reads"] = [draw(accesses(0, shape))]
        results = epilogue.results
    map = draw(write_maps(shape))
    writes = [Access.of_map(len(DTYPES) + i, map) for i in range(len(results))]
    module = module_of(
        lambda block: LoopOp(block.args[:-1], block.args[-1:], writes=writes, **properties),
        [*DTYPES, *results],
        1,
    )
    memories = random_memories(draw(st.integers(0, 1 << 32)))
    count = math.prod(shape) + 1
    return Case(module, [*memories, *(np.zeros(count, NUMPY[dtype]) for dtype in results)])


@st.composite
def loops(draw: st.DrawFn) -> Case:
    """A loop with any pointwise programs, over any memory."""
    extents = st.sampled_from([1, 1, 2, 3, 5, 16, 19])
    shape = draw(st.lists(extents, max_size=3).filter(lambda s: math.prod(s) <= 100))
    reduction = draw(st.lists(st.sampled_from([1, 2, 3]), max_size=2))

    def programs(ins: Sequence[Dtype], rank: int) -> st.SearchStrategy[Program]:
        return st.integers(0, 8).flatmap(lambda count: pointwise(ins, count, rank))

    return loop_case(draw, shape, reduction, programs, read_accesses)


@settings(max_examples=150, deadline=None)
@given(loops())
def test_random_loops_keep_their_bits(case: Case) -> None:
    check(case.module, case.memories, [1])


def access(memory: int, strides: Sequence[int]) -> Access:
    return Access.of_map(memory, AffineMap(len(strides), 0, (axis_sum(strides),)))


X, Y, Z = (E.input(i, Dtype.float32) for i in range(3))
PRODUCT = Program.of_exprs([Dtype.float32] * 2, [X * Y])


def f32_loop(count: int, **properties: Any) -> ModuleOp:
    """A module with a loop over `count` memories of f32."""
    return module_of(lambda block: LoopOp(block.args, **properties), [Dtype.float32] * count, 0)


@st.composite
def sums_and_products(draw: st.DrawFn) -> Case:
    """Folds of arithmetic on floats, over rows and lanes, of which every read may lack an axis."""
    axes = [draw(st.sampled_from([1, 3, 11])), draw(st.sampled_from([16, 20, 32, 35])), 3]
    pool = [X, Y, Z, E.const(Dtype.float32, -1.5)]
    for _ in range(draw(st.integers(0, 5))):
        a, b = draw(st.sampled_from(pool)), draw(st.sampled_from(pool))
        pool.append(draw(st.sampled_from([a + b, a - b, a * b, a / b, E.recip(a)])))
    outs = pool[-draw(st.integers(1, 2)) :]
    reads = [Access.of_map(i, AffineMap(3, 0, (draw(addresses(axes)),))) for i in range(3)]
    properties: dict[str, Any] = {}
    if draw(st.booleans()):
        epilogue = Program.of_exprs([Dtype.float32] * len(outs), [E.recip(X)] * len(outs))
        properties["epilogue"] = epilogue
    module = f32_loop(
        3 + len(outs),
        shape=axes[:2],
        reduction=axes[2:],
        monoids=[draw(st.sampled_from([Monoid.SUM, Monoid.PRODUCT])) for _ in outs],
        body=Program.of_exprs([Dtype.float32] * 3, outs),
        reads=reads,
        writes=[access(3 + i, (axes[1], 1)) for i in range(len(outs))],
        **properties,
    )
    generator = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    size = math.prod(axes)
    memories = [generator.normal(size=size).astype(np.float32) for _ in range(3)]
    for memory in memories:
        places = generator.integers(0, size, 8)
        memory[places] = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, -1e-40, 3e38]
    results = [np.zeros(axes[0] * axes[1], np.float32) for _ in outs]
    return Case(module, [*memories, *results])


@st.composite
def addresses(draw: st.DrawFn, axes: Sequence[int]) -> AffineExpr:
    """A place for each point along some of the axes, which lie in memory in any order."""
    strides = [0] * len(axes)
    step = 1
    for axis in draw(st.permutations(range(len(axes)))):
        if draw(st.booleans()):
            strides[axis] = step
            step *= axes[axis]
    return axis_sum(strides)


@settings(max_examples=150, deadline=None)
@given(sums_and_products())
def test_vectors_of_any_width_keep_the_bits(case: Case) -> None:
    check(case.module, case.memories)


@pytest.mark.parametrize("right", ["kn", "nk"])
def test_products_are_in_vectors(right: str) -> None:
    module = product(7, 35, 6, "mk", right)
    LowerLoopsPass().apply(Context(), module)
    assert has_vectors(module)


@pytest.mark.parametrize("monoid", Monoid)
def test_only_sums_and_products_are_in_vectors(monoid: Monoid) -> None:
    """A fold beside a sum, over the rows of a matrix."""
    module = f32_loop(
        3,
        shape=[32],
        reduction=[5],
        monoids=[Monoid.SUM, monoid],
        body=Program.of_exprs([Dtype.float32], [X, X]),
        reads=[access(0, (1, 32))],
        writes=[access(1, (1,)), access(2, (1,))],
    )
    LowerLoopsPass().apply(Context(), module)
    assert has_vectors(module) == (monoid in (Monoid.SUM, Monoid.PRODUCT))


def floats(size: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=size).astype(np.float32)


@pytest.mark.parametrize(
    ("m", "n", "k"),
    [(1, 1, 5), (8, 32, 3), (10, 16, 2), (7, 35, 2), (13, 19, 6), (3, 10, 4), (23, 48, 1)],
)
@pytest.mark.parametrize("left", ["mk", "km"])
@pytest.mark.parametrize("right", ["kn", "nk"])
def test_products_of_matrices(m: int, n: int, k: int, left: str, right: str) -> None:
    check_product(m, n, k, left, right)


@pytest.mark.parametrize("left", ["mk", "km"])
@pytest.mark.parametrize("right", ["kn", "nk"])
@pytest.mark.parametrize("panels", [0, 1 << 10])
@pytest.mark.parametrize("n", [10, 16, 20, 48, 70])
def test_products_that_outgrow_the_caches(
    monkeypatch: pytest.MonkeyPatch, left: str, right: str, panels: int, n: int
) -> None:
    """Rows in blocks, whose panels hold all of the reduction, or a block of 7 or 8 of its points
    for all the lanes of a tile of up to 32."""
    monkeypatch.setattr(schedule, "_DEEP", 16)
    monkeypatch.setattr(schedule, "_WIDE", 16)
    monkeypatch.setattr(schedule, "_NEAR", 64)
    monkeypatch.setattr(schedule, "_CACHE", 64)
    monkeypatch.setattr(schedule, "_PANELS", panels)
    monkeypatch.setattr(schedule, "_BLOCK", 16)
    check_product(19, n, 21 if n > 20 else 23, left, right)


def product(m: int, n: int, k: int, left: str, right: str, **epilogue: Any) -> ModuleOp:
    return f32_loop(
        3,
        shape=[m, n],
        reduction=[k],
        monoids=[Monoid.SUM],
        body=PRODUCT,
        reads=[
            access(0, (k, 0, 1) if left == "mk" else (1, 0, m)),
            access(1, (0, 1, n) if right == "kn" else (0, k, 1)),
        ],
        writes=[access(2, (n, 1))],
        **epilogue,
    )


def check_product(m: int, n: int, k: int, left: str, right: str) -> None:
    module = product(m, n, k, left, right)
    a, b = floats(m * k), floats(k * n, 1)
    expected = np.zeros((m, n), np.float32)
    left_matrix = a.reshape(m, k) if left == "mk" else a.reshape(k, m).T
    right_matrix = b.reshape(k, n) if right == "kn" else b.reshape(n, k).T
    for step in range(k):
        expected += left_matrix[:, step, np.newaxis] * right_matrix[step]
    memories = [a, b, np.zeros(m * n, np.float32)]
    assert_same_bits([expected.ravel()], run(module, memories, [])[2:])
    check(module, memories)


@pytest.mark.parametrize("right", ["kn", "nk"])
def test_rows_that_share_blocks_are_folded_a_few_at_a_time(
    monkeypatch: pytest.MonkeyPatch, right: str
) -> None:
    """Also in the columns that fill no vector, none of which is computed twice: it is in place."""
    for name in ("_NEAR", "_PANELS", "_BLOCK"):
        monkeypatch.setattr(schedule, name, 16)
    m, n, k = 57, 20, 21
    accumulate = Program.of_exprs([Dtype.float32] * 2, [X + Y])
    after = {"epilogue": accumulate, "epilogue_reads": [access(2, (n, 1))]}
    module = product(m, n, k, "mk", right, **after)
    check(module, [floats(m * k), floats(k * n, 1), floats(m * n, 2)])
    LowerLoopsPass().apply(Context(), module)
    arrays = [op for op in module.walk() if isinstance(op, memref.AllocaOp)]
    panel_and_results = 2
    assert len(arrays) <= 10 + panel_and_results


@pytest.mark.parametrize(
    ("rows", "columns"), [(37, 19), (16, 32), (5, 3), (20, 20), (17, 70), (70, 17)]
)
def test_transposed(rows: int, columns: int) -> None:
    """One read crosses the other and what is written, as the transpose of a matrix does."""
    module = f32_loop(
        3,
        shape=[rows, columns],
        body=Program.of_exprs([Dtype.float32] * 2, [X * Y]),
        reads=[access(0, (1, rows)), access(1, (columns, 1))],
        writes=[access(2, (columns, 1))],
    )
    x, y = floats(rows * columns), floats(rows * columns, 1)
    expected = x.reshape(columns, rows).T * y.reshape(rows, columns)
    memories = [x, y, np.zeros(rows * columns, np.float32)]
    assert_same_bits([expected.ravel()], run(module, memories, [])[2:])
    check(module, memories)


def test_transposed_folds_of_one_element() -> None:
    module = f32_loop(
        2,
        shape=[20, 35],
        reduction=[1],
        monoids=[Monoid.SUM],
        body=Program.of_exprs([Dtype.float32], [X]),
        reads=[access(0, (1, 20, 0))],
        epilogue=Program.of_exprs([Dtype.float32], [X * X]),
        writes=[access(1, (35, 1))],
    )
    x = floats(700)
    x[::7] = -0.0
    sums = x.reshape(35, 20).T + np.float32(0)
    memories = [x, np.zeros(700, np.float32)]
    assert_same_bits([(sums * sums).ravel()], run(module, memories, [])[1:])
    check(module, memories)


@pytest.mark.parametrize(("rows", "columns"), [(100, 10), (6, 50), (31, 17), (7, 300), (30, 21)])
@pytest.mark.parametrize("in_place", [False, True])
def test_short_rows_are_one(rows: int, columns: int, in_place: bool) -> None:
    """Rows that are no multiple of 16, of a body that is dear, beside one column and one row."""
    chain = X
    for _ in range(8):
        chain = chain * Y + Z
    module = f32_loop(
        3 if in_place else 4,
        shape=[rows, columns],
        body=Program.of_exprs([Dtype.float32] * 3, [chain]),
        reads=[access(0, (columns, 1)), access(1, (1, 0)), access(2, (0, 1))],
        writes=[access(0 if in_place else 3, (columns, 1))],
    )
    x, column, row = floats(rows * columns), floats(rows, 1), floats(columns, 2)
    expected = x.reshape(rows, columns)
    for _ in range(8):
        expected = expected * column[:, np.newaxis] + row
    memories = [x, column, row] if in_place else [x, column, row, np.zeros_like(x)]
    after = run(module, memories, [])
    assert_same_bits([expected.ravel()], [after[0 if in_place else 3]])
    check(module, memories)


def test_short_rows_that_depend_on_the_column() -> None:
    chain = E.cast(Dtype.float32, E.coord(1))
    for _ in range(8):
        chain = chain * X + X
    module = f32_loop(
        2,
        shape=[20, 17],
        body=Program.of_exprs([Dtype.float32], [chain]),
        reads=[access(0, (17, 1))],
        writes=[access(1, (17, 1))],
    )
    check(module, [floats(340), np.zeros(340, np.float32)])


def test_short_rows_of_folds_of_one_element() -> None:
    """What is done after the fold reads a row that all rows share."""
    chain = X
    for _ in range(8):
        chain = chain * X + X
    module = f32_loop(
        3,
        shape=[20, 17],
        reduction=[1],
        monoids=[Monoid.SUM],
        body=Program.of_exprs([Dtype.float32], [chain]),
        reads=[access(0, (17, 1, 0))],
        epilogue=Program.of_exprs([Dtype.float32] * 2, [X + Y]),
        epilogue_reads=[access(1, (0, 1))],
        writes=[access(2, (17, 1))],
    )
    x, row = floats(340), floats(17, 1)
    expected = x.reshape(20, 17)
    for _ in range(8):
        expected = expected * x.reshape(20, 17) + x.reshape(20, 17)
    memories = [x, row, np.zeros_like(x)]
    assert_same_bits([(expected + row).ravel()], run(module, memories, [])[2:])
    check(module, memories)


@pytest.mark.parametrize("strides", [(1, 40), (9, 1)], ids=["columns", "rows"])
@pytest.mark.parametrize("monoid", Monoid)
def test_reductions_of_a_matrix(strides: tuple[int, int], monoid: Monoid) -> None:
    rows, columns = 9, 40
    module = f32_loop(
        2,
        shape=[columns],
        reduction=[rows],
        monoids=[monoid],
        body=Program.of_exprs([Dtype.float32], [X]),
        reads=[access(0, strides)],
        writes=[access(1, (1,))],
    )
    elements = floats(rows * columns)
    elements[::7] = -0.0
    check(module, [elements, np.zeros(columns, np.float32)])


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("width", [16, 40, 64, 100, 129, 200])
@pytest.mark.parametrize(
    ("monoid", "dtype"),
    [
        (Monoid.MAX, Dtype.float32),
        (Monoid.MIN, Dtype.float32),
        (Monoid.SUM, Dtype.int32),
        (Monoid.PRODUCT, Dtype.int32),
        (Monoid.MAX, Dtype.bool),
    ],
)
def test_folds_without_an_order(
    rows: int, width: int, monoid: Monoid, dtype: Dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Along memory, over two axes: some rows with NaNs, some of zeros of both signs."""
    monkeypatch.setattr(schedule, "_CHAINED", 1)
    module = module_of(
        lambda block: LoopOp(
            block.args,
            shape=[rows],
            reduction=[2, width],
            monoids=[monoid],
            body=Program.of_exprs([dtype], [E.input(0, dtype)]),
            reads=[access(0, (450, 210, 1))],
            writes=[access(1, (1,))],
        ),
        [dtype, dtype],
        0,
    )
    elements = np.random.default_rng(width).integers(-3, 3, (rows, 450)).astype(NUMPY[dtype])
    if dtype is Dtype.float32:
        elements[0] = -0.0
        elements[0, width // 2] = 0.0
        elements[1:2, width - 1] = np.nan
    check(module, [elements.ravel(), np.zeros(rows, NUMPY[dtype])])


def test_results_of_one_fold_in_place() -> None:
    """The mean and the maximum of each row, times what stood there before."""
    scaled = Program.of_exprs([Dtype.float32] * 3, [X * E.const(Dtype.float32, 0.25) * Z, Y])
    module = f32_loop(
        3,
        shape=[6],
        reduction=[4],
        monoids=[Monoid.SUM, Monoid.MAX],
        body=Program.of_exprs([Dtype.float32], [X, X]),
        reads=[access(0, (4, 1))],
        epilogue=scaled,
        epilogue_reads=[access(1, (1,))],
        writes=[access(1, (1,)), access(2, (1,))],
    )
    before = [floats(24), floats(6, 1), np.zeros(6, np.float32)]
    matrix = before[0].reshape(6, 4)
    sums = ((matrix[:, 0] + matrix[:, 1]) + matrix[:, 2]) + matrix[:, 3]
    expected = [sums * np.float32(0.25) * before[1], matrix.max(axis=1)]
    assert_same_bits(expected, run(module, before, [])[1:])
    check(module, before)


def test_a_window_over_padding() -> None:
    """Each point sums three neighbours; beyond the ends there is zero, not memory."""
    shifted = axis_sum((1, 1), -1)
    size = AffineExpr.constant(9)
    bounds = (shifted, size - shifted)
    inside = tuple(AffineConstraintExpr(AffineConstraintKind.ge, e, ZERO) for e in bounds)
    module = f32_loop(
        2,
        shape=[10],
        reduction=[3],
        monoids=[Monoid.SUM],
        body=Program.of_exprs([Dtype.float32], [X]),
        reads=[Access(0, AffineMap(2, 0, (shifted,)), AffineSet(2, 0, inside))],
        writes=[access(1, (1,))],
    )
    elements = floats(10)
    padded = np.concatenate(([np.float32(0)], elements, [np.float32(0)])).astype(np.float32)
    expected = (padded[:-2] + padded[1:-1]) + padded[2:]
    memories = [elements, np.zeros(10, np.float32)]
    assert_same_bits([expected], run(module, memories, [])[1:])
    check(module, memories)


def test_a_fold_of_one_element_starts_from_the_identity() -> None:
    module = f32_loop(
        2,
        shape=[2],
        reduction=[1],
        monoids=[Monoid.SUM],
        body=Program.of_exprs([Dtype.float32], [X]),
        reads=[access(0, (1, 0))],
        writes=[access(1, (1,))],
    )
    memories = [np.array([-0.0, 1.0], np.float32), np.zeros(2, np.float32)]
    assert not np.signbit(run(module, memories, [])[1][0])
    check(module, memories)


def test_a_function_of_a_library_name_is_refused() -> None:
    body = Program.of_exprs([Dtype.float32], [E.exp(X)])
    module = f32_loop(1, shape=[2], body=body, reads=[access(0, (1,))], writes=[access(0, (1,))])
    block = Block(arg_types=[f32])
    block.add_op(func.ReturnOp(block.args[0]))
    module.body.block.add_op(func.FuncOp("nx_exp_f32", ([f32], [f32]), Region(block)))
    with pytest.raises(PassFailedException, match="@nx_exp_f32 has the name of a function of"):
        LowerLoopsPass().apply(Context(), module)
