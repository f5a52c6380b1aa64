"""`uir.run`: what each op does, how much is held, and how a run ends."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as stnp

import uir
from uir.runtime.interpreters.deferred import blocks
from uir.runtime.interpreters.memory import Reference, block
from uir.runtime.needs import spell_bytes


def result(text: str, slots: dict[int, npt.ArrayLike] | None = None) -> npt.NDArray[Any]:
    value = uir.run(text, slots).result
    assert value is not None
    return value


def check(text: str, expected: npt.ArrayLike, dtype: type) -> None:
    value = result(text)
    assert value.dtype == dtype
    np.testing.assert_array_equal(value, np.array(expected, dtype))


ARRAY = """
%m = buffer 6 dtype=i32 slot=0 data=[1 2 3 4 5 6]
%v = reshape %m shape=[2 3]
%x = load %v
"""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("reshape %x shape=[3 2]", [[1, 2], [3, 4], [5, 6]]),
        ("permute %x order=[1 0]", [[1, 4], [2, 5], [3, 6]]),
        ("pad %x pads=[0 1 1 0]", [[0, 1, 2, 3], [0, 4, 5, 6], [0, 0, 0, 0]]),
        ("shrink %x 0 1 shape=[2 2]", [[2, 3], [5, 6]]),
        ("index %x 1", [4, 5, 6]),
        ("index %x 1 2", 6),
        ("stack %x %x", [[[1, 2, 3], [4, 5, 6]]] * 2),
        ("reduce %x op=add pop=1", [5, 7, 9]),
        ("reduce %x op=mul pop=2", 720),
        ("reduce %x op=max pop=1", [4, 5, 6]),
        ("expand 7 shape=[2 2]", [[7, 7], [7, 7]]),
        ("mod -7 2", -1),
        ("div -7 2", -3),
        ("div -2147483648 -1", -(2**31)),
        ("mod -2147483648 -1", 0),
        ("add 2147483647 1", -(2**31)),
        ("xor 6 3", 5),
        ("bitcast nan dtype=i32", 2143289344),
        ("cast -1.9 dtype=i32", -1),
    ],
)
def test_ops(statement: str, expected: npt.ArrayLike) -> None:
    check(f"{ARRAY}%r = {statement}", expected, np.int32)


def test_max_orders_zeros_and_keeps_nan() -> None:
    assert np.signbit(result("%r = max -0.0 -0.0"))
    assert not np.signbit(result("%r = max -0.0 0.0"))
    assert np.isnan(result("%r = max 1.0 nan"))


def test_a_sum_is_a_left_fold_from_zero() -> None:
    # From the left 2^24 swallows each 1.0 in turn; the four of them together would count.
    text = "%m = buffer 5 dtype=f32 slot=0 data=[16777216.0 1.0 1.0 1.0 1.0]\n%x = load %m\n"
    check(f"{text}%r = reduce %x op=add pop=1", 16777216.0, np.float32)
    minus = result("%x = expand -0.0 shape=[3]\n%r = reduce %x op=add pop=1")
    assert not np.signbit(minus)


def left_fold(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    total = np.zeros(rows.shape[1:], np.float32)
    for row in rows:
        total = total + row
    return total


def test_a_large_composite_is_folded_in_order() -> None:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((64, 300), np.float32)
    b = rng.standard_normal((300, 80), np.float32)
    text = """
    %a = buffer 19200 dtype=f32 slot=0
    %b = buffer 24000 dtype=f32 slot=1
    %am = reshape %a shape=[64 300]
    %bm = reshape %b shape=[300 80]
    %al = load %am
    %bl = load %bm
    %r = matmul %al %bl
    """
    # 300 x 64 x 80 elements are more than are held.
    expected = left_fold(a.T[:, :, None] * b[:, None, :])
    np.testing.assert_array_equal(result(text, {0: a, 1: b}), expected)


def test_a_large_composite_through_permute() -> None:
    rng = np.random.default_rng(1)
    a = rng.standard_normal((1200, 1000), np.float32)
    text = """
    %m = buffer 1200000 dtype=f32 slot=0
    %v = reshape %m shape=[1200 1000]
    %x = load %v
    %two = expand 2.0 shape=[1200 1000]
    %y = mul %x %two
    %t = permute %y order=[1 0]
    %z = neg %t
    %r = reduce %z op=add pop=1
    """
    expected = left_fold(-(a * np.float32(2)).T)
    np.testing.assert_array_equal(result(text, {0: a}), expected)


def test_gemm_1024_stays_below_500_megabytes() -> None:
    script = """
import re, uir, numpy as np
text = '''
%a = buffer 1048576 dtype=f32 slot=0
%b = buffer 1048576 dtype=f32 slot=1
%am = reshape %a shape=[1024 1024]
%bm = reshape %b shape=[1024 1024]
%al = load %am
%bl = load %bm
%r = matmul %al %bl
'''
a = np.arange(1048576, dtype=np.float32) % 7
b = np.arange(1048576, dtype=np.float32) % 5
got = uir.run(text, {0: a, 1: b}).result
# Small whole numbers: every order gives the same sums.
expected = a.reshape(1024, 1024).astype(float) @ b.reshape(1024, 1024).astype(float)
assert (got == expected).all()
# Not getrusage, whose maximum is also that of the process which started this one.
print(re.search("VmHWM:[^0-9]*([0-9]+) kB", open("/proc/self/status").read())[1])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 500_000


VIEWS = st.sampled_from(["transpose", "flatten", "tail", "row", "refold"])


@given(st.lists(VIEWS, max_size=6))
def test_memory_is_the_same_elements_through_any_views(movements: Sequence[str]) -> None:
    buffer = np.arange(24, dtype=np.int32)
    reference, mirror = Reference.whole(buffer), np.arange(24)

    def moved(x: npt.NDArray[Any], movement: str) -> npt.NDArray[Any]:
        match movement:
            case "transpose":
                return x.transpose()
            case "flatten":
                return x.reshape(-1)
            case "tail":
                return block(x, [n // 2 for n in x.shape], [n - n // 2 for n in x.shape])
            case "row":
                return x[(x.shape[0] - 1, ...)] if x.ndim else x
            case _:
                return x.reshape(-1, 2) if x.size % 2 == 0 else x

    for movement in movements:
        reference = reference.move(lambda x, m=movement: moved(x, m))
        mirror = moved(mirror, movement)
    np.testing.assert_array_equal(reference.load(), mirror)
    reference.store(np.full(mirror.shape, -1, np.int32))
    assert set(np.flatnonzero(buffer == -1)) == set(mirror.reshape(-1))


@given(stnp.array_shapes(max_dims=4, max_side=5), st.integers(1, 40))
def test_blocks_cover_a_shape_in_order(shape: tuple[int, ...], limit: int) -> None:
    array = np.arange(np.prod(shape)).reshape(shape)
    parts = [array[part] for part in blocks(shape, limit)]
    np.testing.assert_array_equal(np.concatenate([p.reshape(-1) for p in parts]), array.reshape(-1))
    assert all(part.size <= limit for part in parts)


def test_store_through_a_transposed_view() -> None:
    text = """
    %m = buffer 6 dtype=i32 slot=0 data=[1 2 3 4 5 6]
    %v = reshape %m shape=[2 3]
    %t = permute %v order=[1 0]
    %f = reshape %t shape=[6]
    %x = load %m
    store %f %x
    """
    assert uir.run(text).slots[0].tolist() == [1, 3, 5, 2, 4, 6]


def test_load_keeps_what_was_there() -> None:
    text = """
    %m = buffer 1 dtype=i32 slot=0 data=[1]
    %a = load %m
    store %m %a
    %b = add %a %a
    store %m %b
    %c = add %a %b
    store %m %c
    """
    assert uir.run(text).slots[0].tolist() == [3]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("%a = div 1 0\n%b = add %a 1", "1:6", "division by zero"),
        ("%z = add 0 0\n%r = mod 5 %z", "2:6", "division by zero"),
        ("%r = cast nan dtype=i32", "1:6", "cast out of range"),
        ("%r = cast 2147483648.0 dtype=i32", "1:6", "cast out of range"),
        ("%r = cast -inf dtype=i32", "1:6", "cast out of range"),
        (
            "%s = stack 1 2 3\n%j = add 1 2\n%r = index %s %j",
            "3:6",
            "offset out of bounds: axis 0 has size 3, so it is 0 to 2, found 3",
        ),
        (
            "%s = stack 1 2 3\n%j = add -1 0\n%r = shrink %s %j shape=[2]",
            "3:6",
            "offset out of bounds: axis 0 has size 3, so it is 0 to 1, found -1",
        ),
        ("%m = buffer 1 dtype=i32 slot=0\n%x = load %m\n%d = div %x %x\nstore %m %d", "3:6", "div"),
    ],
)
def test_runtime_failures_have_a_place(text: str, place: str, message: str) -> None:
    with pytest.raises(uir.RuntimeFailure) as failure:
        uir.run(text)
    assert str(failure.value).startswith(f"<text>:{place}: {message}")


def test_what_fails_is_the_first_statement() -> None:
    with pytest.raises(uir.RuntimeFailure, match=":1:6: division"):
        uir.run("%a = div 1 0\n%b = cast nan dtype=i32\n%r = add %a %b")


def test_least_and_greatest_casts_do_not_fail() -> None:
    check("%r = cast -2147483648.0 dtype=i32", -(2**31), np.int32)
    check("%r = cast 2147483520.0 dtype=i32", 2147483520, np.int32)


def test_dead_statements_do_not_fail() -> None:
    check("%a = div 1 0\n%b = add %a 1\n%r = add 1 2", 3, np.int32)


def test_calls_bind_their_own_params() -> None:
    text = """
    %p = param 0 dtype=i32
    %q = param 1 dtype=i32
    %inner = mul %p 10
    %call = call %inner %q
    %outer = add %call %p
    %r = call %outer 1 2
    """
    check(text, 21, np.int32)


def test_many_nested_calls() -> None:
    lines = ["%p = param 0 dtype=i32", "%f0 = add %p 1"]
    for k in range(2000):
        lines += [f"%c{k} = call %f{k} %p", f"%f{k + 1} = add %c{k} 1"]
    check("\n".join([*lines, "%r = call %f2000 5"]), 2006, np.int32)


def test_a_long_chain() -> None:
    lines = ["%x0 = add 0 0", *(f"%x{k + 1} = add %x{k} {k}" for k in range(3000))]
    check("\n".join(lines), sum(range(3000)), np.int32)


def test_loops_carry_memory_from_turn_to_turn() -> None:
    text = """
    %m = buffer 1 dtype=i32 slot=0 data=[100]
    %s = index %m 0
    %i = range 5
    %mi = after %s %i
    %v = load %mi
    %w = add %v %i
    %st = store %mi %w
    end %st %i
    """
    assert uir.run(text).slots[0].tolist() == [110]


@pytest.mark.parametrize("bound", ["0", "-3"])
def test_a_loop_of_no_turns(bound: str) -> None:
    text = f"%m = buffer 1 dtype=i32 slot=0\n%s = index %m 0\n%i = range {bound}\n"
    assert uir.run(f"{text}%st = store %s %i\nend %st %i").slots[0].tolist() == [0]


def test_slots_are_copied_in_and_only_stored_ones_come_out() -> None:
    text = "%a = buffer 2 dtype=f32 slot=3\n%b = buffer 2 dtype=f32 slot=1\n"
    given_array = np.array([[1.5], [2.5]], np.float32)
    outcome = uir.run(f"{text}%x = load %a\n%y = add %x %x\nstore %b %y", {3: given_array})
    assert outcome.result is None
    assert list(outcome.slots) == [1]
    assert outcome.slots[1].tolist() == [3.0, 5.0]
    assert given_array.tolist() == [[1.5], [2.5]]


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        ({7: np.zeros(1, np.float32)}, "slot 7: the program has no buffer"),
        ({0: np.zeros(3, np.float32)}, "slot 0: the buffer has 2 elements, the array 3"),
        ({0: np.zeros(2)}, "slot 0: the buffer is f32, so an array of float32 is needed"),
        ({1: np.zeros(1, np.float32)}, "slot 1: the program itself says"),
    ],
)
def test_slots_that_do_not_fit(slots: dict[int, npt.ArrayLike], message: str) -> None:
    text = "%a = buffer 2 dtype=f32 slot=0\n%b = buffer 1 dtype=f32 slot=1 data=[1.0]"
    with pytest.raises(ValueError, match=message):
        uir.run(text, slots)


def test_too_much_memory_is_refused_with_the_amount() -> None:
    text = """
    %m = expand 1.0 shape=[100000 100000 3]
    %p = pad %m pads=[1 1 0 0 0 0]
    %r = reduce %p op=add pop=3
    """
    with pytest.raises(uir.TooLarge, match="needs about 120 GB of memory"):
        uir.run(text)


def test_too_many_elements_are_refused() -> None:
    text = "%m = expand 1.0 shape=[2147483647 2147483647]\n%r = reduce %m op=add pop=2"
    with pytest.raises(uir.TooLarge, match="4611686014132420609 elements"):
        uir.run(text)


@pytest.mark.parametrize(
    ("count", "text"), [(7, "7 bytes"), (1500, "1.5 kB"), (120_002_400_000, "120 GB")]
)
def test_spell_bytes(count: int, text: str) -> None:
    assert spell_bytes(count) == text


def test_compile_gives_what_run_gives(tmp_path: Path) -> None:
    file = tmp_path / "p.uir"
    file.write_text("%m = buffer 3 dtype=f32 slot=2 data=[1.0 2.0 4.0]\n%x = load %m\n%r = log2 %x")
    kernel = uir.compile(file)
    assert [(b.slot, b.dtype, b.size) for b in kernel.buffers] == [(2, np.dtype(np.float32), 3)]
    compiled = kernel(*kernel.new_arrays())
    assert compiled is not None
    assert compiled.tolist() == [0.0, 1.0, 2.0]
    assert uir.run(file).result.tolist() == [0.0, 1.0, 2.0]
