"""Kernels evaluate about as many scalar operations as the tensor program has elements.

Fusion may recompute what is cheap, but never multiplies dear values: the work of all loops, taken
from their domains and programs, is compared with the operations of the live nodes.
"""

from __future__ import annotations

from math import prod
from pathlib import Path

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from dialects.prog import Const, Coord, In, LoopOp, Op1, Op2, Op3, Program
from passes.pipelines import LOWER, apply_passes
from uir.flops import count_flops
from uir.program import load_program, read_source

PROGRAMS = Path(__file__).parents[1] / "week6" / "render"


def operations(program: Program) -> int:
    """The operations of a scalar program that depend on what it reads: no index arithmetic."""
    reads: list[bool] = []
    for node in program.nodes:
        match node:
            case In():
                reads.append(True)
            case Const() | Coord():
                reads.append(False)
            case Op1(_, _, i):
                reads.append(reads[i])
            case Op2(_, i, j):
                reads.append(reads[i] or reads[j])
            case Op3(_, i, j, k):
                reads.append(reads[i] or reads[j] or reads[k])
    return sum(reads) - sum(isinstance(node, In) for node in program.nodes)


def work_of(loop: LoopOp) -> int:
    """The operations of one run of a loop; a fold is one for each element."""
    points = prod(loop.shape.get_values())
    if not loop.reduction.get_values():
        return points * operations(loop.body.data)
    work = prod(loop.reduction.get_values()) * (operations(loop.body.data) + len(loop.monoids))
    if loop.epilogue is not None:
        work += operations(loop.epilogue.data)
    return points * work


def total_work(module: ModuleOp) -> int:
    """The operations of one run of the program's function, which has no loops itself."""
    functions = {f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp)}
    work = {
        name: sum(work_of(op) for op in function.walk() if isinstance(op, LoopOp))
        for name, function in functions.items()
    }
    calls = [op for op in functions["kernel"].walk() if isinstance(op, func.CallOp)]
    return sum(work[call.callee.string_value()] for call in calls)


def counts(text: str | Path) -> tuple[int, int]:
    """The operations of the tensor program, math expanded, and those of its kernels."""
    module = load_program(read_source(text)).module
    # Expanded before kernels are formed, so that both counts are of the same operations.
    apply_passes(["inline-calls", "expand-math"], module)
    expected = count_flops(module.clone())
    apply_passes(LOWER[: LOWER.index("rangeify") + 1], module)
    return expected, total_work(module)


HEAD = "%m = buffer 1024 dtype=f32 slot=0\n%x0 = load %m\n"


def test_diamonds_cost_their_number() -> None:
    lines = [f"%x{k + 1} = add %x{k} %x{k}" for k in range(60)]
    expected, found = counts(HEAD + "\n".join(lines))
    assert expected == found == 60 * 1024


def test_long_diamonds_across_many_kernels() -> None:
    lines: list[str] = []
    for k in range(600):
        lines += [f"%y{k} = mul %x{k} %x{k}", f"%x{k + 1} = add %y{k} %x{k}"]
    expected, found = counts(HEAD + "\n".join(lines))
    assert expected == found == 1200 * 1024


def test_chained_reduces() -> None:
    """Each row is divided by its sum and then by its maximum, ten times over."""
    lines = ["%r0 = reshape %x0 shape=[32 32]"]
    for k in range(20):
        kind = "add" if k % 2 else "max"
        lines += [
            f"%s{k} = reduce %r{k} op={kind} pop=1",
            f"%t{k} = reshape %s{k} shape=[1 32]",
            f"%e{k} = expand %t{k} shape=[32 32]",
            f"%r{k + 1} = fdiv %r{k} %e{k}",
        ]
    expected, found = counts(HEAD + "\n".join(lines))
    assert found <= 1.1 * expected


def test_expand_of_a_sum() -> None:
    text = HEAD + "%s = reduce %x0 op=add pop=1\n%e = expand %s shape=[1024]\n%y = mul %x0 %e"
    expected, found = counts(text)
    assert found <= 1.01 * expected


def test_expand_of_a_matmul() -> None:
    text = HEAD + (
        "%a = reshape %x0 shape=[32 32]\n%p = matmul %a %a\n"
        "%q = reshape %p shape=[1 32 32]\n%e = expand %q shape=[8 32 32]\n%y = add %e %e"
    )
    expected, found = counts(text)
    assert found <= 1.05 * expected


def test_overlapping_windows() -> None:
    """Each of eight shifted windows reads a dear value."""
    lines = ["%v = exp2 %x0"]
    for k in range(8):
        lines += [f"%w{k} = shrink %v {k} shape=[1016]"]
        lines += [f"%z{k} = " + (f"add %z{k - 1} %w{k}" if k else f"add %w{k} %w{k}")]
    expected, found = counts(HEAD + "\n".join(lines))
    # To keep NaNs the same, a `bitcast` in `exp2` is three operations.
    assert found <= 1.05 * expected


GRADED = (
    "softmax", "softmax_of_rows", "softmax_gradient", "mlp_gradients", "sgd_step", "two_sgd_steps",
)  # fmt: skip


@pytest.mark.parametrize("name", GRADED)
def test_programs(name: str) -> None:
    expected, found = counts(PROGRAMS / f"{name}.uir")
    assert found <= 1.5 * expected
