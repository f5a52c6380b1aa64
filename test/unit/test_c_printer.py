"""The printed C gives the bits of the loop level's interpreter, with every compiler there is."""

import io
import re
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loop_programs import FLOATS, INTEGERS, OUTPUTS_PER_TYPE, SCRIPTS, program
from xdsl.context import Context
from xdsl.dialects import arith, builtin, cf, func, memref, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.interpreter import Interpreter
from xdsl.parser import Parser

import uir
from dialects.prog.native import CompileError, compile_c
from dialects.vector import Vector
from uir.runtime.interpreters.loops import register_loop_functions
from uir.runtime.native import Kernel, Parameter
from uir.targets.c import print_c
from uir.targets.c_expressions import UnprintableError

COMPILERS = [name for name in ("gcc", "clang", "clang-14") if shutil.which(name)]
LANES = 16


def parse(text: str, *, verify: bool = True) -> ModuleOp:
    ctx = Context()
    dialects = arith.Arith, builtin.Builtin, cf.Cf, func.Func, memref.MemRef, scf.Scf, Vector
    for dialect in dialects:
        ctx.load_dialect(dialect)
    module = Parser(ctx, text).parse_module()
    if verify:
        module.verify()
    return module


def printed(module: ModuleOp) -> str:
    out = io.StringIO()
    print_c(module, out)
    return out.getvalue()


def kernel_body(text: str) -> list[str]:
    """The statements of the last function of the C file printed from `text`."""
    lines = printed(parse(text)).splitlines()
    start = max(number for number, line in enumerate(lines) if line.startswith("void kernel("))
    end = lines.index("}", start)
    return [line.strip() for line in lines[start + 1 : end]]


def interpret(module: ModuleOp, arrays: list[np.ndarray]) -> None:
    interpreter = Interpreter(module)
    register_loop_functions(interpreter)
    interpreter.call_op("kernel", tuple(arrays))


def assert_same_bits(actual: np.ndarray, expected: np.ndarray) -> None:
    """Equal to the bit, except that a NaN is as good as another."""
    if expected.dtype == np.float32:
        nan = np.isnan(expected)
        assert (np.isnan(actual) == nan).all()
        actual, expected = actual.view(np.int32)[~nan], expected.view(np.int32)[~nan]
    assert actual.tolist() == expected.tolist()


def random_inputs(seed: int) -> list[np.ndarray]:
    """Special values, then random bits."""
    rng = np.random.default_rng(seed)
    floats = rng.integers(-(2**31), 2**31, 2 * LANES).astype(np.int32).view(np.float32)
    floats[::2] = rng.choice(np.array(FLOATS, np.float32), LANES)
    floats[::5] = rng.normal(size=len(floats[::5]))
    integers = rng.integers(-(2**31), 2**31, 2 * LANES).astype(np.int32)
    integers[::2] = rng.choice(np.array(INTEGERS, np.int32), LANES)
    return [floats, integers]


def fresh_outputs() -> list[np.ndarray]:
    size = LANES * OUTPUTS_PER_TYPE
    return [np.zeros(size, dtype) for dtype in (np.float32, np.int32, np.bool_)]


@pytest.mark.parametrize("compiler", COMPILERS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    script=SCRIPTS,
    seed=st.integers(0, 2**32),
    flags=st.sampled_from([("-O0",), ("-O1", "-std=c11"), ("-O2",), ("-O3", "-march=native")]),
)
def test_random_program(
    compiler: str, script: list[tuple[int, int, int, int]], seed: int, flags: tuple[str, ...]
) -> None:
    module = program(script, LANES)
    module.verify()
    inputs, expected, actual = random_inputs(seed), fresh_outputs(), fresh_outputs()
    interpret(module, [*inputs, *expected])
    size = LANES * OUTPUTS_PER_TYPE
    signature = [
        Parameter("f32", 2 * LANES),
        Parameter("i32", 2 * LANES),
        *(Parameter(dtype, size) for dtype in ("f32", "i32", "i1")),
    ]
    Kernel.compile(printed(module), signature, compiler=compiler, flags=flags)([*inputs, *actual])
    for one, other in zip(actual, expected, strict=True):
        assert_same_bits(one, other)


SPECIAL_PAIRS = """
func.func @kernel(%a: memref<?xf32>, %b: memref<?xf32>, %max: memref<?xf32>,
                  %min: memref<?xf32>, %chosen: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant COUNT : index
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<?xf32>
    %y = memref.load %b[%i] : memref<?xf32>
    %0 = arith.maximumf %x, %y : f32
    memref.store %0, %max[%i] : memref<?xf32>
    %1 = arith.minimumf %x, %y : f32
    memref.store %1, %min[%i] : memref<?xf32>
    %2 = arith.cmpf olt, %x, %y : f32
    %3 = arith.select %2, %x, %y : f32
    memref.store %3, %chosen[%i] : memref<?xf32>
  }
  func.return
}
"""


@pytest.mark.parametrize("flags", [("-O0",), ("-O3", "-march=native")])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_maximum_minimum_and_select_of_special_values(
    compiler: str, flags: tuple[str, ...]
) -> None:
    a, b = (grid.ravel().copy() for grid in np.meshgrid(*[np.array(FLOATS, np.float32)] * 2))
    # -0 comes before +0.
    a_first = (a < b) | ((a == b) & np.signbit(a) & ~np.signbit(b))
    nan = np.isnan(a) | np.isnan(b)
    expected = [
        np.where(nan, np.float32("nan"), np.where(a_first, b, a)),
        np.where(nan, np.float32("nan"), np.where(a_first, a, b)),
        np.where(a < b, a, b),
    ]
    actual = [np.zeros_like(a) for _ in expected]
    source = printed(parse(SPECIAL_PAIRS.replace("COUNT", str(a.size))))
    signature = [Parameter("f32", a.size)] * 5
    Kernel.compile(source, signature, compiler=compiler, flags=flags)([a, b, *actual])
    for one, other in zip(actual, expected, strict=True):
        assert_same_bits(one, other)


TRUNCATE = """
func.func @kernel(%a: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<?xf32>
    %0 = arith.fptosi %x : f32 to TYPE
    %1 = arith.sitofp %0 : TYPE to f32
    memref.store %1, %a[%i] : memref<?xf32>
  }
  func.return
}
"""


@pytest.mark.parametrize("type_", ["i32", "i64"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_negative_zero_comes_from_an_integer(compiler: str, type_: str) -> None:
    """gcc 12 would make a `truncf` of the two conversions, and keep the sign of -0.5."""
    values = np.linspace(-0.9, -0.0, 64, dtype=np.float32)
    source = printed(parse(TRUNCATE.replace("TYPE", type_)))
    flags = ("-O3", "-march=native")
    Kernel.compile(source, [Parameter("f32", 64)], compiler=compiler, flags=flags)([values])
    assert values.view(np.int32).tolist() == [0] * 64


MULTIPLY_ADD = """
func.func @kernel(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 256 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<?xf32>
    %y = memref.load %b[%i] : memref<?xf32>
    %z = memref.load %c[%i] : memref<?xf32>
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %p, %z : f32
    memref.store %s, %c[%i] : memref<?xf32>
  }
  func.return
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_contraction(compiler: str, level: str) -> None:
    rng = np.random.default_rng(7)
    a, b = (rng.normal(size=256).astype(np.float32) for _ in range(2))
    c = -(a * b)
    fused = (a.astype(np.float64) * b + c).astype(np.float32)
    assert (fused != 0).sum() > 200, "the inputs tell a fused operation from two"
    signature = [Parameter("f32", 256)] * 3
    flags = (level, "-march=native", "-Wall", "-Wextra", "-Werror")
    source = printed(parse(MULTIPLY_ADD))
    Kernel.compile(source, signature, compiler=compiler, flags=flags)([a, b, c])
    assert (c == 0).all()


CAN_FAIL = """
%n = buffer 4 dtype=i32 slot=0
%v = load %n
%h = shrink %v 0 shape=[1]
%i = reshape %h shape=[]
%e = index %v %i
%q = div %e %i
%f = bitcast %q dtype=f32
%c = cast %f dtype=i32
%m = index %n 0
store %m %c
"""
CANNOT_FAIL = """
%n = buffer 4 dtype=i32 slot=0
%i = range 4
%m = after %n %i
%c = index %m %i
%s = store %c %i
end %s %i
"""


@pytest.mark.parametrize("text", [CAN_FAIL, CANNOT_FAIL])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_checked_programs_have_no_warnings(compiler: str, text: str) -> None:
    flags = ("-O1", "-Wall", "-Wextra", "-Werror")
    compile_c(uir.render(text, checks=True), compiler=compiler, flags=flags)


FAST = ("-ffast-math", "-Ofast", "-ffinite-math-only")
PARTS_OF_FAST = ("-funsafe-math-optimizations", "-freciprocal-math", "-fno-signed-zeros")
"""Parts of -ffast-math of which gcc tells, and clang does not."""


@pytest.mark.parametrize(
    ("compiler", "flag"),
    [(compiler, flag) for compiler in COMPILERS for flag in FAST]
    + [("gcc", flag) for flag in PARTS_OF_FAST],
)
def test_fast_math_is_refused(compiler: str, flag: str) -> None:
    with pytest.raises(CompileError, match="exact floating point"):
        compile_c(printed(parse(MULTIPLY_ADD)), compiler=compiler, flags=(flag,))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_excess_precision_is_refused(compiler: str) -> None:
    # What the compilers say of themselves where floats are computed as doubles.
    flags = ("-U__FLT_EVAL_METHOD__", "-D__FLT_EVAL_METHOD__=1")
    with pytest.raises(CompileError, match="excess precision"):
        compile_c(printed(parse(MULTIPLY_ADD)), compiler=compiler, flags=flags)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_long_chain(compiler: str) -> None:
    ops = ["%v0 = memref.load %m[%c0] : memref<?xi32>"]
    ops += [f"%v{k} = arith.addi %v{k - 1}, %c : i32" for k in range(1, 3001)]
    text = "\n".join(ops)
    module = parse(f"""
    func.func @kernel(%m: memref<?xi32>) {{
      %c0 = arith.constant 0 : index
      %c = arith.constant 1000003 : i32
      {text}
      memref.store %v3000, %m[%c0] : memref<?xi32>
      func.return
    }}""")
    source = printed(module)
    assert max(len(line) for line in source.splitlines()) < 200
    memory = np.array([5], np.int32)
    flags = ("-O1", "-Wall", "-Wextra", "-Werror")
    Kernel.compile(source, [Parameter("i32", 1)], compiler=compiler, flags=flags)([memory])
    assert memory[0] == (5 + 3000 * 1000003 + 2**31) % 2**32 - 2**31


def index_expression(*ops: str) -> str:
    """The store of the last of `ops` on the values %a, %b and %c."""
    return kernel_body(
        "func.func @kernel(%m: memref<?xf32>, %a: index, %b: index, %c: index, %x: f32) {\n"
        + "\n".join(f"%{k} = {op} : index" for k, op in enumerate(ops))
        + f"\nmemref.store %x, %m[%{len(ops) - 1}] : memref<?xf32>\nfunc.return\n}}"
    )[-1]


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        (["arith.subi %b, %c", "arith.subi %a, %0"], "a - (b - c)"),
        (["arith.subi %a, %b", "arith.subi %0, %c"], "a - b - c"),
        (["arith.addi %b, %c", "arith.muli %a, %0"], "a * (b + c)"),
        (["arith.muli %a, %b", "arith.addi %0, %c"], "a * b + c"),
        (["arith.remsi %b, %c", "arith.muli %a, %0"], "a * (b % c)"),
        (["arith.muli %a, %b", "arith.divsi %0, %c"], "a * b / c"),
        (["arith.divsi %b, %c", "arith.divsi %a, %0"], "a / (b / c)"),
        (["arith.constant -3", "arith.subi %a, %0"], "a - -3"),
        (["arith.constant 65536", "arith.muli %0, %0"], "(int64_t)65536 * 65536"),
        (["arith.constant -2147483648", "arith.addi %a, %0"], "a + -2147483648"),
        (["arith.constant -9223372036854775808", "arith.addi %a, %0"], "a + INT64_MIN"),
    ],
)
def test_precedence(ops: list[str], expected: str) -> None:
    assert index_expression(*ops) == f"m[{expected}] = x;"


def float_statements(*ops: str) -> list[str]:
    return kernel_body(
        "func.func @kernel(%m: memref<?xf32>, %x: f32, %y: f32) {\n%c0 = arith.constant 0 : index\n"
        + "\n".join(f"%{k} = {op} : f32" for k, op in enumerate(ops))
        + f"\nmemref.store %{len(ops) - 1}, %m[%c0] : memref<?xf32>\nfunc.return\n}}"
    )


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        (["arith.negf %x", "arith.negf %0"], "-(-x)"),
        (["arith.constant -1.5", "arith.negf %0"], "-(-0x1.8p+0f)"),
        (["arith.negf %y", "arith.subf %x, %0"], "x - -y"),
        (["arith.addf %x, %y", "arith.negf %0"], "-(x + y)"),
        (["arith.mulf %x, %y", "arith.divf %0, %y"], "x * y / y"),
        (["arith.divf %x, %y", "arith.mulf %y, %0"], "y * (x / y)"),
        (["arith.constant -0.0"], "-0.0f"),
        (["arith.constant 0xFF800000"], "-INFINITY"),
        (["arith.constant 0x7FC00000"], "NAN"),
        (["arith.constant 1.401298464324817e-45"], "0x1p-149f"),
        (["arith.constant 3.4028234663852886e+38"], "0x1.fffffep+127f"),
    ],
)
def test_float_expression(ops: list[str], expected: str) -> None:
    assert float_statements(*ops)[-1].split(";")[0] == f"m[0] = {expected}"


def test_load_keeps_its_place_before_a_store() -> None:
    body = kernel_body("""
    func.func @kernel(%m: memref<?xf32>, %x: f32) {
      %c0 = arith.constant 0 : index
      %old = memref.load %m[%c0] : memref<?xf32>
      memref.store %x, %m[%c0] : memref<?xf32>
      %c1 = arith.constant 1 : index
      memref.store %old, %m[%c1] : memref<?xf32>
      func.return
    }""")
    assert body == ["const float old = m[0];", "m[0] = x;", "m[1] = old;"]


def test_carried_values_are_assigned_at_once() -> None:
    body = kernel_body("""
    func.func @kernel(%m: memref<?xf32>, %x: f32, %y: f32, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %p, %q = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (f32, f32) {
        scf.yield %b, %a : f32, f32
      }
      memref.store %p, %m[%c0] : memref<?xf32>
      memref.store %q, %m[%c1] : memref<?xf32>
      func.return
    }""")
    assert body[3:6] == ["const float v0 = a;", "a = b;", "b = v0;"]


def parallel(body: str, bounds: str = "%c0", variables: str = "%i: index") -> str:
    """A parallel loop over `body`."""
    count = bounds.count("%")
    types = ", ".join(["index"] * 3 * count)
    return f"""
      "scf.parallel"({bounds}, {bounds}, {bounds}) <{{
        operandSegmentSizes = array<i32: {count}, {count}, {count}, 0>
      }}> ({{
      ^bb0({variables}):
        {body}
        scf.reduce
      }}) : ({types}) -> ()"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "%0 = arith.shrui %a, %a : i32 memref.store %0, %m[%c0] : memref<?xi32>",
            "`arith.shrui` in @kernel",
        ),
        (
            "%0 = arith.extsi %b : i1 to i32 memref.store %0, %m[%c0] : memref<?xi32>",
            "`arith.extsi` in @kernel: no conversion from i1 to i32",
        ),
        (
            "%0 = arith.cmpi slt, %b, %b : i1 memref.store %0, %n[%c0] : memref<?xi1>",
            "`arith.cmpi` in @kernel: no signed order on i1",
        ),
        (
            "%0 = memref.alloca() : memref<4xf80>",
            "`memref.alloca` in @kernel: no C type for f80 in memory",
        ),
        (
            "%h = memref.alloca() : memref<4xf16> %0 = memref.load %h[%c0] : memref<4xf16>"
            " %1 = arith.addf %0, %0 : f16 memref.store %1, %h[%c0] : memref<4xf16>",
            "`arith.addf` in @kernel: no arithmetic on f16",
        ),
        (
            "%h = memref.alloca() : memref<4xf64> %0 = memref.load %h[%c0] : memref<4xf64>"
            " %1 = arith.maximumf %0, %0 : f64 memref.store %1, %h[%c0] : memref<4xf64>",
            "`arith.maximumf` in @kernel: no arithmetic on f64",
        ),
        (
            "%h = memref.alloca() : memref<4xi16> %0 = memref.load %h[%c0] : memref<4xi16>"
            " %1 = arith.cmpi ult, %0, %0 : i16 memref.store %1, %n[%c0] : memref<?xi1>",
            "`arith.cmpi` in @kernel: no arithmetic on i16",
        ),
        (
            "%0 = vector.broadcast %a : i32 to vector<[4]xi32>"
            " vector.store %0, %m[%c0] : memref<?xi32>, vector<[4]xi32>",
            "`vector.broadcast` in @kernel: no C type for vector<[4]xi32> values",
        ),
        (
            "%0 = memref.alloc() : memref<2x2xf32>",
            "`memref.alloc` in @kernel: memory is of rank 1, not memref<2x2xf32>",
        ),
        ("func.call @f(%a) : (i32) -> ()", "`func.call` in @kernel: there is no function @f"),
        (
            "func.call @kernel(%m, %n, %a, %b) : (memref<?xi32>, memref<?xi1>, i32, i1) -> ()",
            "`func.func` in @kernel: it calls itself",
        ),
        (
            parallel('cf.assert %b, "1: division by zero"'),
            "`scf.parallel` in @kernel: a parallel loop has one variable, no results",
        ),
        (
            parallel("%0 = memref.alloc() : memref<4xf32>"),
            "`scf.parallel` in @kernel: a parallel loop has one variable, no results",
        ),
        (
            parallel("", "%c0, %c0", "%i: index, %j: index"),
            "`scf.parallel` in @kernel: a parallel loop has one variable, no results",
        ),
    ],
)
def test_what_has_no_place_in_c(body: str, message: str) -> None:
    module = parse(
        f"""
    func.func @kernel(%m: memref<?xi32>, %n: memref<?xi1>, %a: i32, %b: i1) {{
      %c0 = arith.constant 0 : index
      {body}
      func.return
    }}""",
        verify=False,
    )
    out = io.StringIO()
    with pytest.raises(UnprintableError, match=re.escape(message)):
        print_c(module, out)
    assert out.getvalue() == ""


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("@kernel() attributes {uir.dispatch}", "`func.func` in @kernel: only a private function"),
        ("private @f(%v: vector<[4]xf32>)", "`func.func` in @f: vectors are not passed"),
        ("private @f(%v: vector<4xf32>)", "`func.func` in @f: vectors are not passed"),
    ],
)
def test_functions_that_have_no_place_in_c(signature: str, message: str) -> None:
    with pytest.raises(UnprintableError, match=re.escape(message)):
        printed(parse(f"func.func {signature} {{ func.return }}"))


def test_unknown_op_at_the_top() -> None:
    with pytest.raises(UnprintableError, match=r"`builtin\.module`"):
        printed(ModuleOp([ModuleOp([])]))


def test_source_comment_is_plain_ascii() -> None:
    module = parse("func.func @kernel() { func.return }")
    function = next(iter(module.ops))
    function.attributes["uir.source"] = StringAttr("caf\u00e9\u202e\f# \\")
    assert "// caf??\n// # \\.\nvoid kernel(void) {\n}\n" in printed(module)


def test_deep_calls() -> None:
    functions = [
        f"func.func private @f{k}() {{ func.call @f{k + 1}() : () -> () func.return }}"
        for k in range(1100)
    ]
    source = printed(
        parse("\n".join([*functions, "func.func private @f1100() { func.return }"]), verify=False)
    )
    assert source.index("void f1100(") < source.index("void f1099(") < source.index("void f0(")
