"""The C library of kinds: its header by itself in a C user's file, and its definitions pasted."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from dialects.prog import (
    DOMAINS,
    FMA,
    WHERE,
    Binary,
    Compare,
    Dtype,
    Ternary,
    Unary,
    accepts3,
    c_library,
    compute_type,
)
from dialects.prog.c_library import INCLUDES, SUFFIXES, definitions, header, signature
from dialects.prog.native import CompileError, compile_c

HEADER = Path(c_library.__file__).with_name("nx_kinds.h")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
BUILDS = [
    (compiler, *flags)
    for compiler in ("gcc", "clang")
    for flags in (
        ("-O0",),
        ("-O1", "-fno-trapping-math"),
        ("-O2", "-std=c11"),
        ("-O3", "-march=native"),
        ("-O3", "-march=native", "-std=c11", "-ffp-contract=off"),
    )
]


def test_header_is_current() -> None:
    """`python -m dialects.prog.c_library` writes it."""
    assert HEADER.read_text(encoding="utf-8") == header()


def accepts(kind: Unary | Binary | Compare | Ternary, dtype: Dtype) -> bool:
    if isinstance(kind, Ternary):
        return accepts3(kind, Dtype.bool if kind is WHERE else dtype, dtype)
    return dtype in DOMAINS[kind]


@pytest.mark.parametrize("dtype", [dtype for dtype in Dtype if compute_type(dtype) is dtype])
def test_header_holds_every_kind_at_every_compute_type(dtype: Dtype) -> None:
    text = HEADER.read_text(encoding="utf-8")
    kinds = [kind for kind in (*DOMAINS, WHERE, FMA) if accepts(kind, dtype)]
    names = [f"nx_{kind.value}_{SUFFIXES[dtype]}" for kind in kinds]
    missing = [name for name in names if not re.search(rf"^static inline .* {name}\(", text, re.M)]
    assert not missing


USER = """\
#include "nx_kinds.h"
#include <stdio.h>

static float box_muller(float u1, float u2) {
  float radius = nx_sqrt_f32(nx_mul_f32(-2.0f, nx_log_f32(u1)));
  return nx_mul_f32(radius, nx_cos_f32(nx_mul_f32(6.28318530717958647692f, u2)));
}

int main(void) {
  printf("%a\\n", box_muller(0.25f, 0.7f));
  // The product is a tie, 1 + 2^-11 + 2^-24, and rounded to even before the sum.
  volatile float x = 1.0f + 0x1p-12f, y = 1.0f + 0x1p-11f, half = -0.5f;
  printf("%a %a\\n", nx_sub_f32(nx_mul_f32(x, x), y), nx_fma_f32(x, x, -y));
  printf("%a\\n", (float)nx_cast_f32_i32(half));
  printf("%#x\\n", (unsigned)nx_cast_f32_f16(nx_fdiv_f32(1.0f, 3.0f)));
  printf("%d %d\\n", nx_idiv_i32(INT32_MIN, -1) == INT32_MIN, nx_less_u64(1, UINT64_MAX));
  printf("%llx\\n", (unsigned long long)nx_threefry_u64(0, 0));
  nx_c128 i = {0, 1}, square = nx_mul_c128(i, i);
  printf("%a %a\\n", square.re, square.im);
  return 0;
}
"""
# The first by numpy's float32 arithmetic, and mpmath's log and cos rounded to float32.
PRINTED = """\
-0x1.0772bcp-1
0x0p+0 0x1p-24
0x0p+0
0x3555
1 1
99ba4efe6b200159
-0x1p+0 0x0p+0
"""


def built(folder: Path, source: str, *command: str) -> subprocess.CompletedProcess[str]:
    """The compiler's answer to a C user's program, and the program in `folder`."""
    (folder / "user.c").write_text(source, encoding="utf-8")
    arguments = [*command, f"-I{HEADER.parent}", "user.c", "-o", "user", "-lm"]
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)


def output(folder: Path) -> str:
    return subprocess.run([folder / "user"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("build", BUILDS, ids=" ".join)
def test_a_program_with_the_header(tmp_path: Path, build: tuple[str, ...]) -> None:
    assert built(tmp_path, USER, *build, *WARNINGS).stderr == ""
    assert output(tmp_path) == PRINTED


OWN = """\
#include <stdio.h>

float own(volatile float *x) { return x[0] * x[0] - x[1]; }

int main(void) {
  volatile float x[] = {1.0f + 0x1p-12f, 1.0f + 0x1p-11f};
  printf("%a\\n", own(x));
  return 0;
}
"""


@pytest.mark.parametrize("flags", [(), ("-ffp-contract=fast",), ("-ffp-contract=off",)])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_header_leaves_its_includer_alone(
    tmp_path: Path, compiler: str, flags: tuple[str, ...]
) -> None:
    """Products and sums of the including file are fused, or not, as without the header."""
    outputs: list[str] = []
    for source in (OWN, f'#include "nx_kinds.h"\n{OWN}'):
        assert built(tmp_path, source, compiler, "-O2", "-march=native", *flags).stderr == ""
        outputs.append(output(tmp_path))
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("flag", ["-ffast-math", "-ffinite-math-only", "-fassociative-math"])
def test_fast_math_is_refused(tmp_path: Path, flag: str) -> None:
    flags = ("-fno-signed-zeros", "-fno-trapping-math", flag)
    assert "needs exact floating point" in built(tmp_path, USER, "gcc", *flags).stderr


def test_a_narrow_long_double_is_refused_where_it_is_needed(tmp_path: Path) -> None:
    narrow = ("-mlong-double-64",)
    assert "need a long double wider than double" in built(tmp_path, USER, "cc", *narrow).stderr
    compile_c(INCLUDES + definitions(["nx_add_f64", "nx_fma_f16"]), flags=narrow)
    with pytest.raises(CompileError, match="need a long double wider than double"):
        compile_c(INCLUDES + definitions(["nx_exp_f16"]), flags=narrow)


def test_definitions_are_what_the_functions_need_and_no_more() -> None:
    names = re.findall(r"(nx_\w+)\([^;]*\) \{", definitions(["nx_sub_i8", "nx_idiv_i32"]))
    assert names == ["nx_neg_i32", "nx_unfollowed_i32", "nx_sub_i32", "nx_idiv_i32", "nx_sub_i8"]
    assert definitions(["nx_add_bf16", "nx_add_f32"]) == definitions(["nx_add_bf16"])


def test_signatures() -> None:
    assert signature("nx_add_f16") == (("uint16_t", "uint16_t"), "uint16_t")
    assert signature("nx_less_i4") == (("int8_t", "int8_t"), "bool")
    assert signature("nx_where_c64") == (("bool", "nx_c64", "nx_c64"), "nx_c64")
    assert signature("nx_cast_u64_f8e5m2") == (("uint64_t",), "uint8_t")


def test_loads_and_stores() -> None:
    assert c_library.load(Dtype.int8) == "nx_cast_i8_i32"
    assert c_library.store(Dtype.bfloat16) == "nx_cast_f32_bf16"
    assert c_library.load(Dtype.complex64) is c_library.store(Dtype.float64) is None
    for dtype in Dtype:
        for name in (c_library.load(dtype), c_library.store(dtype)):
            assert name is None or signature(name)
