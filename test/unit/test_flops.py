"""The counts of `uir.flops`, against counts by hand."""

from __future__ import annotations

import pytest

from passes.pipelines import RUN, apply_passes
from uir.flops import UnknownTurns, count_flops
from uir.text.parser import parse_text


def flops(text: str) -> int:
    module = parse_text(text)
    apply_passes(RUN, module)
    return count_flops(module)


LOAD = "%m = buffer 12 dtype=f32 slot=0\n%x = load %m\n"


@pytest.mark.parametrize(
    ("statements", "count"),
    [
        ("%y = add %x %x", 12),
        ("%y = exp2 %x", 12),
        ("%y = cast %x dtype=i32", 12),
        ("%y = bitcast %x dtype=i32", 12),
        ("%c = cmplt %x %x\n%y = where %c %x %x", 24),
        ("%y = sub %x %x", 24),
        ("%y = exp %x", 24),
        ("%y = stage %x\n%z = detach %y", 0),
        ("%p = pad %x pads=[2 2]\n%y = recip %p", 16),
        ("%y = reduce %x op=max pop=1", 11),
        ("%v = reshape %x shape=[3 4]\n%y = reduce %v op=add pop=1", 8),
        ("%v = reshape %x shape=[3 4]\n%y = reduce %v op=mul pop=2", 11),
    ],
)
def test_one_statement(statements: str, count: int) -> None:
    assert flops(LOAD + statements) == count


def test_matmul() -> None:
    """`M x K` by `K x N`: MNK products and MN(K - 1) sums."""
    m, k, n = 5, 7, 3
    text = (
        f"%a = buffer {m * k} dtype=f32 slot=0\n%av = reshape %a shape=[{m} {k}]\n"
        f"%b = buffer {k * n} dtype=f32 slot=1\n%bv = reshape %b shape=[{k} {n}]\n"
        "%x = load %av\n%y = load %bv\n%z = matmul %x %y"
    )
    assert flops(text) == 2 * m * n * k - m * n


def test_equal_statements_count_once() -> None:
    assert flops(LOAD + "%a = mul %x %x\n%b = mul %x %x\n%y = add %a %b") == 24


def test_dead_statements_do_not_count() -> None:
    assert flops(LOAD + "%a = exp2 %x\n%y = mul %x %x") == 12


def test_gradient() -> None:
    """Of `sum(x * x)`: only the two shares `1 * x` are live, and their sum."""
    text = LOAD + "%s = mul %x %x\n%l = reduce %s op=add pop=1\n%g = gradient %l %x"
    assert flops(text) == 12 + 12


def test_calls_count_their_body_each() -> None:
    """The body has two ops on a scalar; the second function calls it twice and adds."""
    text = (
        "%p = param 0 dtype=f32\n%s = mul %p %p\n%r = add %s %p\n"
        "%c = call %r %p\n%d = call %r %c\n%q = add %c %d\n"
        "%y = call %q 2.0\n%z = call %q %y"
    )
    assert flops(text) == 2 * (2 + 2 + 1)


def test_deep_calls_take_no_time() -> None:
    lines = ["%p = param 0 dtype=f32", "%f0 = add %p %p"]
    for depth in range(60):
        lines += [f"%c{depth} = call %f{depth} %p"]
        lines += [f"%f{depth + 1} = call %f{depth} %c{depth}"]
    lines.append("%y = call %f60 1.0")
    assert flops("\n".join(lines)) == 2**60


def test_loops_count_their_turns() -> None:
    text = (
        "%m = buffer 12 dtype=f32 slot=0\n"
        "%i = range 3\n%j = range 5\n"
        "%x = load %m\n%y = add %x %x\n%s = store %m %y\n%e = end %s %j\nend %e %i"
    )
    assert flops(text) == 3 * 5 * 12


def test_no_turns() -> None:
    text = (
        "%m = buffer 12 dtype=f32 slot=0\n%i = range -2\n"
        "%x = load %m\n%y = add %x %x\n%s = store %m %y\nend %s %i"
    )
    assert flops(text) == 0


def test_computed_turns_are_refused() -> None:
    text = (
        "%n = buffer 1 dtype=i32 slot=1\n%c = reshape %n shape=[]\n%b = load %c\n"
        "%m = buffer 12 dtype=f32 slot=0\n%i = range %b\n"
        "%x = load %m\n%y = add %x %x\n%s = store %m %y\nend %s %i"
    )
    with pytest.raises(UnknownTurns, match="is computed"):
        flops(text)
