"""The complex kinds in C: bounds against mpmath, the real axis, and the same bits everywhere."""

from __future__ import annotations

import itertools
from ctypes import c_void_p

import c_kinds
import numpy as np
import prog_reference as reference
import pytest
from nx_complex import (
    BOUNDS,
    C64,
    C128,
    FLAGS,
    KINDS,
    bits,
    error,
    of_parts,
    run_c,
    run_numpy,
    special_parts,
    strata,
    worst_errors,
)

from dialects.prog import DOMAINS, Binary, Dtype, Unary
from dialects.prog.c_library import INCLUDES, definitions, function1, function2
from dialects.prog.native import compile_c

BOTH = pytest.mark.parametrize("dtype", [C64, C128])


@BOTH
@pytest.mark.parametrize("kind", list(BOUNDS))
def test_bounds(kind: Unary | Binary, dtype: Dtype) -> None:
    for stratum, (worst, operands) in worst_errors(kind, dtype, 12, 1).items():
        assert worst <= BOUNDS[kind], (stratum, operands)


def test_exp2_at_large_angles() -> None:
    for dtype, greatest in ((C64, 127), (C128, 1023)):
        angles = np.ldexp(1.2345, np.arange(greatest + 1)).tolist()
        angles += [63.9, 64.0, 64.1, 2.0**52 + 1, 2.0**53 - 1, 2.0**greatest * 1.99]
        z = of_parts(
            dtype, list(itertools.islice(itertools.cycle([-3.5, 1.0, 0.0]), len(angles))), angles
        )
        for operand, result in zip(z.tolist(), run_c(Unary.EXP2, dtype, z).tolist(), strict=True):
            assert error(Unary.EXP2, dtype, result, operand) <= 4, operand


HARD = [
    *(float.fromhex("0x1.6ac5b262ca1ffp+849"), float.fromhex("0x1.065c829d68730p+39")),
    *(float.fromhex("0x1.065c829d68730p+40"), 2.0**1023, 355.0, 103993.0, 1e22),
]
"""Close to multiples of pi / 2, for their size."""


@pytest.mark.parametrize(
    "kind",
    [Unary.SIN, Unary.COS, Unary.TAN, Unary.SINH, Unary.COSH, Unary.TANH, Unary.EXP],
)
def test_bounds_at_angles_that_are_hard_to_reduce(kind: Unary) -> None:
    swap = kind not in (Unary.SIN, Unary.COS, Unary.TAN)
    rows = [(x, y) for x in HARD for y in (2.0**-70, 2.0**-20, 0.5, 3.0)]
    x, y = ([row[swap ^ i] for row in rows] for i in range(2))
    z = of_parts(C128, x, y)
    for operand, result in zip(z.tolist(), run_c(kind, C128, z).tolist(), strict=True):
        assert error(kind, C128, result, operand) <= BOUNDS[kind], operand


APART = [
    *("0x1.be11efa85ab96p+15", "0x1.557ea35b0f5adp+27", "0x1.1c995030d5134p-18"),
    *("0x1.424ac4d95ca6ep+0", "0x1.9d6944838e682p+0"),
]
"""Where C's complex log2, tan, asin and log are rounded to other doubles than its real ones."""


def axis(dtype: Dtype) -> np.ndarray:
    """Parts of all sizes, special ones, and of moderate size."""
    chosen = [x for x in special_parts(dtype) if x != 0] + [float.fromhex(x) for x in APART]
    drawn = strata(dtype, 150, 3)
    names = ("wide", "near 1", "near zeros", "large", "small")
    parts = [np.array(chosen), *(drawn[name].real for name in names)]
    with np.errstate(over="ignore"):
        return np.concatenate(parts).astype(reference.NUMPY[reference.COMPLEX[dtype]])


@BOTH
@pytest.mark.parametrize(
    "kind", [k for k in BOUNDS if isinstance(k, Unary) and Dtype.float64 in DOMAINS[k]]
)
def test_real_parts_on_the_real_axis_are_those_of_the_float_kind(kind: Unary, dtype: Dtype) -> None:
    part, x = reference.COMPLEX[dtype], axis(dtype)
    name = function1(kind, part, part)
    real = c_kinds.call(c_kinds.library((name,), "cc", FLAGS), name, x.dtype, x)
    for zero in (0.0, -0.0):
        result = run_c(kind, dtype, of_parts(dtype, x.tolist(), [zero] * len(x)))
        defined = ~np.isnan(real)
        assert defined.any()
        np.testing.assert_array_equal(bits(result.real[defined]), bits(real[defined]))


@BOTH
def test_real_parts_of_powers_of_a_positive_base_are_those_of_the_float_kind(dtype: Dtype) -> None:
    part, x = reference.COMPLEX[dtype], axis(dtype)
    y = np.random.default_rng(4).permutation(x)
    x = np.abs(x)
    defined = x > 0
    name = function2(Binary.POW, part)
    real = c_kinds.call(c_kinds.library((name,), "cc", FLAGS), name, x.dtype, x, y)
    for zeros in itertools.product((0.0, -0.0), repeat=2):
        z, w = (
            of_parts(dtype, p.tolist(), [zero] * len(x))
            for p, zero in zip((x, y), zeros, strict=True)
        )
        result = run_c(Binary.POW, dtype, z, w)
        np.testing.assert_array_equal(bits(result.real[defined]), bits(real[defined]))


def samples(kind: object, dtype: Dtype) -> list[np.ndarray]:
    """All pairs of special parts, or some pairs of these, and some of each stratum."""
    special = of_parts(dtype, *zip(*itertools.product(special_parts(dtype), repeat=2), strict=True))
    drawn = np.concatenate(list(strata(dtype, 60, 5).values()))
    if isinstance(kind, Unary):
        return [np.concatenate([special, drawn])]
    generator = np.random.default_rng(6)
    chosen, beside = generator.choice(special, (2, 1500))
    return [
        np.concatenate([chosen, special, drawn]),
        np.concatenate([beside, special, generator.permutation(drawn)]),
    ]


@BOTH
@pytest.mark.parametrize("kind", KINDS)
def test_c_and_numpy_give_the_same_bits(kind: Unary | Binary, dtype: Dtype) -> None:
    operands = samples(kind, dtype)
    found, expected = run_c(kind, dtype, *operands), run_numpy(kind, dtype, *operands)
    different = (bits(found) != bits(expected)).any(axis=1)
    assert not different.any(), [x[different][0] for x in (*operands, found, expected)]


BUILDS = [
    ("gcc", ("-std=c11", "-O0")),
    ("gcc", ("-std=gnu11", "-O3", "-march=native", "-ffp-contract=fast")),
    ("gcc", ("-std=c11", "-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")),
    ("clang", ("-std=c11", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function")),
    ("clang", ("-std=c11", "-O3", "-march=native", "-ffp-contract=fast")),
]


@pytest.mark.parametrize(("compiler", "flags"), BUILDS)
def test_every_build_gives_the_same_bits(compiler: str, flags: tuple[str, ...]) -> None:
    for kind, dtype in itertools.product(KINDS, (C64, C128)):
        operands = samples(kind, dtype)
        expected = run_c(kind, dtype, *operands)
        found = run_c(kind, dtype, *operands, compiler=compiler, flags=flags)
        np.testing.assert_array_equal(bits(found), bits(expected), str((kind, dtype)))


FOLDED = {
    Unary.SINH: ("0x1.aa0daa8e5416fp+2", "0x1.1dd3d7b34db43p+1"),
    Unary.EXP: ("0x1.c4ad248a42abfp+1", "0x1.45827b96a2267p+0"),
    Unary.SQRT: ("0x1.0e33105faa4eap+3", "0x1.3f8a14c8d81fcp+1"),
    Unary.ASINH: ("0x1.011734f72cc56p+3", "0x1.8e108f4123824p-1"),
    Unary.TANH: ("0x1.c1f748512ee82p+2", "0x1.7bf5769d7a96dp-1"),
    Unary.LOG: ("0x1.ee16778be209ap+1", "0x1.6a40d5ceb8009p+1"),
}
"""Operands at which what gcc computes of a constant is rounded to another double."""


def test_a_constant_operand_gives_the_bits_of_a_variable_one() -> None:
    names = [function1(kind, C128, C128) for kind in FOLDED]
    calls = [
        f"r[{i}] = {name}((nx_c128){{{', '.join(z)}}});"
        for i, (name, z) in enumerate(zip(names, FOLDED.values(), strict=True))
    ]
    body = "\n".join(calls)
    text = f"{INCLUDES}\n{definitions(names)}\nvoid constants(nx_c128 *r) {{\n{body}\n}}\n"
    results = np.empty(len(FOLDED), np.complex128)
    compile_c(text, compiler="gcc").constants(c_void_p(results.ctypes.data))
    for (kind, z), result in zip(FOLDED.items(), results, strict=True):
        x, y = map(float.fromhex, z)
        assert result == run_c(kind, C128, [complex(x, y)])[0], kind
