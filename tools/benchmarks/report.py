"""What was measured, as tables for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.build import spell_seconds
from benchmarks.figures import Figure
from benchmarks.measure import Measured, Score

HEADER = ("", "compile", "median", "minimum", "GFLOP/s", "GB/s", "time / ours")


def table(rows: Sequence[Sequence[str]]) -> str:
    """The rows, the first of them a header, with each column as wide as it must be.

    The first column is aligned left, the others right.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for first, *others in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def workload_table(name: str, measured: Measured) -> str:
    """A line for each contender; rates and ratios are of the shortest times."""
    ours = measured.scores.get("uir")
    base = ours.minimum if ours and ours.times else None
    rows: list[Sequence[str]] = [HEADER]
    failures: list[str] = []
    for contender, score in measured.scores.items():
        if score.failure is not None:
            failures.append(f"{contender} {score.failure}")
        if score.times:
            rows.append((contender, *score_cells(score, measured, base)))
    amounts = [f"{measured.bytes_moved / 1e6:.4g} MB"]
    if measured.operations is not None:
        amounts.insert(0, f"{measured.operations / 1e9:.4g} GFLOP")
    machine = (
        f"machine: {measured.peak / 1e9:.3g} GFLOP/s, {measured.bandwidth / 1e9:.3g} GB/s read"
    )
    return "\n".join([f"{name}: {', '.join(amounts)}; {machine}", table(rows), *failures])


def score_cells(score: Score, measured: Measured, base: float | None) -> list[str]:
    fastest = score.minimum
    operations = measured.operations
    return [
        " + ".join(map(spell_seconds, score.compile_seconds.values())),
        spell_seconds(score.median),
        spell_seconds(fastest),
        "" if operations is None else f"{operations / fastest / 1e9:.2f}",
        f"{measured.bytes_moved / fastest / 1e9:.2f}",
        "" if base is None else f"{fastest / base:.3g}",
    ]


def figures_table(figures: Sequence[Figure]) -> str:
    """A line for each figure to reach."""
    rows: list[Sequence[str]] = [("figure: speed relative to", "target", "measured", "reached")]
    for figure in figures:
        goal = figure.goal
        references = " and ".join(goal.references)
        if len(goal.references) > 1:
            references = f"the {'faster' if goal.choose is min else 'slower'} of {references}"
        rows.append(
            (
                f"{goal.workload}: {references}",
                f"{goal.at_least:.2f}",
                f"{figure.speed:.2f}",
                "yes" if figure.reached else "no",
            )
        )
    return table(rows)


def to_json(
    options: Mapping[str, Any], results: Mapping[str, Measured], figures: Sequence[Figure]
) -> dict[str, Any]:
    """Everything, times in seconds."""
    return {
        "options": dict(options),
        "workloads": {
            name: {
                "operations": measured.operations,
                "bytes": measured.bytes_moved,
                "peak": measured.peak,
                "bandwidth": measured.bandwidth,
                "contenders": {
                    contender: {
                        "compile": score.compile_seconds,
                        "calls": len(score.times),
                        "median": score.median if score.times else None,
                        "minimum": score.minimum if score.times else None,
                        "failure": score.failure,
                    }
                    for contender, score in measured.scores.items()
                },
            }
            for name, measured in results.items()
        },
        "figures": [
            {
                "workload": figure.goal.workload,
                "references": figure.goal.references,
                "target": figure.goal.at_least,
                "measured": figure.speed,
                "reached": figure.reached,
            }
            for figure in figures
        ],
    }
