"""The fixed text of a printed C file: its opening, and the functions that expressions call."""

import re
from dataclasses import dataclass

from dialects.prog.c_library import definitions, exact_floats

PROLOGUE = (
    """\
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

"""
    + exact_floats("this file")
    + """\
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O2,tree-vectorize,vect-cost-model=dynamic,peel-loops,unswitch-loops")
#pragma GCC optimize("loop-unroll-and-jam,trapping-math,no-math-errno,fp-contract=off,wrapv")
#endif
// Told of a machine with wide vectors, compilers halve their width, to keep some of them cool.
#if defined(__x86_64__) && defined(__AVX512F__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("tune=x86-64"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC target("prefer-vector-width=512")
#endif
#endif
"""
)
"""Opens every file.

gcc and clang fuse `a * b + c` unless told not to, and each ignores the pragma of the other.
Of O3, gcc gets what makes our loops fast; all of it takes more than twice as long to compile.
Under `no-trapping-math`, gcc 12 turns `(float)(int32_t)x` into `truncf(x)`, which keeps a -0.
"""


EPILOGUE = """\
#if defined(__x86_64__) && defined(__AVX512F__) && defined(__clang__)
#pragma clang attribute pop
#endif
"""
"""Ends every file."""


ERROR_STRUCT = """\
// What a kernel reports when it returns 1: the kind of a runtime error, and its line in the text.
struct uir_error {
  int32_t line;
  const char *kind;
};
"""
"""Stands above the functions of a checked program."""


PARALLEL_MACRO = """\
// Threads share the turns of the loop that follows, if the compiler is told so (-fopenmp).
#if defined(_OPENMP)
#define PARALLEL _Pragma("omp parallel for schedule(dynamic)")
#else
#define PARALLEL
#endif
"""
"""Stands above the functions of a file with a parallel loop."""


@dataclass(frozen=True)
class Helper:
    """An inline C function and the names of the helpers that it calls itself."""

    definition: str
    calls: tuple[str, ...] = ()


# A helper stands after the helpers that it calls. Values are selected with masks because a chain of
# conditional operators keeps gcc from vectorising the loop around it, and because gcc 12 vectorises
# `c ? m[c ? i : 0] : 0` to a gather of wrong elements. Numbers wrap without conversions under gcc,
# because gcc 12 takes two sums in one loop for each other if there are conversions in them.
HELPERS = {
    "uir_fail": Helper(
        """\
static int uir_fail(struct uir_error *error, int32_t line, const char *kind) {
  error->line = line;
  error->kind = kind;
  return 1;
}
"""
    ),
    "f32_bits": Helper(
        """\
static inline uint32_t f32_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
"""
    ),
    "bits_f32": Helper(
        """\
static inline float bits_f32(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
"""
    ),
    "bits_f64": Helper(
        """\
static inline double bits_f64(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
"""
    ),
    **{
        f"{name}_i{bits}": Helper(
            f"""\
static inline int{bits}_t {name}_i{bits}(int{bits}_t a, int{bits}_t b) {{
#if defined(__GNUC__) && !defined(__clang__)
  return a {operator} b;  // which wraps, as the pragma says
#else
  return (int{bits}_t)((uint{bits}_t)a {operator} (uint{bits}_t)b);
#endif
}}
"""
        )
        for name, operator in (("add", "+"), ("sub", "-"), ("mul", "*"))
        for bits in (32, 64)
    },
    "select_f32": Helper(
        """\
static inline float select_f32(bool c, float a, float b) {
  return bits_f32((f32_bits(a) & -(uint32_t)c) | (f32_bits(b) & ((uint32_t)c - 1u)));
}
""",
        calls=("f32_bits", "bits_f32"),
    ),
    "select_bool": Helper(
        """\
static inline bool select_bool(bool c, bool a, bool b) {
  return (c & a) | (!c & b);
}
"""
    ),
    "select_i32": Helper(
        """\
static inline int32_t select_i32(bool c, int32_t a, int32_t b) {
  return (a & -(int32_t)c) | (b & ((int32_t)c - 1));
}
"""
    ),
    "select_i64": Helper(
        """\
static inline int64_t select_i64(bool c, int64_t a, int64_t b) {
  return (a & -(int64_t)c) | (b & ((int64_t)c - 1));
}
"""
    ),
    "max_f32": Helper(
        """\
// IEEE 754-2019 maximum: NaN wins, and -0 < +0.
static inline float max_f32(float a, float b) {
  const uint32_t m = f32_bits(a > b ? a : b) & f32_bits(b > a ? b : a);
  return bits_f32(m | -(uint32_t)((a != a) | (b != b)));
}
""",
        calls=("f32_bits", "bits_f32"),
    ),
    "min_f32": Helper(
        """\
// IEEE 754-2019 minimum: NaN wins, and -0 < +0.
static inline float min_f32(float a, float b) {
  const uint32_t m = f32_bits(a < b ? a : b) | f32_bits(b < a ? b : a);
  return bits_f32(m | -(uint32_t)((a != a) | (b != b)));
}
""",
        calls=("f32_bits", "bits_f32"),
    ),
    "floordiv_i32": Helper(
        """\
static inline int32_t floordiv_i32(int32_t a, int32_t b) {
  return a / b - ((a % b != 0) & ((a ^ b) < 0));
}
"""
    ),
    "floordiv_i64": Helper(
        """\
static inline int64_t floordiv_i64(int64_t a, int64_t b) {
  return a / b - ((a % b != 0) & ((a ^ b) < 0));
}
"""
    ),
}

for _element, _vector in (("float", "f32x4"), ("int32_t", "i32x4")):
    HELPERS[f"load_{_vector}"] = Helper(
        f"""\
typedef {_element} {_vector} __attribute__((vector_size(16)));

static inline {_vector} load_{_vector}(const {_element} *from) {{
  {_vector} v;
  memcpy(&v, from, sizeof v);
  return v;
}}
"""
    )
    HELPERS[f"store_{_vector}"] = Helper(
        f"""\
static inline void store_{_vector}({_element} *to, {_vector} v) {{
  memcpy(to, &v, sizeof v);
}}
""",
        calls=(f"load_{_vector}",),
    )

HELPERS["shuffle"] = Helper(
    """\
// Lanes of two vectors by their numbers. gcc takes apart a vector that is written out.
#if defined(__clang__)
#define shuffle(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int32_t shuffle_mask __attribute__((vector_size(16)));
#define shuffle(a, b, ...) __builtin_shuffle(a, b, (shuffle_mask){__VA_ARGS__})
#endif
"""
)

_WORD = re.compile(r"\b[a-z]\w*(?=\()")
_LIBRARY_WORD = re.compile(r"\bnx_\w+")


def definitions_used_in(lines: list[str]) -> list[str]:
    """The definitions that the C code in `lines` needs, callees first.

    They are of the helpers, and of the functions and types of the kind library.
    """
    code = [line for line in lines if not line.lstrip().startswith("//")]
    library = {word for line in code for word in _LIBRARY_WORD.findall(line)}
    return [*_helpers_in(code), *([definitions(library)] if library else [])]


def _helpers_in(code: list[str]) -> list[str]:
    needed = {word for line in code for word in _WORD.findall(line)} & HELPERS.keys()
    for name, helper in reversed(HELPERS.items()):
        if name in needed:
            needed.update(helper.calls)
    return [helper.definition for name, helper in HELPERS.items() if name in needed]
