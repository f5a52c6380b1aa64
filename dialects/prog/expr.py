"""Expressions: programs written as values whose operands are values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from .dtypes import Dtype, Value
from .kinds import BITCAST, CAST, COPY, FMA, WHERE, Binary, Compare, Kind1, Kind2, Kind3, Unary
from .program import Const, Coord, In, InvalidProgram, Leaf, dtype1, dtype2, dtype3, leaf_dtype
from .storage import bits

Head: TypeAlias = Leaf | Kind1 | Kind2 | Kind3
"""What an expression is apart from its operands and its dtype."""


_Row: TypeAlias = tuple[Head, Dtype, tuple[int, ...]]
"""An expression as data: its head, its dtype, and the numbers of its operands."""


def _of_one(kind: Unary) -> Callable[[E], E]:
    """The function of a kind of one operand."""

    def function(e: E) -> E:
        return E.of_kind1(kind, e.dtype, e)

    return _named(function, kind)


def _of_two(kind: Kind2) -> Callable[[E, E], E]:
    """The function of a kind of two operands."""

    def function(a: E, b: E) -> E:
        return E.of_kind2(kind, a, b)

    return _named(function, kind)


_Function = TypeVar("_Function", bound="Callable[..., E]")


def _named(function: _Function, kind: Unary | Kind2) -> _Function:
    function.__name__ = kind.value
    function.__qualname__ = f"E.{kind.value}"
    function.__doc__ = f"The kind {type(kind).__name__}.{kind.name}."
    return function


class E:
    """An expression: a leaf, or a kind applied to expressions.

    Immutable. Each kind is a function of its name here; `E.and_` and `E.or_` are the ones
    that a program in Python can write, as `and` and `or` are keywords.
    Some are operators: `/` is `fdiv`, `//` is `idiv` and `%` is `mod`, which truncate toward
    zero and not down. All raise InvalidProgram for operands that the kind does not take.
    `==` and `hash` are structural, and cost no more than the number of distinct nodes,
    however deep the expression is. The other comparisons are expressions, without a truth.
    """

    __slots__ = ("_hash", "dtype", "head", "operands")

    head: Head
    dtype: Dtype
    operands: tuple[E, ...]

    def __init__(self, head: Head, dtype: Dtype, operands: tuple[E, ...] = ()) -> None:
        """The parts as they are; the functions of this class check them."""
        for name, part in (
            ("head", head),
            ("dtype", dtype),
            ("operands", operands),
            ("_hash", hash((head, dtype, *(operand._hash for operand in operands)))),
        ):
            object.__setattr__(self, name, part)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an expression is immutable: `{name}` cannot be set")

    def __copy__(self) -> E:
        return self

    def __deepcopy__(self, memo: object) -> E:
        return self

    def __reduce__(self) -> tuple[Callable[..., E], tuple[list[_Row]]]:
        """Pickled as rows: without recursion, like everything here."""
        from .flatten import post_order

        numbers: dict[int, int] = {}
        rows: list[_Row] = []
        for e in post_order([self]):
            numbers[id(e)] = len(rows)
            rows.append((e.head, e.dtype, tuple(numbers[id(o)] for o in e.operands)))
        return _of_rows, (rows,)

    def __bool__(self) -> bool:
        raise TypeError("an expression is neither true nor false: `a < b < c` is two of them")

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, E) and _equal(self, other)

    def __repr__(self) -> str:
        names = f"{self.head}" if not self.operands else f"{self.head}/{len(self.operands)}"
        return f"E({names}: {self.dtype.value})"

    @staticmethod
    def input(i: int, dtype: Dtype) -> E:
        """Operand `i`, of `dtype`."""
        if i < 0:
            raise InvalidProgram(f"operand {i} is negative")
        return E(In(i), dtype)

    @staticmethod
    def const(dtype: Dtype, value: Value) -> E:
        """The constant `value`; raises InvalidProgram if that is no element of `dtype`, as an
        integer outside its range."""
        try:
            return E(Const(dtype, bits(dtype, value)), dtype)
        except ValueError as error:
            raise InvalidProgram(f"constant: {error}") from None

    @staticmethod
    def coord(axis: int) -> E:
        """The iteration index along `axis`, an int64."""
        leaf = Coord(axis)
        return E(leaf, leaf_dtype(leaf, ()))

    @staticmethod
    def of_kind1(kind: Kind1, dtype: Dtype, e: E) -> E:
        """`kind` of `e` into `dtype`; raises InvalidProgram if `kind` doesn't take it."""
        require_expressions(f"`{kind.value}`", e)
        return E(kind, dtype1(kind, e.dtype, dtype), (e,))

    @staticmethod
    def of_kind2(kind: Kind2, a: E, b: E) -> E:
        """`kind` of `a` and `b`; raises InvalidProgram if `kind` doesn't take them."""
        require_expressions(f"`{kind.value}`", a, b)
        return E(kind, dtype2(kind, a.dtype, b.dtype), (a, b))

    @staticmethod
    def of_kind3(kind: Kind3, a: E, b: E, c: E) -> E:
        """`kind` of `a`, `b` and `c`; raises InvalidProgram if `kind` doesn't take them."""
        require_expressions(f"`{kind.value}`", a, b, c)
        return E(kind, dtype3(kind, a.dtype, b.dtype, c.dtype), (a, b, c))

    @staticmethod
    def copy(e: E) -> E:
        """The bits of `e`."""
        return E.of_kind1(COPY, e.dtype, e)

    @staticmethod
    def cast(dtype: Dtype, e: E) -> E:
        """The element of `e` stored into `dtype`."""
        return E.of_kind1(CAST, dtype, e)

    @staticmethod
    def bitcast(dtype: Dtype, e: E) -> E:
        """The bits of `e` read in `dtype`, of the same width."""
        return E.of_kind1(BITCAST, dtype, e)

    neg = staticmethod(_of_one(Unary.NEG))
    recip = staticmethod(_of_one(Unary.RECIP))
    abs = staticmethod(_of_one(Unary.ABS))
    sign = staticmethod(_of_one(Unary.SIGN))
    sqrt = staticmethod(_of_one(Unary.SQRT))
    exp = staticmethod(_of_one(Unary.EXP))
    exp2 = staticmethod(_of_one(Unary.EXP2))
    log = staticmethod(_of_one(Unary.LOG))
    log2 = staticmethod(_of_one(Unary.LOG2))
    log1p = staticmethod(_of_one(Unary.LOG1P))
    expm1 = staticmethod(_of_one(Unary.EXPM1))
    sin = staticmethod(_of_one(Unary.SIN))
    cos = staticmethod(_of_one(Unary.COS))
    tan = staticmethod(_of_one(Unary.TAN))
    asin = staticmethod(_of_one(Unary.ASIN))
    acos = staticmethod(_of_one(Unary.ACOS))
    atan = staticmethod(_of_one(Unary.ATAN))
    sinh = staticmethod(_of_one(Unary.SINH))
    cosh = staticmethod(_of_one(Unary.COSH))
    tanh = staticmethod(_of_one(Unary.TANH))
    asinh = staticmethod(_of_one(Unary.ASINH))
    acosh = staticmethod(_of_one(Unary.ACOSH))
    atanh = staticmethod(_of_one(Unary.ATANH))
    erf = staticmethod(_of_one(Unary.ERF))
    floor = staticmethod(_of_one(Unary.FLOOR))
    ceil = staticmethod(_of_one(Unary.CEIL))
    round = staticmethod(_of_one(Unary.ROUND))
    trunc = staticmethod(_of_one(Unary.TRUNC))

    add = staticmethod(_of_two(Binary.ADD))
    sub = staticmethod(_of_two(Binary.SUB))
    mul = staticmethod(_of_two(Binary.MUL))
    fdiv = staticmethod(_of_two(Binary.FDIV))
    idiv = staticmethod(_of_two(Binary.IDIV))
    mod = staticmethod(_of_two(Binary.MOD))
    pow = staticmethod(_of_two(Binary.POW))
    atan2 = staticmethod(_of_two(Binary.ATAN2))
    maximum = staticmethod(_of_two(Binary.MAXIMUM))
    minimum = staticmethod(_of_two(Binary.MINIMUM))
    and_ = staticmethod(_of_two(Binary.AND))
    or_ = staticmethod(_of_two(Binary.OR))
    xor = staticmethod(_of_two(Binary.XOR))
    threefry = staticmethod(_of_two(Binary.THREEFRY))

    equal = staticmethod(_of_two(Compare.EQUAL))
    not_equal = staticmethod(_of_two(Compare.NOT_EQUAL))
    less = staticmethod(_of_two(Compare.LESS))
    less_equal = staticmethod(_of_two(Compare.LESS_EQUAL))

    @staticmethod
    def where(condition: E, a: E, b: E) -> E:
        """`a` where `condition` is true, `b` elsewhere."""
        return E.of_kind3(WHERE, condition, a, b)

    @staticmethod
    def fma(a: E, b: E, c: E) -> E:
        """The product of `a` and `b` plus `c`, rounded once."""
        return E.of_kind3(FMA, a, b, c)

    def __add__(self, other: E) -> E:
        return E.add(self, other)

    def __sub__(self, other: E) -> E:
        return E.sub(self, other)

    def __mul__(self, other: E) -> E:
        return E.mul(self, other)

    def __truediv__(self, other: E) -> E:
        return E.fdiv(self, other)

    def __floordiv__(self, other: E) -> E:
        return E.idiv(self, other)

    def __mod__(self, other: E) -> E:
        return E.mod(self, other)

    def __pow__(self, other: E) -> E:
        return E.pow(self, other)

    def __and__(self, other: E) -> E:
        return E.and_(self, other)

    def __or__(self, other: E) -> E:
        return E.or_(self, other)

    def __xor__(self, other: E) -> E:
        return E.xor(self, other)

    def __lt__(self, other: E) -> E:
        return E.less(self, other)

    def __le__(self, other: E) -> E:
        return E.less_equal(self, other)

    def __gt__(self, other: E) -> E:
        return E.less(other, self)

    def __ge__(self, other: E) -> E:
        return E.less_equal(other, self)

    def __neg__(self) -> E:
        return E.neg(self)

    def __abs__(self) -> E:
        return E.abs(self)


# For `getattr(E, kind.value)`.
setattr(E, "and", staticmethod(E.and_))
setattr(E, "or", staticmethod(E.or_))


def require_expressions(taker: str, *operands: object) -> None:
    """Raises InvalidProgram unless all of `operands`, of `taker`, are expressions."""
    for operand in operands:
        if not isinstance(operand, E):
            raise InvalidProgram(f"{taker} takes expressions, found {operand!r}")


def _of_rows(rows: Sequence[_Row]) -> E:
    """The last of the expressions that `rows` are, each over earlier ones."""
    made: list[E] = []
    for head, dtype, operands in rows:
        made.append(E(head, dtype, tuple(made[number] for number in operands)))
    return made[-1]


def _equal(left: E, right: E) -> bool:
    """Structural equality: every pair of nodes is compared once."""
    seen: set[tuple[int, int]] = set()
    pairs = [(left, right)]
    while pairs:
        a, b = pairs.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        if hash(a) != hash(b) or (a.head, a.dtype) != (b.head, b.dtype):
            return False
        if len(a.operands) != len(b.operands):
            return False
        seen.add((id(a), id(b)))
        pairs.extend(zip(a.operands, b.operands, strict=True))
    return True
