"""Builds C files into libraries, and times it."""

from __future__ import annotations

import ctypes
import shlex
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path


class CommandFailed(Exception):
    """A command that ended with another status than 0; the message has what it wrote to stderr."""


def timed(command: Sequence[str]) -> float:
    """Runs a command, and returns the seconds that it took. Raises CommandFailed, OSError."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise CommandFailed(f"`{shlex.join(command)}` failed\n{done.stderr}")
    return seconds


def build_library(source: Path, folder: Path, compiler: Sequence[str]) -> tuple[ctypes.CDLL, float]:
    """The library that `compiler`, with flags, makes of a C file, and the seconds that it took.

    Raises CommandFailed, OSError.
    """
    library = folder / f"{source.stem}.so"
    command = [*compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-lm"]
    seconds = timed(command)
    return ctypes.CDLL(str(library)), seconds


def spell_seconds(seconds: float) -> str:
    """The time with four digits, in s, ms or us."""
    for scale, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3f} {unit}"
    return f"{seconds * 1e6:.3f} us"
