"""Measures one workload: all contenders prepare it, then take turns."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.agreement import disagreement
from benchmarks.contender import ONE_THREAD
from benchmarks.probe import Probe
from benchmarks.processes import ContenderFailed, Process
from benchmarks.worker import load_arrays, save_arrays
from benchmarks.workloads import Arrays, Workload

SECONDS_A_TURN = 0.05
EXACT = {"C", ONE_THREAD}
"""The contenders that do our arithmetic in our order, and so must give our bits."""


@dataclass
class Score:
    """What one contender did on one workload."""

    compile_seconds: dict[str, float] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)
    failure: str | None = None
    """Why there is no time, or why it does not count."""

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def minimum(self) -> float:
        return min(self.times)


@dataclass
class Measured:
    """What all contenders did on one workload."""

    operations: int | None
    """As `uir.flops` counts them; None where they cannot be counted."""
    bytes_moved: int
    peak: float
    bandwidth: float
    """What the machine did at most while this was measured: operations and bytes per second."""
    scores: dict[str, Score]


def measure(
    workload: Workload,
    operations: int | None,
    team: Mapping[str, Process],
    probe: Probe,
    build: Sequence[str],
    runs: int,
    folder: Path,
) -> Measured:
    """Scores of the contenders of `team`, which take turns `runs` times. Uses files in `folder`."""
    arrays = workload.make_arrays()
    save_arrays(arrays, folder / "inputs")
    scores = {name: Score() for name in team}
    for name, process in team.items():
        try:
            answer = process.ask(
                prepare=workload.name, folder=str(folder / "inputs"), build=list(build)
            )
            scores[name].compile_seconds = answer["compile"]
            process.ask(save=str(folder / name))
        except ContenderFailed as error:
            scores[name].failure = f"failed: {error}"
    probe.reset()
    for _ in range(runs):
        probe.measure()
        for name, process in team.items():
            if scores[name].failure is None:
                try:
                    scores[name].times += process.ask(run=SECONDS_A_TURN)["times"]
                except ContenderFailed as error:
                    scores[name].failure = f"failed: {error}"
    compare(workload, scores, folder)
    return Measured(operations, workload.bytes_moved(arrays), probe.peak, probe.bandwidth, scores)


def compare(workload: Workload, scores: Mapping[str, Score], folder: Path) -> None:
    """Notes whose results differ: from numpy's, or the first contender's where it has none."""
    results: dict[str, Arrays] = {
        name: load_arrays(folder / name) for name, score in scores.items() if score.failure is None
    }
    for name, arrays in results.items():
        references = [("numpy" if "numpy" in results else next(iter(results)), False)]
        if name in EXACT and "uir" in results:
            references.append(("uir", True))
        for reference, exact in references:
            difference = disagreement(workload, results[reference], arrays, exact=exact)
            if difference:
                scores[name].failure = f"differs from {reference}: {difference}"
