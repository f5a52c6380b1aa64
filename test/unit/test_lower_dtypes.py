"""Loops over every dtype keep every bit when they are lowered, and in C.

The interpreter of `prog.loop` gives what is expected; `test_prog_*` hold that to the rules.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np
import prog_reference as reference
import pytest
from compiled_cases import compilers
from dtype_loops import Loop, assert_same, c_of, compiled, interpreted, lowered, module_of
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from prog_strategies import programs
from ways_to_run import parse_mlir, through_mlir

from dialects.prog import (
    BITCAST,
    CAST,
    COMPLEX,
    COPY,
    FLOATS,
    FMA,
    WHERE,
    Binary,
    Compare,
    Const,
    Dtype,
    E,
    In,
    Monoid,
    Node,
    Op1,
    Op2,
    Op3,
    Program,
    Unary,
    accepts1,
    accepts2,
    accepts3,
)
from dialects.prog.native import compile_c

COUNT = 40
FLAGS = ("-O1", "-Wall", "-Wextra", "-Werror")


def check(loops: list[Loop], flags: tuple[str, ...] = FLAGS) -> None:
    """The same bits from the loops, from what they are lowered to, and from C."""
    module = module_of(loops)
    expected = interpreted(module, loops)
    after = lowered(module)
    assert_same(loops, expected, interpreted(after, loops))
    source = c_of(after)
    for compiler in compilers():
        assert_same(loops, expected, compiled(source, loops, compiler, flags))


def elements(dtype: Dtype, seed: int) -> np.ndarray:
    """Special elements and others, in an order of their own for each `seed`."""
    special = reference.elements(dtype, COUNT)
    count = max(COUNT, len(special))
    return np.random.default_rng(seed).permutation(np.resize(special, count))[:COUNT]


def applied(dtypes: list[Dtype], nodes: list[Node]) -> Loop:
    """`nodes` of the operands of `dtypes`, each of them an output."""
    operands = [*map(In, range(len(dtypes)))]
    outs = range(len(operands), len(operands) + len(nodes))
    arrays = [elements(dtype, seed) for seed, dtype in enumerate(dtypes)]
    return Loop(Program.v(dtypes, [*operands, *nodes], outs), arrays, (COUNT,))


def test_every_kind_of_one_operand() -> None:
    check(
        [
            applied([d], [Op1(kind, d, 0) for kind in Unary if accepts1(kind, d, d)])
            for d in Dtype
            if d not in (Dtype.bool, Dtype.bit)
        ]
    )


def test_every_kind_of_two_operands() -> None:
    kinds = (*Binary, *Compare)
    check(
        [applied([d, d], [Op2(kind, 0, 1) for kind in kinds if accepts2(kind, d)]) for d in Dtype]
    )


def test_every_kind_of_three_operands() -> None:
    loops = [
        applied([c, d, d], [Op3(WHERE, 0, 1, 2)]) for c in (Dtype.bool, Dtype.bit) for d in Dtype
    ]
    check(loops + [applied([d] * 3, [Op3(FMA, 0, 1, 2)]) for d in Dtype if accepts3(FMA, d, d)])


def test_every_conversion() -> None:
    check(
        [
            applied(
                [source],
                [
                    Op1(kind, target, 0)
                    for kind in (CAST, BITCAST)
                    for target in Dtype
                    if accepts1(kind, source, target)
                ],
            )
            for source in Dtype
        ]
    )


def test_every_fold() -> None:
    shape = (3, 7)
    loops: list[Loop] = []
    for d in Dtype:
        monoids = [monoid for monoid in Monoid if monoid.accepts(d)]
        body = Program.v([d], [In(0)], [0] * len(monoids))
        loops.append(Loop(body, [elements(d, 0)[: 3 * 7]], shape, monoids))
        # The accumulators of a fold along which nothing is contiguous are scalars.
        loops.append(Loop(body, [elements(d, 1)[:7]], (7,), monoids))
    check(loops)


def test_a_narrow_sum_rounds_after_each_addition() -> None:
    # 2048 + 1 is a tie in float16, to even; a sum in float32 would be 2050.
    x = np.array([2048, 1, 1], np.float16)
    loop = Loop(Program.v([Dtype.float16], [In(0)], [0]), [x], (3,), [Monoid.SUM])
    ((_, total),) = interpreted(module_of([loop]), [loop])
    assert total.tolist() == [2048.0]


TWO_COLUMNS = """
func.func @{name}(%a: memref<?x{type}>, %o: memref<?x{type}>) {{
  prog.loop (%a, %o : memref<?x{type}>, memref<?x{type}>) shape [2] reduction [40]
    monoids [#prog.monoid<{monoid}>]
    body #prog.program<({type}) {{v0 = in 0}} -> (v0)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d1 * 2 + d0)>>]
    epilogue #prog.program<({type}) {{v0 = in 0, v1 = const 7 : {type}, v2 = mul v0 v1}} -> (v2)>
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}}
"""


@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize("flags", [("-O2",), ("-O3", "-march=native")], ids=" ".join)
def test_two_columns_of_integers(compiler: str, flags: tuple[str, ...]) -> None:
    """gcc 12 takes two sums in one loop for each other if there are conversions in them."""
    folds = {"sum": np.add, "product": np.multiply, "max": np.maximum, "min": np.minimum}
    dtypes = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)]
    names = {dtype: f"{'u' * (dtype.kind == 'u')}i{dtype.itemsize * 8}" for dtype in dtypes}
    cases = [(dtype, monoid) for dtype in dtypes for monoid in folds]
    text = "".join(
        TWO_COLUMNS.format(name=f"{monoid}_{names[dtype]}", type=names[dtype], monoid=monoid)
        for dtype, monoid in cases
    )
    source = c_of(lowered(parse_mlir(text)))
    library = compile_c(source, compiler=compiler, flags=flags)
    rng = np.random.default_rng(0)
    for dtype, monoid in cases:
        columns = np.frombuffer(rng.bytes(80 * dtype.itemsize), dtype).reshape(40, 2) | 1
        found = np.zeros(2, dtype)
        run = library[f"{monoid}_{names[dtype]}"]
        run(*(ctypes.c_void_p(memory.ctypes.data) for memory in (columns, found)))
        expected = folds[monoid].reduce(columns, 0, dtype=dtype) * dtype.type(7)
        np.testing.assert_array_equal(found, expected, f"{monoid} of {dtype}")


def payloads(dtype: Dtype) -> list[bytes]:
    """Bits of NaNs that no arithmetic gives, quiet and signalling, and of other elements."""
    words = {
        Dtype.float64: [0x7FF0000000000123, 0xFFF8000000000456, 0x8000000000000000],
        Dtype.float32: [0x7F800123, 0xFFC00456, 0x80000000, 0x7FC00000],
        Dtype.float16: [0x7C12, 0xFE34, 0x8000],
        Dtype.bfloat16: [0x7F81, 0xFFC2, 0x8000],
        Dtype.float8_e4m3fn: [0xFF, 0x7F, 0x80],
        Dtype.float8_e5m2: [0x7C, 0xFC, 0x7D, 0xFF],
    }[dtype]
    return [word.to_bytes(reference.NUMPY[dtype].itemsize, sys.byteorder) for word in words]


def test_moves_keep_the_bits_of_nans() -> None:
    loops: list[Loop] = []
    for d in FLOATS - {Dtype.float4_e2m1fn}:
        x, i = E.input(0, d), E.input(1, Dtype.bool)
        constants = [E(Const(d, element), d) for element in payloads(d)]
        outs = [E.copy(x), E.cast(d, x), *constants, *(E.where(i, x, c) for c in constants)]
        array = np.frombuffer(b"".join(payloads(d)[:3]), reference.NUMPY[d])
        choice = np.array([True, False, True])
        loops.append(Loop(Program.of_exprs([d, Dtype.bool], outs), [array, choice], (3,)))
    module = module_of(loops)
    expected = interpreted(module, loops)
    for loop, memories in zip(loops, expected, strict=True):
        copied = memories[2]
        assert copied.tobytes() == loop.arrays[0].tobytes()
    after = lowered(module)
    results = [interpreted(after, loops)]
    results += [compiled(c_of(after), loops, compiler, FLAGS) for compiler in compilers()]
    for result in results:
        for one, other in zip(expected, result, strict=True):
            assert [memory.tobytes() for memory in one] == [memory.tobytes() for memory in other]


def test_constants_keep_their_bits() -> None:
    """Of every dtype, in the text of the lowered loops as well."""
    loops: list[Loop] = []
    for d in Dtype:
        array = elements(d, 0)
        size = array.itemsize
        raw = (array.view(np.uint8) & 15 if d is Dtype.int4 else array).tobytes()
        constants = [E(Const(d, raw[at : at + size]), d) for at in range(0, len(raw), size)]
        loops.append(Loop(Program.of_exprs([], constants), [], (1,)))
    after = lowered(module_of(loops))
    results = [interpreted(module_of(loops), loops), interpreted(after, loops)]
    results += [compiled(c_of(after), loops, compiler, FLAGS) for compiler in compilers()]
    for memories in zip(*results, strict=True):
        for one, *others in zip(*memories, strict=True):
            assert {other.tobytes() for other in others} == {one.tobytes()}
    for is_generic in (False, True):
        assert c_of(through_mlir(after, is_generic)) == c_of(after)


def test_the_byte_of_a_boolean() -> None:
    """A boolean's byte is seen by a Bitcast through moves, and written to memory as 0 or 1."""
    x, y = E.input(0, Dtype.uint8), E.input(1, Dtype.bool)
    two = E(Const(Dtype.bool, b"\2"), Dtype.bool)
    boolean = E.bitcast(Dtype.bool, x)
    outs = [
        boolean,
        E.bitcast(Dtype.int8, E.copy(E.bitcast(Dtype.bool, boolean))),
        E.bitcast(Dtype.uint8, E.where(y, boolean, two)),
        E.bitcast(Dtype.uint8, boolean & two),
        E.bitcast(Dtype.uint8, y),
        two,
    ]
    arrays = [np.array([0, 1, 128, 3], np.uint8), np.array([False, True, True, False])]
    loop = Loop(Program.of_exprs([Dtype.uint8, Dtype.bool], outs), arrays, (4,))
    ((_, _, *results),) = interpreted(module_of([loop]), [loop])
    assert [result.view(np.int8).tolist() for result in results] == [
        [0, 1, 1, 1],
        [0, 1, -128, 3],
        [2, 1, -128, 2],
        [0, 1, 1, 1],
        [0, 1, 1, 0],
        [1, 1, 1, 1],
    ]
    check([loop])


def is_settled(node: Node, operand: Dtype, result: Dtype) -> bool:
    """Whether the bits of a kind's results are the same for all NaNs with other bits.

    They aren't for a Bitcast, which sees them, nor for kinds of complex numbers in which a
    NaN part's sign is a sign.
    """
    if isinstance(node, Op1) and node.kind is BITCAST:
        return operand not in (FLOATS - {Dtype.float4_e2m1fn}) | COMPLEX
    return operand not in COMPLEX or not isinstance(node, Op1 | Op2) or node.kind in _SETTLED


_SETTLED = {
    *(COPY, CAST, Unary.NEG, *Compare),
    *(Binary.ADD, Binary.SUB, Binary.MUL, Binary.FDIV, Binary.MAXIMUM, Binary.MINIMUM),
}


@st.composite
def loops(draw: st.DrawFn) -> Loop:
    program = draw(programs(accepts=is_settled))
    arrays = [elements(d, draw(st.integers(0, 99)))[:12] for d in program.ins]
    return Loop(program, arrays, (3, 4))


# Without shrinking, which would compile for minutes: the failure names the program.
@settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(loops(), min_size=12, max_size=12))
def test_random_programs(batch: list[Loop]) -> None:
    check(batch)
