"""Long programs: no recursion over their depth, and no work that grows faster than they do."""

from __future__ import annotations

from cProfile import Profile
from pstats import Stats

import numpy as np

import uir


def test_a_gradient_through_a_chain_of_2_000_ops() -> None:
    lines = ["%m = buffer 1 dtype=f32 slot=0 data=[3.0]", "%v = load %m", "%x0 = index %v 0"]
    value, slope = np.float32(3.0), 1.0
    for k in range(1000):
        lines += [f"%y{k} = mul %x{k} -0.75", f"%x{k + 1} = add %x0 %y{k}"]
        value, slope = np.float32(3.0) + value * np.float32(-0.75), 1.0 - 0.75 * slope
    lines += ["%g = gradient %x1000 %x0", "%r = stack %x1000 %g"]
    text = "\n".join(lines)
    interpreted = uir.run(text).result
    assert interpreted is not None
    assert interpreted[0] == value
    assert abs(interpreted[1] - slope) < 1e-6
    kernel = uir.compile(text, flags=["-O0"])
    compiled = kernel(*kernel.new_arrays())
    np.testing.assert_array_equal(compiled, interpreted)


def training_steps(number: int) -> str:
    """Unrolled steps of gradient descent, each on the weights that the one before has stored."""
    lines = ["%w = buffer 64 dtype=f32 slot=0", "%b = buffer 64 dtype=f32 slot=1", "%x = load %b"]
    lines += ["%rate = expand -0.1 shape=[64]"]
    memory = "%w"
    for k in range(number):
        lines += [
            f"%w{k} = load {memory}",
            f"%p{k} = mul %w{k} %x",
            f"%e{k} = exp2 %p{k}",
            f"%l{k} = reduce %e{k} op=add pop=1",
            f"%g{k} = gradient %l{k} %w{k}",
            f"%d{k} = mul %g{k} %rate",
            f"%n{k} = add %w{k} %d{k}",
            f"%s{k} = store %w %n{k}",
            f"%m{k} = after %w %s{k}",
        ]
        memory = f"%m{k}"
    return "\n".join(lines)


def calls_of(steps: int) -> int:
    """The Python calls that rendering takes, whatever else the machine does."""
    text = training_steps(steps)
    with Profile() as profile:
        uir.render(text)
    return Stats(profile).total_calls  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


def test_twice_the_training_steps_are_twice_the_work() -> None:
    calls_of(1)
    few, more, most = calls_of(20), calls_of(40), calls_of(80)
    assert most - more < 2.2 * (more - few)
