"""What the loop level's interpreter makes of each op, against values worked out by other means."""

import struct
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, memref, scf
from xdsl.interpreter import Interpreter
from xdsl.parser import Parser
from xdsl.utils.exceptions import InterpretationError

from dialects.vector import Vector
from uir.runtime.interpreters.loops import register_loop_functions

I32, I64, F32, I1 = np.int32, np.int64, np.float32, np.bool_
NAN, INF = F32("nan"), F32("inf")
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def run(text: str, *arguments: Any, function: str = "f", vscale: int = 1) -> tuple[Any, ...]:
    ctx = Context()
    for dialect in (arith.Arith, builtin.Builtin, func.Func, memref.MemRef, scf.Scf, Vector):
        ctx.load_dialect(dialect)
    module = Parser(ctx, text).parse_module()
    module.verify()
    interpreter = Interpreter(module)
    register_loop_functions(interpreter, vscale)
    return interpreter.call_op(function, arguments)


def run_op(op: str, types: str, result: str, *arguments: Any) -> Any:
    """The result of one op on arguments %a, %b and %c of the given types."""
    names = ["%a", "%b", "%c"][: len(arguments)]
    pairs = zip(names, types.split(), strict=True)
    parameters = ", ".join(f"{name} : {type_}" for name, type_ in pairs)
    (value,) = run(
        f"func.func @f({parameters}) -> {result} {{ %r = {op}\n func.return %r : {result} }}",
        *arguments,
    )
    return value


def bits(value: np.float32) -> int:
    return struct.unpack("<I", struct.pack("<f", value))[0]


@pytest.mark.parametrize(
    ("op", "a", "b", "expected"),
    [
        ("addi", INT32_MAX, 1, INT32_MIN),
        ("subi", INT32_MIN, 1, INT32_MAX),
        ("muli", 65536, 65536, 0),
        ("muli", INT32_MIN, -1, INT32_MIN),
        ("divsi", -7, 2, -3),
        ("divsi", 7, -2, -3),
        ("remsi", -7, 2, -1),
        ("remsi", 7, -2, 1),
        ("divui", 7, 2, 3),
        ("divui", -1, 2, INT32_MAX),
        ("divui", INT32_MIN, -1, 0),
        ("remui", 7, 4, 3),
        ("remui", -1, 10, 5),
        ("floordivsi", -7, 2, -4),
        ("floordivsi", 7, -2, -4),
        ("floordivsi", -8, 2, -4),
        ("andi", -4, 7, 4),
        ("ori", -8, 3, -5),
        ("xori", -1, 5, -6),
    ],
)
def test_i32(op: str, a: int, b: int, expected: int) -> None:
    value = run_op(f"arith.{op} %a, %b : i32", "i32 i32", "i32", I32(a), I32(b))
    assert type(value) is I32
    assert value == expected


def test_i64_wraps() -> None:
    value = run_op("arith.addi %a, %a : i64", "i64", "i64", I64(2**62))
    assert type(value) is I64
    assert value == -(2**63)


@pytest.mark.parametrize(
    ("op", "expected"),
    [("arith.addi %a, %a : index", 2**40), ("arith.subi %a, %b : index", 2**39 + 5)],
)
def test_index(op: str, expected: int) -> None:
    arguments = (2**39, -5)[: 1 + ("%b" in op)]
    value = run_op(op, "index index"[: 5 + 6 * ("%b" in op)], "index", *arguments)
    assert type(value) is int
    assert value == expected


SIGNED_DIVISIONS = ["divsi", "remsi", "floordivsi"]


@pytest.mark.parametrize(
    ("op", "a", "b"),
    [
        *((op, 5, 0) for op in (*SIGNED_DIVISIONS, "divui", "remui")),
        *((op, INT32_MIN, -1) for op in SIGNED_DIVISIONS),
    ],
)
def test_division_without_a_result(op: str, a: int, b: int) -> None:
    with pytest.raises(InterpretationError):
        run_op(f"arith.{op} %a, %b : i32", "i32 i32", "i32", I32(a), I32(b))


def test_index_beyond_64_bits() -> None:
    with pytest.raises(InterpretationError, match="beyond 64 bits"):
        run_op("arith.muli %a, %a : index", "index", "index", 2**32)


@pytest.mark.parametrize(
    ("op", "a", "b", "expected"),
    [
        # 1 + 2^-24 is halfway between 1 and its successor: to even. 0x3f800000 is 1.
        ("addf", 1.0, 2.0**-24, 0x3F800000),
        ("addf", -0.0, -0.0, 0x80000000),
        ("addf", -0.0, 0.0, 0x00000000),
        ("subf", 0.0, 0.0, 0x00000000),
        ("mulf", 2.0**-100, 2.0**-49, 0x00000001),
        ("mulf", 2.0**-100, 2.0**-50, 0x00000000),
        ("mulf", 2.0**100, -(2.0**100), 0xFF800000),
        ("divf", 1.0, 3.0, 0x3EAAAAAB),
        ("divf", 1.0, -0.0, 0xFF800000),
        ("maximumf", -0.0, 0.0, 0x00000000),
        ("maximumf", 0.0, -0.0, 0x00000000),
        ("maximumf", -0.0, -0.0, 0x80000000),
        ("maximumf", -1.0, -2.0, 0xBF800000),
        ("minimumf", -0.0, 0.0, 0x80000000),
        ("minimumf", 0.0, -0.0, 0x80000000),
        ("minimumf", 0.0, 0.0, 0x00000000),
        ("minimumf", -1.0, -2.0, 0xC0000000),
    ],
)
def test_f32(op: str, a: float, b: float, expected: int) -> None:
    value = run_op(f"arith.{op} %a, %b : f32", "f32 f32", "f32", F32(a), F32(b))
    assert type(value) is F32
    assert f"{bits(value):08x}" == f"{expected:08x}"


@pytest.mark.parametrize("op", ["maximumf", "minimumf"])
@pytest.mark.parametrize(("a", "b"), [(NAN, F32(1)), (-INF, NAN)])
def test_nan_wins(op: str, a: np.float32, b: np.float32) -> None:
    assert np.isnan(run_op(f"arith.{op} %a, %b : f32", "f32 f32", "f32", a, b))


def test_negf_flips_the_sign() -> None:
    assert bits(run_op("arith.negf %a : f32", "f32", "f32", F32(0.0))) == 0x80000000


# One row a relation of the operands: which of the comparisons hold.
@pytest.mark.parametrize(
    ("a", "b", "holding"),
    [
        (1.0, 1.0, "oeq oge ole ord ueq uge ule"),
        (-0.0, 0.0, "oeq oge ole ord ueq uge ule"),
        (2.0, 1.0, "ogt oge one ord ugt uge une"),
        (1.0, INF, "olt ole one ord ult ule une"),
        (NAN, 1.0, "ueq ugt uge ult ule une uno"),
        (NAN, NAN, "ueq ugt uge ult ule une uno"),
    ],
)
def test_cmpf(a: float, b: float, holding: str) -> None:
    found = [
        predicate
        for predicate in arith.CMPF_COMPARISON_OPERATIONS[1:-1]
        if run_op(f"arith.cmpf {predicate}, %a, %b : f32", "f32 f32", "i1", F32(a), F32(b))
    ]
    assert found == holding.split()


@pytest.mark.parametrize(
    ("type_", "a", "b", "holding"),
    [
        ("i32", I32(-1), I32(1), "ne slt sle ugt uge"),
        ("i32", I32(3), I32(3), "eq sle sge ule uge"),
        ("i64", I64(-(2**63)), I64(5), "ne slt sle ugt uge"),
        ("index", 4, 3, "ne sgt sge ugt uge"),
        # As a signed number, true is -1.
        ("i1", I1(True), I1(False), "ne slt sle ugt uge"),
    ],
)
def test_cmpi(type_: str, a: Any, b: Any, holding: str) -> None:
    found = [
        predicate
        for predicate in arith.CMPI_COMPARISON_OPERATIONS
        if run_op(f"arith.cmpi {predicate}, %a, %b : {type_}", f"{type_} {type_}", "i1", a, b)
    ]
    assert found == holding.split()


@pytest.mark.parametrize(
    ("op", "source", "target", "value", "expected"),
    [
        ("index_cast", "i32", "index", I32(-5), -5),
        ("index_cast", "index", "i32", 2**32 + 7, I32(7)),
        ("index_cast", "index", "i64", -(2**40), I64(-(2**40))),
        ("extui", "i1", "i32", I1(True), I32(1)),
        ("extui", "i1", "i64", I1(True), I64(1)),
        ("extui", "i32", "i64", I32(-1), I64(2**32 - 1)),
        ("extsi", "i32", "i64", I32(-1), I64(-1)),
        ("trunci", "i64", "i32", I64(2**31), I32(INT32_MIN)),
        ("sitofp", "i32", "f32", I32(16777217), F32(16777216)),
        # Through a double, 2^60 + 2^36 + 1 would lose its last bit and tie to 2^60.
        ("sitofp", "i64", "f32", I64(2**60 + 2**36 + 1), F32(2**60 + 2**37)),
        ("uitofp", "i1", "f32", I1(True), F32(1)),
        ("fptosi", "f32", "i32", F32(-2.9), I32(-2)),
        ("fptosi", "f32", "i32", F32(-(2.0**31)), I32(INT32_MIN)),
        ("fptosi", "f32", "i64", F32(2.0**62), I64(2**62)),
        ("bitcast", "f32", "i32", F32(-0.0), I32(INT32_MIN)),
        ("bitcast", "i32", "f32", I32(0x3F800000), F32(1)),
    ],
)
def test_conversion(op: str, source: str, target: str, value: Any, expected: Any) -> None:
    result = run_op(f"arith.{op} %a : {source} to {target}", source, target, value)
    assert type(result) is type(expected)
    assert result == expected


@pytest.mark.parametrize("value", [NAN, INF, F32(2.0**31), F32(-(2.0**32))])
def test_fptosi_out_of_range(value: np.float32) -> None:
    with pytest.raises(InterpretationError, match="out of range"):
        run_op("arith.fptosi %a : f32 to i32", "f32", "i32", value)


def test_select_keeps_the_bits_of_the_arm() -> None:
    result = run_op("arith.select %a, %b, %c : f32", "i1 f32 f32", "f32", I1(False), INF, F32(-0.0))
    assert bits(result) == 0x80000000


def test_loop_carries_values() -> None:
    (a, b) = run(
        """func.func @f(%n: index, %x: i32, %y: i32) -> (i32, i32) {
          %c2 = arith.constant 2 : index
          %r:2 = scf.for %i = %c2 to %n step %c2 iter_args(%p = %x, %q = %y) -> (i32, i32) {
            %s = arith.addi %p, %q : i32
            scf.yield %q, %s : i32, i32
          }
          func.return %r#0, %r#1 : i32, i32
        }""",
        9,
        I32(0),
        I32(1),
    )
    # Turns 2, 4, 6 and 8: the Fibonacci numbers 4 and 5.
    assert (a, b) == (3, 5)


def test_parallel_loop_runs_the_last_turn_first() -> None:
    text = """
    func.func @f(%m : memref<?xindex>, %at : memref<?xindex>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c7 = arith.constant 7 : index
      "scf.parallel"(%c1, %c7, %c2) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
      ^bb0(%i : index):
        %k = memref.load %at[%c0] : memref<?xindex>
        memref.store %i, %m[%k] : memref<?xindex>
        %next = arith.addi %k, %c1 : index
        memref.store %next, %at[%c0] : memref<?xindex>
        scf.reduce
      }) : (index, index, index) -> ()
      func.return
    }"""
    memory = np.zeros(3, np.int64)
    run(text, memory, np.zeros(1, np.int64))
    assert memory.tolist() == [5, 3, 1]


def test_conditional_runs_one_branch() -> None:
    text = """func.func @f(%c: i1, %a: i32, %b: i32) -> i32 {
      %r = scf.if %c -> (i32) {
        %q = arith.divsi %a, %b : i32
        scf.yield %q : i32
      } else {
        scf.yield %b : i32
      }
      func.return %r : i32
    }"""
    assert run(text, I1(True), I32(7), I32(2)) == (3,)
    assert run(text, I1(False), I32(7), I32(0)) == (0,)


LOAD = """func.func @f(%m: memref<?xf32>, %i: index) -> f32 {
  %x = memref.load %m[%i] : memref<?xf32>
  func.return %x : f32
}"""


def test_load() -> None:
    assert run(LOAD, np.array([1.5, 2.5], F32), 1) == (2.5,)


@pytest.mark.parametrize("index", [-1, 2])
@pytest.mark.parametrize(
    "text",
    [
        LOAD,
        LOAD.replace("%x = memref.load %m", "%x = arith.constant 0.0 : f32\n memref.store %x, %m"),
    ],
)
def test_access_out_of_bounds(text: str, index: int) -> None:
    with pytest.raises(InterpretationError, match="out of bounds"):
        run(text, np.zeros(2, F32), index)


SCALED = """
func.func @f(%m: memref<?xf32>, %w: f32, %i: index) -> index {
  %scale = vector.vscale
  %x = vector.load %m[%i] : memref<?xf32>, vector<[4]xf32>
  %all = vector.broadcast %w : f32 to vector<[4]xf32>
  %y = arith.mulf %x, %all : vector<[4]xf32>
  vector.store %y, %m[%i] : memref<?xf32>, vector<[4]xf32>
  func.return %scale : index
}"""


@pytest.mark.parametrize("vscale", [1, 2, 3])
def test_scalable_vectors(vscale: int) -> None:
    memory = np.arange(20, dtype=F32)
    assert run(SCALED, memory, F32(-2), 5, vscale=vscale) == (vscale,)
    scaled = [-2.0 * i if 5 <= i < 5 + 4 * vscale else i for i in range(20)]
    assert memory.tolist() == scaled


def test_a_vector_beyond_its_memory() -> None:
    with pytest.raises(InterpretationError, match="elements 5 to 13 are out of bounds of 12"):
        run(SCALED, np.zeros(12, F32), F32(1), 5, vscale=2)


def test_views_share_the_memory_of_the_arena() -> None:
    (x, y) = run(
        """func.func @f(%v: i32) -> (f32, i1) {
          %arena = memref.alloc() : memref<128xi8>
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c64 = arith.constant 64 : index
          %a = memref.view %arena[%c64][%c1] : memref<128xi8> to memref<?xi32>
          %b = memref.view %arena[%c64][%c1] : memref<128xi8> to memref<?xf32>
          %c = memref.view %arena[%c0][%c64] : memref<128xi8> to memref<?xi1>
          %true = arith.constant true
          memref.store %v, %a[%c0] : memref<?xi32>
          memref.store %true, %c[%c1] : memref<?xi1>
          %x = memref.load %b[%c0] : memref<?xf32>
          %y = memref.load %c[%c1] : memref<?xi1>
          memref.dealloc %arena : memref<128xi8>
          func.return %x, %y : f32, i1
        }""",
        I32(0x40490FDB),
    )
    assert bits(x) == 0x40490FDB
    assert y
    assert type(y) is I1


def test_view_past_the_end() -> None:
    with pytest.raises(InterpretationError, match="view of bytes 64 to 132 of 128"):
        run("""func.func @f() {
          %arena = memref.alloc() : memref<128xi8>
          %c17 = arith.constant 17 : index
          %c64 = arith.constant 64 : index
          %a = memref.view %arena[%c64][%c17] : memref<128xi8> to memref<?xf32>
          func.return
        }""")


@pytest.mark.parametrize("op", ["alloc", "alloca"])
def test_fresh_memory_holds_garbage(op: str) -> None:
    (x,) = run(f"""func.func @f() -> i32 {{
      %m = memref.{op}() : memref<4xi32>
      %c3 = arith.constant 3 : index
      %x = memref.load %m[%c3] : memref<4xi32>
      func.return %x : i32
    }}""")
    assert x == I32(0xA5A5A5A5 - 2**32)


CALL = """
func.func private @k(%a: memref<?xf32>, %b: memref<?xf32>, %o: index) {
  %c0 = arith.constant 0 : index
  %x = memref.load %a[%o] : memref<?xf32>
  memref.store %x, %b[%c0] : memref<?xf32>
  func.return
}
func.func @f(%a: memref<?xf32>, %b: memref<?xf32>) {
  %c2 = arith.constant 2 : index
  func.call @k(%a, %b, %c2) : (memref<?xf32>, memref<?xf32>, index) -> ()
  func.return
}"""


def test_call_writes_through_its_arguments() -> None:
    a, b = np.array([1, 2, 3], F32), np.zeros(1, F32)
    run(CALL, a, b)
    assert b.tolist() == [3]


def test_call_refuses_overlapping_memories() -> None:
    memory = np.zeros(4, F32)
    with pytest.raises(InterpretationError, match="overlap"):
        run(CALL, memory, memory[3:])
