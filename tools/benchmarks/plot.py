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
    """Draw a group of bars for each workload, from 1, on a logarithmic scale."""
    workloads = json.loads(Path(sys.argv[1]).read_text())["workloads"]
    times = {
        workload: {
            name: score["minimum"]
            for name, score in measured["contenders"].items()
            if score["failure"] is None
        }
        for workload, measured in workloads.items()
    }
    times = {name: scores for name, scores in times.items() if len(scores) > 1 and "uir" in scores}
    if not times:
        sys.exit("nothing to compare: `uir` and another contender are needed")
    names = list(dict.fromkeys(name for scores in times.values() for name in scores))
    names.remove("uir")
    figure, axes = pyplot.subplots(figsize=(8, 2 + 0.1 * len(times) * len(names)))
    height = 0.8 / len(names)
    for position, name in enumerate(names):
        rows = [row for row, scores in enumerate(times.values()) if name in scores]
        ratios = [scores[name] / scores["uir"] for scores in times.values() if name in scores]
        places = [row + (position + 0.5) * height - 0.4 for row in rows]
        axes.barh(places, [ratio - 1 for ratio in ratios], height, left=1, label=name)
    axes.set_yticks(range(len(times)), list(times))
    axes.set_ylim(len(times) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("time relative to uir: left of the line faster than uir, right of it slower")
    axes.legend()
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=120)


if __name__ == "__main__":
    main()
