"""The benchmark programs are valid, and compute what they are said to: the same as numpy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from benchmarks import with_numpy
from benchmarks.agreement import disagreement
from benchmarks.build import build_library
from benchmarks.with_native import HAND_WRITTEN, hand_written, prepare
from benchmarks.workloads import ELEMENTS, TEST, WORKLOADS, Arrays

import uir
from uir.program import load_program, read_source

MATHEMATICS = {"exp2", "log2", "sqrt", "sin"}


def copies(arrays: Arrays) -> Arrays:
    return {name: array.copy() for name, array in arrays.items()}


def test_every_program_is_a_workload() -> None:
    programs = {workload.program for workload in WORKLOADS.values()}
    assert set((TEST / "bench").glob("*.uir")) <= programs
    assert all(program.is_file() for program in programs)


def test_inputs_are_the_same_each_time() -> None:
    workload = WORKLOADS["mlp_step"]
    for one, other in zip(
        workload.make_arrays().values(), workload.make_arrays().values(), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return build_library(HAND_WRITTEN, tmp_path_factory.mktemp("loops"), ["cc", "-O2"])[0]


# The training program has tests of its own, of every bit.
@pytest.mark.parametrize("name", sorted(WORKLOADS.keys() - MATHEMATICS - {"mnist"}))
def test_program(name: str, by_hand: ctypes.CDLL) -> None:
    workload = WORKLOADS[name]
    assert load_program(read_source(workload.program)).warnings == []
    kernel = uir.compile(workload.program)
    arrays = workload.make_arrays()
    ours, theirs = copies(arrays), copies(arrays)
    kernel(*ours.values())
    with_numpy.prepare(workload, theirs, []).call()
    assert disagreement(workload, theirs, ours) is None
    if name in hand_written():
        prepare(by_hand[name], workload, arrays, {}).call()
        assert disagreement(workload, ours, arrays, exact=True) is None


@pytest.mark.parametrize("name", sorted(MATHEMATICS))
def test_math_of_fewer_numbers(name: str) -> None:
    workload, elements = WORKLOADS[name], 4099
    assert load_program(read_source(workload.program)).warnings == []
    kernel = uir.compile(workload.program.read_text().replace(str(ELEMENTS), str(elements)))
    arrays = {name: array[:elements] for name, array in workload.make_arrays().items()}
    ours, theirs = copies(arrays), copies(arrays)
    kernel(*ours.values())
    with_numpy.prepare(workload, theirs, []).call()
    assert disagreement(workload, theirs, ours) is None
