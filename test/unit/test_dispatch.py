"""Kernels with much work, compiled for several machines, compute the same bits on each."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from compiled_cases import compilers, run_compiled
from ways_to_run import Case

import uir
from passes.pipelines import RUN, apply_passes

Matrix = npt.NDArray[np.float32]

SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
ONE_WIDTH = "-D__SANITIZE_ADDRESS__"
"""Has no versions for wide vectors, as under a sanitizer."""

FLAGS = (
    ("-O0",),
    ("-O2",),
    ("-O2", ONE_WIDTH),
    ("-O2", "-mavx2"),
    ("-O3", "-march=native"),
    SANITIZED,
)

PRODUCTS = [
    (64, 70, 64, False, False),
    (50, 700, 10, False, False),
    (37, 300, 35, False, True),
]
"""The extents `m k n` of products, and which operands are transposed."""

PRODUCT = """
%pa = buffer {a} dtype=f32 slot=0
%pb = buffer {b} dtype=f32 slot=1
%pc = buffer {c} dtype=f32 slot=2
%fa = load %pa
%fb = load %pb
%sa = reshape %fa shape=[{sa}]
%sb = reshape %fb shape=[{sb}]
%ma = permute %sa order=[{oa}]
%mb = permute %sb order=[{ob}]
%product = matmul %ma %mb
%r = relu %product
%flat = reshape %r shape=[{c}]
store %pc %flat
"""

ROW_SUMS = """
%pa = buffer 270101 dtype=f32 slot=0
%pb = buffer 263 dtype=f32 slot=1
%fa = load %pa
%rows = reshape %fa shape=[263 1027]
%columns = permute %rows order=[1 0]
%sums = reduce %columns op=add pop=1
store %pb %sums
"""


def product_text(m: int, k: int, n: int, left: bool, right: bool) -> str:
    """A product of matrices `[m k]` and `[k n]`, of which memory may have the transposes."""
    return PRODUCT.format(
        a=m * k,
        b=k * n,
        c=m * n,
        sa=f"{k} {m}" if left else f"{m} {k}",
        sb=f"{n} {k}" if right else f"{k} {n}",
        oa="1 0" if left else "0 1",
        ob="1 0" if right else "0 1",
    )


def ordered_product(a: Matrix, b: Matrix) -> Matrix:
    """The product whose sums are rounded in the order of the inner axis."""
    total = np.zeros((len(a), b.shape[1]), np.float32)
    for i in range(len(b)):
        total = total + a[:, i, np.newaxis] * b[i]
    return total


@cache
def cases() -> list[tuple[Case, Matrix]]:
    """Programs, and what each must store."""
    generator = np.random.default_rng(0)
    made: list[tuple[Case, Matrix]] = []
    for m, k, n, left, right in PRODUCTS:
        text = product_text(m, k, n, left, right)
        a, b = (generator.normal(size=shape).astype(np.float32) for shape in [(m, k), (k, n)])
        memories = [(a.T if left else a).ravel(), (b.T if right else b).ravel()]
        expected = np.maximum(ordered_product(a, b), 0).ravel()
        made.append((case_of(text, [*memories, np.zeros(m * n, np.float32)]), expected))
    rows = generator.normal(size=(263, 1027)).astype(np.float32)
    ones = np.ones((1027, 1), np.float32)
    expected = ordered_product(rows, ones).ravel()
    made.append((case_of(ROW_SUMS, [rows.ravel(), np.zeros(263, np.float32)]), expected))
    return made


def case_of(text: str, memories: list[Matrix]) -> Case:
    module = uir.parse(text)
    apply_passes(RUN, module)
    return Case(text, module, memories)


def test_much_work_is_dispatched() -> None:
    for case, _ in cases():
        assert "\nDISPATCH(" in uir.render(case.text)


@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize("flags", FLAGS, ids=" ".join)
def test_same_bits(compiler: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    """Tiles, panels and narrow lanes, by every compiler."""
    results = run_compiled(
        [case for case, _ in cases()], [compiler, *flags], tmp_path, checks=False
    )
    for memories, (_, expected) in zip(results, cases(), strict=True):
        np.testing.assert_array_equal(memories[-1].view(np.uint32), expected.view(np.uint32))
