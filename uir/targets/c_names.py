"""Names in the printed C: valid, unique in their function, and no word of C or its headers."""

import re
from collections.abc import Container

_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while asm typeof bool true false main unix linux i386 error status done
f32x4 i32x4 f32v f32v_any vscale shuffle_mask load_f32v store_f32v
"""

_LIBRARY = """
abort abs aligned_alloc atexit atof atoi atol atoll bsearch calloc div exit free getenv index labs
ldiv llabs lldiv malloc mblen mbstowcs mbtowc qsort rand random realloc rindex select srand strtod
strtof strtol strtold strtoll strtoul strtoull system wcstombs wctomb
memccpy memchr memcmp memcpy memmove memset strcat strchr strcmp strcoll strcpy strcspn strdup
strerror strlen strncat strncmp strncpy strndup strpbrk strrchr strspn strstr strtok strxfrm
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2
expm1 fabs fdim finite floor fma fmax fmin fmod frexp gamma hypot ilogb isinf isnan isfinite
isnormal isunordered islessgreater isless islessequal isgreater isgreaterequal signbit fpclassify
j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint
nextafter nexttoward pow remainder remquo rint round scalb scalbln scalbn significand sin sincos
sinh sqrt tan tanh tgamma trunc y0 y1 yn
"""

_LIBRARY_NAMES = _LIBRARY.split()
RESERVED = frozenset(
    [*_KEYWORDS.split(), *_LIBRARY_NAMES]
    + [name + suffix for name in _LIBRARY_NAMES for suffix in ("f", "l")]
)
"""Words that a printed file never declares itself."""

# Names in capitals belong to macros of the headers (`NAN`, `FLT_MAX`, `M_PI`), those that end in
# `_t` to types, those that begin with an underscore to the implementation, and those that begin
# with `nx_` to the kind library. The other endings are those of what a dispatched function
# consists of.
_ORDINARY = re.compile(
    r"(?!.*_(?:t|baseline|avx2|avx512)$)(?!nx_)(?![A-Z][A-Z0-9_]+$)[A-Za-z][A-Za-z0-9_]*"
)


def is_ordinary(name: str) -> bool:
    """Whether C lets a program declare `name`, whatever standard headers it includes."""
    return _ORDINARY.fullmatch(name) is not None and name not in RESERVED


class Names:
    """Hands out names of one scope; the same requests in the same order give the same names."""

    def __init__(self, outer: Container[str]) -> None:
        """`outer`: names that the scope must not hide."""
        self._outer = outer
        self._own: set[str] = set()
        self._next_suffix: dict[str, int] = {}

    def fresh(self, hint: str | None, stem: str = "v") -> str:
        """The hint, made unique by a suffix; `stem` and a number where C does not allow it."""
        if hint is not None and is_ordinary(hint):
            if not self._is_taken(hint):
                self._own.add(hint)
                return hint
            return self._numbered(hint + "_", 1)
        return self._numbered(stem, 0)

    def _numbered(self, stem: str, first: int) -> str:
        number = self._next_suffix.get(stem, first)
        while self._is_taken(name := f"{stem}{number}"):
            number += 1
        self._next_suffix[stem] = number + 1
        self._own.add(name)
        return name

    def _is_taken(self, name: str) -> bool:
        return name in self._own or name in self._outer
