"""Functions that are compiled for several widths of vectors, of which the machine takes its own.

A dispatched function is an inline one, `name_inline`, and a `DISPATCH` that expands to a function
for each width around it and to the function `name` that picks one of them when it is called. The
text stands once, and no symbol needs a loader that resolves it. Under gcc's address sanitizer,
which makes such code slow to compile, there is one width.
"""

from xdsl.dialects import func

from dialects.uir.attributes import DISPATCH

DISPATCH_MACROS = """\
// A function with much work is compiled for wide vectors too, and the machine takes what it has.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX512F__) && \\
    !defined(__SANITIZE_ADDRESS__)
#define INLINE static inline __attribute__((always_inline))
#define DISPATCH(name, parameters, arguments)                               \\
  __attribute__((target("avx512f"))) static void name##_avx512 parameters { \\
    name##_inline arguments;                                                \\
  }                                                                         \\
  __attribute__((target("avx2"))) static void name##_avx2 parameters {      \\
    name##_inline arguments;                                                \\
  }                                                                         \\
  static void name parameters {                                             \\
    if (__builtin_cpu_supports("avx512f")) {                                \\
      name##_avx512 arguments;                                              \\
    } else if (__builtin_cpu_supports("avx2")) {                            \\
      name##_avx2 arguments;                                                \\
    } else {                                                                \\
      name##_inline arguments;                                              \\
    }                                                                       \\
  }
#else
#define INLINE static inline
#define DISPATCH(name, parameters, arguments) \\
  static void name parameters {               \\
    name##_inline arguments;                  \\
  }
#endif
"""
"""Stands above the functions of a file that dispatches."""


def is_dispatched(function: func.FuncOp) -> bool:
    """Whether `function` is compiled for several widths of vectors."""
    return DISPATCH in function.attributes
