"""Training programs whose steps are written out: C, memory and bits of many steps."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from ways_to_run import assert_same_bits, case_of, lowered, run_lowered, run_uir

import uir
from passes.pipelines import LOWER

FEATURES, BATCH = 24, 8


def training(steps: int, batches: int) -> str:
    """Steps of a linear model; step `k` is on batch `k % batches`."""

    def lines() -> Iterator[str]:
        yield f"%data = buffer {batches * BATCH * FEATURES} dtype=f32 slot=0"
        yield f"%labels = buffer {batches * BATCH} dtype=i32 slot=1"
        yield f"%cells = buffer {FEATURES} dtype=f32 slot=2"
        yield f"%rows = reshape %data shape=[{batches * BATCH} {FEATURES}]"
        yield f"%zero = expand 0 shape=[{BATCH}]"
        yield f"%rate = expand 0.01 shape=[{FEATURES}]"
        memory = "%cells"
        for k in range(steps):
            first = k % batches * BATCH
            yield f"%r{k} = shrink %rows {first} 0 shape=[{BATCH} {FEATURES}]"
            yield f"%l{k} = shrink %labels {first} shape=[{BATCH}]"
            yield f"%x{k} = load %r{k}"
            yield f"%y{k} = load %l{k}"
            yield f"%w{k} = load {memory}"
            yield f"%column{k} = reshape %w{k} shape=[{FEATURES} 1]"
            yield f"%s{k} = matmul %x{k} %column{k}"
            yield f"%scores{k} = reshape %s{k} shape=[{BATCH}]"
            yield f"%positive{k} = cmplt %zero %y{k}"
            yield f"%target{k} = cast %positive{k} dtype=f32"
            yield f"%off{k} = sub %scores{k} %target{k}"
            yield f"%square{k} = mul %off{k} %off{k}"
            yield f"%e{k} = exp2 %square{k}"
            yield f"%loss{k} = reduce %e{k} op=add pop=1"
            yield f"%g{k} = gradient %loss{k} %w{k}"
            yield f"%d{k} = mul %g{k} %rate"
            yield f"%n{k} = sub %w{k} %d{k}"
            yield f"%done{k} = store %cells %n{k}"
            yield f"%m{k} = after %cells %done{k}"
            memory = f"%m{k}"

    return "\n".join(lines())


def stack_and_heap(c: str) -> tuple[list[str], list[str]]:
    """The arrays of the function `kernel`, and its allocations."""
    body = c[c.index("\nvoid kernel(") :]
    return re.findall(r"^  \w+ \w+\[\d+\];", body, re.M), re.findall(r"alloc\([^)]*\)", body)


@pytest.mark.parametrize("batches", [3, 10])
def test_four_times_the_steps_take_the_same_memory_and_hardly_more_c(batches: int) -> None:
    few, many = uir.render(training(30, batches)), uir.render(training(120, batches))
    assert len(many) <= 1.1 * len(few)
    assert stack_and_heap(many) == stack_and_heap(few)


def test_rolled_steps_have_the_bits_of_each_step_by_itself() -> None:
    case = case_of(training(40, 3))
    random = np.random.default_rng(1)
    for memory in case.memories:
        memory[:] = random.integers(-9, 9, memory.shape) / (1 if memory.dtype == np.int32 else 8)
    expected = run_uir(case, case.module)
    assert not np.array_equal(expected[2], case.memories[2])
    rolled = lowered(case, LOWER)
    written_out = lowered(case, tuple(name for name in LOWER if name != "roll-calls"))
    assert str(rolled).count("func.call") < 0.5 * str(written_out).count("func.call")
    for module in (rolled, written_out):
        assert_same_bits(expected, run_lowered(case, module))
