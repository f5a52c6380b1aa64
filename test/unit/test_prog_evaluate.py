"""What the exact kinds compute in both paths, against Python's exact integers and fractions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import prog_reference as reference
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prog_paths import evaluate
from prog_reference import BOOLEANS, COMPLEX, FLOATS, INTEGERS, NUMPY, Number, comparable, numbers
from prog_strategies import programs

from dialects.prog import (
    BITCAST,
    CAST,
    COPY,
    FMA,
    WHERE,
    Binary,
    Compare,
    Const,
    Coord,
    Dtype,
    E,
    In,
    Op1,
    Op2,
    Op3,
    Program,
    Unary,
    accepts1,
    accepts2,
)

B, I32, I64, F32, U64 = Dtype.bool, Dtype.int32, Dtype.int64, Dtype.float32, Dtype.uint64
REAL = [d for d in Dtype if d not in COMPLEX]

EXACT1 = [
    *(Unary.NEG, Unary.RECIP, Unary.ABS, Unary.SIGN, Unary.SQRT),
    *(Unary.FLOOR, Unary.CEIL, Unary.ROUND, Unary.TRUNC),
]
EXACT2 = [kind for kind in (*Binary, *Compare) if kind not in (Binary.ATAN2, Binary.THREEFRY)]


def run(node: Op1 | Op2 | Op3, dtypes: Sequence[Dtype], *operands: np.ndarray) -> np.ndarray:
    """One kind of arrays."""
    program = Program.of_node(dtypes, node)
    (result,) = evaluate(program, operands, operands[0].shape)
    assert result.dtype == NUMPY[program.results[0]]
    return result


def assert_values(dtype: Dtype, actual: np.ndarray, expected: Sequence[Number]) -> None:
    """Equal to the bit, NaNs apart."""
    assert comparable(numbers(dtype, actual)) == comparable(expected)


@pytest.mark.parametrize(
    ("kind", "dtype"), [(k, d) for k in EXACT1 for d in REAL if accepts1(k, d, d)]
)
def test_exact_kinds_of_one_operand(kind: Unary, dtype: Dtype) -> None:
    x = reference.elements(dtype, 300)
    actual = run(Op1(kind, dtype, 0), [dtype], x)
    assert_values(dtype, actual, [reference.apply1(kind, dtype, v) for v in numbers(dtype, x)])


def is_exact2(kind: Binary | Compare, dtype: Dtype) -> bool:
    if not accepts2(kind, dtype):
        return False
    if dtype in COMPLEX:
        return isinstance(kind, Compare) or kind in (Binary.MAXIMUM, Binary.MINIMUM)
    return kind is not Binary.POW or dtype in INTEGERS


@pytest.mark.parametrize(
    ("kind", "dtype"), [(k, d) for k in EXACT2 for d in Dtype if is_exact2(k, d)]
)
def test_exact_kinds_of_two_operands(kind: Binary | Compare, dtype: Dtype) -> None:
    values = reference.elements(dtype, 16 if kind is Binary.POW else 90)
    if dtype in COMPLEX:
        values = values[::8]
    pairs = np.array(list(itertools.product(range(len(values)), repeat=2))).T
    x, y = values[pairs[0]], values[pairs[1]]
    result = run(Op2(kind, 0, 1), [dtype, dtype], x, y)
    operands = zip(numbers(dtype, x), numbers(dtype, y), strict=True)
    expected = [reference.apply2(kind, dtype, *pair) for pair in operands]
    assert_values(B if isinstance(kind, Compare) else dtype, result, expected)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_fma_rounds_once(dtype: Dtype) -> None:
    values = reference.elements(dtype, 90)
    generator = np.random.default_rng(1)
    x, y, z = (values[generator.integers(0, len(values), 6000)] for _ in range(3))
    result = run(Op3(FMA, 0, 1, 2), [dtype] * 3, x, y, z)
    rows = zip(*(numbers(dtype, operand) for operand in (x, y, z)), strict=True)
    if dtype in FLOATS:
        expected = [reference.rounded(dtype, reference.fused(*row)) for row in rows]
    else:
        expected = [reference.wrapped(dtype, a * b + c) for a, b, c in rows]
    assert_values(dtype, result, expected)


def test_fma_of_near_ties() -> None:
    """Sums whose rounded float64 is a tie that the exact sum is not."""
    generator = np.random.default_rng(2)
    for dtype, digits in ((F32, 24), (Dtype.float64, 53)):
        size = 3000
        x, y = (
            np.ldexp(generator.integers(1 << (digits - 1), 1 << digits, size), -digits)
            for _ in range(2)
        )
        z = np.ldexp(1.0 + generator.integers(0, 4, size), generator.integers(-90, 90, size))
        operands = [array.astype(NUMPY[dtype]) for array in (x, y * (-1) ** np.arange(size), z)]
        rows = zip(*(operand.tolist() for operand in operands), strict=True)
        expected = [reference.rounded(dtype, reference.fused(*row)) for row in rows]
        assert_values(dtype, run(Op3(FMA, 0, 1, 2), [dtype] * 3, *operands), expected)


def test_fma_of_a_narrow_float_is_not_rounded_in_float32_first() -> None:
    words = [reference.of_words(Dtype.float16, [word]) for word in (0xF280, 0xC298, 0x848B)]
    assert run(Op3(FMA, 0, 1, 2), [Dtype.float16] * 3, *words).item() == 43872.0


def test_negating_a_nan_keeps_its_payload() -> None:
    for dtype, word, sign in (
        (F32, 0x7FA00001, 1 << 31),
        (Dtype.float64, 0x7FF0000000000001, 1 << 63),
        (Dtype.bfloat16, 0x7FC3, 1 << 15),
        (Dtype.float8_e5m2, 0x7D, 0x80),
    ):
        x = reference.of_words(dtype, [word, word | sign])
        code = f"u{x.dtype.itemsize}"
        assert run(Op1(Unary.NEG, dtype, 0), [dtype], x).view(code).tolist() == [word | sign, word]
        assert run(Op1(Unary.ABS, dtype, 0), [dtype], x).view(code).tolist() == [word, word]


def test_infinities_of_a_format_that_saturates() -> None:
    e5m2 = Dtype.float8_e5m2
    x = reference.of_words(e5m2, [0x7C, 0xFC])
    for node in (Op1(COPY, e5m2, 0), Op1(CAST, e5m2, 0), Op1(BITCAST, e5m2, 0)):
        assert run(node, [e5m2], x).view(np.uint8).tolist() == [0x7C, 0xFC]
    for kind, expected in ((Unary.NEG, [0xFB, 0x7B]), (Unary.ABS, [0x7B, 0x7B])):
        assert run(Op1(kind, e5m2, 0), [e5m2], x).view(np.uint8).tolist() == expected
    assert run(Op2(Binary.MAXIMUM, 0, 0), [e5m2], x).tolist() == [57344.0, -57344.0]
    zero = np.zeros(1, NUMPY[Dtype.float4_e2m1fn])
    divided = run(Op2(Binary.FDIV, 0, 0), [Dtype.float4_e2m1fn], zero)
    assert divided.view(np.uint8).tolist() == [0]


@pytest.mark.parametrize(("source", "target"), list(itertools.product(Dtype, Dtype)))
def test_cast(source: Dtype, target: Dtype) -> None:
    x = reference.elements(source, 120)
    actual = run(Op1(CAST, target, 0), [source], x)
    expected = [reference.cast(source, target, v) for v in numbers(source, x)]
    assert_values(target, actual, expected)


@pytest.mark.parametrize(
    ("source", "target"),
    [(x, y) for x, y in itertools.product(Dtype, Dtype) if accepts1(BITCAST, x, y)],
)
def test_bitcast_keeps_the_bits(source: Dtype, target: Dtype) -> None:
    x = reference.elements(source, 60)
    back = run(Op1(BITCAST, source, 0), [target], run(Op1(BITCAST, target, 0), [source], x))
    assert back.tobytes() == x.tobytes()


def test_bitcast_reads_the_bits() -> None:
    x = np.array([1.0, -0.0], np.float32)
    assert run(Op1(BITCAST, I32, 0), [F32], x).tolist() == [0x3F800000, -(2**31)]
    nibbles = run(
        Op1(BITCAST, Dtype.int4, 0),
        [Dtype.float4_e2m1fn],
        np.array([-6.0, 6.0]).astype(NUMPY[Dtype.float4_e2m1fn]),
    )
    assert nibbles.astype(int).tolist() == [-1, 7]
    z = np.array([complex(1.0, -2.0)], np.complex64)
    assert run(Op1(BITCAST, U64, 0), [Dtype.complex64], z).tolist() == [0xC0000000_3F800000]


def test_any_byte_but_zero_is_true() -> None:
    x = run(Op1(BITCAST, B, 0), [Dtype.uint8], np.array([0, 1, 2, 255], np.uint8))
    assert run(Op1(BITCAST, Dtype.uint8, 0), [B], x).tolist() == [0, 1, 2, 255]
    assert run(Op1(CAST, I32, 0), [B], x).tolist() == [0, 1, 1, 1]
    true = np.full(4, True)
    assert run(Op2(Compare.EQUAL, 0, 1), [B, B], x, true).tolist() == [False, True, True, True]
    assert run(Op2(Binary.XOR, 0, 1), [B, B], x, true).tolist() == [True, False, False, False]
    picked = run(
        Op3(WHERE, 0, 1, 2), [B, I32, I32], x, np.arange(4, dtype=np.int32), np.full(4, 9, np.int32)
    )
    assert picked.tolist() == [9, 1, 2, 3]


@pytest.mark.parametrize("kind", [COPY, BITCAST])
def test_copies_keep_the_payload_of_a_nan(kind: object) -> None:
    words = np.array([0x7FA00001, 0xFFC12345, 0x80000000], np.uint32)
    e = E.input(0, F32)
    e = E.copy(e) if kind is COPY else E.bitcast(F32, E.bitcast(I32, e))
    (actual,) = evaluate(Program.of_exprs([F32], [e]), [words.view(np.float32)], (3,))
    assert actual.view(np.uint32).tolist() == words.tolist()


@pytest.mark.parametrize("condition", [B, Dtype.bit])
@pytest.mark.parametrize("dtype", list(Dtype))
def test_where_picks_bits(condition: Dtype, dtype: Dtype) -> None:
    x, y = reference.elements(dtype, 20), reference.elements(dtype, 20)[::-1].copy()
    chosen = np.arange(len(x)) % 3 == 0
    actual = run(Op3(WHERE, 0, 1, 2), [condition, dtype, dtype], chosen, x, y)
    for i, one in enumerate(chosen):
        assert actual[i : i + 1].tobytes() == (x if one else y)[i : i + 1].tobytes()


THREEFRY = [
    (0, 0, 0x99BA4EFE6B200159),
    (0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0xBB002BE71CB996FC),
    (0x85A308D3243F6A88, 0x0370734413198A2E, 0x483DF7A0C4923A9C),
    (1, 0, 0xC0DE3F32508EFB2C),
    (0, 1, 0x96EB2785B435A7FA),
    (0x100000000, 0, 0xCDDB151D375F238F),
    (0x2A, 0x123456789ABCDEF0, 0x1D0831E827146112),
    (0xDEADBEEFCAFEBABE, 0x0123456789ABCDEF, 0xC5C68EF2FFE1AC62),
]
"""Counters, keys and results; the first three are the generator's published ones."""


def test_threefry() -> None:
    counters, keys, expected = (list(column) for column in zip(*THREEFRY, strict=True))
    operands = [np.array(column, np.uint64) for column in (counters, keys)]
    assert run(Op2(Binary.THREEFRY, 0, 1), [U64, U64], *operands).tolist() == expected


def test_coordinates_and_broadcast() -> None:
    e = E.coord(0) * E.const(I64, 10) + E.coord(1) + E.input(0, I64)
    program = Program.of_exprs([I64], [e, E.const(I64, 5)])
    sums, fives = evaluate(program, [np.array([100, 200, 300])], (2, 3))
    assert sums.tolist() == [[100, 201, 302], [110, 211, 312]]
    assert fives.tolist() == [[5] * 3] * 2


@pytest.mark.parametrize("dtype", list(Dtype))
def test_operands_of_any_strides(dtype: Dtype) -> None:
    x = reference.elements(dtype, 60)
    x = np.broadcast_to(x[: len(x) // 2 * 2 : 2], (3, len(x) // 2))
    kind = Binary.MAXIMUM
    (whole,) = evaluate(Program.of_node([dtype], Op2(kind, 0, 0)), [x], x.shape)
    (copied,) = evaluate(Program.of_node([dtype], Op2(kind, 0, 0)), [x.copy()], x.shape)
    assert whole.tobytes() == copied.tobytes()


def test_operands_that_are_refused() -> None:
    program = Program.of_exprs([I64], [E.coord(1) + E.input(0, I64)])
    with pytest.raises(ValueError, match="expected 1 operands, found 0"):
        evaluate(program, [], (2, 2))
    with pytest.raises(ValueError, match="operand 0 is of i64, found elements of int32"):
        evaluate(program, [np.zeros(2, np.int32)], (2, 2))
    with pytest.raises(ValueError, match=r"operand 0 of shape \(3, 2, 2\) does not broadcast"):
        evaluate(program, [np.zeros((3, 2, 2), np.int64)], (2, 2))
    with pytest.raises(ValueError, match="node 0: axis 1 of 1"):
        evaluate(program, [np.zeros(2, np.int64)], (2,))
    unread = Program.v([], [Coord(5), Const(I64, bytes(8))], [1])
    assert evaluate(unread, [], ())[0].item() == 0


def test_a_chain_of_100_000_nodes() -> None:
    e = E.input(0, Dtype.uint8)
    one = E.const(Dtype.uint8, 1)
    for _ in range(100_000):
        e = e + one
    (result,) = evaluate(Program.of_exprs([Dtype.uint8], [e]), [np.zeros(1, np.uint8)], (1,))
    assert result.item() == 100_000 % 256


def by_hand(program: Program, operands: Sequence[Number], point: Sequence[int]) -> list[Number]:
    """The results at one point, node by node."""
    values: list[Number] = []
    for index, node in enumerate(program.nodes):
        match node:
            case In(i):
                values.append(operands[i])
            case Coord(axis):
                values.append(point[axis])
            case Const(dtype, element):
                array = np.frombuffer(element, NUMPY[dtype])
                values.append(numbers(dtype, array)[0])
            case Op1(kind, dtype, i):
                if kind is CAST:
                    values.append(reference.cast(program.dtype(i), dtype, values[i]))
                else:
                    same = kind in (COPY, BITCAST)
                    values.append(values[i] if same else reference.apply1(kind, dtype, values[i]))
            case Op2(kind, i, j):
                values.append(reference.apply2(kind, program.dtype(i), values[i], values[j]))
            case Op3(kind, i, j, l):
                if kind is WHERE:
                    values.append(values[j] if values[i] else values[l])
                elif (dtype := program.dtype(index)) in FLOATS:
                    exact = reference.fused(values[i], values[j], values[l])
                    values.append(reference.rounded(dtype, exact))
                else:
                    total = values[i] * values[j] + values[l]
                    values.append(reference.wrapped(dtype, total))
    return [values[out] for out in program.outs]


def is_by_hand(node: object, operand: Dtype | None, result: Dtype) -> bool:
    """Whether the reference has the kind, on its values."""
    match node:
        case Op1(kind, _, _):
            exact = kind in EXACT1 and operand not in COMPLEX
            return exact or kind in (COPY, CAST) or (kind is BITCAST and operand is result)
        case Op2(kind, _, _):
            assert operand is not None
            return kind in EXACT2 and is_exact2(kind, operand)
        case _:
            return True


@given(programs(accepts=is_by_hand), st.data())
def test_random_programs(program: Program, data: st.DataObject) -> None:
    shape = (2, 3)
    arrays = [
        reference.elements(dtype, 60)[
            data.draw(st.lists(st.integers(0, 1), min_size=6, max_size=6))
            if dtype in BOOLEANS
            else data.draw(st.lists(st.integers(0, 15), min_size=6, max_size=6))
        ].reshape(shape)
        for dtype in program.ins
    ]
    operands = [numbers(d, a.ravel()) for d, a in zip(program.ins, arrays, strict=True)]
    results = evaluate(program, arrays, shape)
    points = list(itertools.product(range(2), range(3)))
    expected = [
        by_hand(program, [values[i] for values in operands], point)
        for i, point in enumerate(points)
    ]
    for position, (dtype, actual) in enumerate(zip(program.results, results, strict=True)):
        assert actual.shape == shape
        assert_values(dtype, actual.ravel(), [row[position] for row in expected])
