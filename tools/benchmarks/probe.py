"""Measures what one thread of the machine can do at most: arithmetic, and reading memory."""

from __future__ import annotations

import ctypes
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.build import build_library

SOURCE = Path(__file__).with_name("probe.c")
MEMORY_BYTES = 1 << 28
"""What is read: more than the caches of most machines hold."""


class Probe:
    """The best figures since `reset`, which each call of `measure` may improve."""

    def __init__(self, compiler: str) -> None:
        """Raises CommandFailed, OSError."""
        with tempfile.TemporaryDirectory(prefix="uir-bench-") as folder:
            library, _ = build_library(SOURCE, Path(folder), [compiler, "-O2"])
        self._peak, self._read = library["peak"], library["read_memory"]
        self._peak.argtypes = [ctypes.c_void_p, ctypes.c_float, ctypes.c_float, ctypes.c_void_p]
        self._peak.restype = ctypes.c_int64
        self._read.argtypes = [ctypes.c_void_p, ctypes.c_int64]
        self._read.restype = ctypes.c_uint64
        self._memory = np.ones(MEMORY_BYTES // 8, np.uint64)
        # a m + c tends to 2, from anywhere: no number becomes subnormal, infinite or NaN.
        self._starts = np.arange(12, dtype=np.float32)
        self._out = np.zeros(1, np.float32)
        self.reset()

    def reset(self) -> None:
        self.peak = 0.0
        """Operations per second: multiplications and additions that are not fused."""
        self.bandwidth = 0.0
        """Bytes read per second."""

    def measure(self) -> None:
        start = time.perf_counter()
        operations = self._peak(self._starts.ctypes.data, 0.5, 1.0, self._out.ctypes.data)
        self.peak = max(self.peak, operations / (time.perf_counter() - start))
        start = time.perf_counter()
        self._read(self._memory.ctypes.data, self._memory.size)
        self.bandwidth = max(self.bandwidth, MEMORY_BYTES / (time.perf_counter() - start))
