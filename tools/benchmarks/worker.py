"""A process that calls one contender's workloads, each time when it is told to.

    python -m benchmarks.worker NAME

A line on stdin is a request, a JSON object; the answer is a line on stdout:

    {"prepare": WORKLOAD, "folder": F, "build": B}   loads the inputs from F, and calls the workload
                                                     once: {"compile": {STEP: SECONDS, ...}}
    {"save": F}                                      writes the results of the first call to F: {}
    {"run": SECONDS}                                 calls it for so long: {"times": [...]}

or `{"error": TEXT}`. B is a list, the C compiler and its flags, for the contenders that need them.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contender import CONTENDERS, Prepared
from benchmarks.workloads import WORKLOADS, Arrays


def load_arrays(folder: Path) -> Arrays:
    """The workload's arrays, which this process may write to."""
    names = json.loads((folder / "names.json").read_text())
    return {name: np.load(folder / f"{name}.npy") for name in names}


def save_arrays(arrays: Arrays, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "names.json").write_text(json.dumps(list(arrays)))


class Worker:
    """Answers the requests for one contender."""

    def __init__(self, name: str) -> None:
        contender = CONTENDERS[name]
        self._prepare = getattr(importlib.import_module(contender.module), contender.function)
        self._prepared: Prepared | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if "prepare" in request:
            return self.prepare(request["prepare"], Path(request["folder"]), request["build"])
        assert self._prepared is not None
        if "save" in request:
            save_arrays(self._prepared.results(), Path(request["save"]))
            return {}
        return {"times": call_for(self._prepared, request["run"])}

    def prepare(self, name: str, folder: Path, build: list[str]) -> dict[str, Any]:
        self._prepared = None
        gc.collect()
        self._prepared = self._prepare(WORKLOADS[name], load_arrays(folder), build)
        start = time.perf_counter()
        self._prepared.call()
        first = time.perf_counter() - start
        return {"compile": self._prepared.compile_seconds or {"first call": first}}


def call_for(prepared: Prepared, seconds: float) -> list[float]:
    """The seconds that each of some calls took, after one that warms up."""
    prepared.call()
    times: list[float] = []
    while not times or sum(times) < seconds:
        start = time.perf_counter()
        prepared.call()
        times.append(time.perf_counter() - start)
    return times


def main() -> None:
    """Answer requests until there are none."""
    # What libraries print goes to stderr.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker(sys.argv[1])
    for line in sys.stdin:
        try:
            answer = worker.answer(json.loads(line))
        except Exception as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
