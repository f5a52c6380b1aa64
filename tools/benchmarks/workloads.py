"""The workloads that are measured: for each its program, its inputs and what comes out.

A workload's arrays are in the order of its program's slots: the inputs, then the outputs. The
inputs are generated from a fixed seed, so that they are the same for everyone in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from mnist import data_file

TEST = Path(__file__).resolve().parents[2] / "test"
SEED = 20240229
ELEMENTS = 1 << 24
"""The size of the elementwise workloads, 64 MiB of f32."""

Arrays = dict[str, npt.NDArray[Any]]
Inputs = Callable[[np.random.Generator], Arrays]


@dataclass(frozen=True)
class Workload:
    """A program of `test/bench` (or another file), and what to give it."""

    name: str
    function: str
    """The function of the peers' modules that computes the same."""
    inputs: Inputs
    outputs: dict[str, tuple[int, ...]]
    """The shapes of the arrays that are only written."""
    updated: tuple[str, ...] = ()
    """The inputs that are written too."""
    relative: float = 1e-5
    """A result may differ by this part of the value, as others associate sums differently ..."""
    absolute: float = 0.0
    """... and by this much."""
    file: Path | None = None
    integers: tuple[str, ...] = ()
    """The outputs that are i32, and must be equal."""

    @property
    def program(self) -> Path:
        return self.file or TEST / "bench" / f"{self.name}.uir"

    @property
    def results(self) -> tuple[str, ...]:
        return (*self.updated, *self.outputs)

    def make_arrays(self) -> Arrays:
        """The arrays before a call, in the order of the program's slots; the outputs are zeros."""
        arrays = self.inputs(np.random.default_rng(SEED))
        for name, shape in self.outputs.items():
            arrays[name] = np.zeros(shape, np.int32 if name in self.integers else np.float32)
        return arrays

    def bytes_moved(self, arrays: Arrays) -> int:
        """What must be read and written at least."""
        read = sum(array.nbytes for name, array in arrays.items() if name not in self.outputs)
        return read + sum(arrays[name].nbytes for name in self.results)


def normal(rng: np.random.Generator, *shape: int) -> npt.NDArray[Any]:
    return rng.standard_normal(shape, np.float32)


def normals(**shapes: tuple[int, ...]) -> Inputs:
    """Inputs that are all normally distributed."""
    return lambda rng: {name: normal(rng, *shape) for name, shape in shapes.items()}


def gemm(name: str, m: int, k: int, n: int) -> Workload:
    # An element is a sum of k products of about 1, and as large as the root of k.
    return Workload(
        name, "gemm", normals(a=(m, k), b=(k, n)), {"c": (m, n)}, absolute=1e-5 * k**0.5
    )


def mathematics(function: str, inputs: Inputs) -> Workload:
    return Workload(function, function, inputs, {"y": (ELEMENTS,)}, relative=1e-6, absolute=1e-6)


def fold(function: str, relative: float, absolute: float) -> Workload:
    return Workload(
        function,
        function,
        normals(x=(4096, 4096)),
        {"y": (4096,)},
        relative=relative,
        absolute=absolute,
    )


def mlp_inputs(rng: np.random.Generator) -> Arrays:
    return {
        "x": rng.random((100, 784), np.float32),
        "labels": rng.integers(0, 10, 100, np.int32),
        "w1": normal(rng, 784, 128) * np.float32(0.05),
        "b1": normal(rng, 128) * np.float32(0.05),
        "w2": normal(rng, 128, 10) * np.float32(0.05),
        "b2": normal(rng, 10) * np.float32(0.05),
    }


def attention_inputs(rng: np.random.Generator) -> Arrays:
    return {
        **{name: normal(rng, 512, 64) for name in "qkv"},
        "position": np.arange(512, dtype=np.int32),
    }


def mnist_inputs(rng: np.random.Generator) -> Arrays:
    """The digits that `tools/mnist.py data` writes for the training program."""
    arrays: Arrays = {}
    for part, digits in (("train", 5000), ("test", 1000)):
        images = np.frombuffer(data_file(f"mnist-{part}-images.f32"), np.float32)
        arrays[f"{part}_images"] = images.reshape(digits, 784)
        arrays[f"{part}_labels"] = np.frombuffer(data_file(f"mnist-{part}-labels.i32"), np.int32)
    return {**arrays, "weights": np.zeros((784, 10), np.float32)}


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(
            "mnist",
            "mnist",
            mnist_inputs,
            {"correct": (1,)},
            updated=("weights",),
            relative=1e-3,
            absolute=1e-4,
            file=TEST / "week6" / "render" / "mnist_train.uir",
            integers=("correct",),
        ),
        gemm("gemm_256", 256, 256, 256),
        gemm("gemm_512", 512, 512, 512),
        gemm("gemm_1024", 1024, 1024, 1024),
        gemm("gemm_100x784x10", 100, 784, 10),
        gemm("gemm_784x100x10", 784, 100, 10),
        Workload("softmax", "softmax", normals(x=(4096, 512)), {"y": (4096, 512)}),
        mathematics("exp2", lambda rng: {"x": normal(rng, ELEMENTS) * np.float32(4)}),
        mathematics("log2", lambda rng: {"x": rng.random(ELEMENTS, np.float32) + np.float32(0.01)}),
        mathematics("sqrt", lambda rng: {"x": rng.random(ELEMENTS, np.float32)}),
        mathematics("sin", lambda rng: {"x": normal(rng, ELEMENTS) * np.float32(4)}),
        Workload(
            "relu",
            "relu",
            normals(a=(ELEMENTS,), b=(ELEMENTS,), c=(ELEMENTS,)),
            {"y": (ELEMENTS,)},
            # With a fused multiply-add the product is not rounded.
            absolute=1e-6,
        ),
        fold("sum_leading", 1e-5, 1e-3),
        fold("sum_trailing", 1e-5, 1e-3),
        fold("max_leading", 0.0, 0.0),
        fold("max_trailing", 0.0, 0.0),
        Workload(
            "mlp_step", "mlp_step", mlp_inputs, {}, updated=("w1", "b1", "w2", "b2"), absolute=1e-6
        ),
        Workload(
            "convolution",
            "convolution",
            normals(image=(32, 32, 16), weights=(3, 3, 16, 32)),
            {"out": (32, 32, 32)},
            absolute=3e-5,
        ),
        Workload("attention", "attention", attention_inputs, {"out": (512, 64)}, absolute=1e-5),
        gemm("loops_gemm_256", 256, 256, 256),
        Workload(
            "loops_prefix_sum",
            "prefix_sum",
            normals(x=(1 << 22,)),
            {"y": (1 << 22,)},
            relative=1e-3,
            absolute=0.05,
        ),
    )
}
