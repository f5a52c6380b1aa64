"""Whether two contenders gave the same results."""

from __future__ import annotations

import numpy as np

from benchmarks.workloads import Arrays, Workload


def disagreement(
    workload: Workload, expected: Arrays, found: Arrays, *, exact: bool = False
) -> str | None:
    """How the results differ, by more than the workload allows; None where they agree.

    Integers must be equal, and with `exact` the bits of floats too. All NaNs are the same.
    """
    for name in workload.results:
        left, right = expected[name], found[name]
        if left.shape != right.shape or left.dtype != right.dtype:
            return (
                f"{name} is {right.dtype} {list(right.shape)}, not {left.dtype} {list(left.shape)}"
            )
        if exact or left.dtype.kind != "f":
            bits = f"u{left.dtype.itemsize}"
            same = left.view(bits) == right.view(bits)
        else:
            same = np.isclose(right, left, rtol=workload.relative, atol=workload.absolute)
        if left.dtype.kind == "f":
            same |= np.isnan(left) & np.isnan(right)
        if not same.all():
            place = np.unravel_index(int(np.argmin(same)), same.shape)
            where = f"{name}[{', '.join(map(str, place))}]"
            count = int(np.count_nonzero(~same))
            return f"{where} is {right[place]!s}, not {left[place]!s}, and {count - 1} more"
    return None
