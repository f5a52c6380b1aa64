"""Random programs give the same bits on every level, after every pass, and as compiled C.

What is right says the interpreter of the tensor level, on the program after sugar and gradients are
expanded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from compiled_cases import compilers, run_compiled
from hypothesis import HealthCheck, given, note, settings
from random_programs import programs, random_program
from unrolled import unrolled
from ways_to_run import (
    Case,
    applied,
    assert_same_bits,
    case_of,
    lowered,
    run_formed,
    run_lowered,
    run_uir,
    through_mlir,
)
from xdsl.dialects.builtin import ModuleOp

from passes.loops import schedule
from passes.pipelines import LOWER
from uir.text.parser import parse_text
from uir.text.printer import text_of

FUZZ = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

UIR_WAYS: dict[str, Callable[[ModuleOp], ModuleOp]] = {
    "as text": lambda module: parse_text(text_of(module)),
    "as MLIR": lambda module: through_mlir(module, is_generic=False),
    "as generic MLIR": lambda module: through_mlir(module, is_generic=True),
    "merge-nodes": lambda module: applied(module, "merge-nodes"),
    "expand-math": lambda module: applied(module, "expand-math"),
    "inline-calls": lambda module: applied(module, "inline-calls"),
    "fold-constants": lambda module: applied(module, "fold-constants"),
}


def without(passes: Sequence[str], name: str) -> tuple[str, ...]:
    return tuple(other for other in passes if other != name)


LOOP_WAYS: dict[str, Callable[[Case], ModuleOp]] = {
    "rangeify": lambda case: lowered(case, without(LOWER, "lower-loops")),
    "rangeify, as MLIR": lambda case: through_mlir(
        lowered(case, without(LOWER, "lower-loops")), is_generic=False
    ),
    "lower-loops": lambda case: lowered(case, LOWER),
    "calls as functions": lambda case: lowered(case, without(LOWER, "inline-calls")),
    "fold-constants first": lambda case: lowered(case, ("fold-constants", *LOWER)),
}
KERNEL_WAYS: dict[str, tuple[str, ...]] = {
    "outline-calls": ("outline-calls",),
    "insert-checks": ("outline-calls", "insert-checks"),
    "form-kernels": ("inline-calls", "form-kernels"),
    "form-kernels, with functions": ("outline-calls", "form-kernels"),
    "form-kernels, checked": ("outline-calls", "insert-checks", "form-kernels"),
    "expand-math in kernels": ("inline-calls", "form-kernels", "expand-math"),
}
SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
FLAGS = (("-O0",), ("-O2",), ("-O3", "-march=native"), SANITIZED)


@FUZZ
@given(programs())
def test_tensor_level(text: str) -> None:
    note(text)
    case = case_of(text)
    expected = run_uir(case, case.module)
    for name, change in UIR_WAYS.items():
        note(name)
        assert_same_bits(expected, run_uir(case, change(case.module)))


@FUZZ
@given(programs())
def test_text(text: str) -> None:
    """The text means the same printed again, and with its loops written out."""
    note(text)
    case = case_of(text)
    expected = run_uir(case, case.module)
    for other in (text_of(parse_text(text)), unrolled(text)):
        note(other)
        case = case_of(other)
        assert_same_bits(expected, run_uir(case, case.module))


@FUZZ
@given(programs())
def test_rolled_calls(text: str) -> None:
    """Loops that are written out, and rolled again."""
    case = case_of(unrolled(text))
    note(case.text)
    expected = run_uir(case, case.module)
    passes = without(LOWER, "lower-loops")
    for name, lower in (("rolled", passes), ("as it stands", without(passes, "roll-calls"))):
        note(name)
        assert_same_bits(expected, run_lowered(case, lowered(case, lower)))


@FUZZ
@given(programs())
def test_functions_and_kernels(text: str) -> None:
    note(text)
    case = case_of(text)
    expected = run_uir(case, case.module)
    for name, passes in KERNEL_WAYS.items():
        note(name)
        assert_same_bits(expected, run_formed(case, lowered(case, passes)))


@FUZZ
@given(programs())
def test_loop_levels(text: str) -> None:
    note(text)
    case = case_of(text)
    expected = run_uir(case, case.module)
    for name, lower in LOOP_WAYS.items():
        note(name)
        assert_same_bits(expected, run_lowered(case, lower(case)))


GATHER = """\
%m = buffer 4 dtype=i32 slot=0 data=[7 8 9 10]
%o = buffer 24 dtype=i32 slot=1
%x = load %m
%p = pad %x pads=[10 10]
%y = reshape %p shape=[4 3 2]
%a = reshape %o shape=[3 4 2]
%b = permute %a order=[1 0 2]
store %b %y
"""
"""gcc 12 made a wrong gather of it, until addresses were selected with masks."""


def two_sums(length: int) -> Case:
    """Sums and products of two columns, of two rows, of two values, and of two cells: gcc 12 takes
    two in one loop for each other if there are conversions between signed and unsigned in them."""
    text = f"""
%m = buffer {2 * length} dtype=i32 slot=0
%o = buffer 12 dtype=i32 slot=1
%out = reshape %o shape=[6 2]
%rows = reshape %m shape=[{length} 2]
%x = load %rows
%columns = reshape %m shape=[2 {length}]
%y = load %columns
%seven = expand 7 shape=[2]
"""
    results: list[str] = []
    for op in ("add", "mul"):
        text += f"""
%{op}_rows = reduce %x op={op} pop=1
%{op}_scaled = {"mul" if op == "add" else "add"} %{op}_rows %seven
%y_{op} = permute %y order=[1 0]
%{op}_columns = reduce %y_{op} op={op} pop=1
"""
        results += [f"{op}_scaled", f"{op}_columns"]
    text += f"""
%across = permute %x order=[1 0]
%left = index %across 0
%right = index %across 1
%left_sum = reduce %left op=add pop=1
%right_sum = reduce %right op=add pop=1
%both = stack %left_sum %right_sum
%cells = alloc 2 dtype=i32
%i = range {length}
%cell_0 = index %cells 0
%cell_1 = index %cells 1
%now_0 = after %cell_0 %i
%now_1 = after %cell_1 %i
%from_0 = index %rows %i 0
%from_1 = index %rows %i 1
%old_0 = load %now_0
%old_1 = load %now_1
%x_0 = load %from_0
%x_1 = load %from_1
%new_0 = add %old_0 %x_0
%new_1 = add %old_1 %x_1
%stored_0 = store %now_0 %new_0
%stored_1 = store %now_1 %new_1
%loop = end %stored_0 %stored_1 %i
%done = after %cells %loop
%sums = load %done
"""
    for row, name in enumerate([*results, "both", "sums"]):
        text += f"%out_{row} = index %out {row}\nstore %out_{row} %{name}\n"
    case = case_of(text)
    rng = np.random.default_rng(length)
    case.memories[0][:] = rng.integers(-(2**31), 2**31, 2 * length) | 1
    return case


def folds_along_memory(width: int) -> Case:
    """Rows of each dtype, too long for random programs, folded in all ways that have no order."""
    lines: list[str] = []
    ways = {"f32": ("max",), "i32": ("max", "add", "mul"), "bool": ("max",)}
    for number, (dtype, ops) in enumerate(ways.items()):
        lines += [
            f"%{dtype} = buffer {3 * width} dtype={dtype} slot={number}",
            f"%{dtype}_rows = reshape %{dtype} shape=[3 {width}]",
            f"%{dtype}_x = load %{dtype}_rows",
            f"%{dtype}_columns = permute %{dtype}_x order=[1 0]",
        ]
        for op in ops:
            name, slot = f"{dtype}_{op}", len(ways) + len(lines)
            lines += [
                f"%{name} = reduce %{dtype}_columns op={op} pop=1",
                f"%{name}_cells = buffer 3 dtype={dtype} slot={slot}",
                f"store %{name}_cells %{name}",
            ]
    case = case_of("\n".join(lines) + "\n")
    f32, i32, boolean = case.memories[:3]
    rng = np.random.default_rng(width)
    f32[:] = rng.normal(size=f32.size)
    f32[:width] = -0.0
    f32[[width - 1, width, -1]] = 0.0, np.inf, np.nan
    i32[:] = rng.integers(-(2**31), 2**31, i32.size) | 1
    boolean[-1] = True
    return case


@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize("flags", FLAGS, ids=" ".join)
def test_compiled_c(
    compiler: str, flags: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fixed dozen programs, because each costs a run of the compiler; shrink with the others."""
    monkeypatch.setattr(schedule, "_CHAINED", 1)
    cases = [case_of(random_program(Random(seed))) for seed in range(12)]
    cases += [case_of(GATHER), folds_along_memory(17), folds_along_memory(150)]
    cases += [two_sums(12), two_sums(33), two_sums(100)]
    found = run_compiled(cases, [compiler, *flags], tmp_path, checks=False)
    for case, memories in zip(cases, found, strict=True):
        assert_same_bits(run_uir(case, case.module), memories, case.text)


def test_checked_c(tmp_path: Path) -> None:
    """No check fails, and the checks change nothing."""
    cases = [case_of(random_program(Random(seed))) for seed in range(100, 120)]
    found = run_compiled(cases, ["cc", *SANITIZED], tmp_path, checks=True)
    for case, memories in zip(cases, found, strict=True):
        assert_same_bits(run_uir(case, case.module), memories, case.text)
