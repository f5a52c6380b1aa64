"""The workloads in tinygrad: functions of the inputs, which return the results, under `TinyJit`.

The jit computes on the first call, records the second and replays from the third on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tinygrad import Device, Tensor, TinyJit, dtypes

from benchmarks.contender import Prepared
from benchmarks.workloads import Arrays, Workload


def prepare(workload: Workload, arrays: Arrays, build: Sequence[str]) -> Prepared:
    function = TinyJit(realized(globals()[workload.function]))
    inputs = {
        name: Tensor(array).realize()
        for name, array in arrays.items()
        if name not in workload.outputs
    }
    last: list[Sequence[Tensor]] = []

    def call() -> None:
        last[:] = [function(**inputs)]
        Device[Device.DEFAULT].synchronize()

    def results() -> Arrays:
        return {
            name: result.numpy() for name, result in zip(workload.results, last[0], strict=True)
        }

    return Prepared(call, results)


def realized(function: Callable[..., Sequence[Tensor]]) -> Callable[..., Sequence[Tensor]]:
    """`function`, with its results computed."""

    def compute(**inputs: Tensor) -> Sequence[Tensor]:
        results = function(**inputs)
        Tensor.realize(*results)
        return results

    return compute


def gemm(a: Tensor, b: Tensor) -> tuple[Tensor]:
    return (a @ b,)


def exp2(x: Tensor) -> tuple[Tensor]:
    return (x.exp2(),)


def log2(x: Tensor) -> tuple[Tensor]:
    return (x.log2(),)


def sqrt(x: Tensor) -> tuple[Tensor]:
    return (x.sqrt(),)


def sin(x: Tensor) -> tuple[Tensor]:
    return (x.sin(),)


def relu(a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor]:
    return ((a * b + c).relu(),)


def sum_leading(x: Tensor) -> tuple[Tensor]:
    return (x.sum(axis=0),)


def sum_trailing(x: Tensor) -> tuple[Tensor]:
    return (x.sum(axis=1),)


def max_leading(x: Tensor) -> tuple[Tensor]:
    return (x.max(axis=0),)


def max_trailing(x: Tensor) -> tuple[Tensor]:
    return (x.max(axis=1),)


def prefix_sum(x: Tensor) -> tuple[Tensor]:
    return (x.cumsum(),)


def softmax(x: Tensor) -> tuple[Tensor]:
    return (x.softmax(axis=1),)


def convolution(image: Tensor, weights: Tensor) -> tuple[Tensor]:
    batch = image.permute(2, 0, 1).unsqueeze(0)
    return (batch.conv2d(weights.permute(3, 2, 0, 1), padding=1)[0].permute(1, 2, 0).contiguous(),)


def attention(q: Tensor, k: Tensor, v: Tensor, position: Tensor) -> tuple[Tensor]:
    later = position.unsqueeze(1) < position
    scores = later.where(float("-inf"), (q @ k.T) * 0.125)
    return (scores.softmax(axis=1) @ v,)


def mlp_step(x: Tensor, labels: Tensor, **weights: Tensor) -> Sequence[Tensor]:
    w1, b1, w2, b2 = tensors = list(weights.values())
    scores = (x @ w1 + b1).relu() @ w2 + b2
    gradients = scores.sparse_categorical_crossentropy(labels).gradient(*tensors)
    return [w - 0.1 * g for w, g in zip(tensors, gradients, strict=True)]


def mnist(
    train_images: Tensor,
    train_labels: Tensor,
    test_images: Tensor,
    test_labels: Tensor,
    weights: Tensor,
) -> Sequence[Tensor]:
    """All steps are recorded as one: replaying each by itself takes several times as long."""
    for first in range(0, 5000, 100):
        batch = slice(first, first + 100)
        loss = (train_images[batch] @ weights).sparse_categorical_crossentropy(train_labels[batch])
        (gradient,) = loss.gradient(weights)
        weights = (weights - gradient).realize()
    found = (test_images @ weights).argmax(axis=1)
    return weights, (found == test_labels).sum(dtype=dtypes.int32).reshape(1)
