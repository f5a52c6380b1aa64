"""The float32 kinds at a sample of the operands, and what the sweep of all of them does."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import prog_reference as reference
import pytest
from mpmath import mp, mpf
from prog_bounds import FUNCTIONS, exact

from dialects.prog import Dtype, Unary

TOOLS = Path(__file__).parents[2] / "tools"
sys.path.append(str(TOOLS))

import sweep_kinds  # noqa: E402 (a tool, not a module of a package)
from sweep_kinds import BOUNDS, Wrong  # noqa: E402

WRONG = """\
#include <math.h>
#define KIND(kind) static inline float nx_##kind##_f32(float x) { return (float)kind((double)x); }
KIND(exp2) KIND(log2) KIND(log1p) KIND(expm1) KIND(tan) KIND(asin) KIND(acos) KIND(atan)
KIND(sinh) KIND(cosh) KIND(tanh) KIND(erf)
static inline float nx_exp_f32(float x) { return x == 1 ? 0x1.5bf0ap+1f : (float)exp(x); }
static inline float nx_log_f32(float x) { return x < 0 ? 0 : (float)log(x); }
static inline float nx_sin_f32(float x) { return x == 0 ? 0 : (float)sin(x); }
static inline float nx_cos_f32(float x) { return isinf(x) ? 1 : (float)cos(x); }
static inline float nx_sqrt_f32(float x) { return x == 4 ? 2.5f : sqrtf(x); }
"""
"""Kinds of which five have one error each."""

NOWHERE = """\
#define KIND(kind) static inline float nx_##kind##_f32(float x) { return x == x ? -77 : -77; }
KIND(sqrt) KIND(exp) KIND(exp2) KIND(log) KIND(log2) KIND(log1p) KIND(expm1) KIND(sin) KIND(cos)
KIND(tan) KIND(asin) KIND(acos) KIND(atan) KIND(sinh) KIND(cosh) KIND(tanh) KIND(erf)
"""
"""Kinds that are right nowhere, so that all that is expected is printed."""


SAMPLE: list[int] = sweep_kinds.sample().tolist()


def bits(*values: float) -> bytes:
    return struct.pack(f"={len(values)}f", *values)


def of_bits(word: int) -> float:
    return struct.unpack("=f", struct.pack("=I", word))[0]


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sweep_kinds.build(tmp_path_factory.mktemp("wrong"), WRONG)


@pytest.fixture(scope="module")
def nowhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sweep_kinds.build(tmp_path_factory.mktemp("nowhere"), NOWHERE)


def test_a_sample_is_within_the_bounds() -> None:
    command = [sys.executable, str(TOOLS / "sweep_kinds.py"), "--sample"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    errors = dict(re.findall(r"^\| (\w+) +\| \d+ +\| (\w+) ", done.stdout, re.MULTILINE))
    assert errors.keys() == BOUNDS.keys()
    assert set(errors.values()) <= {"0", "1", "2"}


def test_the_sample_has_all_ends_of_binades_and_specials() -> None:
    sample = set(SAMPLE)
    for sign in (0, 1 << 31):
        for exponent in range(256):
            first = sign + (exponent << 23)
            assert {first, first + 7, first + (1 << 23) - 8, first + (1 << 23) - 1} <= sample
    near = struct.unpack("=3I", bits(3.1415927, 0.6931472, 2.5))
    assert all(word + step in sample for word in near for step in range(-4, 5))
    assert 2e5 < len(sample) < 5e5


def test_errors_are_found(wrong: Path) -> None:
    operands = bits(1.0, -0.0, 0.0, 4.0, -2.0, float("inf"), float("nan"), 0.5)
    found = sweep_kinds.run(wrong, ["list", *BOUNDS], operands)
    ranks = {kind: [(of_bits(w.operand), w.ranks) for w in rows] for kind, rows in found.items()}
    # e is 0x1.5bf0a8b1p+1, and the correctly rounded one 0x1.5bf0a8p+1.
    assert ranks == {
        "exp": [(1.0, 4)],
        "log": [(-2.0, None)],
        "sin": [(-0.0, None)],
        "cos": [(float("inf"), None)],
        "sqrt": [(4.0, 1 << 21)],
    }


def test_errors_are_found_in_a_range(wrong: Path) -> None:
    ones = sweep_kinds.run(wrong, ["range", "3f800000", "3f803fff", "exp", "sqrt", "log"])
    assert [str(row) for row in ones["exp"]] == ["3f800000 402df850 402df854"]
    assert len(ones["log"]) == 1 << 14
    assert {row.operand >> 31 for row in ones["log"]} == {1}
    assert ones["sqrt"] == []
    zeros = sweep_kinds.run(wrong, ["range", "0", "3fff", "sin", "tan"])
    assert [str(row) for row in zeros["sin"]] == ["80000000 00000000 80000000"]
    assert zeros["tan"] == []


@pytest.mark.parametrize(
    ("result", "expected", "ranks"),
    [
        (0x3F800001, 0x3F800000, 1),
        (0x00000001, 0x00000000, 1),
        (0x80000001, 0x00000001, 3),
        (0x7F800000, 0x7F7FFFFF, 1),
        (0x80000000, 0x00000000, None),
        (0x80000000, 0x00000001, None),
        (0x7FC00000, 0x7F800000, None),
        (0x3F800000, 0x7FC00000, None),
    ],
)
def test_ranks(result: int, expected: int, ranks: int | None) -> None:
    assert Wrong(0, result, expected).ranks == ranks


@pytest.mark.parametrize("first", [0, 0x32FFC000, 0x3FBFC000, 0x3FC90000, 0x42B14000, 0x7F800000])
def test_a_range_expects_what_each_operand_by_itself_does(nowhere: Path, first: int) -> None:
    ends = [f"{first:x}", f"{first + (1 << 14) - 1:x}"]
    magnitudes = range(first, first + (1 << 14))
    operands = struct.pack("=32768I", *magnitudes, *(m + (1 << 31) for m in magnitudes))
    for kind in BOUNDS:
        ranged = subprocess.run([nowhere, "range", *ends, kind], capture_output=True, check=True)
        listed = subprocess.run(
            [nowhere, "list", kind], input=operands, capture_output=True, check=True
        )
        assert ranged.stdout == listed.stdout
        assert ranged.stdout.count(b"\n") == 1 << 15


@pytest.mark.parametrize("kind", BOUNDS)
def test_the_reference_is_far_better_than_it_has_to_be(nowhere: Path, kind: str) -> None:
    operands = [x for x in map(of_bits, SAMPLE[::3000]) if abs(x) < 88]
    done = subprocess.run(
        [nowhere, "reference", kind], input=bits(*operands), capture_output=True, check=True
    )
    for x, text in zip(operands, done.stdout.decode().split(), strict=True):
        value = FUNCTIONS[Unary(kind)](mpf(x))
        if not mp.isfinite(value) or mp.im(value):
            continue
        sign, digits, fraction, power = re.fullmatch(
            r"(-?)0x([\da-f]+)\.?([\da-f]*)p([+-]\d+)", text
        ).groups()
        scale = Fraction(2) ** (int(power) - 4 * len(fraction))
        found = int(digits + fraction, 16) * scale * (-1 if sign else 1)
        error = abs(mpf(found.numerator) / found.denominator - value)
        assert error <= abs(value) * mpf(2) ** -58, (x, text)


@pytest.mark.parametrize("kind", BOUNDS)
def test_what_mpfr_decides_is_what_mpmath_gives(kind: str) -> None:
    for word in (word for word in SAMPLE[::5000] if abs(of_bits(word)) < 200):
        value = exact(Unary(kind), of_bits(word))
        if value == value and value != 0:
            rounded = reference.rounded(Dtype.float32, value)
            assert of_bits(sweep_kinds.correct(kind, word)) == rounded


def test_finished_shards_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []

    def run(program: Path, arguments: list[str]) -> dict[str, list[Wrong]]:
        calls.append(arguments)
        row = Wrong(int(arguments[1], 16), 1, 0)
        return {kind: [row] if kind == "log" else [] for kind in arguments[3:]}

    monkeypatch.setattr(sweep_kinds, "run", run)
    monkeypatch.setattr(sweep_kinds, "SHARDS", 2)
    results = tmp_path / "results.jsonl"
    digests = {"exp": "a", "log": "b"}
    expected = {"exp": [], "log": [Wrong(0, 1, 0), Wrong(1 << 24, 1, 0)]}
    assert sweep_kinds.sweep(tmp_path, digests, 1, results) == expected
    assert calls == [
        ["range", "0", "ffffff", "exp", "log"],
        ["range", "1000000", "1ffffff", "exp", "log"],
    ]
    assert sweep_kinds.sweep(tmp_path, digests, 1, results) == expected
    assert len(calls) == 2
    # What was found of another text of the kind doesn't count.
    assert sweep_kinds.sweep(tmp_path, {"exp": "c", "log": "b"}, 1, results) == expected
    assert calls[2:] == [["range", "0", "ffffff", "exp"], ["range", "1000000", "1ffffff", "exp"]]
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert len(lines) == 6
    assert lines[1] == {
        "kind": "log",
        "shard": 0,
        "digest": "b",
        "wrong": [["00000000", "00000001", "00000000"]],
    }


def test_the_table() -> None:
    rows = [Wrong(0x3F800000, 5, 4), Wrong(0xBF800000, 8, 4)]
    text = sweep_kinds.table({"exp": rows, "log": [Wrong(0, 0x7FC00000, 0)], "sin": []})
    assert [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()[2:]] == [
        ["exp", "2", "4", "2", "-0x1.0000000000000p+0, 0x1.0000000000000p+0"],
        ["log", "1", "fails", "1", "0x0.0p+0"],
        ["sin", "2", "0", "0", ""],
    ]
