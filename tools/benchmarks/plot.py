"""Draws the JSON of a run as a PNG: the time of each contender relative to ours.

python -m benchmarks.plot RUN.json PLOT.png
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")

from matplotlib import pyplot


def main() -> None:
    """Draw a group of bars for each workload, on a logarithmic scale."""
    workloads = json.loads(Path(sys.argv[1]).read_text())["workloads"]
    times = {
        workload: {
            name: score["minimum"]
            for name, score in measured["contenders"].items()
            if score["failure"] is None
        }
        for workload, measured in workloads.items()
    }
    times = {workload: scores for workload, scores in times.items() if "uir" in scores}
    names = list(dict.fromkeys(name for scores in times.values() for name in scores))
    figure, axes = pyplot.subplots(figsize=(10, 2 + 0.16 * len(times) * len(names)))
    height = 0.8 / len(names) if names else 0.8
    for position, name in enumerate(names):
        rows = [row for row, scores in enumerate(times.values()) if name in scores]
        ratios = [scores[name] / scores["uir"] for scores in times.values() if name in scores]
        axes.barh([row + position * height for row in rows], ratios, height, label=name)
    axes.set_yticks([row + 0.4 - height / 2 for row in range(len(times))], list(times))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("time relative to uir (right of the line: slower)")
    axes.legend()
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=120)


if __name__ == "__main__":
    main()
