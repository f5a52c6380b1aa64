"""What the exact kinds give, by Python's integers and fractions; and elements to try them on."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import ml_dtypes
import numpy as np

from dialects.prog import Binary, Compare, Dtype, Unary

Number = bool | int | float | complex

NUMPY = {
    d: np.dtype(getattr(ml_dtypes, d.name, None) or getattr(np, d.name + "_" * (d.name == "bool")))
    for d in Dtype
    if d is not Dtype.bit
}
NUMPY[Dtype.bit] = np.dtype(np.bool_)


class Format(NamedTuple):
    """A float format by its arithmetic: numbers of `digits` bits, times powers of two."""

    digits: int
    least: int
    """The exponent of the least normal number."""
    greatest: float
    saturates: bool = False
    has_nan: bool = True


FLOATS = {
    Dtype.float64: Format(53, -1022, 1.7976931348623157e308),
    Dtype.float32: Format(24, -126, float.fromhex("0x1.fffffep+127")),
    Dtype.float16: Format(11, -14, 65504.0),
    Dtype.bfloat16: Format(8, -126, float.fromhex("0x1.fep+127")),
    Dtype.float8_e4m3fn: Format(4, -6, 448.0, saturates=True),
    Dtype.float8_e5m2: Format(3, -14, 57344.0, saturates=True),
    Dtype.float4_e2m1fn: Format(2, 0, 6.0, saturates=True, has_nan=False),
}
INTEGERS = {
    d: (int(d.name.strip("uint")), d.name.startswith("i")) for d in Dtype if "int" in d.name
}
"""Width, and whether it is signed."""
COMPLEX = {Dtype.complex128: Dtype.float64, Dtype.complex64: Dtype.float32}
BOOLEANS = (Dtype.bool, Dtype.bit)
WIDTHS = {
    **{d: int(d.name[5:].split("_")[0]) for d in FLOATS if d is not Dtype.bfloat16},
    Dtype.bfloat16: 16,
    **{d: width for d, (width, _) in INTEGERS.items()},
    **{d: int(d.name[7:]) for d in COMPLEX},
    Dtype.bool: 8,
    Dtype.bit: 1,
}


def rounded(dtype: Dtype, x: Fraction | float) -> float:
    """`x` stored into a float dtype, ties to even; a zero and what isn't finite have a sign."""
    format = FLOATS[dtype]
    if isinstance(x, float) and math.isnan(x):
        return x if format.has_nan else 0.0
    sign = -1.0 if x < 0 or (isinstance(x, float) and is_negative(x)) else 1.0
    past = format.greatest if format.saturates else math.inf
    if isinstance(x, float) and math.isinf(x):
        return math.copysign(past, x)
    q = abs(Fraction(x))
    if q == 0:
        return math.copysign(0.0, sign)
    exponent = q.numerator.bit_length() - q.denominator.bit_length()
    exponent -= q < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, format.least) - format.digits + 1)
    nearest = round(q / unit) * unit
    return math.copysign(past if nearest > Fraction(format.greatest) else float(nearest), sign)


def wrapped(dtype: Dtype, x: int) -> int:
    """`x` modulo 2^width."""
    width, signed = INTEGERS[dtype]
    low = -(1 << (width - 1)) if signed else 0
    return (x - low) % (1 << width) + low


def is_negative(x: float) -> bool:
    return math.copysign(1, x) < 0


def _is_special(*values: float) -> bool:
    return not all(map(math.isfinite, values))


def _sum(x: float, y: float) -> Fraction | float:
    exact = 0 if _is_special(x, y) else Fraction(x) + Fraction(y)
    return exact or x + y


def product(x: float, y: float) -> Fraction | float:
    exact = 0 if _is_special(x, y) else Fraction(x) * Fraction(y)
    return exact or x * y


def divided(x: float, y: float) -> Fraction | float:
    if math.isnan(x) or math.isnan(y) or (x == 0 and y == 0) or (math.isinf(x) and math.isinf(y)):
        return math.nan
    sign = -1.0 if is_negative(x) != is_negative(y) else 1.0
    if math.isinf(x) or y == 0:
        return sign * math.inf
    return sign * 0.0 if math.isinf(y) or x == 0 else Fraction(x) / Fraction(y)


def fused(x: float, y: float, z: float) -> Fraction | float:
    if _is_special(z) and not _is_special(x, y):
        return z
    if _is_special(x, y, z) or not (first := Fraction(x) * Fraction(y)):
        return x * y + z
    return first + Fraction(z)


def float_remainder(x: float, y: float) -> Fraction | float:
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    if math.isinf(y) or x == 0:
        return x
    a, b = Fraction(abs(x)), Fraction(abs(y))
    return (a - b * (a // b)) * (-1 if x < 0 else 1) or math.copysign(0.0, x)


def square_root(x: float) -> Fraction | float:
    """With so many digits and a sticky last one that rounding it rounds the exact root."""
    if not x > 0 or math.isinf(x):
        return x if x == 0 or math.isnan(x) or x > 0 else math.nan
    square = Fraction(x) * Fraction(4) ** 1200
    root = math.isqrt(int(square))
    return Fraction(2 * root + (root * root != square), 2**1201)


def key(x: Number) -> tuple[object, ...]:
    """What orders numbers: -0 below +0, complex numbers by their parts."""
    if isinstance(x, complex):
        return (*key(x.real), *key(x.imag))
    return (x, isinstance(x, float) and not is_negative(x))


def is_nan(x: Number) -> bool:
    return x != x


def maximum(x: Number, y: Number) -> Number:
    return x if is_nan(x) else y if is_nan(y) or key(x) < key(y) else x


def minimum(x: Number, y: Number) -> Number:
    return x if is_nan(x) else y if is_nan(y) or key(y) < key(x) else x


def comparison(kind: Compare, x: Number, y: Number) -> bool:
    a, b = (x, y) if not isinstance(x, complex) else ((x.real, x.imag), (y.real, y.imag))
    if is_nan(x) or is_nan(y):
        return kind is Compare.NOT_EQUAL
    return {
        Compare.EQUAL: a == b,
        Compare.NOT_EQUAL: a != b,
        Compare.LESS: a < b,
        Compare.LESS_EQUAL: a <= b,
    }[kind]


def quotient(x: int, y: int) -> int:
    if y == 0:
        return 0
    magnitude = abs(x) // abs(y)
    return magnitude if (x < 0) == (y < 0) else -magnitude


def power(dtype: Dtype, x: int, y: int) -> int:
    if y < 0:
        return {1: 1, -1: -1 if y % 2 else 1}.get(x, 0)
    return pow(x, y, 1 << INTEGERS[dtype][0])


def of_integers(kind: Binary, dtype: Dtype, x: int, y: int) -> int:
    functions = {
        Binary.ADD: lambda: x + y,
        Binary.SUB: lambda: x - y,
        Binary.MUL: lambda: x * y,
        Binary.IDIV: lambda: quotient(x, y),
        Binary.MOD: lambda: x - y * quotient(x, y),
        Binary.POW: lambda: power(dtype, x, y),
        Binary.AND: lambda: x & y,
        Binary.OR: lambda: x | y,
        Binary.XOR: lambda: x ^ y,
    }
    return functions[kind]()


OF_FLOATS = {
    Binary.ADD: _sum,
    Binary.SUB: lambda x, y: _sum(x, -y),
    Binary.MUL: product,
    Binary.FDIV: divided,
    Binary.MOD: float_remainder,
}
"""The exact kinds of two floats."""


def apply2(kind: Binary | Compare, dtype: Dtype, x: Number, y: Number) -> Number:
    if isinstance(kind, Compare):
        return comparison(kind, x, y)
    if kind in (Binary.MAXIMUM, Binary.MINIMUM):
        chosen = maximum(x, y) if kind is Binary.MAXIMUM else minimum(x, y)
        return rounded(dtype, chosen) if dtype in FLOATS else chosen
    if dtype in FLOATS:
        return rounded(dtype, OF_FLOATS[kind](x, y))
    result = of_integers(kind, dtype, int(x), int(y))
    return bool(result) if dtype in BOOLEANS else wrapped(dtype, result)


def _round_half_away(x: float) -> int:
    whole = math.floor(abs(Fraction(x)) + Fraction(1, 2))
    return -whole if x < 0 else whole


ROUNDINGS = {
    Unary.FLOOR: math.floor,
    Unary.CEIL: math.ceil,
    Unary.TRUNC: math.trunc,
    Unary.ROUND: _round_half_away,
}


def apply1(kind: Unary, dtype: Dtype, x: Number) -> Number:
    """An exact kind of a real number."""
    if dtype in INTEGERS:
        sign = (x > 0) - (x < 0)
        results = {
            Unary.NEG: -x,
            Unary.ABS: abs(x),
            Unary.SIGN: sign,
            Unary.RECIP: x if x in (1, -1) else 0,
        }
        return wrapped(dtype, results.get(kind, x))
    if kind in ROUNDINGS:
        exact = x if _is_special(x) else math.copysign(float(ROUNDINGS[kind](x)), x)
    elif kind is Unary.SIGN:
        exact = x if is_nan(x) else float((x > 0) - (x < 0))
    else:
        functions = {
            Unary.NEG: lambda: -x,
            Unary.ABS: lambda: math.copysign(x, 1.0),
            Unary.RECIP: lambda: divided(1.0, x),
            Unary.SQRT: lambda: square_root(x),
        }
        exact = functions[kind]()
    return rounded(dtype, exact)


def cast(source: Dtype, target: Dtype, x: Number) -> Number:
    if source is target:
        return x
    if target in BOOLEANS:
        return x != 0
    if target in COMPLEX:
        part, of = COMPLEX[target], COMPLEX.get(source, source)
        if isinstance(x, complex):
            return complex(cast(of, part, x.real), cast(of, part, x.imag))
        return complex(cast(of, part, x), 0.0)
    if isinstance(x, complex):
        return cast(COMPLEX[source], target, x.real)
    if target in FLOATS:
        return rounded(target, x if isinstance(x, float) else Fraction(x))
    if source not in FLOATS:
        return wrapped(target, int(x))
    if math.isnan(x):
        return 0
    width, signed = INTEGERS[target]
    least = -(1 << (width - 1)) if signed else 0
    whole = x if math.isinf(x) else int(x)
    return int(min(max(whole, least), least + (1 << width) - 1))


def of_words(dtype: Dtype, words: Sequence[int]) -> np.ndarray:
    """The elements whose bits these are."""
    size = max(1, WIDTHS[dtype] // 8)
    raw = b"".join(word.to_bytes(size, "little") for word in words)
    array = np.frombuffer(raw, f"<u{size}" if size <= 8 else NUMPY[dtype].newbyteorder("<"))
    return array.astype(array.dtype.newbyteorder("=")).view(NUMPY[dtype])


def numbers(dtype: Dtype, array: np.ndarray) -> list[Number]:
    """The elements as Python's numbers."""
    if dtype in FLOATS:
        with np.errstate(invalid="ignore"):
            return array.astype(np.float64).tolist()
    if dtype in INTEGERS and WIDTHS[dtype] == 4:
        return array.astype(np.int64).tolist()
    return array.tolist()


def _words(dtype: Dtype, count: int) -> list[int]:
    """All bits of short elements, and the ends of each quarter and some draws of long ones."""
    width = WIDTHS[dtype]
    if 1 << width <= count:
        return list(range(1 << width))
    draws = random.Random(width)
    quarters = [(quarter << (width - 2)) + step for quarter in range(4) for step in (-2, -1, 0, 1)]
    words = [*quarters, 2, 3, 7, 10]
    if dtype in FLOATS:
        words += _float_words(dtype, width)
    words += [draws.getrandbits(width) for _ in range(count - len(words))]
    if dtype in INTEGERS and width > 32:
        # The last ones are next to ties of bfloat16, and ties as float64s.
        words += [
            2**53 + 1,
            36028799166447617,
            2**31,
            2**63 - 2**9,
            2**63 + 2**10 + 1,
            2**24 + 1,
            *(2**62 + 2**54 + 1, 2**62 + 3 * 2**54 - 1, 2**63 + 2**55 + 1, -(2**62 + 2**54 + 1)),
        ]
    return [word % (1 << width) for word in words]


def _float_words(dtype: Dtype, width: int) -> list[int]:
    """Of infinities, NaNs, the least normal number, ties, and neighbours."""
    fraction = FLOATS[dtype].digits - 1
    sign, one = 1 << (width - 1), 1 << fraction
    special = ((1 << (width - 1 - fraction)) - 1) << fraction
    values = [special, special - 1, special + 1, special + one // 2, one, one - 1, one + 1, 1]
    halves = array_words(dtype, [1.0, 0.5, 1.5, 2.5, 2.0**31, 2.0**63, 2.0**32, 2.0**64, 2.0**53])
    values += [half + step for half in halves for step in (-1, 0, 1)]
    return [*values, *(sign + value for value in values)]


def array_words(dtype: Dtype, values: Sequence[float]) -> list[int]:
    with np.errstate(all="ignore"):
        return np.array(values).astype(NUMPY[dtype]).view(f"u{max(1, WIDTHS[dtype] // 8)}").tolist()


def elements(dtype: Dtype, count: int) -> np.ndarray:
    """About `count` elements, special ones among them."""
    if dtype in BOOLEANS:
        return np.array([False, True])
    if dtype in COMPLEX:
        side = elements(COMPLEX[dtype], 70)
        pairs = list(itertools.islice(itertools.product(side, side), 0, None, 7))
        array = np.empty(len(pairs), NUMPY[dtype])
        array.real, array.imag = zip(*pairs, strict=True)
        return array
    return of_words(dtype, _words(dtype, count))


def comparable(values: Sequence[Number]) -> list[object]:
    """Equal for equal bits, and for all NaNs."""

    def one(x: Number) -> object:
        if isinstance(x, complex):
            return (one(x.real), one(x.imag))
        if isinstance(x, float):
            return "nan" if math.isnan(x) else (x, is_negative(x))
        return x

    return [one(value) for value in values]
