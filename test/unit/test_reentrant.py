"""A kernel keeps nothing between calls: several threads may be in it at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import uir

SIZE = 4096
# The sum needs all of the stage before any of it can be used, so that it lies in scratch memory.
PROGRAM = f"""
%m = buffer {SIZE} dtype=i32 slot=0
%o = buffer {SIZE} dtype=i32 slot=1
%x = load %m
%y = mul %x %x
%t = stage %y
%s = reduce %t op=add pop=1
%e = expand %s shape=[{SIZE}]
%r = add %t %e
store %o %r
"""


def test_threads_do_not_see_each_other() -> None:
    kernel = uir.compile(PROGRAM)

    def call_often(seed: int) -> bool:
        x = np.random.default_rng(seed).integers(0, 100, SIZE, np.int32)
        squares = x * x
        expected = squares + squares.sum(dtype=np.int32)
        found = np.empty_like(x)
        for _ in range(500):
            found.fill(0)
            kernel(x, found)
            if not np.array_equal(found, expected):
                return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(call_often, range(4)))
