"""Nests that run one after the other, part by part.

A part of one nest is followed by the same part of the next, while a cache holds what the first one
wrote. That is the same as nest after nest if no part touches what another part writes: an element
belongs to the part with which its address moves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue

from passes.index import Index, Symbol

from .nest import Nest
from .threads import Threaded, in_parts, threaded


class _Span(NamedTuple):
    """The addresses of a part: `step` more than those of the part before, and, in the first one,
    from `least` to `greatest`."""

    step: int
    least: int
    greatest: int


class _Access(NamedTuple):
    """What a nest touches of a memory; no span is known where the parts don't move it alone."""

    nest: int
    is_write: bool
    span: _Span | None


def fused(nests: Sequence[Nest]) -> tuple[Threaded, ...] | None:
    """`nests` in parts that can run one after the other, as many of each; None if there are no such
    parts, or if no nest touches what another one writes."""
    shared = [one for one in map(threaded, nests) if one is not None]
    for count in sorted({one.parts for one in shared}):
        parts = [one for nest in nests if (one := in_parts(nest, count)) is not None]
        if len(parts) == len(nests) and _is_local(parts):
            return tuple(parts)
    return None


def _is_local(parts: Sequence[Threaded]) -> bool:
    """Whether nests touch what others write, and only in the same part."""
    memories: dict[SSAValue, list[_Access]] = defaultdict(list)
    for number, one in enumerate(parts):
        part = one.part
        for view in (*part.reads, *part.epilogue_reads):
            memories[view.memory].append(_Access(number, False, _span(part, view.index)))
        for view in part.writes:
            memories[view.memory].append(_Access(number, True, _span(part, view.index)))
    common = [accesses for accesses in memories.values() if _is_common(accesses)]
    return bool(common) and all(map(_moves_with_the_part, common))


def _is_common(accesses: Sequence[_Access]) -> bool:
    """Whether one nest writes what another one reads or writes."""
    return len({one.nest for one in accesses}) > 1 and any(one.is_write for one in accesses)


def _moves_with_the_part(accesses: Sequence[_Access]) -> bool:
    """Whether the addresses of a part lie within one step, which is that of all."""
    spans = [one.span for one in accesses if one.span is not None]
    if len(spans) < len(accesses):
        return False
    step = spans[0].step
    width = max(span.greatest for span in spans) - min(span.least for span in spans)
    return all(span.step == step for span in spans) and width < step


def _span(part: Nest, index: Index) -> _Span | None:
    """The span of `index`, whose only symbol may be that of the part."""
    number, step = len(part.symbols), 0
    rest = Index((), index.constant)
    for atom, coefficient in index.terms:
        if isinstance(atom, Symbol) and atom.number == number:
            step = coefficient
        else:
            rest = rest + Index(((atom, coefficient),))
    if any(rest.symbols()):
        return None
    least, greatest = rest.bounds
    return _Span(step, least, greatest)
