"""Who is measured: this compiler, C written by hand, and its peers, which may not be installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.workloads import Arrays


class Prepared(NamedTuple):
    """A workload that is ready to be called, which a contender's module makes of its arrays."""

    call: Callable[[], object]
    """Does the work once, and returns when it is done."""
    results: Callable[[], Arrays]
    """The results of the last call."""
    compile_seconds: dict[str, float] = {}
    """How long each step of compiling took, for a compiler that works before the first call."""


@dataclass(frozen=True)
class Contender:
    """A way to compute the workloads."""

    module: str
    function: str = "prepare"
    """The function of `module` that gives a `Prepared`."""
    package: str | None = None
    """The package that must be installed; none for what is compiled to C here."""


CONTENDERS = {
    "uir": Contender("benchmarks.with_native", "prepare_uir"),
    "C": Contender("benchmarks.with_native", "prepare_hand_written"),
    "numpy": Contender("benchmarks.with_numpy", package="numpy"),
    "jax": Contender("benchmarks.with_jax", package="jax"),
    "torch": Contender("benchmarks.with_torch", package="torch"),
    "torch-compile": Contender("benchmarks.with_torch", "prepare_compiled", package="torch"),
    "tinygrad": Contender("benchmarks.with_tinygrad", package="tinygrad"),
}
ONE_THREAD = "uir-1-thread"
"""With several threads, this compiler's code is also measured with one."""
CONTENDERS[ONE_THREAD] = CONTENDERS["uir"]
