"""Random valid `.uir` programs, for tests that run one program in several ways.

They load and store through views, in place and in loops, and end without a runtime error.
"""

from __future__ import annotations

from math import isqrt, prod
from random import Random

from hypothesis import strategies as st
from program_writer import Node, ProgramWriter, attr_shape, type_of
from random_values import PURE_STEPS, Step, define_body, index, permute, reshape, shrink

# Memory.


def view(w: ProgramWriter, memory: Node) -> Node:
    """`memory` through a few more views."""
    for _ in range(w.rng.choice((0, 1, 1, 2, 3))):
        memory = w.rng.choice((reshape, permute, shrink, index))(w, memory)
    if w.effects and w.rng.randrange(4) == 0:
        effects = w.rng.sample(w.effects, 1)
        memory = w.emit("after", [memory, *effects], type_of(memory), keep=False)
    return memory


def load(w: ProgramWriter) -> None:
    if not w.buffers or w.rng.randrange(3) == 0:
        w.buffer(w.any_dtype(), w.rng.choice((1, 2, 4, 6, 6, 8, 12, 24)))
    memory = view(w, w.rng.choice(w.buffers))
    w.emit("load", [memory], type_of(memory), has_gradient=False)


def store(w: ProgramWriter) -> None:
    if not w.buffers or w.rng.randrange(6) == 0:
        w.buffer(w.any_dtype(), w.rng.choice((1, 4, 6, 12)), is_scratch=w.rng.randrange(3) == 0)
    memory = view(w, w.rng.choice(w.buffers))
    w.store(memory, w.conform(w.pick(memory.dtype), memory.shape))
    if len(w.effects) > w.outer_effects + 1 and w.rng.randrange(4) == 0:
        w.effects.append(w.emit("group", w.effects[-2:], ("effect", ()), keep=False))


def update_in_place(w: ProgramWriter) -> None:
    """A store of what was read from the same buffer, through the same or another view."""
    if not w.buffers:
        return
    buffer = w.rng.choice(w.buffers)
    target = view(w, buffer)
    source = target if w.rng.randrange(3) == 0 else view(w, buffer)
    x = w.emit("load", [source], type_of(source), has_gradient=False)
    if x.dtype != "bool" and w.rng.randrange(2):
        x = w.elementwise("add", [x, w.splat("1" if x.dtype == "i32" else "0.5", x)])
    if w.rng.randrange(3) == 0:
        x = permute(w, x)
    w.store(target, w.conform(x, target.shape))


def shift_in_place(w: ProgramWriter) -> None:
    """Overlapping blocks of one buffer: `m[a:a+n] = f(m[b:b+n])`."""
    memories = [buffer for buffer in w.buffers if buffer.shape[0] > 1]
    if not memories:
        return
    buffer = w.rng.choice(memories)
    size = w.rng.randint(1, buffer.shape[0] - 1)
    views: list[Node] = []
    for _ in range(2):
        offset = w.offset(buffer.shape[0] - size)
        type = (buffer.dtype, (size,))
        views.append(w.emit("shrink", [buffer, offset], type, attr_shape((size,)), keep=False))
    x = w.emit("load", [views[0]], type_of(views[0]), has_gradient=False)
    w.store(views[1], w.rng.choice((x, w.elementwise("max", [x, x]))))


def transpose_in_place(w: ProgramWriter) -> None:
    """A square block of a buffer and its transpose, combined, stored to the block."""
    memories = [buffer for buffer in w.buffers if buffer.shape[0] >= 4]
    if not memories:
        return
    buffer = w.rng.choice(memories)
    n = w.rng.randint(2, min(3, isqrt(buffer.shape[0])))
    block = w.block(buffer, [w.rng.randint(0, buffer.shape[0] - n * n)], (n * n,))
    view = w.reshape_to(block, (n, n))
    x = w.emit("load", [view], type_of(view), has_gradient=False)
    y = w.emit("permute", [x], type_of(x), "order=[1 0]")
    w.store(view, w.rng.choice((y, w.elementwise("max", [x, y]))))


MEMORY_STEPS: tuple[Step, ...] = (
    load, load, load, store, store, update_in_place, shift_in_place, transpose_in_place,
    define_body,
)  # fmt: skip


def accumulate(w: ProgramWriter) -> None:
    """A cell or block of a buffer that a loop adds to, at an offset that may depend on the turn."""
    if not w.buffers:
        return
    target = index(w, w.rng.choice(w.buffers))
    x = w.emit("load", [target], type_of(target), has_gradient=False)
    if x.dtype == "bool":
        x = w.elementwise("xor", [x, w.conform(w.pick("bool"), x.shape)])
    else:
        x = w.elementwise("add", [x, w.conform(w.pick(x.dtype), x.shape)])
    w.store(target, x)


def loop(w: ProgramWriter) -> None:
    """A loop, perhaps in another, with all stores that stand in it; none of its values survive."""
    if w.in_body or len(w.indices) == 2:
        return
    pool, effects, bodies = list(w.pool), list(w.effects), list(w.bodies)
    outer_effects, w.outer_effects = w.outer_effects, len(effects)
    turns = w.rng.choice(("0", "1", "2", "2", "3", "3", "-1", *(i.name for i in w.indices)))
    index = w.emit("range", [Node(turns, "i32", ())], ("i32", ()))
    w.indices.append(index)
    for _ in range(w.rng.randint(0, 5)):
        w.rng.choice((*PURE_STEPS, *MEMORY_STEPS, accumulate, accumulate, loop))(w)
    w.rng.choice((store, accumulate, update_in_place))(w)
    inner = w.effects[w.outer_effects :]
    w.indices.pop()
    end = w.emit("end", [*inner, index], ("effect", ()), keep=False)
    w.pool, w.bodies, w.outer_effects = pool, bodies, outer_effects
    w.effects = [*effects, end]


STEPS: tuple[Step, ...] = (
    *PURE_STEPS, *MEMORY_STEPS, accumulate, loop, loop,
)  # fmt: skip


def finish(w: ProgramWriter) -> None:
    """Stores a few values, and ends with a value, an effect or memory."""
    for _ in range(w.rng.randint(1, 3)):
        value = w.pick()
        buffer = w.buffer(value.dtype, max(1, prod(value.shape)))
        w.store(w.reshape_to(buffer, value.shape), value)
    if w.rng.randrange(3):
        w.elementwise("detach", [w.pick()])


def random_program(rng: Random, max_steps: int = 14) -> str:
    """The text of a valid program, which ends without a runtime error."""
    w = ProgramWriter(rng, tame=rng.randrange(2) == 0)
    load(w)
    for _ in range(rng.randint(1, max_steps)):
        rng.choice(STEPS)(w)
    finish(w)
    return "".join(f"{line}\n" for line in (*w.buffer_lines, *w.lines))


def programs(max_steps: int = 14) -> st.SearchStrategy[str]:
    """Texts of random programs."""
    return st.randoms(use_true_random=False).map(lambda rng: random_program(rng, max_steps))
