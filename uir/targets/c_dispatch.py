"""Functions that are compiled for several widths of vectors, of which the machine takes its own.

The body of a dispatched function is the last argument of `DISPATCH`, a macro that expands to a
function for each width and to the function `name` that picks one of them when it is called. So the
text stands once, and no symbol needs a loader that resolves it. Each of those functions declares
its own `f32v`, the type of scalable vectors, and its own `vscale`. Built for a machine with AVX2 or
AVX-512, the file has one width, and so it has under gcc's address sanitizer, which makes such code
slow to compile.
"""

from xdsl.dialects import func

from dialects.uir.attributes import DISPATCH
from dialects.vector import VScaleOp, is_scalable

VECTOR_MACROS = """\
// Declares vectors of so many bytes. A machine's own have at least VECTOR_BYTES.
#define VECTORS(bytes)                                                                       \\
  typedef float f32v __attribute__((vector_size(bytes), unused));                            \\
  typedef float f32v_any __attribute__((vector_size(bytes), aligned(4), may_alias, unused)); \\
  enum { vscale = (bytes) / 16 };
#define load_f32v(from) (*(const f32v_any *)(from))
#define store_f32v(to, v) (*(f32v_any *)(to) = (v))
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
"""
"""Stands above the functions of a file with scalable vectors, or one that dispatches."""

DISPATCH_MACROS = """\
// A function with much work is compiled for wide vectors too, and the machine takes what it has.
#define FUNCTION(name, bytes, parameters, ...) \\
  static void name parameters {                \\
    VECTORS(bytes) __VA_ARGS__                 \\
  }
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX2__) && !defined(__SANITIZE_ADDRESS__)
#define DISPATCH(name, parameters, arguments, ...)                                                \\
  __attribute__((target("avx512f"))) FUNCTION(name##_avx512, 64, parameters, __VA_ARGS__)         \\
  __attribute__((target("avx2"))) FUNCTION(name##_avx2, 32, parameters, __VA_ARGS__)              \\
  FUNCTION(name##_baseline, VECTOR_BYTES, parameters, __VA_ARGS__)                                \\
  static void name parameters {                                                                   \\
    if (__builtin_cpu_supports("avx512f")) {                                                      \\
      name##_avx512 arguments;                                                                    \\
    } else if (__builtin_cpu_supports("avx2")) {                                                  \\
      name##_avx2 arguments;                                                                      \\
    } else {                                                                                      \\
      name##_baseline arguments;                                                                  \\
    }                                                                                             \\
  }
#else
#define DISPATCH(name, parameters, arguments, ...) \\
  FUNCTION(name, VECTOR_BYTES, parameters, __VA_ARGS__)
#endif
"""
"""Stands above the functions of a file that dispatches."""


def is_dispatched(function: func.FuncOp) -> bool:
    """Whether `function` is compiled for several widths of vectors."""
    return DISPATCH in function.attributes


def needs_vectors(function: func.FuncOp) -> bool:
    """Whether `function` uses what `VECTORS` declares, and no `DISPATCH` does so."""
    return not is_dispatched(function) and any(
        isinstance(op, VScaleOp) or any(is_scalable(result.type) for result in op.results)
        for op in function.walk()
    )
