"""Loops in parts that threads share: the same bits and errors in any order, for any number."""

from __future__ import annotations

import subprocess
from math import prod
from pathlib import Path
from random import Random

import pytest
from compiled_cases import compilers, run_compiled
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from random_programs import random_program
from test_lower_loops import (
    Case,
    X,
    Y,
    access,
    assert_same_bits,
    check,
    check_product,
    f32_loop,
    floats,
    loops,
    product,
)
from ways_to_run import case_of, run_uir
from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

import uir
from dialects.prog import Dtype, E, LoopOp, Monoid, Program
from passes.index import strides_of
from passes.loops import schedule, threads
from passes.loops.nest import nest_of
from passes.loops.work import THREADED
from passes.lower_loops import LowerLoopsPass

DOUBLED = Program.of_exprs([Dtype.float32], [X + X])


@pytest.fixture
def little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has any work shared, in parts of nearly any size, with points that are left over."""
    for name, least in {"THREADED": 1, "PART": 1, "_LANES": 2}.items():
        monkeypatch.setattr(threads, name, least)
    for name in ("_FILLS", "_AGAIN", "_STREAM", "_SERIAL"):
        monkeypatch.setattr(threads, name, 0)


def parallel_loops(module: ModuleOp) -> list[scf.ParallelOp]:
    lowered = module.clone()
    LowerLoopsPass().apply(Context(), lowered)
    lowered.verify()
    return [op for op in lowered.walk() if isinstance(op, scf.ParallelOp)]


@pytest.mark.usefixtures("little_work")
@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(loops())
def test_random_loops_keep_their_bits(case: Case) -> None:
    """The interpreter runs the last turn first."""
    check(case.module, case.memories, [1])


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize(("m", "n", "k"), [(64, 10, 5), (8, 96, 3), (9, 70, 2)])
@pytest.mark.parametrize("right", ["kn", "nk"])
def test_products_keep_their_bits(m: int, n: int, k: int, right: str) -> None:
    check_product(m, n, k, "mk", right)


@pytest.mark.parametrize(
    ("m", "n", "k", "parts", "size"),
    [
        # Blocks of the rows that a cache holds, which are shared by a few tiles of lanes.
        (1024, 1024, 1024, 64, (256, 64)),
        (1000, 1000, 1000, 32, (250, 125)),
        (768, 768, 768, 48, (256, 48)),
        # All rows, with tiles of lanes; if those are few, not all rows, but many.
        (512, 512, 512, 32, (512, 16)),
        (512, 160, 512, 20, (256, 16)),
    ],
)
def test_products_in_many_even_parts(
    m: int, n: int, k: int, parts: int, size: tuple[int, int]
) -> None:
    shared = threads.threaded(nest_of(loop_of(product(m, n, k, "mk", "kn"))))
    assert shared is not None
    assert (shared.parts, shared.part.extents) == (parts, {0: size[0], 1: size[1], 2: k})
    assert shared.rest is None


def loop_of(module: ModuleOp) -> LoopOp:
    (loop,) = (op for op in module.walk() if isinstance(op, LoopOp))
    return loop


@pytest.mark.usefixtures("little_work")
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.integers(2, 12), min_size=1, max_size=3))
def test_every_point_of_a_map_is_in_one_part(shape: list[int]) -> None:
    """What is added to in place tells how often. Gaps in memory keep the axes apart."""
    spaced = [extent + 1 for extent in shape]
    place = access(0, strides_of(spaced))
    body = Program.of_exprs([Dtype.float32], [X + E.const(Dtype.float32, 1.0)])
    module = f32_loop(1, shape=shape, body=body, reads=[place], writes=[place])
    check(module, [floats(prod(spaced))])


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("cache", [64, 1 << 18])
@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(m=st.integers(2, 36), n=st.integers(2, 36), right=st.sampled_from(["kn", "nk"]))
@example(m=37, n=33, right="kn")
def test_every_point_of_a_product_is_in_one_part(cache: int, m: int, n: int, right: str) -> None:
    added = Program.of_exprs([Dtype.float32] * 2, [X + Y])
    epilogue = {"epilogue": added, "epilogue_reads": [access(2, (n, 1))]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule, "_NEAR", 64)
        patch.setattr(schedule, "_CACHE", cache)
        module = product(m, n, 3, "mk", right, **epilogue)
        check(module, [floats(3 * m), floats(3 * n), floats(m * n)])


def map_of(shape: list[int]) -> ModuleOp:
    strides = (*shape[1:], 1)
    reads, writes = [access(0, strides)], [access(1, strides)]
    return f32_loop(2, shape=shape, body=DOUBLED, reads=reads, writes=writes)


def test_little_work_is_for_one_thread() -> None:
    # Two operations, and two elements that each take as long as 16.
    points = THREADED // (2 + 2 * 16)
    assert not parallel_loops(map_of([points]))
    assert len(parallel_loops(map_of([points + 1]))) == 1


def test_a_fold_to_one_number_is_for_one_thread() -> None:
    module = f32_loop(
        2,
        shape=[],
        reduction=[THREADED],
        monoids=[Monoid.SUM],
        body=DOUBLED,
        reads=[access(0, (1,))],
        writes=[access(1, ())],
    )
    assert not parallel_loops(module)


@pytest.mark.usefixtures("little_work")
def test_what_no_parts_of_one_size_cover() -> None:
    """101 is prime: the last point is computed outside of the parts."""
    (loop,) = parallel_loops(module := map_of([101]))
    names = [op.name for op in loop.body.block.ops]
    assert names == ["func.call", "scf.reduce"]
    memories = [floats(101), floats(101, 1)]
    check(module, memories)


PROGRAMS = 12


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize(("count", "flags"), [(1, "-O1"), (2, "-O3 -march=native"), (3, "-O2")])
def test_random_programs_with_threads(
    count: int, flags: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is right says the interpreter of the tensor level."""
    cases = [case_of(random_program(Random(seed))) for seed in range(200, 200 + PROGRAMS)]
    monkeypatch.setenv("OMP_NUM_THREADS", str(count))
    command = ["gcc", *flags.split(), "-fopenmp", "-Wall", "-Wextra", "-Werror"]
    found = run_compiled(cases, command, tmp_path, checks=False)
    for case, memories in zip(cases, found, strict=True):
        assert_same_bits(run_uir(case, case.module), memories)


MATMUL = """\
%a = buffer 1998 dtype=f32 slot=0 data=[{a}]
%b = buffer 2106 dtype=f32 slot=1 data=[{b}]
%c = buffer 1443 dtype=f32 slot=2
%rows = reshape %a shape=[37 54]
%columns = reshape %b shape=[54 39]
%table = reshape %c shape=[37 39]
%x = load %rows
%y = load %columns
%z = matmul %x %y
store %table %z
"""


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_product_with_threads(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In blocks of 8 rows."""
    monkeypatch.setattr(schedule, "_NEAR", 64)
    monkeypatch.setattr(schedule, "_CACHE", 500)
    monkeypatch.setenv("OMP_NUM_THREADS", str(count))
    a, b = (" ".join(map(str, floats(size, size))) for size in (1998, 2106))
    case = case_of(MATMUL.format(a=a, b=b))
    command = ["gcc", "-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror"]
    (found,) = run_compiled([case], command, tmp_path, checks=False)
    assert_same_bits(run_uir(case, case.module), found)


FAILING = """\
%m = buffer 4096 dtype=i32 slot=0
%n = buffer 4096 dtype=i32 slot=1
%x = load %m
%y = expand 7 shape=[4096]
%a = mod %y %x
%b = div %a %x
store %n %b
"""
"""Divides by zeros, twice in each point: line 5 fails first."""

DRIVER = """\
#include <stdint.h>
#include <stdio.h>
struct uir_error {
  int32_t line;
  const char *kind;
};
int kernel(int32_t *m, int32_t *n, struct uir_error *error);
int main(void) {
  static int32_t m[4096], n[4096];
  struct uir_error error;
  int status = kernel(m, n, &error);
  printf("%d %d %s", status, error.line, error.kind);
  return 0;
}
"""


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_reported_error_is_the_first(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = uir.render(FAILING, checks=True)
    assert "PARALLEL\n" in source
    (tmp_path / "kernel.c").write_text(source)
    (tmp_path / "main.c").write_text(DRIVER)
    build = ["gcc", "-O2", "-fopenmp", "-o", "all", "kernel.c", "main.c", "-lm"]
    subprocess.run(build, cwd=tmp_path, check=True)
    monkeypatch.setenv("OMP_NUM_THREADS", str(count))
    done = subprocess.run(["./all"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "1 5 division by zero"


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize("openmp", [["-fopenmp"], []])
def test_no_warnings(compiler: str, openmp: list[str], tmp_path: Path) -> None:
    source = tmp_path / "kernel.c"
    source.write_text(uir.render(FAILING))
    command = [compiler, "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", *openmp, "-c", "-o"]
    subprocess.run([*command, str(tmp_path / "kernel.o"), str(source)], check=True)
