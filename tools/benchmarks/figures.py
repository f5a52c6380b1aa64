"""The speeds to reach, and whether they are.

All are ratios of times: that of a reference to that of this compiler's kernel. A reference is a
contender, or what the machine or another of our kernels takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from benchmarks.contender import ONE_THREAD
from benchmarks.measure import Measured

PEAK, MEMORY = "no-FMA peak", "memory"
OUR_EXP2 = "our exp2"
MEMORY_SHARE = "15 ms at 23 GB/s"
LARGE = [
    "gemm_512",
    "gemm_1024",
    "softmax",
    "exp2",
    "log2",
    "sqrt",
    "sin",
    "relu",
    "sum_leading",
    "sum_trailing",
    "max_leading",
    "max_trailing",
]


@dataclass(frozen=True)
class Goal:
    """That `workload` runs at `at_least` times the speed of the references."""

    workload: str
    references: tuple[str, ...]
    at_least: float
    choose: Callable[[Iterable[float]], float] = min
    """Which of the references' times counts: `min` for the fastest, `max` for the slowest."""


def goals() -> Iterator[Goal]:
    """All goals, for one thread and for several."""
    yield Goal("gemm_256", (PEAK,), 0.85)
    yield Goal("gemm_512", (PEAK,), 0.85)
    yield Goal("gemm_1024", (PEAK,), 0.75)
    yield Goal("gemm_100x784x10", ("numpy",), 0.7)
    yield Goal("gemm_784x100x10", ("numpy",), 0.7)
    yield Goal("mnist", ("numpy",), 1 / 1.3)
    yield Goal("mnist", ("jax",), 1)
    yield Goal("mnist", ("tinygrad",), 15)
    for workload in ("relu", "sum_trailing"):
        yield Goal(workload, ("C", MEMORY), 0.9, max)
        yield Goal(workload, ("numpy",), 1)
    yield Goal("sum_leading", ("numpy",), 0.85)
    yield Goal("max_leading", ("numpy",), 0.65)
    yield Goal("max_trailing", ("numpy",), 0.65)
    yield Goal("exp2", (MEMORY_SHARE,), 1)
    yield Goal("log2", (OUR_EXP2,), 1 / 1.6)
    yield Goal("sin", (OUR_EXP2,), 1 / 1.6)
    yield Goal("sqrt", (OUR_EXP2,), 1 / 2.8)
    for workload in ("exp2", "log2", "sin", "sqrt"):
        yield Goal(workload, ("tinygrad",), 1)
    yield Goal("exp2", ("jax",), 1)
    yield Goal("sin", ("jax",), 1)
    yield Goal("softmax", ("numpy",), 1)
    yield Goal("softmax", ("torch",), 1 / 3.3)
    yield Goal("mlp_step", ("numpy", "jax"), 1 / 1.35)
    yield Goal("convolution", ("numpy", "jax"), 1 / 1.3)
    yield Goal("attention", ("numpy",), 1)
    yield Goal("attention", ("jax",), 1 / 2)
    yield Goal("loops_gemm_256", ("C",), 1 / 1.1)
    yield Goal("loops_prefix_sum", ("C",), 1 / 1.1)
    for workload in LARGE:
        yield Goal(workload, (ONE_THREAD,), 1.8)


@dataclass(frozen=True)
class Figure:
    """A goal, and the speed that was measured."""

    goal: Goal
    speed: float

    @property
    def reached(self) -> bool:
        return self.speed >= self.goal.at_least


def find_figures(results: Mapping[str, Measured]) -> list[Figure]:
    """The figures of those goals whose workload and references were measured.

    Where this compiler was measured with one thread and with several, that is the only goal.
    """
    figures: list[Figure] = []
    for goal in goals():
        times = [reference_time(name, goal.workload, results) for name in goal.references]
        ours = time_of("uir", goal.workload, results)
        several = goal.workload in results and ONE_THREAD in results[goal.workload].scores
        if ours is None or None in times or several != (goal.references == (ONE_THREAD,)):
            continue
        speed = goal.choose(time for time in times if time is not None) / ours
        figures.append(Figure(goal, speed))
    return figures


def reference_time(reference: str, workload: str, results: Mapping[str, Measured]) -> float | None:
    """The seconds that the reference takes for a workload; None if that was not measured."""
    if reference == OUR_EXP2:
        return time_of("uir", "exp2", results)
    measured = results.get(workload)
    if measured is None:
        return None
    if reference == PEAK:
        return measured.operations and measured.operations / measured.peak
    if reference == MEMORY:
        return measured.bytes_moved / measured.bandwidth
    if reference == MEMORY_SHARE:
        return 0.015 * 23e9 / measured.bandwidth
    return time_of(reference, workload, results)


def time_of(contender: str, workload: str, results: Mapping[str, Measured]) -> float | None:
    """The shortest time of a contender that did the workload right."""
    measured = results.get(workload)
    score = measured and measured.scores.get(contender)
    return None if not score or score.failure is not None else score.minimum
