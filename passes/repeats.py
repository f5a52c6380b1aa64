"""Sequences that repeat, as nested loops.

An item has a kind and numbers. A run of items repeats with period `p` where each item has the kind
of the one `p` places before it, and its numbers have advanced by as much as that one's had:

    f(0) g  f(4) g  f(8) g  h  f(0) g  f(4) g  f(8) g  h  ...

is `k` times `f`, `g` three times, with 0, 4 and 8 for `f`, and `h`. What repeats becomes one item,
whose numbers are those of its first turn, so that it can repeat itself.

Periods are guessed from the distance to the next equal gram, first of one item, then of 2, 4, 8 ...
items, which finds a period once a gram is as long as it. What repeats is folded, and what is left,
which is much shorter, is searched again: n log n steps for n items.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

LEAST_SAVED = 3
"""The number of items that a repeat must save."""


@dataclass(frozen=True)
class Item:
    """One item; `place` is where it stands in the sequence."""

    kind: Hashable
    numbers: tuple[int, ...]
    place: int


@dataclass(frozen=True)
class Repeat:
    """`body`, `turns` times: each turn adds `steps` to the numbers of the turn before."""

    kind: Hashable
    turns: int
    body: tuple[Node, ...]
    numbers: tuple[int, ...]
    """The numbers of all items of the body, in its first turn."""
    steps: tuple[int, ...]


Node: TypeAlias = Item | Repeat


def fold_repeats(items: Sequence[Item]) -> Sequence[Node]:
    """The sequence of `items` with repeats in place of what repeats."""
    nodes: Sequence[Node] = items
    numbers: dict[Hashable, int] = {}
    while len(folded := _fold_once(nodes, numbers)) < len(nodes):
        nodes = folded
    return nodes


def _fold_once(nodes: Sequence[Node], numbers: dict[Hashable, int]) -> Sequence[Node]:
    """`nodes` with repeats of the shortest grams that find any; `numbers` are those of kinds."""
    kinds = _numbered((node.kind for node in nodes), numbers)
    exact = _numbered(zip(kinds, (node.numbers for node in nodes), strict=True), {})
    folder = _Folder(nodes, kinds)
    length = 1
    # Grams of kinds find what advances; grams of kinds and numbers, what is equal in the end.
    grams = [kinds, exact]
    while grams:
        for gram in grams:
            folded = folder.fold(_distances(gram))
            if len(folded) < len(nodes):
                return folded
        longer = [_longer(gram, length) for gram in grams]
        grams = [gram for gram in longer if len(set(gram)) < len(gram)]
        length *= 2
    return nodes


def _numbered(values: Iterable[Hashable], numbers: dict[Hashable, int]) -> list[int]:
    """The number of each value, a new one for a value that is not in `numbers`."""
    return [numbers.setdefault(value, len(numbers)) for value in values]


def _longer(grams: Sequence[int], length: int) -> list[int]:
    """The grams of twice the `length`."""
    return _numbered(zip(grams, grams[length:], strict=False), {})


def _distances(grams: Sequence[int]) -> list[int]:
    """How far the next equal gram is from each, 0 where there is none."""
    distances = [0] * len(grams)
    following: dict[int, int] = {}
    for place in range(len(grams) - 1, -1, -1):
        gram = grams[place]
        distances[place] = following.get(gram, place) - place
        following[gram] = place
    return distances


def _next_shorter(periods: Sequence[int]) -> list[int]:
    """For each place the next one with a shorter period; a period of 0 is none."""
    following = [len(periods)] * len(periods)
    waiting: list[int] = []
    for place, period in enumerate(periods):
        while period and waiting and period < periods[waiting[-1]]:
            following[waiting.pop()] = place
        if period:
            waiting.append(place)
    return following


class _Folder:
    def __init__(self, nodes: Sequence[Node], kinds: Sequence[int]):
        self.nodes = nodes
        self.kinds = kinds
        self.ends: dict[int, int] = {}
        """For each period the first place at which items stop repeating, of those seen."""

    def fold(self, periods: Sequence[int]) -> list[Node]:
        """The nodes, with a repeat at each place whose period holds long enough.

        What has a shorter period in it is left for later, when that is one item.
        """
        self.ends.clear()
        turns = [self.turns(place, period) for place, period in enumerate(periods)]
        shorter = _next_shorter([p if n > 1 else 0 for p, n in zip(periods, turns, strict=True)])
        folded: list[Node] = []
        place = 0
        while place < len(self.nodes):
            if place < len(turns) and turns[place] > 1 and shorter[place] >= place + periods[place]:
                folded.append(self.repeat(place, periods[place], turns[place]))
                place += turns[place] * periods[place]
            else:
                folded.append(self.nodes[place])
                place += 1
        return folded

    def turns(self, place: int, period: int) -> int:
        """How often the `period` items from `place` repeat, 1 where that is not worth a loop."""
        if not period:
            return 1
        end = self.ends.get(period, place)
        if end <= place:
            end = place
            while self.advances(end, period):
                end += 1
            self.ends[period] = end
        turns = (end - place) // period + 2
        return turns if end - place >= period and (turns - 1) * period >= LEAST_SAVED else 1

    def advances(self, place: int, period: int) -> bool:
        """Whether an item and the next two at a distance of `period` are of one progression."""
        last = place + 2 * period
        if last >= len(self.nodes):
            return False
        kinds = self.kinds
        if not kinds[place] == kinds[place + period] == kinds[last]:
            return False
        x, y, z = (self.nodes[k].numbers for k in (place, place + period, last))
        return x == y == z or all(c - b == b - a for a, b, c in zip(x, y, z, strict=True))

    def repeat(self, place: int, period: int, turns: int) -> Repeat:
        body, following = (
            tuple(self.nodes[start : start + period]) for start in (place, place + period)
        )
        numbers, later = (
            tuple(number for node in turn for number in node.numbers) for turn in (body, following)
        )
        steps = tuple(b - a for a, b in zip(numbers, later, strict=True))
        kind = (Repeat, turns, tuple(self.kinds[place : place + period]), steps)
        return Repeat(kind, turns, body, numbers, steps)
