"""Ranges: sound on every kind, tight where nothing wraps, and what the programs look like."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import prog_reference as reference
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prog_reference import BOOLEANS, INTEGERS, NUMPY, numbers
from prog_strategies import programs

from dialects.prog import (
    BITCAST,
    CAST,
    FMA,
    SIGNED,
    WHERE,
    Binary,
    Compare,
    Dtype,
    E,
    InvalidProgram,
    Node,
    Op1,
    Op2,
    Op3,
    Program,
    Unary,
    accepts1,
    accepts2,
    evaluate,
)

B, I4, U4, I8, I32, I64, F32 = (
    Dtype[name] for name in ("bool", "int4", "uint4", "int8", "int32", "int64", "float32")
)


def end_values(dtype: Dtype) -> tuple[int, int]:
    """The least and the greatest value."""
    if dtype in BOOLEANS:
        return 0, 1
    width, signed = INTEGERS[dtype]
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)


def array(dtype: Dtype, values: Sequence[int]) -> np.ndarray:
    if dtype in INTEGERS and reference.WIDTHS[dtype] == 64:
        return np.array(list(map(int, values)), NUMPY[dtype])
    return np.array(values).astype(NUMPY[dtype])


def intervals(dtype: Dtype) -> list[tuple[int, int]]:
    least, greatest = end_values(dtype)
    values = range(least, greatest + 1)
    return [(a, b) for a, b in itertools.product(values, repeat=2) if a <= b]


def check_every_box(node: Node, dtypes: Sequence[Dtype], exact: bool) -> None:
    """The range of one kind on every box: sound, and if `exact` the least that is."""
    program = Program.of_node(dtypes, node)
    ends = [end_values(dtype) for dtype in dtypes]
    every = list(itertools.product(*(range(low, high + 1) for low, high in ends)))
    columns = [array(d, column) for d, column in zip(dtypes, zip(*every, strict=True), strict=True)]
    result = program.results[0]
    (values,) = evaluate(program, columns, (len(every),))
    table = np.array(numbers(result, values), int)
    table = table.reshape([high - low + 1 for low, high in ends])

    boxes = list(itertools.product(*map(intervals, dtypes)))
    bounds = [[box[i][side] for box in boxes] for i in range(len(dtypes)) for side in range(2)]
    ranges = program.ranges(0)
    assert ranges.ins == tuple(dtype for dtype in dtypes for _ in range(2))
    arrays = [array(d, column) for d, column in zip(ranges.ins, bounds, strict=True)]
    low, high = (
        np.array(numbers(result, bound), int) for bound in evaluate(ranges, arrays, (len(boxes),))
    )
    for box, least, greatest in zip(boxes, low.tolist(), high.tolist(), strict=True):
        where = tuple(
            slice(a - end[0], b - end[0] + 1) for (a, b), end in zip(box, ends, strict=True)
        )
        part = table[where]
        found = (least, greatest)
        assert least <= part.min(), (box, found)
        assert part.max() <= greatest, (box, found)
        if exact and found != end_values(result):
            assert found == (part.min(), part.max()), box


def exact_value(kind: Unary | Binary, x: int, y: int) -> int | None:
    """What the kind would give without wrapping."""
    match kind:
        case Unary.NEG:
            return -x
        case Unary.ABS:
            return abs(x)
        case Binary.ADD:
            return x + y
        case Binary.SUB:
            return x - y
        case Binary.MUL:
            return x * y
        case Binary.IDIV:
            return reference.quotient(x, y)
        case _:
            return None


TIGHT = [
    *(Unary.NEG, Unary.ABS, Unary.SIGN, Unary.RECIP, Unary.FLOOR),
    *(Binary.ADD, Binary.SUB, Binary.MUL, Binary.IDIV, Binary.MAXIMUM, Binary.MINIMUM),
    *Compare,
]
SMALL = [I4, U4, B, Dtype.bit]


@pytest.mark.parametrize(
    ("kind", "dtype"), [(k, d) for k in Unary for d in SMALL if accepts1(k, d, d)]
)
def test_every_box_of_one_operand(kind: Unary, dtype: Dtype) -> None:
    check_every_box(Op1(kind, dtype, 0), [dtype], kind in TIGHT)


@pytest.mark.parametrize(
    ("kind", "dtype"), [(k, d) for k in (*Binary, *Compare) for d in SMALL if accepts2(k, d)]
)
def test_every_box_of_two_operands(kind: Binary | Compare, dtype: Dtype) -> None:
    check_every_box(Op2(kind, 0, 1), [dtype] * 2, kind in TIGHT or dtype in BOOLEANS)


@pytest.mark.parametrize("source", SMALL)
@pytest.mark.parametrize("target", [*SMALL, I8, Dtype.uint8])
def test_every_box_of_a_cast(source: Dtype, target: Dtype) -> None:
    check_every_box(Op1(CAST, target, 0), [source], True)
    if accepts1(BITCAST, source, target):
        check_every_box(Op1(BITCAST, target, 0), [source], source is not B)


@pytest.mark.parametrize("dtype", [I4, U4])
@pytest.mark.parametrize(
    "kind", [Unary.NEG, Unary.ABS, Binary.ADD, Binary.SUB, Binary.MUL, Binary.IDIV]
)
def test_the_whole_range_only_where_a_kind_may_wrap(kind: Unary | Binary, dtype: Dtype) -> None:
    boxes = [pair for pair in itertools.product(intervals(dtype), repeat=2) if pair[0][0] % 3 == 0]
    one = isinstance(kind, Unary)
    node = Op1(kind, dtype, 0) if one else Op2(kind, 0, 1)
    program = Program.of_node([dtype] if one else [dtype] * 2, node).ranges(0)
    bounds = [array(dtype, [box[i][s] for box in boxes]) for i in range(2) for s in range(2)]
    low, high = evaluate(program, bounds[: len(program.ins)], (len(boxes),))
    found = zip(numbers(dtype, low), numbers(dtype, high), strict=True)
    least, greatest = end_values(dtype)
    for ((a, b), (c, d)), actual in zip(boxes, found, strict=True):
        points = itertools.product(range(a, b + 1), range(c, d + 1))
        values = [exact_value(kind, x, y) for x, y in points]
        fits = least <= min(values) and max(values) <= greatest
        assert actual == ((min(values), max(values)) if fits else (least, greatest))


def test_every_box_of_a_choice_of_booleans() -> None:
    check_every_box(Op3(WHERE, 0, 1, 2), [B, B, B], True)
    check_every_box(Op3(WHERE, 0, 1, 2), [Dtype.bit, Dtype.bit, Dtype.bit], True)


def bounds_of(
    e: E, ins: Sequence[Dtype], *bounds: int | bool, axes: int = 0
) -> tuple[object, object]:
    """The range of an expression over a box."""
    program = Program.of_exprs(ins, [e]).ranges(axes)
    arrays = [array(d, [b]) for d, b in zip(program.ins, bounds, strict=True)]
    low, high = evaluate(program, arrays, (1,))
    return low.item(), high.item()


def test_sums_near_the_ends_of_int64() -> None:
    x, y = E.input(0, I64), E.input(1, I64)
    top = 2**63 - 1
    assert bounds_of(x + y, [I64, I64], 0, top - 5, 3, 5) == (3, top)
    assert bounds_of(x + y, [I64, I64], 0, top - 5, 3, 6) == (-top - 1, top)
    assert bounds_of(x + y < x, [I64, I64], 0, top, 0, 1) == (False, True)
    assert bounds_of(x * y, [I64, I64], -(2**31), 2**31, -(2**31), 2**31) == (-(2**62), 2**62)
    assert bounds_of(x * y, [I64, I64], -(2**32), 0, 0, 2**31) == (-top - 1, 0)
    assert bounds_of(x * y, [I64, I64], -(2**32), 0, -(2**31), 0) == (-top - 1, top)
    assert bounds_of(x**y, [I64, I64], 3, 10, 2, 18) == (9, 10**18)
    assert bounds_of(x**y, [I64, I64], 0, 10, 2, 18) == (0, 10**18)
    assert bounds_of(x**y, [I64, I64], 3, 10, 2, 19) == (-top - 1, top)


def test_casts() -> None:
    x = E.input(0, I64)
    assert bounds_of(E.cast(I8, x), [I64], 0, 127) == (0, 127)
    assert bounds_of(E.cast(I8, x), [I64], 0, 128) == (-128, 127)
    assert bounds_of(E.cast(Dtype.uint64, x), [I64], -1, 5) == (0, 2**64 - 1)
    assert bounds_of(E.cast(B, x), [I64], 1, 5) == (True, True)


def test_a_decided_condition_takes_one_side() -> None:
    c, x, y = E.input(0, B), E.input(1, I32), E.input(2, I32)
    choice = E.where(c, x, y)
    assert bounds_of(choice, [B, I32, I32], True, True, 1, 2, 8, 9) == (1, 2)
    assert bounds_of(choice, [B, I32, I32], False, False, 1, 2, 8, 9) == (8, 9)
    assert bounds_of(choice, [B, I32, I32], False, True, 1, 2, 8, 9) == (1, 9)


def test_a_mask_over_tiles() -> None:
    query, key = E.coord(0), E.coord(1)
    window = E.less_equal(key, query) & (query - key < E.const(I64, 16))
    assert bounds_of(window, [], 8, 15, 0, 7, axes=2) == (True, True)
    assert bounds_of(window, [], 8, 15, 16, 23, axes=2) == (False, False)
    assert bounds_of(window, [], 32, 39, 0, 7, axes=2) == (False, False)
    assert bounds_of(window, [], 8, 15, 8, 15, axes=2) == (False, True)


def test_nodes_are_not_identified() -> None:
    x = E.coord(0)
    assert bounds_of(E.equal(x, x), [], 0, 1, axes=1) == (False, True)
    assert bounds_of(E.less(x, x), [], 0, 1, axes=1) == (False, True)
    assert bounds_of(E.equal(x, x), [], 4, 4, axes=1) == (True, True)


def test_floats_have_no_range_and_their_bounds_are_not_read() -> None:
    x, i = E.input(0, F32), E.input(1, I32)
    program = Program.of_exprs([F32, I32], [E.cast(I32, x) + i, x, x < x])
    ranges = program.ranges(1, outs=[0, 2])
    assert ranges.ins == (F32, F32, I32, I32, I64, I64)
    assert all(not hasattr(n, "i") or n.i > 1 for n in ranges.nodes if type(n).__name__ == "In")
    assert ranges.results == (I32, I32, B, B)


def test_what_is_refused() -> None:
    program = Program.of_exprs([F32], [E.coord(2), E.input(0, F32), E.coord(0)])
    with pytest.raises(InvalidProgram, match="node 0: reads axis 2 of 2"):
        program.ranges(2, [2, 0])
    with pytest.raises(InvalidProgram, match="node 1: f32 has no ranges"):
        program.ranges(3)
    assert program.ranges(1, [2]).results == (I64, I64)
    for axes in (-1, 33):
        with pytest.raises(InvalidProgram, match=f"axes: {axes} is not between 0 and 32"):
            program.ranges(axes, [2])
    with pytest.raises(InvalidProgram, match="outs: a program has at least one output"):
        program.ranges(3, [])
    with pytest.raises(InvalidProgram, match="outs: output 3 of 3"):
        program.ranges(3, [3])


def test_a_chain_of_100_000_nodes() -> None:
    e = E.input(0, B)
    for _ in range(100_000):
        e = E.and_(e, E.input(1, B))
    assert len(Program.of_exprs([B, B], [e]).ranges(0).nodes) == 200_004


def ordered(dtype: Dtype) -> st.SearchStrategy[list[int]]:
    """A least and a greatest value, and three between them."""
    least, greatest = end_values(dtype)
    near = [*range(-3, 5), least, least + 1, greatest - 1, greatest]
    values = st.sampled_from([v for v in near if least <= v <= greatest])
    values |= st.integers(least, greatest)

    def filled(bounds: tuple[int, int]) -> st.SearchStrategy[list[int]]:
        low, high = min(bounds), max(bounds)
        return st.lists(st.integers(low, high), min_size=3, max_size=3).map(
            lambda inner: [low, high, *inner]
        )

    return st.tuples(values, values).flatmap(filled)


WITH_RANGES = (B, I4, U4, I8, I32, I64, Dtype.uint64, Dtype.bit)


@given(programs() | programs(dtypes=WITH_RANGES), st.data())
def test_points_of_random_boxes_lie_in_the_ranges(program: Program, data: st.DataObject) -> None:
    outs = [i for i, d in enumerate(program.results) if d in INTEGERS or d in BOOLEANS]
    if not outs:
        return
    samples: list[np.ndarray] = []
    for dtype in program.ins:
        if dtype in INTEGERS or dtype in BOOLEANS:
            samples.append(array(dtype, data.draw(ordered(dtype))))
        else:
            pool = reference.elements(dtype, 100)
            indices = st.integers(0, min(60, len(pool) - 1))
            samples.append(pool[data.draw(st.lists(indices, min_size=5, max_size=5))])
    axes = [array(I64, data.draw(ordered(I64))) for _ in range(2)]
    boxes = [bound for sample in (*samples, *axes) for bound in (sample[:1], sample[1:2])]
    ranges = evaluate(program.ranges(2, outs), boxes, (1,))
    grids = len(samples) + 2
    shaped = [
        sample.reshape([-1 if a == i else 1 for a in range(grids)])
        for i, sample in enumerate((*samples, *axes))
    ]
    results = evaluate(program, shaped[:-2], (5,) * grids, shaped[-2:])
    for k, out in enumerate(outs):
        dtype = program.results[out]
        low, high = (numbers(dtype, bound)[0] for bound in ranges[2 * k : 2 * k + 2])
        values = numbers(dtype, results[out].ravel())
        assert low <= min(values)
        assert max(values) <= high


@given(st.sampled_from(sorted(SIGNED, key=lambda d: d.name)), st.data())
def test_fma_lies_in_its_range(dtype: Dtype, data: st.DataObject) -> None:
    samples = [data.draw(ordered(dtype)) for _ in range(3)]
    program = Program.of_node([dtype] * 3, Op3(FMA, 0, 1, 2))
    arrays = [array(dtype, [bound]) for sample in samples for bound in sample[:2]]
    low, high = (numbers(dtype, bound)[0] for bound in evaluate(program.ranges(0), arrays, (1,)))
    points = list(itertools.product(*samples))
    columns = [array(dtype, column) for column in zip(*points, strict=True)]
    (result,) = evaluate(program, columns, (len(points),))
    values = numbers(dtype, result)
    assert low <= min(values)
    assert max(values) <= high
