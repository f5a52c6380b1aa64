"""Building C and running its kernel on arrays."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

from dialects.prog.native import CompileError, compile_c
from uir.runtime.native import Kernel, Parameter

SOURCE = """
#include <stdint.h>
void kernel(float *x, int32_t *n, uint8_t *b) {
  for (int k = 0; k < 4; k++) x[k] += 0.5f;
  n[0] = -n[0];
  b[1] = !b[1];
}
"""
SIGNATURE = [Parameter("f32", 4), Parameter("i32", 1), Parameter("i1", 2)]


def arrays() -> list[np.ndarray]:
    return [np.arange(4, dtype=np.float32), np.array([7], np.int32), np.array([True, False])]


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return Kernel.compile(SOURCE, SIGNATURE)


def test_kernel_writes_into_the_arrays(kernel: Kernel) -> None:
    x, n, b = arrays()
    kernel([x, n, b])
    assert x.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert n.tolist() == [-7]
    assert b.tolist() == [True, True]


def test_bools_may_be_bytes(kernel: Kernel) -> None:
    x, n, b = arrays()
    kernel([x, n, b.view(np.uint8)])
    assert b.tolist() == [True, True]


def test_number_of_arrays(kernel: Kernel) -> None:
    with pytest.raises(ValueError, match="expected 3 arrays, got 2"):
        kernel(arrays()[:2])


@pytest.mark.parametrize(
    ("position", "array", "message"),
    [
        (0, np.zeros(4), "array 0: expected dtype float32, got float64"),
        (0, np.zeros(3, np.float32), "array 0: expected 4 elements, got 3"),
        (0, np.zeros(8, np.float32)[::2], "array 0: expected contiguous"),
        (0, np.frombuffer(bytes(16), np.float32), "array 0: expected contiguous.*writeable"),
        (1, np.zeros(1, np.uint32), "array 1: expected dtype int32, got uint32"),
        (2, np.zeros(2, np.int8), "array 2: expected dtype bool, got int8"),
    ],
)
def test_unsuitable_array(kernel: Kernel, position: int, array: np.ndarray, message: str) -> None:
    given = arrays()
    given[position] = array
    with pytest.raises(ValueError, match=message):
        kernel(given)


def test_unaligned_array(kernel: Kernel) -> None:
    given = arrays()
    given[0] = np.zeros(17, np.uint8)[1:].view(np.float32)
    with pytest.raises(ValueError, match="aligned"):
        kernel(given)


def test_overlapping_arrays(kernel: Kernel) -> None:
    given = arrays()
    given[1] = given[0][3:].view(np.int32)
    with pytest.raises(ValueError, match="arrays 0 and 1 overlap"):
        kernel(given)


def test_refused_source() -> None:
    with pytest.raises(CompileError) as caught:
        compile_c("int kernel(void) { return nowhere; }")
    assert "nowhere" in caught.value.stderr
    assert "nowhere" in str(caught.value)


def test_missing_compiler() -> None:
    with pytest.raises(CompileError, match="no C compiler `no-such-cc`"):
        compile_c(SOURCE, compiler="no-such-cc")


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    library = compile_c("int kernel(void) { return 42; }")
    assert library["kernel"]() == 42
    assert list(tmp_path.iterdir()) == []
