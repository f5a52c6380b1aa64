"""Memory is shared by what is never alive at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from passes.arena import Span, lay_out

SPANS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 8), st.integers(1, 5)), min_size=1, max_size=25
)


@given(SPANS)
def test_nothing_alive_overlaps(entries: list[tuple[int, int, int]]) -> None:
    spans = {k: (first, first + length) for k, (first, length, _) in enumerate(entries)}
    sizes = {k: 64 * size for k, (_, _, size) in enumerate(entries)}
    starts = lay_out(spans, sizes)
    assert starts.keys() == sizes.keys()
    for one in starts:
        for other in range(one):
            together = spans[one][0] <= spans[other][1] and spans[other][0] <= spans[one][1]
            apart = (
                starts[one] + sizes[one] <= starts[other]
                or starts[other] + sizes[other] <= starts[one]
            )
            assert apart or not together


@given(SPANS, st.integers(2, 4))
def test_equal_steps_get_equal_places(entries: list[tuple[int, int, int]], steps: int) -> None:
    """Also beside something that is alive in all of them."""
    length = 1 + max(first + length for first, length, _ in entries)
    spans: dict[object, Span] = {"kept": (0, steps * length)}
    sizes: dict[object, int] = {"kept": 3}
    for step in range(steps):
        for k, (first, lasts, size) in enumerate(entries):
            spans[step, k] = (1 + step * length + first, 1 + step * length + first + lasts)
            sizes[step, k] = size
    starts = lay_out(spans, sizes)
    for step in range(1, steps):
        for k in range(len(entries)):
            assert starts[step, k] == starts[0, k]


def test_a_gap_is_filled_by_what_fits_best() -> None:
    spans = {"a": (0, 5), "b": (1, 9), "c": (2, 5), "d": (3, 9), "e": (6, 9), "f": (7, 9)}
    sizes = {"a": 5, "b": 1, "c": 3, "d": 1, "e": 2, "f": 5}
    assert lay_out(spans, sizes) == {"a": 0, "b": 5, "c": 6, "d": 9, "e": 6, "f": 0}
