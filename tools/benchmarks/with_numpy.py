"""The workloads in numpy, as one writes them for speed: whole arrays, results in place.

A function for each workload takes its inputs and outputs by name, and fills the outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.contender import Prepared
from benchmarks.workloads import Arrays, Workload

Array = npt.NDArray[Any]


def prepare(workload: Workload, arrays: Arrays, build: Sequence[str]) -> Prepared:
    function = globals()[workload.function]
    return Prepared(
        lambda: function(**arrays), lambda: {name: arrays[name] for name in workload.results}
    )


def gemm(a: Array, b: Array, c: Array) -> None:
    np.matmul(a, b, out=c)


def exp2(x: Array, y: Array) -> None:
    np.exp2(x, out=y)


def log2(x: Array, y: Array) -> None:
    np.log2(x, out=y)


def sqrt(x: Array, y: Array) -> None:
    np.sqrt(x, out=y)


def sin(x: Array, y: Array) -> None:
    np.sin(x, out=y)


def relu(a: Array, b: Array, c: Array, y: Array) -> None:
    np.multiply(a, b, out=y)
    np.add(y, c, out=y)
    np.maximum(y, 0, out=y)


def sum_leading(x: Array, y: Array) -> None:
    np.sum(x, axis=0, out=y)


def sum_trailing(x: Array, y: Array) -> None:
    np.sum(x, axis=1, out=y)


def max_leading(x: Array, y: Array) -> None:
    np.max(x, axis=0, out=y)


def max_trailing(x: Array, y: Array) -> None:
    np.max(x, axis=1, out=y)


def prefix_sum(x: Array, y: Array) -> None:
    np.cumsum(x, out=y)


def softmax(x: Array, y: Array) -> None:
    np.subtract(x, x.max(axis=1, keepdims=True), out=y)
    np.exp(y, out=y)
    np.divide(y, y.sum(axis=1, keepdims=True), out=y)


def convolution(image: Array, weights: Array, out: Array) -> None:
    """A row of the table holds the 3x3x16 numbers around a pixel."""
    bordered = np.zeros((34, 34, 16), np.float32)
    bordered[1:-1, 1:-1] = image
    table = np.empty((32, 32, 3, 3, 16), np.float32)
    for dy in range(3):
        for dx in range(3):
            table[:, :, dy, dx] = bordered[dy : dy + 32, dx : dx + 32]
    np.matmul(table.reshape(1024, 144), weights.reshape(144, 32), out=out.reshape(1024, 32))


def attention(q: Array, k: Array, v: Array, position: Array, out: Array) -> None:
    scores = q @ k.T
    scores *= np.float32(0.125)
    scores = np.where(position[:, None] < position, np.float32(-np.inf), scores)
    softmax(scores, scores)
    np.matmul(scores, v, out=out)


def scores_gradient(scores: Array, labels: Array) -> Array:
    """The gradient of the mean cross-entropy, (softmax - one hot label) / batch; in place."""
    rows = len(scores)
    softmax(scores, scores)
    scores[np.arange(rows), labels] -= 1
    scores *= np.float32(1 / rows)
    return scores


def mlp_step(x: Array, labels: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> None:
    hidden = x @ w1
    hidden += b1
    np.maximum(hidden, 0, out=hidden)
    scores = hidden @ w2
    scores += b2
    flow = scores_gradient(scores, labels)
    back = flow @ w2.T
    back *= hidden > 0
    rate = np.float32(0.1)
    w2 -= rate * (hidden.T @ flow)
    b2 -= rate * flow.sum(axis=0)
    w1 -= rate * (x.T @ back)
    b1 -= rate * back.sum(axis=0)


def mnist(
    train_images: Array,
    train_labels: Array,
    test_images: Array,
    test_labels: Array,
    weights: Array,
    correct: Array,
) -> None:
    for first in range(0, 5000, 100):
        x = train_images[first : first + 100]
        weights -= x.T @ scores_gradient(x @ weights, train_labels[first : first + 100])
    correct[0] = np.count_nonzero((test_images @ weights).argmax(axis=1) == test_labels)
