"""The ranges of scalar code hold at every turn of its loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import uir
from dialects.uir.memory import StoreOp
from passes.scalar_ranges import range_of

OPS = ("add", "mul", "max", "div", "mod", "xor")


@st.composite
def offsets(draw: st.DrawFn) -> tuple[str, int]:
    """A program that stores a scalar in each turn of a loop, and the number of turns."""
    turns = draw(st.integers(1, 9))
    lines = [
        f"%m = buffer {turns} dtype=i32 slot=0",
        "%n = buffer 3 dtype=i32 slot=1",
        f"%i = range {turns}",
        "%cell = index %n 1",
        "%x = load %cell",
    ]
    values = ["%i", "%x", "%i"]
    for number in range(draw(st.integers(1, 6))):
        op = draw(st.sampled_from(OPS))
        left = draw(st.sampled_from(values))
        literals = st.integers(-9, 9) | st.integers(-(2**31), 2**31 - 1)
        if op in ("div", "mod"):
            # The others are runtime errors.
            right = str(draw(literals.filter(lambda k: k not in (0, -1))))
        else:
            right = draw(st.sampled_from(values) | literals.map(str))
        lines.append(f"%v{number} = {op} {left} {right}")
        values.append(f"%v{number}")
    lines += ["%o = index %m %i", f"%s = store %o {values[-1]}", "end %s %i"]
    return "\n".join(lines) + "\n", turns


@settings(max_examples=60, deadline=None)
@given(program=offsets(), x=st.integers(-(2**31), 2**31 - 1))
def test_every_value_lies_in_the_range(program: tuple[str, int], x: int) -> None:
    text, turns = program
    (store,) = (op for op in uir.parse(text).walk() if isinstance(op, StoreOp))
    least, greatest = range_of(store.value)
    found = uir.run(text, {1: np.array([0, x, 0], np.int32)}).slots[0]
    assert len(found) == turns
    assert all(least <= value <= greatest for value in found.tolist())
