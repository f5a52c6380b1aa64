"""Programs and expressions: what holds, what is refused, what is equal to what."""

from __future__ import annotations

import io
import math
import struct
import subprocess
import sys

import pytest
from hypothesis import given
from prog_strategies import programs
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

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
    InvalidProgram,
    Monoid,
    Node,
    Op1,
    Op2,
    Op3,
    Prog,
    Program,
    ProgramAttr,
    Unary,
    accepts1,
    accepts2,
    accepts3,
    bits,
)

B, I32, I64, F32 = Dtype.bool, Dtype.int32, Dtype.int64, Dtype.float32
C64, I4, BIT = Dtype.complex64, Dtype.int4, Dtype.bit
X, Y = E.input(0, F32), E.input(1, F32)


def test_nodes_stand_in_the_order_in_which_a_walk_finishes_them() -> None:
    program = Program.of_exprs([F32, F32], [E.maximum(Y, X * Y), X])
    assert program.nodes == (
        In(1),
        In(0),
        Op2(Binary.MUL, 1, 0),
        Op2(Binary.MAXIMUM, 0, 2),
    )
    assert program.outs == (3, 1)


def test_equal_subexpressions_are_one_node_whichever_object_they_are() -> None:
    program = Program.of_exprs([F32], [E.add(X * X, E.input(0, F32) * E.input(0, F32))])
    assert program.nodes == (In(0), Op2(Binary.MUL, 0, 0), Op2(Binary.ADD, 1, 1))


def test_constants_are_told_apart_by_dtype_and_bits() -> None:
    constants = [
        E.const(F32, 0.0),
        E.const(F32, -0.0),
        E.const(I32, 1),
        E.const(F32, 1.0),
        E.const(B, True),
        E.const(F32, math.nan),
    ]
    assert len(set(constants)) == 6
    assert len(Program.of_exprs([], [*constants, *constants]).nodes) == 6


def test_casts_to_two_dtypes_are_two_nodes() -> None:
    program = Program.of_exprs([F32], [E.cast(I32, X), E.cast(B, X)])
    assert program.nodes == (In(0), Op1(CAST, I32, 0), Op1(CAST, B, 0))


def test_a_chain_of_100_000_nodes() -> None:
    def chain() -> E:
        e = X
        for _ in range(100_000):
            e = e + X
        return e

    one, other = chain(), chain()
    assert one == other
    assert hash(one) == hash(other)
    assert one != other + X
    program = Program.of_exprs([F32], [one, other])
    assert len(program.nodes) == 100_001
    assert program.outs == (100_000, 100_000)


def test_sharing_is_not_unfolded() -> None:
    def doubled(times: int) -> E:
        e = X
        for _ in range(times):
            e = e + e
        return e

    assert doubled(60) == doubled(60)
    assert len(Program.of_exprs([F32], [doubled(60)]).nodes) == 61


def test_of_node_reads_operands_by_number() -> None:
    assert Program.of_node([F32, F32], Op2(Compare.LESS, 1, 0)) == Program.v(
        [F32, F32], [In(0), In(1), Op2(Compare.LESS, 1, 0)], [2]
    )


def test_dtypes_of_nodes() -> None:
    nodes: list[Node] = [
        In(0),
        Coord(3),
        Const(I32, bits(I32, 7)),
        Op1(CAST, B, 0),
        Op2(Binary.ADD, 0, 0),
        Op2(Compare.EQUAL, 0, 4),
        Op3(WHERE, 5, 1, 1),
    ]
    program = Program.v([F32], nodes, [6])
    assert [program.dtype(i) for i in range(7)] == [F32, I64, I32, B, F32, B, I64]
    assert program.results == (I64,)
    with pytest.raises(InvalidProgram, match="node 7 of 7"):
        program.dtype(7)


@pytest.mark.parametrize(
    ("nodes", "outs", "message"),
    [
        ([In(0), Op1(COPY, F32, 1)], [0], "node 1: refers to node 1, which is not an earlier"),
        ([In(0), Op1(COPY, F32, -1)], [0], "node 1: refers to node -1"),
        ([In(2)], [0], "node 0: reads operand 2 of 2"),
        ([Coord(32)], [0], "node 0: axis 32 is not between 0 and 31"),
        ([Const(I32, b"\0")], [0], "node 0: 1 bytes of bits for i32, which has 4"),
        ([Const(I4, b"\x10")], [0], "node 0: bits 0x10 are no element of i4"),
        ([Const(BIT, b"\2")], [0], "node 0: bits 0x02 are no element of bit"),
        ([In(0), Op3(FMA, 0, 0, 1)], [0], "node 1: refers to node 1"),
        ([In(1), Op3(FMA, 0, 0, 0)], [0], "node 1: `fma` does not take i1 and i1"),
        ([In(1), Op1(COPY, F32, 0)], [0], "node 1: `copy` does not take i1 to f32"),
        ([In(1), Op1(BITCAST, F32, 0)], [0], "node 1: `bitcast` does not take i1 to f32"),
        ([In(1), Op1(Unary.RECIP, B, 0)], [0], "node 1: `recip` does not take i1 to i1"),
        ([In(0), In(1), Op2(Binary.ADD, 0, 1)], [0], "node 2: `add` takes operands of one dtype"),
        ([In(0), Op2(Binary.AND, 0, 0)], [0], "node 1: `and` does not take f32"),
        ([In(0), Op2(Binary.IDIV, 0, 0)], [0], "node 1: `idiv` does not take f32"),
        ([In(1), Op2(Binary.MUL, 0, 0)], [0], "node 1: `mul` does not take i1"),
        ([In(0), Op3(WHERE, 0, 0, 0)], [0], "node 1: `where` does not take f32 and f32"),
        ([In(0), In(1), Op3(WHERE, 1, 0, 1)], [0], "node 2: `where` takes last operands of one"),
        ([In(0)], [], "outs: a program has at least one output"),
        ([In(0)], [0, 1], "output 1: node 1 of 1"),
    ],
)
def test_what_does_not_hold_is_refused(nodes: list[Node], outs: list[int], message: str) -> None:
    with pytest.raises(InvalidProgram, match=message):
        Program.v([F32, B], nodes, outs)


def test_an_input_has_the_dtype_of_its_operand() -> None:
    with pytest.raises(InvalidProgram, match="operand 0 is of i1, its expression of f32"):
        Program.of_exprs([B], [X])
    with pytest.raises(InvalidProgram, match="reads operand 1 of 1"):
        Program.of_exprs([F32], [Y])


def test_expressions_check_their_kinds() -> None:
    with pytest.raises(InvalidProgram, match="`and` does not take f32"):
        _ = X & Y
    with pytest.raises(InvalidProgram, match="found f32 and i64"):
        _ = X + E.coord(0)
    assert (X < Y).dtype is B
    assert (X > Y) == E.less(Y, X)


FLOATS = {
    *(Dtype.float64, F32, Dtype.float16, Dtype.bfloat16),
    *(Dtype.float8_e4m3fn, Dtype.float8_e5m2, Dtype.float4_e2m1fn),
}
INTEGERS = {dtype for dtype in Dtype if "int" in dtype.name}
COMPLEX = {Dtype.complex128, C64}
BOOLEANS = {B, BIT}

NUMBERS = INTEGERS | FLOATS | COMPLEX
DOMAINS = {
    "every dtype but booleans": (NUMBERS, "neg recip sign add sub mul pow"),
    "floats and complex": (
        FLOATS | COMPLEX,
        "fdiv sqrt exp exp2 log log2 sin cos tan asin acos atan sinh cosh tanh",
    ),
    "integers": (INTEGERS, "idiv"),
    "floats and integers": (FLOATS | INTEGERS, "abs floor ceil round trunc mod"),
    "complex": (COMPLEX, "asinh acosh atanh"),
    "floats": (FLOATS, "log1p expm1 erf atan2"),
    "integers and booleans": (INTEGERS | BOOLEANS, "and or xor"),
    "uint64": ({Dtype.uint64}, "threefry"),
    "every dtype": (set(Dtype), "maximum minimum equal not_equal less less_equal"),
}


def test_domains_of_kinds_of_one_dtype() -> None:
    listed = {name: domain for domain, names in DOMAINS.values() for name in names.split()}
    kinds = [*Unary, *Binary, *Compare]
    assert {kind.value for kind in kinds} == set(listed)
    for kind in kinds:
        if isinstance(kind, Unary):
            pairs = {(x, y) for x in Dtype for y in Dtype if accepts1(kind, x, y)}
            assert pairs == {(x, x) for x in listed[kind.value]}
        else:
            assert {x for x in Dtype if accepts2(kind, x)} == listed[kind.value]


WIDTHS = [
    {BIT},
    {I4, Dtype.uint4, Dtype.float4_e2m1fn},
    {B, Dtype.int8, Dtype.uint8, Dtype.float8_e4m3fn, Dtype.float8_e5m2},
    {Dtype.int16, Dtype.uint16, Dtype.float16, Dtype.bfloat16},
    {I32, Dtype.uint32, F32},
    {I64, Dtype.uint64, Dtype.float64, C64},
    {Dtype.complex128},
]


def test_domains_of_the_other_kinds() -> None:
    pairs = [(x, y) for x in Dtype for y in Dtype]
    assert {p for p in pairs if accepts1(COPY, *p)} == {(x, x) for x in Dtype}
    assert all(accepts1(CAST, *p) for p in pairs)
    of_one_width = {(x, y) for dtypes in WIDTHS for x in dtypes for y in dtypes}
    assert {p for p in pairs if accepts1(BITCAST, *p)} == of_one_width
    assert {p for p in pairs if accepts3(WHERE, *p)} == {(c, x) for c in BOOLEANS for x in Dtype}
    assert {p for p in pairs if accepts3(FMA, *p)} == {(x, x) for x in FLOATS | INTEGERS}


def test_every_kind_is_a_function_of_its_name() -> None:
    for kind in [*Unary, *Binary, *Compare]:
        function = getattr(E, kind.value)
        dtype = next(d for d in Dtype if d in listed_domain(kind))
        x = E.input(0, dtype)
        e = function(x) if isinstance(kind, Unary) else function(x, x)
        assert e.head is kind
        assert e.operands == ((x,) if isinstance(kind, Unary) else (x, x))
    assert E.fma(X, Y, X).head is FMA


def listed_domain(kind: Unary | Binary | Compare) -> set[Dtype]:
    return next(domain for domain, names in DOMAINS.values() if kind.value in names.split())


def test_operators() -> None:
    i, j = E.input(0, I32), E.input(1, I32)
    assert [E.add(X, Y), E.sub(X, Y), E.mul(X, Y), E.fdiv(X, Y)] == [X + Y, X - Y, X * Y, X / Y]
    assert [i // j, i % j, i**j] == [E.idiv(i, j), E.mod(i, j), E.pow(i, j)]
    assert [i & j, i | j, i ^ j] == [E.and_(i, j), E.or_(i, j), E.xor(i, j)]
    assert [X < Y, X <= Y] == [E.less(X, Y), E.less_equal(X, Y)]
    assert [X > Y, X >= Y] == [E.less(Y, X), E.less_equal(Y, X)]
    assert [-X, abs(X)] == [E.neg(X), E.abs(X)]


def test_box_muller() -> None:
    """A normal number from two uniform ones."""
    two_pi = E.const(F32, 2.0 * math.pi)
    z = E.sqrt(E.const(F32, -2.0) * E.log(X)) * E.cos(two_pi * Y)
    assert Program.of_exprs([F32, F32], [z]) == Program.v(
        [F32, F32],
        [
            Const(F32, struct.pack("=I", 0xC0000000)),
            In(0),
            Op1(Unary.LOG, F32, 1),
            Op2(Binary.MUL, 0, 2),
            Op1(Unary.SQRT, F32, 3),
            Const(F32, struct.pack("=I", 0x40C90FDB)),
            In(1),
            Op2(Binary.MUL, 5, 6),
            Op1(Unary.COS, F32, 7),
            Op2(Binary.MUL, 4, 8),
        ],
        [9],
    )


def test_identities() -> None:
    assert [m.identity(F32) for m in Monoid] == [0.0, 1.0, -math.inf, math.inf]
    assert [m.identity(I32) for m in Monoid] == [0, 1, -(2**31), 2**31 - 1]
    assert [bool(m.identity(B)) for m in (Monoid.PRODUCT, Monoid.MAX, Monoid.MIN)] == [
        True,
        False,
        True,
    ]
    assert not Monoid.SUM.accepts(B)


def test_numpy_is_not_imported_before_it_is_used() -> None:
    code = "import sys, dialects.prog; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(programs())
def test_programs_are_equal_and_hash_by_structure(program: Program) -> None:
    copy = Program.v(list(program.ins), list(program.nodes), list(program.outs))
    assert copy == program
    assert hash(copy) == hash(program)


def parse_attribute(text: str) -> Attribute:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(Prog)
    return Parser(context, text).parse_attribute()


@given(programs())
def test_text_reads_back(program: Program) -> None:
    out = io.StringIO()
    Printer(out).print_attribute(ProgramAttr(program))
    assert parse_attribute(out.getvalue()) == ProgramAttr(program)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("program<(f32) {v0 = in 0, v1 = and v0 v0} -> (v1)>", "node 1: `and` does not take f32"),
        ("program<(f32) {v0 = in 0, v1 = twice v0} -> (v1)>", "unknown kind `twice`"),
        ("program<(f99) {v0 = in 0} -> (v0)>", "unknown dtype `f99`"),
        ("program<(f32) {v0 = in 0, v1 = recip x : f32} -> (v1)>", "name of a node, as `v0`"),
        ("program<() {v0 = const 2147483648 : i32} -> (v0)>", "not a constant of i32"),
        ("program<() {v0 = const 1 : f32} -> (v0)>", "not a constant of f32"),
        ("program<() {v0 = const 1.0 : i32} -> (v0)>", "not a constant of i32"),
        ("program<() {v0 = const bits 0x100 : i1} -> (v0)>", "not a constant of i1"),
        ("program<() {v0 = const bits 0x10 : i4} -> (v0)>", "node 0: bits 0x10 are no element"),
        ("program<() {v0 = const 8 : i4} -> (v0)>", "not a constant of i4"),
        ("program<() {v0 = const -1 : ui64} -> (v0)>", "not a constant of ui64"),
        ("program<() {v0 = const 1.0 : c64} -> (v0)>", "not a constant of c64"),
        ("monoid<mean>", "expected a monoid: `sum`, `product`, `max`, `min`"),
        ("access<0, 5 : i32>", "expected an `affine_map`"),
        ("access<0, affine_map<() -> (0)>, 5 : i32>", "expected an `affine_set`"),
    ],
)
def test_text_that_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse_attribute(f"#prog.{text}")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("program<() {v0 = foo v0 : f32} -> (v0)>", "foo"),
        ("program<(f33) {v0 = in 0} -> (v0)>", "f33"),
        ("program<(f32) {v0 = in 0, v1 = exp w0 : f32} -> (v1)>", "w0"),
    ],
)
def test_errors_are_at_the_name(text: str, named: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_attribute(f"#prog.{text}")
    assert caught.value.span.text == named
