"""The C library's path against numpy's, and operands as they lie in memory, in both."""

from __future__ import annotations

import importlib
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import prog_paths
import prog_reference as reference
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prog_paths import words
from prog_reference import BOOLEANS, COMPLEX, FLOATS, NUMPY, WIDTHS
from prog_strategies import programs

from dialects.prog import (
    BITCAST,
    CAST,
    COPY,
    FMA,
    WHERE,
    Binary,
    Compare,
    Dtype,
    E,
    Op1,
    Op2,
    Op3,
    Padded,
    Program,
    Unary,
    accepts1,
    accepts2,
    accepts3,
    evaluate,
)
from dialects.prog.compiled import compiled_kinds
from dialects.prog.native import CompileError, cached_library

EXACT = [Unary.NEG, Unary.RECIP, Unary.SIGN]


def elements(dtype: Dtype) -> np.ndarray:
    """Special elements and some draws; of bool any byte."""
    if dtype is Dtype.bool:
        return np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    return reference.elements(dtype, 70)


@pytest.mark.parametrize("dtype", list(Dtype))
def test_each_kind_of_one_operand(dtype: Dtype) -> None:
    x = elements(dtype)
    for kind, result in itertools.product((*Unary, COPY, CAST, BITCAST), Dtype):
        if accepts1(kind, dtype, result):
            program = Program.of_node([dtype], Op1(kind, result, 0))
            prog_paths.evaluate(program, [x], x.shape)


@pytest.mark.parametrize("dtype", list(Dtype))
def test_each_kind_of_two_and_three_operands(dtype: Dtype) -> None:
    x = elements(dtype)[:100]
    y = x[:, np.newaxis]
    shape = (len(x), len(x))
    for kind in (*Binary, *Compare):
        if accepts2(kind, dtype):
            prog_paths.evaluate(Program.of_node([dtype] * 2, Op2(kind, 0, 1)), [x, y], shape)
    z = np.resize(x[::-1], shape)
    for kind, first in itertools.product((WHERE, FMA), {*BOOLEANS, dtype}):
        if accepts3(kind, first, dtype):
            operands = [np.resize(elements(first), shape), y, z]
            program = Program.of_node([first, dtype, dtype], Op3(kind, 0, 1, 2))
            prog_paths.evaluate(program, operands, shape)


@pytest.mark.parametrize("dtype", list(Dtype))
def test_moves_keep_all_bits(dtype: Dtype) -> None:
    width = WIDTHS[dtype]
    raw = np.random.default_rng(1).bytes(64 * max(1, width // 8))
    x = np.frombuffer(raw, np.uint8)
    x = (x & ((1 << width) - 1) if width < 8 else x).view(NUMPY[dtype])
    e = E.input(0, dtype)
    same = [E.copy(e), E.cast(dtype, e), E.where(E.const(Dtype.bit, True), e, e)]
    same += [E.bitcast(dtype, E.bitcast(d, e)) for d in Dtype if WIDTHS[d] == width]
    program = Program.of_exprs([dtype], same)
    for kinds in (None, compiled_kinds()):
        for result in evaluate(program, [x], x.shape, kinds=kinds):
            assert result.tobytes() == x.tobytes()


def no_bits_of_nans(node: object, operand: Dtype, result: Dtype) -> bool:
    """Whether the result doesn't depend on the bits of a NaN, which kinds may give any of."""
    if isinstance(node, Op1) and node.kind is BITCAST:
        return operand not in FLOATS | COMPLEX.keys() or operand is result
    if operand in COMPLEX:
        # The signs of the other kinds may be those of NaNs.
        return not (isinstance(node, Op1) and isinstance(node.kind, Unary)) or node.kind in EXACT
    return True


@settings(deadline=None)
@given(programs(accepts=no_bits_of_nans), st.data())
def test_random_programs(program: Program, data: st.DataObject) -> None:
    shape = (2, 3)
    arrays = []
    for dtype in program.ins:
        some = elements(dtype)
        draw = st.lists(st.integers(0, len(some) - 1), min_size=6, max_size=6)
        arrays.append(some[data.draw(draw)].reshape(shape))
    prog_paths.evaluate(program, arrays, shape)


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Dtype, np.ndarray, tuple[int, ...]]:
    """An array that broadcasts to the shape: steps of any sign, of any alignment, or padded."""
    dtype = draw(st.sampled_from(list(Dtype)))
    shape = tuple(draw(st.lists(st.integers(0, 5), max_size=3)))
    own = tuple(draw(st.sampled_from([n, 1])) for n in shape)[draw(st.integers(0, len(shape))) :]
    steps = [draw(st.sampled_from([1, 2, 3, -1, -2])) for _ in own]
    whole = [n * abs(step) for n, step in zip(own, steps, strict=True)]
    offset = draw(st.integers(0, 3))
    order = draw(st.permutations(range(len(own))))
    count = int(np.prod(whole, dtype=int))
    memory = np.zeros(offset + count * NUMPY[dtype].itemsize, np.uint8)
    base = memory[offset:].view(NUMPY[dtype])
    base[:] = np.resize(elements(dtype), count)
    array = base.reshape([whole[axis] for axis in order]).transpose(np.argsort(order))
    array = array[tuple(slice(None, None, step) for step in steps)]
    assert array.shape == own
    return dtype, array, shape


@pytest.mark.parametrize("block", [4, 1 << 14])
@settings(deadline=None)
@given(layouts())
def test_operands_of_any_layout(
    block: int, layout: tuple[Dtype, np.ndarray, tuple[int, ...]]
) -> None:
    dtype, array, shape = layout
    copied = np.array(np.broadcast_to(array, shape))
    e = E.input(0, dtype)
    coords = [E.coord(axis) for axis in range(len(shape))]
    program = Program.of_exprs([dtype], [e, E.equal(e, e), E.maximum(e, e), *coords])
    plain = evaluate(program, [copied], shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.import_module("dialects.prog.evaluate"), "_BLOCK", block)
        results = prog_paths.evaluate(program, [array], shape)
    for out, result, expected in zip(program.results, results, plain, strict=True):
        assert words(out, result).tolist() == words(out, expected).tolist()
    assert words(dtype, results[0]).tolist() == words(dtype, copied).tolist()
    assert [i.tolist() for i in results[3:]] == [i.tolist() for i in np.indices(shape)]


def positions(size: int, low: int, high: int, interior: int) -> Iterator[int | None]:
    """Of each element along a padded axis, where it is in the array."""
    dilated = list(itertools.chain(*((i, *[None] * interior) for i in range(size))))
    dilated = dilated[: len(dilated) - interior] if size else []
    padded = [*[None] * max(low, 0), *dilated, *[None] * max(high, 0)]
    yield from padded[max(-low, 0) : len(padded) - max(-high, 0)]


AXES = st.tuples(st.integers(0, 4), st.integers(-5, 5), st.integers(-5, 5), st.integers(0, 3))
"""Size, low, high and interior."""


@settings(deadline=None)
@given(
    st.sampled_from(list(Dtype)),
    st.lists(AXES.filter(lambda a: sum(a[:3]) + max(a[0] - 1, 0) * a[3] >= 0), max_size=2),
)
def test_padded_operands(dtype: Dtype, axes: list[tuple[int, int, int, int]]) -> None:
    sizes, low, high, interior = zip(*axes, strict=True) if axes else [()] * 4
    array = np.resize(elements(dtype), sizes)
    fill = elements(dtype)[-1:].reshape(())
    padded = Padded(array, fill, low, high, interior)
    places = [list(positions(*axis)) for axis in axes]
    shape = tuple(map(len, places))
    # Bytes, because a bool that numpy sets by itself is of the byte 0 or 1.
    raw = f"V{array.dtype.itemsize}"
    expected = np.empty(shape, raw)
    for index in np.ndindex(shape):
        place = [along[i] for along, i in zip(places, index, strict=True)]
        expected[index] = fill.view(raw) if None in place else array.view(raw)[tuple(place)]
    e = E.input(0, dtype)
    program = Program.of_exprs([dtype], [e, E.maximum(e, e)])
    same, most = prog_paths.evaluate(program, [padded], shape)
    assert same.tobytes() == expected.tobytes()
    (plain,) = evaluate(
        Program.of_node([dtype] * 2, Op2(Binary.MAXIMUM, 0, 1)), [same, same], shape
    )
    assert words(dtype, most).tolist() == words(dtype, plain).tolist()


def test_paddings_that_are_refused() -> None:
    x, zero = np.ones((2, 3), np.float32), np.zeros((), np.float32)
    with pytest.raises(ValueError, match="float32 elements is one of them, found float64 of shape"):
        Padded(x, np.zeros(()), [0, 0], [0, 0], [0, 0])
    with pytest.raises(ValueError, match=r"found float32 of shape \(3,\)"):
        Padded(x, x[0], [0, 0], [0, 0], [0, 0])
    with pytest.raises(ValueError, match="`high` has 1 axes, and the array has 2"):
        Padded(x, zero, [0, 0], [0], [0, 0])
    with pytest.raises(ValueError, match="axis 1: `interior` is not negative, found -1"):
        Padded(x, zero, [0, 0], [0, 0], [0, -1])
    with pytest.raises(ValueError, match="axis 0: 1 elements too many are cropped"):
        Padded(x, zero, [-3, 0], [0, 0], [0, 0])
    program = Program.of_exprs([Dtype.float32], [E.input(0, Dtype.float32)])
    with pytest.raises(ValueError, match=r"operand 0 of shape \(3, 3\) does not broadcast"):
        evaluate(program, [Padded(x, zero, [0, 0], [1, 0], [0, 0])], (2, 3))


def test_results_are_new_arrays() -> None:
    x = np.arange(6, dtype=np.int32)
    e = E.input(0, Dtype.int32)
    for kinds in (None, compiled_kinds()):
        first, second = evaluate(Program.of_exprs([Dtype.int32], [e, e]), [x], (6,), kinds=kinds)
        first[:] = second + 1
        assert (x.tolist(), second.tolist()) == ([*range(6)], [*range(6)])


def test_many_blocks_of_a_large_shape() -> None:
    e = E.coord(0) * E.const(Dtype.int64, 1000) + E.coord(1) + E.input(0, Dtype.int64)
    x = np.arange(1000)[::-1] * 7
    (result,) = prog_paths.evaluate(Program.of_exprs([Dtype.int64], [e]), [x], (50, 1000))
    assert result.tolist() == [
        [i * 1000 + j + 7 * (999 - j) for j in range(1000)] for i in range(50)
    ]


SEVEN = "int seven(void) { return 7; }"
CALL = f"""
import sys
from dialects.prog.native import cached_library
print(cached_library([{SEVEN!r}, sys.argv[1]], flags=("-O1",)).seven())
"""


def cached_in(folder: Path, other: str = "int other;") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CALL, other],
        env={**os.environ, "XDG_CACHE_HOME": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_library_is_built_once_and_kept(tmp_path: Path) -> None:
    builders = [cached_in(tmp_path) for _ in range(3)]
    assert [builder.communicate()[0] for builder in builders] == ["7\n"] * 3
    (library,) = (tmp_path / "uir" / "native").iterdir()
    before = library.stat()
    assert cached_in(tmp_path).communicate()[0] == "7\n"
    assert library.stat().st_mtime_ns == before.st_mtime_ns
    assert cached_in(tmp_path, "int another;").communicate()[0] == "7\n"
    assert len(list((tmp_path / "uir" / "native").iterdir())) == 2


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert cached_in(tmp_path / "file").communicate()[0] == "7\n"


def test_a_library_that_cannot_be_built() -> None:
    with pytest.raises(CompileError, match="failed on the generated C"):
        cached_library(["int f(void) { return nowhere; }"])
    with pytest.raises(CompileError, match="no C compiler `no-such-cc`"):
        cached_library([SEVEN], compiler="no-such-cc")
