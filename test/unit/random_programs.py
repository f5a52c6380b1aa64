"""Random valid `.uir` programs, for tests that run one program in several ways.

Shapes are tiny, values are extreme. No program fails at run time: divisors are never zero, and what
is cast to i32 is in range. Each step of `STEPS` adds a few statements on values drawn from a pool;
some steps add patterns that compilers get wrong (a pad under `exp2`, a transpose in place).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from random import Random

from hypothesis import strategies as st

Shape = tuple[int, ...]
Type = tuple[str, Shape]

MAX_SIZE = 48
"""The most elements of a value."""
MAX_RANK = 4

LITERALS = {
    "f32": (
        "0.0", "-0.0", "1.0", "-1.0", "0.5", "2.5", "-3.75", "0.1", "nan", "inf", "-inf", "1e-45",
        "-1e-40", "3e+38", "16777217.0", "-0.33333334", "126.7", "-150.25",
    ),
    "i32": (
        "0", "1", "-1", "2", "3", "-7", "28", "65536", "2147483647", "-2147483648", "1065353216",
    ),
    "bool": ("true", "false"),
}  # fmt: skip
TAME_F32 = ("1.0", "-1.0", "0.5", "2.5", "-3.75", "0.1", "-0.33333334", "0.0")
"""Literals that leave numbers to look at: a NaN or an infinity soon spreads everywhere."""


@dataclass(frozen=True)
class Node:
    """A value, memory or effect: its name or literal, and what `gradient` and `call` ask of it."""

    name: str
    dtype: str
    shape: Shape
    through: frozenset[str] = frozenset()
    """The nodes from which every path leads here through ops that have a gradient."""
    blocked: frozenset[str] = frozenset()
    """The nodes from which some path leads here through an op that has none."""
    free: frozenset[tuple[int, Type]] = frozenset()
    """The params that no call has replaced."""
    is_pure: bool = True


@dataclass
class ProgramWriter:
    """A program that grows by one statement at a time, and the pools that steps draw from."""

    rng: Random
    buffer_lines: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])
    pool: list[Node] = field(default_factory=list[Node])
    buffers: list[Node] = field(default_factory=list[Node])
    effects: list[Node] = field(default_factory=list[Node])
    bodies: list[Node] = field(default_factory=list[Node])
    by_name: dict[str, Node] = field(default_factory=dict[str, Node])
    in_body: bool = False
    indices: list[Node] = field(default_factory=list[Node])
    """The indices of the open loops."""
    outer_effects: int = 0
    """How many of the effects stand before the innermost open loop."""
    tame: bool = False
    slots: int = 0
    names: int = 0

    # What a statement is made of.

    def emit(
        self,
        op: str,
        operands: Sequence[Node],
        type: Type,
        attributes: str = "",
        keep: bool = True,
        has_gradient: bool = True,
    ) -> Node:
        """The node of a new statement; `keep` puts it into the pool of values."""
        name = f"%v{self.names}"
        self.names += 1
        words = [op, *(operand.name for operand in operands), attributes]
        lines = self.buffer_lines if op in ("buffer", "alloc") else self.lines
        lines.append(f"{name} = {' '.join(word for word in words if word)}")
        through = {x for operand in operands for x in (operand.name, *operand.through)}
        blocked = {x for operand in operands for x in operand.blocked}
        free = {param for operand in operands for param in operand.free}
        if not has_gradient:
            blocked |= through
        is_pure = op not in ("load", "range") and all(operand.is_pure for operand in operands)
        node = Node(
            name,
            *type,
            frozenset(through - blocked),
            frozenset(blocked),
            frozenset(free),
            is_pure,
        )
        self.by_name[name] = node
        if keep:
            self.pool.append(node)
        return node

    def literal(self, dtype: str) -> Node:
        texts = TAME_F32 if self.tame and dtype == "f32" else LITERALS[dtype]
        return Node(self.rng.choice(texts), dtype, ())

    def any_dtype(self) -> str:
        return self.rng.choice(("f32", "f32", "f32", "i32", "i32", "bool"))

    def pick(self, dtype: str | None = None) -> Node:
        """A value of the pool, more often a recent one; a literal when there is none."""
        nodes = [node for node in self.pool if dtype in (None, node.dtype)]
        if not nodes or self.rng.randrange(12) == 0:
            return self.expand_to(self.literal(dtype or self.any_dtype()), self.any_shape())
        return nodes[-1 - min(self.rng.randrange(len(nodes)), self.rng.randrange(len(nodes)))]

    def any_shape(self) -> Shape:
        while True:
            shape = tuple(self.rng.randint(1, 4) for _ in range(self.rng.randrange(MAX_RANK)))
            if prod(shape) <= MAX_SIZE:
                return shape

    def reshaped(self, size: int) -> Shape:
        """A shape of `size` elements."""
        dims: list[int] = []
        for factor in (2, 2, 2, 2, 2, 3, 3, 3, 5, 5, 7, 7):
            if size % factor == 0:
                size //= factor
                dims.append(factor)
        dims += [size] * (size > 1)
        self.rng.shuffle(dims)
        while len(dims) > MAX_RANK or (len(dims) > 1 and self.rng.randrange(2)):
            place = self.rng.randrange(len(dims) - 1)
            dims[place : place + 2] = [dims[place] * dims[place + 1]]
        while len(dims) < MAX_RANK and self.rng.randrange(3) == 0:
            dims.insert(self.rng.randrange(len(dims) + 1), 1)
        return tuple(dims)

    # Values of a wanted shape or range.

    def expand_to(self, scalar: Node, shape: Shape) -> Node:
        return self.emit("expand", [scalar], (scalar.dtype, shape), attr_shape(shape), keep=False)

    def reshape_to(self, x: Node, shape: Shape, keep: bool = False) -> Node:
        if x.shape == shape:
            return x
        return self.emit("reshape", [x], (x.dtype, shape), attr_shape(shape), keep=keep)

    def conform(self, x: Node, shape: Shape) -> Node:
        """A value of `shape` made from `x`, by whatever movement ops that takes."""
        if x.shape == shape:
            return x
        if not x.shape:
            return self.expand_to(x, shape)
        if len(x.shape) == len(shape) and all(a in (1, b) for a, b in zip(x.shape, shape)):  # noqa: B905
            return self.emit("expand", [x], (x.dtype, shape), attr_shape(shape), keep=False)
        found, wanted = prod(x.shape), prod(shape)
        if found != wanted:
            x = self.reshape_to(x, (found,))
            if found > wanted:
                x = self.block(x, [self.rng.randint(0, found - wanted)], (wanted,))
            else:
                before = self.rng.randint(0, wanted - found)
                attributes = f"pads=[{before} {wanted - found - before}]"
                x = self.emit("pad", [x], (x.dtype, (wanted,)), attributes, keep=False)
        return self.reshape_to(x, shape)

    def block(self, x: Node, offsets: Sequence[int], shape: Shape) -> Node:
        """The block of `x` at literal offsets."""
        literals = [Node(str(offset), "i32", ()) for offset in offsets]
        return self.emit("shrink", [x, *literals], (x.dtype, shape), attr_shape(shape), keep=False)

    def offset(self, greatest: int) -> Node:
        """An i32 scalar from 0 to `greatest`, a literal or computed."""
        if greatest == 0 or self.rng.randrange(4):
            return Node(str(self.rng.randint(0, greatest)), "i32", ())
        indices = [] if self.in_body else self.indices
        x = self.rng.choice([*indices, self.pick("i32")])
        x = self.conform(x, ())
        x = self.elementwise("max", [x, Node("0", "i32", ())])
        return self.elementwise("mod", [x, Node(str(greatest + 1), "i32", ())])

    def splat(self, text: str, like: Node) -> Node:
        """The literal in the dtype and shape of `like`."""
        literal = Node(text, like.dtype, ())
        return self.expand_to(literal, like.shape) if like.shape else literal

    def elementwise(self, op: str, operands: Sequence[Node], dtype: str = "") -> Node:
        last = operands[-1]
        return self.emit(op, operands, (dtype or last.dtype, last.shape))

    def buffer(self, dtype: str, size: int, is_scratch: bool = False) -> Node:
        """A new buffer, or scratch memory where `is_scratch`, in front of all other statements."""
        if is_scratch:
            node = self.emit("alloc", [], (dtype, (size,)), f"{size} dtype={dtype}", keep=False)
            self.buffers.append(node)
            return node
        attributes = f"{size} dtype={dtype} slot={self.slots}"
        self.slots += 1
        if self.rng.randrange(5):
            data = " ".join(self.literal(dtype).name for _ in range(size))
            attributes += f" data=[{data}]"
        node = self.emit("buffer", [], (dtype, (size,)), attributes, keep=False)
        self.buffers.append(node)
        return node

    def view(self, memory: Node) -> Node:
        """`memory` through a few more views."""
        for _ in range(self.rng.choice((0, 1, 1, 2, 3))):
            memory = self.rng.choice((_reshape, _permute, _shrink, _index))(self, memory)
        if self.effects and self.rng.randrange(4) == 0:
            effects = self.rng.sample(self.effects, 1)
            memory = self.emit("after", [memory, *effects], type_of(memory), keep=False)
        return memory

    def store(self, memory: Node, value: Node) -> None:
        self.effects.append(
            self.emit("store", [memory, value], ("effect", ()), keep=False, has_gradient=False)
        )


def attr_shape(shape: Shape) -> str:
    return f"shape=[{' '.join(map(str, shape))}]"


def type_of(node: Node) -> Type:
    return node.dtype, node.shape


# Movement, of values and of memory.


def _reshape(w: ProgramWriter, x: Node) -> Node:
    shape = w.reshaped(prod(x.shape))
    return w.emit("reshape", [x], (x.dtype, shape), attr_shape(shape), keep=False)


def _permute(w: ProgramWriter, x: Node) -> Node:
    order = list(range(len(x.shape)))
    w.rng.shuffle(order)
    shape = tuple(x.shape[axis] for axis in order)
    attributes = f"order=[{' '.join(map(str, order))}]"
    return w.emit("permute", [x], (x.dtype, shape), attributes, keep=False)


def _shrink(w: ProgramWriter, x: Node) -> Node:
    shape = tuple(w.rng.choice((dim, w.rng.randint(1, dim))) for dim in x.shape)
    offsets = [w.offset(old - new) for old, new in zip(x.shape, shape, strict=True)]
    type = (x.dtype, shape)
    has_gradient = all_literal(offsets)
    return w.emit("shrink", [x, *offsets], type, attr_shape(shape), False, has_gradient)


def _index(w: ProgramWriter, x: Node) -> Node:
    if not x.shape:
        return x
    count = w.rng.randint(1, len(x.shape))
    indices = [w.offset(dim - 1) for dim in x.shape[:count]]
    type = (x.dtype, x.shape[count:])
    return w.emit("index", [x, *indices], type, "", False, all_literal(indices))


def all_literal(nodes: Sequence[Node]) -> bool:
    return not any(node.name.startswith("%") for node in nodes)


def _pad(w: ProgramWriter, x: Node) -> Node:
    pads: list[int] = []
    size = prod(x.shape)
    for dim in x.shape:
        before, after = w.rng.choice((0, 0, 1, 2)), w.rng.choice((0, 0, 1, 2))
        grown = dim + before + after
        if size // dim * grown > MAX_SIZE:
            before, after, grown = 0, 0, dim
        size = size // dim * grown
        pads += [before, after]
    shape = tuple(
        dim + before + after
        for dim, before, after in zip(x.shape, pads[::2], pads[1::2], strict=True)
    )
    return w.emit("pad", [x], (x.dtype, shape), f"pads=[{' '.join(map(str, pads))}]", keep=False)


def _expand(w: ProgramWriter, x: Node) -> Node:
    if not x.shape:
        return w.expand_to(x, w.any_shape())
    if 1 not in x.shape and len(x.shape) < MAX_RANK:
        place = w.rng.randrange(len(x.shape) + 1)
        x = w.reshape_to(x, (*x.shape[:place], 1, *x.shape[place:]))
    shape = list(x.shape)
    for axis, dim in enumerate(shape):
        grown = w.rng.randint(1, 4)
        if dim == 1 and prod(shape) * grown <= MAX_SIZE:
            shape[axis] = grown
    return w.emit("expand", [x], (x.dtype, tuple(shape)), attr_shape(tuple(shape)), keep=False)


def _stack(w: ProgramWriter, x: Node) -> Node:
    count = w.rng.randint(1, 3)
    if len(x.shape) >= MAX_RANK or prod(x.shape) * count > MAX_SIZE:
        return x
    others = [w.conform(w.pick(x.dtype), x.shape) for _ in range(count - 1)]
    values = [x, *others]
    w.rng.shuffle(values)
    return w.emit("stack", values, (x.dtype, (count, *x.shape)), keep=False)


def _reduce(w: ProgramWriter, x: Node, pop: int | None = None) -> Node:
    if not x.shape:
        return x
    pop = pop or w.rng.randint(1, len(x.shape))
    kind = w.rng.choice(("mul", "max") if x.dtype == "bool" else ("add", "add", "max", "mul"))
    type = (x.dtype, x.shape[pop:])
    return w.emit("reduce", [x], type, f"op={kind} pop={pop}", has_gradient=kind != "mul")


MOVEMENTS = (_reshape, _permute, _shrink, _index, _pad, _pad, _expand, _stack)


def move(w: ProgramWriter) -> None:
    """A chain of movement ops."""
    x = w.pick()
    for _ in range(w.rng.randint(1, 3)):
        x = w.rng.choice(MOVEMENTS)(w, x)
    w.pool.append(x)


def reduce(w: ProgramWriter) -> None:
    _reduce(w, w.pick())


def reduce_and_spread(w: ProgramWriter) -> None:
    """A reduction that is combined again with what it reduced, as in softmax."""
    x = w.pick("f32")
    if not x.shape:
        return
    total = _reduce(w, x)
    kept = (1,) * (len(x.shape) - len(total.shape)) + total.shape
    spread = w.conform(w.reshape_to(total, kept), x.shape)
    w.elementwise(w.rng.choice(("add", "mul", "sub", "fdiv", "max")), [x, spread])


def matmul(w: ProgramWriter) -> None:
    dtype = w.rng.choice(("f32", "i32"))
    m, k, n = (w.rng.randint(1, 3) for _ in range(3))
    lhs, rhs = w.conform(w.pick(dtype), (m, k)), w.conform(w.pick(dtype), (k, n))
    w.emit("matmul", [lhs, rhs], (dtype, (m, n)))


# Elementwise ops.


def unary(w: ProgramWriter) -> None:
    x = w.pick()
    ops = {
        "f32": ("recip", "exp2", "log2", "sqrt", "sin", "exp", "log", "floor", "neg", "relu"),
        "i32": ("neg", "relu"),
        "bool": (),
    }[x.dtype]
    w.elementwise(w.rng.choice((*ops, "detach", "stage")), [x])


def binary(w: ProgramWriter) -> None:
    dtype = w.any_dtype()
    x = w.pick(dtype)
    y = w.rng.choice((x, w.conform(w.pick(dtype), x.shape), w.conform(w.pick(dtype), x.shape)))
    ops = {
        "f32": ("add", "mul", "max", "cmplt", "sub", "fdiv", "add", "mul"),
        "i32": ("add", "mul", "max", "cmplt", "xor", "sub", "cmpeq"),
        "bool": ("mul", "max", "cmplt", "xor", "cmpeq"),
    }[dtype]
    op = w.rng.choice(ops)
    operands = [x, y] if w.rng.randrange(2) else [y, x]
    w.elementwise(op, operands, "bool" if op in ("cmplt", "cmpeq") else dtype)


def where(w: ProgramWriter) -> None:
    x = w.pick()
    y, condition = w.conform(w.pick(x.dtype), x.shape), w.conform(w.pick("bool"), x.shape)
    w.elementwise("where", [condition, x, y])


def divide(w: ProgramWriter) -> None:
    x = w.pick("i32")
    y = w.conform(w.pick("i32"), x.shape)
    is_zero = w.elementwise("cmpeq", [y, w.splat("0", y)], "bool")
    y = w.elementwise("where", [is_zero, w.splat(w.rng.choice(("3", "-1", "-5")), y), y])
    w.elementwise(w.rng.choice(("div", "mod")), [x, y])


def convert(w: ProgramWriter) -> None:
    x = w.pick()
    if w.rng.randrange(3) == 0 and x.dtype != "bool":
        dtype = w.rng.choice(("i32", "f32"))
        w.emit("bitcast", [x], (dtype, x.shape), f"dtype={dtype}")
        return
    dtype = w.rng.choice(("i32", "f32", "bool"))
    if (x.dtype, dtype) == ("f32", "i32"):
        for bound, order in (("2147483520.0", 1), ("-2147483648.0", -1)):
            limit = w.splat(bound, x)
            fits = w.elementwise("cmplt", [x, limit][::order], "bool")
            x = w.elementwise("where", [fits, x, w.splat("-7.5", x)])
    w.emit("cast", [x], (dtype, x.shape), f"dtype={dtype}")


def pad_under(w: ProgramWriter) -> None:
    """An op with f(0) != 0 on a padded value, padded or moved again."""
    x = _pad(w, w.pick(w.rng.choice(("f32", "i32", "bool"))))
    if x.dtype == "f32":
        y = w.elementwise(w.rng.choice(("exp2", "recip", "log2", "exp")), [x])
    else:
        y = w.elementwise("xor", [x, w.splat("true" if x.dtype == "bool" else "-1", x)])
    for _ in range(w.rng.randrange(3)):
        y = w.rng.choice((_reshape, _permute, _pad, _shrink))(w, y)
    w.pool.append(y)


def diamonds(w: ProgramWriter) -> None:
    x = w.pick(w.rng.choice(("f32", "i32")))
    for _ in range(w.rng.randint(2, 6)):
        x = w.elementwise(w.rng.choice(("add", "mul", "max")), [x, x])


# Memory.


def load(w: ProgramWriter) -> None:
    if not w.buffers or w.rng.randrange(3) == 0:
        w.buffer(w.any_dtype(), w.rng.choice((1, 2, 4, 6, 6, 8, 12, 24)))
    memory = w.view(w.rng.choice(w.buffers))
    w.emit("load", [memory], type_of(memory), has_gradient=False)


def store(w: ProgramWriter) -> None:
    if not w.buffers or w.rng.randrange(6) == 0:
        w.buffer(w.any_dtype(), w.rng.choice((1, 4, 6, 12)), is_scratch=w.rng.randrange(3) == 0)
    memory = w.view(w.rng.choice(w.buffers))
    w.store(memory, w.conform(w.pick(memory.dtype), memory.shape))
    if len(w.effects) > w.outer_effects + 1 and w.rng.randrange(4) == 0:
        w.effects.append(w.emit("group", w.effects[-2:], ("effect", ()), keep=False))


def update_in_place(w: ProgramWriter) -> None:
    """A store of what was read from the same buffer, through the same or another view."""
    if not w.buffers:
        return
    buffer = w.rng.choice(w.buffers)
    target = w.view(buffer)
    source = target if w.rng.randrange(3) == 0 else w.view(buffer)
    x = w.emit("load", [source], type_of(source), has_gradient=False)
    if x.dtype != "bool" and w.rng.randrange(2):
        x = w.elementwise("add", [x, w.splat("1" if x.dtype == "i32" else "0.5", x)])
    if w.rng.randrange(3) == 0:
        x = _permute(w, x)
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


# Functions and gradients.


def define_body(w: ProgramWriter) -> None:
    """A value with free params, which `call` may use from here on."""
    if w.in_body:
        return
    outer = w.pool
    w.pool = [node for node in outer if node.is_pure][-2:]
    w.in_body = True
    for number in range(w.rng.randint(1, 3)):
        dtype, shape = type_of(w.rng.choice(outer)) if outer else ("f32", ())
        attributes = f"{number} dtype={dtype}" + (f" {attr_shape(shape)}" if shape else "")
        param = w.emit("param", [], (dtype, shape), attributes)
        w.pool[-1] = w.by_name[param.name] = Node(
            param.name, dtype, shape, free=frozenset([(number, (dtype, shape))])
        )
    for _ in range(w.rng.randint(1, 4)):
        w.rng.choice(PURE_STEPS)(w)
    w.bodies.append(w.pool[-1])
    w.in_body = False
    w.pool = outer


def call(w: ProgramWriter) -> None:
    if not w.bodies:
        define_body(w)
    if not w.bodies:
        return
    body = w.rng.choice(w.bodies)
    types = dict(body.free)
    if len(types) < len(body.free):
        return
    arguments: list[Node] = []
    for number in range(max(types, default=-1) + 1):
        if number in types:
            dtype, shape = types[number]
            arguments.append(w.conform(w.pick(dtype), shape))
        else:
            arguments.append(w.pick())
    node = w.emit("call", [body, *arguments], type_of(body), keep=False, has_gradient=False)
    free = frozenset(param for argument in arguments for param in argument.free)
    node = Node(node.name, *type_of(node), frozenset(), node.blocked, free, node.is_pure)
    w.by_name[node.name] = node
    w.pool.append(node)


def gradient(w: ProgramWriter) -> None:
    """A loss over an f32 value, and its gradient at one or two of the values before it."""
    if w.indices and not w.in_body:
        return
    x = w.pick("f32")
    if x.shape:
        kind = w.rng.choice(("add", "add", "max"))
        loss = w.emit("reduce", [x], ("f32", ()), f"op={kind} pop={len(x.shape)}")
    else:
        loss = w.elementwise("mul", [x, x])
    sources = [w.by_name[name] for name in sorted(loss.through) if name in w.by_name]
    sources = [node for node in sources if node.dtype == "f32"]
    for source in w.rng.sample(sources, min(len(sources), w.rng.randint(1, 2))):
        w.emit("gradient", [loss, source], ("f32", source.shape))


PURE_STEPS: tuple[Callable[[ProgramWriter], None], ...] = (
    move, move, move, unary, unary, binary, binary, binary, where, divide, convert, reduce, reduce,
    reduce_and_spread, matmul, pad_under, diamonds, call, gradient, gradient,
)  # fmt: skip
MEMORY_STEPS: tuple[Callable[[ProgramWriter], None], ...] = (
    load, load, load, store, store, update_in_place, shift_in_place, define_body,
)  # fmt: skip


def accumulate(w: ProgramWriter) -> None:
    """A cell or block of a buffer that a loop adds to, at an offset that may depend on the turn."""
    if not w.buffers:
        return
    target = _index(w, w.rng.choice(w.buffers))
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


STEPS: tuple[Callable[[ProgramWriter], None], ...] = (
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


def unrolled(text: str) -> str:
    """A program of this module with each turn of its loops written out.

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


def programs(max_steps: int = 14) -> st.SearchStrategy[str]:
    """Texts of random programs."""
    return st.randoms(use_true_random=False).map(lambda rng: random_program(rng, max_steps))
