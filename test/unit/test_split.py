"""Nests are split where `ranges` decides what they test, and keep every bit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_lower_loops import (
    SIZE,
    ZERO,
    Case,
    access,
    axis_sum,
    check,
    f32_loop,
    floats,
    loop_case,
    run,
)
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir.affine import (
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineExpr,
    AffineMap,
    AffineSet,
)

from dialects.prog import Access, Coord, Dtype, E, LoopOp, Monoid, Program
from passes.loops import diagonal, split
from passes.loops.condition import Condition, conditions
from passes.loops.nest import Nest, nest_of

F32, I64 = Dtype.float32, Dtype.int64
X, Y = E.input(0, F32), E.input(1, F32)


def number(value: int) -> E:
    return E.const(I64, value)


def real(value: float) -> E:
    return E.const(F32, value)


def eager() -> Any:
    """Cuts and tiles wherever there can be any, whatever they cost."""
    return mock.patch.multiple(split, _SAVED=0, _SHARE=1 << 30, _CODE=1 << 30, _TRIED=100)


def small_tiles() -> Any:
    return mock.patch.object(diagonal, "_SIZES", range(2, 4))


# Random loops


@st.composite
def masks(draw: st.DrawFn, axes: int, integers: Sequence[E]) -> E:
    """A comparison of sums of coordinates, seldom of an operand."""
    terms = [number(draw(st.integers(-3, 9)))]
    for axis in range(axes):
        factor = draw(st.sampled_from([0, 0, 1, 1, -1, 2]))
        if factor:
            terms.append(E.coord(axis) * number(factor))
    if integers and draw(st.integers(0, 5)) == 0:
        terms.append(E.cast(I64, draw(st.sampled_from(integers))))
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    match draw(st.sampled_from(["less", "equal", "mod", "idiv"])):
        case "less":
            return E.less(number(draw(st.integers(-4, 4))), total)
        case "equal":
            return E.equal(total, number(draw(st.integers(0, 9))))
        case "mod":
            return E.less(E.mod(total, number(draw(st.integers(2, 5)))), number(2))
        case _:
            return E.less(E.idiv(total, number(draw(st.integers(2, 5)))), number(2))


@st.composite
def masked(draw: st.DrawFn, ins: Sequence[Dtype], axes: int) -> Program:
    """Choices by masks among operands, constants, and sums and products of choices."""
    operands = [E.input(i, dtype) for i, dtype in enumerate(ins)]
    integers = [e for e in operands if e.dtype is Dtype.int32]
    constants = [real(v) for v in (0.0, -0.0, 1.0, -2.0, -math.inf)]
    constants += [E.const(Dtype.int32, v) for v in (0, 1, 5)]
    constants += [E.const(Dtype.bool, v) for v in (False, True)]
    pool = [*operands, *constants]
    made: list[E] = [*operands]
    for _ in range(draw(st.integers(1, 6))):
        a = draw(st.sampled_from(pool))
        b = draw(st.sampled_from([e for e in pool if e.dtype is a.dtype]))
        mask = draw(masks(axes, integers))
        if draw(st.booleans()):
            mask = mask & draw(masks(axes, integers))
        choices = [E.where(mask, a, b), E.where(mask, b, a)]
        if a.dtype is not Dtype.bool:
            choices += [a + b, a * b]
        pool.append(draw(st.sampled_from(choices)))
        made.append(pool[-1])
    return Program.of_exprs(ins, made[-draw(st.integers(1, 2)) :])


@st.composite
def padded(draw: st.DrawFn, memory: int, extents: Sequence[int]) -> Access:
    """An access of a block of a padded array, at an offset that may be a symbol."""
    rank = len(extents)
    strides, step = [0] * rank, 1
    for axis in draw(st.permutations(range(rank))):
        strides[axis] = step
        step *= extents[axis]
    shift = 0
    constraints: list[AffineConstraintExpr] = []
    for axis, extent in enumerate(extents):
        before, behind = draw(st.integers(0, extent)), draw(st.integers(0, extent))
        position = AffineExpr.dimension(axis) - before
        shift -= strides[axis] * before
        if draw(st.booleans()) and axis + 1 < rank:
            position = position + AffineExpr.dimension(axis + 1)
        if draw(st.integers(0, 4)) == 0:
            position = position + AffineExpr.symbol(0)
        constraints.append(AffineConstraintExpr(AffineConstraintKind.ge, position, ZERO))
        rest = AffineExpr.constant(extent - behind) - position
        constraints.append(AffineConstraintExpr(AffineConstraintKind.ge, rest, ZERO))
    expr = axis_sum(strides, shift)
    # Keep every address that can be read within the memory.
    for bound in (expr, AffineExpr.constant(SIZE - 1) - expr):
        constraints.append(AffineConstraintExpr(AffineConstraintKind.ge, bound, ZERO))
    return Access(memory, AffineMap(rank, 1, (expr,)), AffineSet(rank, 1, tuple(constraints)))


@st.composite
def loops(draw: st.DrawFn) -> Case:
    """A loop over padded memories, with masks in its programs."""
    shape = draw(st.lists(st.integers(1, 9), min_size=1, max_size=2))
    reduction = draw(st.lists(st.integers(1, 5), max_size=2))
    return loop_case(draw, shape, reduction, masked, padded)


@settings(max_examples=150, deadline=None)
@given(loops(), st.integers(0, 3))
def test_random_masks_and_padding_keep_their_bits(case: Case, symbol: int) -> None:
    with eager(), small_tiles():
        check(case.module, case.memories, [symbol])


# What becomes of a nest


def nests_of(module: ModuleOp) -> list[Nest]:
    (loop,) = (op for op in module.walk() if isinstance(op, LoopOp))
    return split.split(nest_of(loop))


def is_tested(nest: Nest) -> bool:
    programs = [nest.body, *([] if nest.epilogue is None else [nest.epilogue])]
    nodes = [node for program in programs for node in program.nodes]
    views = (*nest.reads, *nest.epilogue_reads)
    return any(isinstance(node, Coord) for node in nodes) or any(view.guards for view in views)


def pad_access(shape: Sequence[int], strides: Sequence[int], pads: Sequence[int]) -> Access:
    """The access of memory 0 whose axes of extents `shape` have `pads` around them."""
    rank = len(shape)
    positions = [AffineExpr.dimension(axis) - before for axis, before in enumerate(pads)]
    constraints = tuple(
        AffineConstraintExpr(AffineConstraintKind.ge, bound, ZERO)
        for position, extent in zip(positions, shape, strict=True)
        for bound in (position, AffineExpr.constant(extent - 1) - position)
    )
    shift = -sum(before * stride for before, stride in zip(pads, strides, strict=True))
    map = AffineMap(rank, 0, (axis_sum(strides, shift),))
    return Access(0, map, AffineSet(rank, 0, constraints))


@pytest.mark.parametrize("monoid", Monoid)
@pytest.mark.parametrize("pads", [(3, 0), (0, 2), (3, 2)])
def test_a_fold_over_padding(monoid: Monoid, pads: tuple[int, int]) -> None:
    """Zeros leave a sum alone, and count once in a maximum, but a product needs each."""
    before, behind = pads
    rows, columns = 5, 16
    module = f32_loop(
        2,
        shape=[columns],
        reduction=[before + rows + behind],
        monoids=[monoid],
        body=Program.of_exprs([F32], [X]),
        reads=[pad_access([columns, rows], [1, columns], [0, before])],
        writes=[access(1, (1,))],
    )
    (nest,) = nests_of(module)
    assert is_tested(nest) is (monoid is Monoid.PRODUCT)
    if monoid is not Monoid.PRODUCT:
        assert [nest.extents[axis] for axis in nest.reduction] == [rows]
    elements = floats(rows * columns).reshape(rows, columns)
    elements[:, :4] = [-0.0, math.nan, -3.0, math.inf]
    expected = np.pad(elements, (pads, (0, 0)))
    fold = {
        Monoid.SUM: np.add, Monoid.PRODUCT: np.multiply,
        Monoid.MAX: np.maximum, Monoid.MIN: np.minimum,
    }[monoid]  # fmt: skip
    memories = [elements.ravel(), np.zeros(columns, np.float32)]
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(run(module, memories, [])[1], fold.reduce(expected))
    check(module, memories)


def test_padding_of_all_sides_is_five_boxes() -> None:
    """Rows above and below, columns left and right, and what is inside."""
    module = f32_loop(
        2,
        shape=[9, 20],
        body=Program.of_exprs([F32], [X]),
        reads=[pad_access([6, 15], [15, 1], [1, 2])],
        writes=[access(1, (20, 1))],
    )
    nests = nests_of(module)
    sizes = [math.prod(nest.extents.values()) for nest in nests]
    assert (len(nests), sum(sizes)) == (5, 9 * 20)
    assert [size for size, nest in zip(sizes, nests, strict=True) if nest.reads] == [6 * 15]
    assert not any(map(is_tested, nests))
    elements = floats(90)
    expected = np.pad(elements.reshape(6, 15), ((1, 2), (2, 3)))
    memories = [elements, np.ones(180, np.float32)]
    np.testing.assert_array_equal(run(module, memories, [])[1], expected.ravel())
    check(module, memories)


def test_windows_are_tested_at_the_edges_only() -> None:
    """A window of three over a padded row: the two outer points keep the test."""
    window = AffineExpr.dimension(0) + AffineExpr.dimension(1) - 1
    bounds = (window, AffineExpr.constant(39) - window)
    inside = tuple(AffineConstraintExpr(AffineConstraintKind.ge, e, ZERO) for e in bounds)
    module = f32_loop(
        3,
        shape=[40],
        reduction=[3],
        monoids=[Monoid.SUM],
        body=Program.of_exprs([F32] * 2, [X * Y]),
        reads=[Access(0, AffineMap(2, 0, (window,)), AffineSet(2, 0, inside)), access(1, (0, 1))],
        writes=[access(2, (1,))],
    )
    nests = nests_of(module)
    assert sum(math.prod(n.extents[a] for a in n.parallel) for n in nests if is_tested(n)) <= 2
    check(module, [floats(40), np.array([1, math.inf, -1], np.float32), np.zeros(40, np.float32)])


def test_each_operand_of_a_stack_is_read_in_its_rows_only() -> None:
    choice = E.input(3, F32)
    for i in (2, 1, 0):
        choice = E.where(E.less(E.coord(0), number(i + 1)), E.input(i, F32), choice)
    module = f32_loop(
        5,
        shape=[4, 32],
        body=Program.of_exprs([F32] * 4, [choice]),
        reads=[access(i, (0, 1)) for i in range(4)],
        writes=[access(4, (32, 1))],
    )
    nests = nests_of(module)
    assert [len(nest.reads) for nest in nests] == [1] * 4
    memories = [*(floats(32, seed) for seed in range(4)), np.zeros(128, np.float32)]
    np.testing.assert_array_equal(run(module, memories, [])[4], np.concatenate(memories[:4]))
    check(module, memories)


def test_little_work_is_not_split() -> None:
    module = f32_loop(
        2,
        shape=[12],
        body=Program.of_exprs([F32], [X]),
        reads=[pad_access([10], [1], [1])],
        writes=[access(1, (1,))],
    )
    assert len(nests_of(module)) == 1


def test_a_long_axis_is_cut_as_fast_as_a_short_one() -> None:
    length = 1 << 60
    module = f32_loop(
        2,
        shape=[length],
        body=Program.of_exprs([F32], [X]),
        reads=[pad_access([length - 4], [1], [1])],
        writes=[access(1, (1,))],
    )
    assert [math.prod(nest.extents.values()) for nest in nests_of(module)] == [1, length - 4, 3]


def test_the_code_of_many_boxes_is_bounded() -> None:
    """Alternate rows are padding: more boxes than the code of a nest may have."""
    body = X
    for row in range(0, 60, 2):
        body = E.where(E.equal(E.coord(0), number(row)), X * real(row), body)
    module = f32_loop(
        2,
        shape=[60, 64],
        body=Program.of_exprs([F32], [body]),
        reads=[access(0, (64, 1))],
        writes=[access(1, (64, 1))],
    )
    (loop,) = (op for op in module.walk() if isinstance(op, LoopOp))
    nests = nests_of(module)
    assert sum(len(nest.body.nodes) for nest in nests) <= 2 * len(loop.body.data.nodes)


# Diagonals


def condition_of(e: E) -> Condition:
    (condition,) = conditions([e], [], [])
    return condition


ROW, COLUMN = E.coord(0), E.coord(1)


@pytest.mark.parametrize(
    ("e", "truths"),
    [
        (E.less(ROW, COLUMN), [False, None, True]),
        (E.less(COLUMN, ROW), [True, None, False]),
        (E.less(ROW + COLUMN, number(63)), [True, None, False]),
    ],
)
def test_runs_of_tiles(e: E, truths: list[bool | None]) -> None:
    """Each point is in one run, and what a run says of it is so."""
    condition, n = condition_of(e), 64
    box = {0: range(n), 1: range(n)}
    with mock.patch.object(diagonal, "_SIZES", range(8, 9)):
        found = diagonal.runs(condition, box, 0, 1)
    assert [tiles.truth(condition, box) for tiles in found] == truths
    seen = np.zeros((n, n), int)
    for tiles in found:
        truth = tiles.truth(condition, box)
        for tile in tiles.boxes(box):
            seen[np.ix_(tile[0], tile[1])] += 1
            for i, j in itertools.product(tile[0], tile[1]):
                if truth is not None:
                    assert condition.truth({0: range(i, i + 1), 1: range(j, j + 1)}) is truth
    assert (seen == 1).all()


@pytest.mark.parametrize(
    ("e", "height", "width"),
    [
        (E.less(ROW, number(3)), 64, 64),  # no diagonal
        (E.less(E.mod(ROW + COLUMN, number(7)), number(3)), 64, 64),  # many
        (E.less(ROW, COLUMN), 61, 64),  # no tiles
        (E.less(ROW, COLUMN), 8, 64),  # one row of them
        (E.less(COLUMN, ROW + number(8)), 64, 64),  # ends before the last row
    ],
)
def test_no_runs(e: E, height: int, width: int) -> None:
    with mock.patch.object(diagonal, "_SIZES", range(8, 12)):
        assert not diagonal.runs(condition_of(e), {0: range(height), 1: range(width)}, 0, 1)


def test_a_fold_above_the_diagonal_is_not_computed() -> None:
    n, depth = 64, 3
    mask = E.less(ROW, COLUMN)
    module = f32_loop(
        3,
        shape=[n, n],
        reduction=[depth],
        monoids=[Monoid.SUM],
        body=Program.of_exprs([F32] * 2, [X * Y]),
        reads=[access(0, (depth, 0, 1)), access(1, (0, 1, n))],
        epilogue=Program.of_exprs([F32], [E.where(mask, real(-math.inf), X)]),
        writes=[access(2, (n, 1))],
    )
    below, on, above = nests_of(module)
    assert (is_tested(below), is_tested(on), is_tested(above)) == (False, True, False)
    assert (bool(below.monoids), bool(on.monoids), bool(above.monoids)) == (True, True, False)
    q, k = floats(n * depth), floats(depth * n, 1)
    scores = np.zeros((n, n), np.float32)
    for step in range(depth):
        scores += q.reshape(n, depth)[:, step, None] * k.reshape(depth, n)[step]
    expected = np.where(np.tri(n, dtype=bool), scores, np.float32(-math.inf))
    memories = [q, k, np.zeros(n * n, np.float32)]
    np.testing.assert_array_equal(run(module, memories, [])[2], expected.ravel())
    check(module, memories)
