"""Loops written out, as an independent account of what they mean."""

from __future__ import annotations

from collections.abc import Sequence


def unrolled(text: str) -> str:
    """A program of `random_programs` with each turn of its loops written out.

    What is computed between a `range` and its `end` but not in the loop is pure, or a load that
    each turn does alike, so that repeating it changes nothing.
    """
    lines = _unroll([line.split(" ") for line in text.splitlines()], {}, [0])
    return "".join(f"{' '.join(words)}\n" for words in lines)


def _unroll(lines: Sequence[list[str]], names: dict[str, str], turns: list[int]) -> list[list[str]]:
    """`lines` with `names` replaced; new names get a suffix from the counter in `turns`."""
    result: list[list[str]] = []
    suffix = f"_{turns[0]}"
    position = 0
    while position < len(lines):
        name, _, op, *words = lines[position]
        words = [names.get(word, word) for word in words]
        position += 1
        if op == "range":
            last = next(k for k, line in enumerate(lines) if line[2] == "end" and line[-1] == name)
            body, end = lines[position:last], lines[last]
            inner = names
            for turn in range(int(words[0])):
                turns[0] += 1
                inner = {**names, name: str(turn)}
                result += _unroll(body, inner, turns)
            effects = [inner[word] for word in end[3:-1] if inner.get(word)]
            names[end[0]] = f"{end[0]}{suffix}" if effects else ""
            if effects:
                result.append([names[end[0]], "=", "group", *effects])
            position = last + 1
            continue
        words = [word for word in words if word]
        if op == "group" and not words:
            names[name] = ""
        elif op == "after" and len(words) == 1:
            names[name] = words[0]
        else:
            names[name] = f"{name}{suffix}"
            result.append([names[name], "=", op, *words])
    return result
