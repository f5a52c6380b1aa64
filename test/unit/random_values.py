"""Steps that add values to a random program: each a few statements on values drawn from the pool.

Some add patterns that compilers get wrong: a pad under `exp2`, diamonds, a reduction combined with
what it reduced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from program_writer import MAX_RANK, MAX_SIZE, Node, ProgramWriter, attr_shape, type_of

Step = Callable[[ProgramWriter], None]

# Movement, of values and of memory.


def reshape(w: ProgramWriter, x: Node) -> Node:
    shape = w.reshaped(prod(x.shape))
    return w.emit("reshape", [x], (x.dtype, shape), attr_shape(shape), keep=False)


def permute(w: ProgramWriter, x: Node) -> Node:
    order = list(range(len(x.shape)))
    w.rng.shuffle(order)
    shape = tuple(x.shape[axis] for axis in order)
    attributes = f"order=[{' '.join(map(str, order))}]"
    return w.emit("permute", [x], (x.dtype, shape), attributes, keep=False)


def shrink(w: ProgramWriter, x: Node) -> Node:
    shape = tuple(w.rng.choice((dim, w.rng.randint(1, dim))) for dim in x.shape)
    offsets = [w.offset(old - new) for old, new in zip(x.shape, shape, strict=True)]
    type = (x.dtype, shape)
    has_gradient = all_literal(offsets)
    return w.emit("shrink", [x, *offsets], type, attr_shape(shape), False, has_gradient)


def index(w: ProgramWriter, x: Node) -> Node:
    if not x.shape:
        return x
    count = w.rng.randint(1, len(x.shape))
    indices = [w.offset(dim - 1) for dim in x.shape[:count]]
    type = (x.dtype, x.shape[count:])
    return w.emit("index", [x, *indices], type, "", False, all_literal(indices))


def all_literal(nodes: Sequence[Node]) -> bool:
    return not any(node.name.startswith("%") for node in nodes)


def pad(w: ProgramWriter, x: Node) -> Node:
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


def expand(w: ProgramWriter, x: Node) -> Node:
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


def stack(w: ProgramWriter, x: Node) -> Node:
    count = w.rng.randint(1, 3)
    if len(x.shape) >= MAX_RANK or prod(x.shape) * count > MAX_SIZE:
        return x
    others = [w.conform(w.pick(x.dtype), x.shape) for _ in range(count - 1)]
    values = [x, *others]
    w.rng.shuffle(values)
    return w.emit("stack", values, (x.dtype, (count, *x.shape)), keep=False)


def fold(w: ProgramWriter, x: Node, pop: int | None = None) -> Node:
    if not x.shape:
        return x
    pop = pop or w.rng.randint(1, len(x.shape))
    kind = w.rng.choice(("mul", "max") if x.dtype == "bool" else ("add", "add", "max", "mul"))
    type = (x.dtype, x.shape[pop:])
    return w.emit("reduce", [x], type, f"op={kind} pop={pop}", has_gradient=kind != "mul")


MOVEMENTS = (reshape, permute, shrink, index, pad, pad, expand, stack)


def move(w: ProgramWriter) -> None:
    """A chain of movement ops."""
    x = w.pick()
    for _ in range(w.rng.randint(1, 3)):
        x = w.rng.choice(MOVEMENTS)(w, x)
    w.pool.append(x)


def reduce(w: ProgramWriter) -> None:
    fold(w, w.pick())


def reduce_and_spread(w: ProgramWriter) -> None:
    """A reduction that is combined again with what it reduced, as in softmax."""
    x = w.pick("f32")
    if not x.shape:
        return
    total = fold(w, x)
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
    x = pad(w, w.pick(w.rng.choice(("f32", "i32", "bool"))))
    if x.dtype == "f32":
        y = w.elementwise(w.rng.choice(("exp2", "recip", "log2", "exp")), [x])
    else:
        y = w.elementwise("xor", [x, w.splat("true" if x.dtype == "bool" else "-1", x)])
    for _ in range(w.rng.randrange(3)):
        y = w.rng.choice((reshape, permute, pad, shrink))(w, y)
    w.pool.append(y)


def diamonds(w: ProgramWriter) -> None:
    x = w.pick(w.rng.choice(("f32", "i32")))
    for _ in range(w.rng.randint(2, 6)):
        x = w.elementwise(w.rng.choice(("add", "mul", "max")), [x, x])


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


PURE_STEPS: tuple[Step, ...] = (
    move, move, move, unary, unary, binary, binary, binary, where, divide, convert, reduce, reduce,
    reduce_and_spread, matmul, pad_under, diamonds, call, gradient, gradient,
)  # fmt: skip
