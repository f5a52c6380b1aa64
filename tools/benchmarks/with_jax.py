"""The workloads in JAX: functions of the inputs, which return the results, under `jit`."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from benchmarks.contender import Prepared
from benchmarks.workloads import Arrays, Workload


def prepare(workload: Workload, arrays: Arrays, build: Sequence[str]) -> Prepared:
    function = jax.jit(globals()[workload.function])
    inputs = {
        name: jax.block_until_ready(jnp.array(array))
        for name, array in arrays.items()
        if name not in workload.outputs
    }
    last: list[tuple[Array, ...]] = []

    def call() -> None:
        last[:] = [jax.block_until_ready(function(**inputs))]

    def results() -> Arrays:
        return {
            name: np.asarray(result) for name, result in zip(workload.results, last[0], strict=True)
        }

    return Prepared(call, results)


def gemm(a: Array, b: Array) -> tuple[Array]:
    return (a @ b,)


def exp2(x: Array) -> tuple[Array]:
    return (jnp.exp2(x),)


def log2(x: Array) -> tuple[Array]:
    return (jnp.log2(x),)


def sqrt(x: Array) -> tuple[Array]:
    return (jnp.sqrt(x),)


def sin(x: Array) -> tuple[Array]:
    return (jnp.sin(x),)


def relu(a: Array, b: Array, c: Array) -> tuple[Array]:
    return (jax.nn.relu(a * b + c),)


def sum_leading(x: Array) -> tuple[Array]:
    return (x.sum(axis=0),)


def sum_trailing(x: Array) -> tuple[Array]:
    return (x.sum(axis=1),)


def max_leading(x: Array) -> tuple[Array]:
    return (x.max(axis=0),)


def max_trailing(x: Array) -> tuple[Array]:
    return (x.max(axis=1),)


def prefix_sum(x: Array) -> tuple[Array]:
    return (jnp.cumsum(x),)


def softmax(x: Array) -> tuple[Array]:
    return (jax.nn.softmax(x, axis=1),)


def convolution(image: Array, weights: Array) -> tuple[Array]:
    layout = ("NHWC", "HWIO", "NHWC")
    return (
        lax.conv_general_dilated(image[None], weights, (1, 1), "SAME", dimension_numbers=layout)[0],
    )


def attention(q: Array, k: Array, v: Array, position: Array) -> tuple[Array]:
    scores = jnp.where(position[:, None] < position, -jnp.inf, (q @ k.T) * 0.125)
    return (jax.nn.softmax(scores, axis=1) @ v,)


def cross_entropy(scores: Array, labels: Array) -> Array:
    of_label = jnp.take_along_axis(jax.nn.log_softmax(scores, axis=1), labels[:, None], axis=1)
    return -of_label.mean()


def mlp_step(
    x: Array, labels: Array, w1: Array, b1: Array, w2: Array, b2: Array
) -> tuple[Array, ...]:
    def loss(weights: tuple[Array, ...]) -> Array:
        w1, b1, w2, b2 = weights
        return cross_entropy(jax.nn.relu(x @ w1 + b1) @ w2 + b2, labels)

    weights = (w1, b1, w2, b2)
    return tuple(w - 0.1 * g for w, g in zip(weights, jax.grad(loss)(weights), strict=True))


def mnist(
    train_images: Array,
    train_labels: Array,
    test_images: Array,
    test_labels: Array,
    weights: Array,
) -> tuple[Array, Array]:
    def loss(weights: Array, x: Array, labels: Array) -> Array:
        return cross_entropy(x @ weights, labels)

    def step(weights: Array, batch: tuple[Array, Array]) -> tuple[Array, None]:
        return weights - jax.grad(loss)(weights, *batch), None

    batches = train_images.reshape(50, 100, 784), train_labels.reshape(50, 100)
    weights, _ = lax.scan(step, weights, batches)
    found = (test_images @ weights).argmax(axis=1)
    return weights, (found == test_labels).sum(dtype=jnp.int32)[None]
