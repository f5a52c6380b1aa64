"""The contenders' processes, seen from the tool that tells them what to do."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.build import CommandFailed

TOOLS = Path(__file__).resolve().parents[1]


class ContenderFailed(Exception):
    """A contender that could not do a workload; the message says why."""


def environment(threads: int) -> dict[str, str]:
    """The environment in which every contender has this many threads.

    The allocator keeps freed memory, as otherwise a contender that returns new arrays would have to
    fill their pages in each call.
    """
    libraries = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB", "NUMEXPR")
    eigen = f"--xla_cpu_multi_thread_eigen={'false' if threads == 1 else 'true'}"
    return {
        **os.environ,
        **{f"{library}_NUM_THREADS": str(threads) for library in libraries},
        "XLA_FLAGS": f"{eigen} intra_op_parallelism_threads={threads}",
        "JAX_PLATFORMS": "cpu",
        "DEV": "CPU",
        "NUM_CPU_THREADS": str(threads),
        "MALLOC_MMAP_MAX_": "0",
        "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
        "PYTHONPATH": str(TOOLS),
    }


def pin(threads: int) -> None:
    """Restricts this process, and those it starts, to as many of its processors."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])


class Process:
    """A worker process: one contender in its own interpreter."""

    def __init__(self, name: str, python: str, threads: int) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.worker", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment(threads),
            text=True,
        )

    def ask(self, **request: Any) -> Mapping[str, Any]:
        """The answer to a request. Raises ContenderFailed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise ContenderFailed(f"its process ended\n{self.errors()}")
        answer = json.loads(line)
        if "error" in answer:
            raise ContenderFailed(answer["error"])
        return answer

    def errors(self) -> str:
        """The last lines that the process wrote to stderr."""
        self._errors.seek(0)
        return "".join(self._errors.readlines()[-5:]).rstrip()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()


def installed_versions(python: str, packages: set[str]) -> dict[str, str]:
    """The versions of the packages that an interpreter has. Raises CommandFailed, OSError."""
    code = (
        "import importlib.metadata as m, json, sys\n"
        "found = {}\n"
        "for name in sys.argv[1:]:\n"
        "    try: found[name] = m.version(name)\n"
        "    except m.PackageNotFoundError: pass\n"
        "print(json.dumps(found))"
    )
    command = [python, "-c", code, *sorted(packages)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CommandFailed(f"`{python}` is no Python\n{done.stderr}")
    return json.loads(done.stdout)
