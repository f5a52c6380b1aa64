"""The workloads in PyTorch, eager or compiled: functions of the inputs that return the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.contender import Prepared
from benchmarks.workloads import Arrays, Workload

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def prepare(workload: Workload, arrays: Arrays, build: Sequence[str]) -> Prepared:
    return prepare_with(workload, arrays, lambda function: function)


def prepare_compiled(workload: Workload, arrays: Arrays, build: Sequence[str]) -> Prepared:
    torch.compiler.reset()
    return prepare_with(workload, arrays, torch.compile)


def prepare_with(workload: Workload, arrays: Arrays, wrap: Wrap) -> Prepared:
    """`wrap` is applied to the functions that can be compiled as a whole."""
    inputs = {
        name: torch.from_numpy(array)
        for name, array in arrays.items()
        if name not in workload.outputs
    }
    trained = TRAINED.get(workload.function)
    if trained is None:
        function = torch.no_grad()(wrap(globals()[workload.function]))
    else:
        for name in workload.updated:
            inputs[name].requires_grad_()
        function = trained(wrap)
    last: list[Sequence[Tensor]] = []

    def call() -> None:
        last[:] = [function(**inputs)]

    def results() -> Arrays:
        return {
            name: result.detach().numpy()
            for name, result in zip(workload.results, last[0], strict=True)
        }

    return Prepared(call, results)


def gemm(a: Tensor, b: Tensor) -> tuple[Tensor]:
    return (a @ b,)


def exp2(x: Tensor) -> tuple[Tensor]:
    return (torch.exp2(x),)


def log2(x: Tensor) -> tuple[Tensor]:
    return (torch.log2(x),)


def sqrt(x: Tensor) -> tuple[Tensor]:
    return (torch.sqrt(x),)


def sin(x: Tensor) -> tuple[Tensor]:
    return (torch.sin(x),)


def relu(a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor]:
    return (torch.relu(torch.addcmul(c, a, b)),)


def sum_leading(x: Tensor) -> tuple[Tensor]:
    return (x.sum(dim=0),)


def sum_trailing(x: Tensor) -> tuple[Tensor]:
    return (x.sum(dim=1),)


def max_leading(x: Tensor) -> tuple[Tensor]:
    return (x.amax(dim=0),)


def max_trailing(x: Tensor) -> tuple[Tensor]:
    return (x.amax(dim=1),)


def prefix_sum(x: Tensor) -> tuple[Tensor]:
    return (torch.cumsum(x, dim=0),)


def softmax(x: Tensor) -> tuple[Tensor]:
    return (torch.softmax(x, dim=1),)


def convolution(image: Tensor, weights: Tensor) -> tuple[Tensor]:
    batch = image[None].permute(0, 3, 1, 2)
    out = functional.conv2d(batch, weights.permute(3, 2, 0, 1), padding=1)
    return (out.permute(0, 2, 3, 1)[0],)


def attention(q: Tensor, k: Tensor, v: Tensor, position: Tensor) -> tuple[Tensor]:
    earlier = position[:, None] >= position
    heads = (operand[None, None] for operand in (q, k, v))
    return (functional.scaled_dot_product_attention(*heads, attn_mask=earlier)[0, 0],)


def mlp_loss(x: Tensor, labels: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> Tensor:
    scores = torch.addmm(b2, torch.relu(torch.addmm(b1, x, w1)), w2)
    return functional.cross_entropy(scores, labels)


def mlp_step(wrap: Wrap) -> Callable[..., Sequence[Tensor]]:
    loss = wrap(mlp_loss)

    def step(x: Tensor, labels: Tensor, **weights: Tensor) -> Sequence[Tensor]:
        tensors = list(weights.values())
        gradients = torch.autograd.grad(loss(x, labels.long(), **weights), tensors)
        with torch.no_grad():
            for weight, gradient in zip(tensors, gradients, strict=True):
                weight.sub_(gradient, alpha=0.1)
        return tensors

    return step


def mnist_loss(x: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    return functional.cross_entropy(x @ weights, labels)


def mnist(wrap: Wrap) -> Callable[..., Sequence[Tensor]]:
    loss = wrap(mnist_loss)

    def train(
        train_images: Tensor,
        train_labels: Tensor,
        test_images: Tensor,
        test_labels: Tensor,
        weights: Tensor,
    ) -> Sequence[Tensor]:
        labels = train_labels.long()
        for first in range(0, 5000, 100):
            batch = slice(first, first + 100)
            (gradient,) = torch.autograd.grad(
                loss(train_images[batch], labels[batch], weights), weights
            )
            with torch.no_grad():
                weights.sub_(gradient)
        with torch.no_grad():
            found = (test_images @ weights).argmax(dim=1)
            return weights, (found == test_labels).sum(dtype=torch.int32)[None]

    return train


TRAINED: dict[str, Callable[[Wrap], Callable[..., Sequence[Tensor]]]] = {
    "mlp_step": mlp_step,
    "mnist": mnist,
}
