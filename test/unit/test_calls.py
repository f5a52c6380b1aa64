"""Calls that stay functions: the same bits as inlined ones, and a size that stays linear."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from ways_to_run import assert_same_bits, case_of, lowered, run_lowered, run_uir
from xdsl.ir import Operation, SSAValue

import passes.inline_calls
import uir
from dialects.uir.functions import CallOp
from passes.pipelines import LOWER

PROGRAMS = Path(__file__).parent.parent / "week4"
WITH_CALLS = sorted(
    p
    for p in PROGRAMS.rglob("*.uir")
    if "invalid" not in p.parts and "# error" not in p.read_text()
)

NESTED = """
%x = param 0 dtype=i32 shape=[2]
%y = param 1 dtype=i32 shape=[2]
%m = buffer 2 dtype=i32 slot=0 data=[3 5]
%seven = expand 7 shape=[2]
%f = sub %x %y
%fa = add %f %seven
%ga = call %fa %y %x
%gb = call %fa %x %x
%g = mul %ga %gb
%ha = call %g %x %seven
%hb = call %g %y %ga
%h = add %ha %hb
%i = range 3
%j = expand %i shape=[2]
%now = load %m
%r = call %h %now %j
%s = store %m %r
end %s %i
"""


@pytest.fixture
def outlined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has every call of a body with a param stay a call."""

    def all_bodies(ops: Sequence[Operation], open: set[SSAValue]) -> set[SSAValue]:
        return {op.body for op in ops if isinstance(op, CallOp)} & open

    monkeypatch.setattr(passes.inline_calls, "large_bodies", all_bodies)


@pytest.mark.usefixtures("outlined")
@pytest.mark.parametrize("name", [*(p.name for p in WITH_CALLS), "nested"])
def test_functions_give_the_bits_of_their_bodies(name: str) -> None:
    texts = {p.name: p.read_text() for p in WITH_CALLS} | {"nested": NESTED}
    text = texts[name]
    case = case_of(text)
    expected = run_uir(case, case.module)
    assert_same_bits(expected, run_lowered(case, lowered(case, LOWER)), text)


@pytest.mark.usefixtures("outlined")
def test_a_function_reports_its_errors() -> None:
    source = uir.render(
        "%x = param 0 dtype=i32\n%q = div 12 %x\n%c = buffer 1 dtype=i32 slot=0\n"
        "%m = index %c 0\n%l = load %m\n%r = call %q %l\nstore %m %r\n",
        checks=True,
    )
    assert "static int body_0(" in source
    assert 'uir_fail(error, 2, "division by zero")' in source


def doubling(depth: int) -> str:
    """A program whose calls, if they were inlined, would be 2^depth."""
    lines = ["%x = param 0 dtype=f32", "%m = buffer 1 dtype=f32 slot=0", "%f0 = recip %x"]
    for level in range(depth):
        lines += [
            f"%x{level} = add %x {level}.5",
            f"%a{level} = call %f{level} %x",
            f"%b{level} = call %f{level} %x{level}",
            f"%f{level + 1} = add %a{level} %b{level}",
        ]
    cell = ["%c = index %m 0", "%l = load %c", f"%r = call %f{depth} %l", "store %c %r"]
    return "\n".join([*lines, *cell])


def test_bodies_that_call_twice_stay_functions() -> None:
    start = time.monotonic()
    sizes = [len(uir.render(doubling(depth))) for depth in (30, 60)]
    assert sizes[1] < 2.5 * sizes[0]
    assert time.monotonic() - start < 60


def test_a_scalar_body_that_loops_call_often_is_one_function() -> None:
    """20 calls of 200 ops: inlined, each would be printed."""
    lines, value = ["%x = param 0 dtype=f32"], "%x"
    for step in range(100):
        lines += [f"%y{step} = mul {value} 1.{step}1", f"%z{step} = add %y{step} %x"]
        value = f"%z{step}"
    lines += ["%m = buffer 64 dtype=f32 slot=0", "%i = range 64", "%c = index %m %i"]
    lines += ["%v0 = load %c", *(f"%v{n + 1} = call {value} %v{n}" for n in range(20))]
    lines += ["%s = store %c %v20", "end %s %i"]
    source = uir.render("\n".join(lines))
    assert len(source) < 20_000
    assert source.count("static void body_0(") == 1
    assert source.count("body_0(") > 1
