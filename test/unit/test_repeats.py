"""Sequences that repeat are folded into loops: laws, and how much work that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from cProfile import Profile
from pstats import Stats

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passes.repeats import Item, Node, Repeat, fold_repeats


def items_of(entries: Sequence[tuple[object, tuple[int, ...]]]) -> list[Item]:
    return [Item(kind, numbers, place) for place, (kind, numbers) in enumerate(entries)]


def expanded(
    items: Sequence[Item], nodes: Sequence[Node], numbers: Sequence[int]
) -> Iterator[tuple[object, tuple[int, ...]]]:
    """What `nodes`, with `numbers` as theirs, mean, turn by turn."""
    for node in nodes:
        own, numbers = numbers[: len(node.numbers)], numbers[len(node.numbers) :]
        if isinstance(node, Item):
            yield items[node.place].kind, tuple(own)
            continue
        for turn in range(node.turns):
            moved = [n + step * turn for n, step in zip(own, node.steps, strict=True)]
            yield from expanded(items, node.body, moved)


def folded(entries: Sequence[tuple[object, tuple[int, ...]]]) -> Sequence[Node]:
    """The folded sequence, once it is clear that it means the same."""
    items = items_of(entries)
    nodes = fold_repeats(items)
    numbers = [number for node in nodes for number in node.numbers]
    assert list(expanded(items, nodes, numbers)) == list(entries)
    return nodes


def count(nodes: Sequence[Node]) -> int:
    """The items that are written down."""
    return sum(count(node.body) if isinstance(node, Repeat) else 1 for node in nodes)


PIECES = st.recursive(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=3),
    lambda inner: st.tuples(inner, st.integers(1, 5), st.integers(0, 2), inner).map(
        lambda t: [(kind, n + k * t[2]) for k in range(t[1]) for kind, n in t[0]] + t[3]
    ),
    max_leaves=6,
)


@given(PIECES)
def test_the_meaning_stays(entries: list[tuple[str, int]]) -> None:
    folded([(kind, (number,)) for kind, number in entries])


STEP = ("scores", "max", "scores", "moved")


def steps(number: int, batches: int) -> list[tuple[object, tuple[int, ...]]]:
    """Training steps on one batch after the other, and from the first again after the last."""
    return [
        (kind, (k % batches * 100, 7) if kind == "scores" else ())
        for k in range(number)
        for kind in STEP
    ]


@pytest.mark.parametrize("batches", [1, 2, 7, 50, 1000])
def test_steps_cost_one_step(batches: int) -> None:
    prologue = [("first", ()), *steps(1, batches), ("constants", ())]
    size = count(folded([*prologue, *steps(700, batches), ("last", ())]))
    # The steps of a last epoch that is not whole are a loop of their own, two batches one of both.
    assert size <= len(prologue) + 1 + 3 * len(STEP)


def test_shuffled_batches_are_a_loop_of_epochs() -> None:
    order = [3, 1, 4, 0, 5, 9, 2, 6, 8, 7]
    entries = [("f", (batch,)) for _ in range(20) for batch in order]
    assert count(folded(entries)) <= len(order)


def test_an_inner_loop_comes_first() -> None:
    epoch: list[tuple[object, tuple[int, ...]]] = [("f", (k,)) for k in range(5)]
    (outer,) = folded([*epoch, ("g", (0,))] * 6)
    assert isinstance(outer, Repeat)
    inner, last = outer.body
    assert (outer.turns, outer.steps) == (6, (0, 0))
    assert isinstance(inner, Repeat)
    assert (inner.turns, inner.steps) == (5, (1,))
    assert isinstance(last, Item)


def test_three_of_one_are_left_alone() -> None:
    assert len(folded([("f", (k,)) for k in range(3)])) == 3
    assert len(folded([("f", (k,)) for k in range(4)])) == 1


def work(entries: Sequence[tuple[object, tuple[int, ...]]]) -> int:
    """The Python calls that folding takes."""
    items = items_of(entries)
    with Profile() as profile:
        fold_repeats(items)
    return Stats(profile).total_calls  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


def irregular(number: int) -> list[tuple[object, tuple[int, ...]]]:
    """Two kinds in the order of the Thue-Morse word, where nothing comes three times in a row."""
    return [("ab"[k.bit_count() % 2], (k * k,)) for k in range(number)]


@pytest.mark.parametrize("make", [lambda n: steps(n // 4, 50), irregular], ids=["steps", "none"])
def test_twice_the_items_are_twice_the_work(make) -> None:  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType]
    few, more = work(make(2000)), work(make(4000))  # pyright: ignore[reportUnknownArgumentType]
    assert more < 2.5 * few
