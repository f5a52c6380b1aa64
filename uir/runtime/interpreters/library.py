"""What the functions of the kind library compute, by their names, with numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import TypeAlias

from dialects.prog import (
    BITCAST,
    CAST,
    DOMAINS,
    FMA,
    Dtype,
    Unary,
    accepts1,
    accepts3,
)
from dialects.prog.c_library import function1, function2, function3
from dialects.prog.carriers import Array
from dialects.prog.meaning import apply1, apply2, apply3

Function: TypeAlias = Callable[..., Array]
"""From arrays of elements to an array of elements."""


@cache
def library() -> dict[str, Function]:
    """Every function that a node of a program may be a call of."""
    return dict(_functions())


def _functions() -> Iterator[tuple[str, Function]]:
    for source in Dtype:
        for target in Dtype:
            for kind in (CAST, BITCAST):
                if source is not target and accepts1(kind, source, target):
                    name = function1(kind, source, target)
                    yield name, partial(apply1, kind, source, target)
    for kind, domain in DOMAINS.items():
        for dtype in domain:
            if isinstance(kind, Unary):
                yield function1(kind, dtype, dtype), partial(apply1, kind, dtype, dtype)
            else:
                yield function2(kind, dtype), partial(apply2, kind, dtype)
    for dtype in Dtype:
        if accepts3(FMA, dtype, dtype):
            yield function3(FMA, dtype), partial(apply3, FMA, dtype, dtype)
