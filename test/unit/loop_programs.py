"""Random programs of the loop level, for tests that run one program in two ways."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import hypothesis.strategies as st
from xdsl.builder import Builder, InsertPoint
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

index = IndexType()
INT32_MIN = -(2**31)
OUTPUTS_PER_TYPE = 4

FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.1, 3.0, 1e-45, -1e-38, 1e38, -3.4028234663852886e38, 16777217.0,
    float("inf"), float("-inf"), float("nan"),
]  # fmt: skip
INTEGERS = [0, 1, -1, 2, 3, -7, 28, 65536, 2**31 - 1, INT32_MIN]


@dataclass
class Lane:
    """The body of a random program: ops, and the values that later ops may use, by type."""

    builder: Builder
    pools: dict[Attribute, list[SSAValue]] = field(
        default_factory=lambda: {f32: [], i32: [], i64: [], i1: []}
    )

    def add(self, op: Operation) -> SSAValue:
        self.builder.insert(op)
        return op.results[0]

    def constant(self, value: float, type_: Attribute) -> SSAValue:
        if type_ == f32:
            return self.add(arith.ConstantOp(FloatAttr(value, f32)))
        return self.add(arith.ConstantOp(IntegerAttr(int(value), type_)))

    def pick(self, type_: Attribute, choice: int) -> SSAValue:
        pool = self.pools[type_]
        return pool[-1 - choice % len(pool)]

    def put(self, op: Operation) -> None:
        self.keep(self.add(op))

    def keep(self, value: SSAValue) -> None:
        self.pools[value.type].append(value)


Step = Callable[[Lane, int, int, int], None]


def _binary(op_class: Any, type_: Attribute) -> Step:
    def step(lane: Lane, a: int, b: int, c: int) -> None:
        lane.put(op_class(lane.pick(type_, a), lane.pick(type_, b)))

    return step


def _compare(op_class: Any, type_: Attribute, predicate: str) -> Step:
    def step(lane: Lane, a: int, b: int, c: int) -> None:
        lane.put(op_class(lane.pick(type_, a), lane.pick(type_, b), predicate))

    return step


def _convert(op_class: Any, source: Attribute, target: Attribute) -> Step:
    def step(lane: Lane, a: int, b: int, c: int) -> None:
        lane.put(op_class(lane.pick(source, a), target))

    return step


def _select(type_: Attribute) -> Step:
    def step(lane: Lane, a: int, b: int, c: int) -> None:
        lane.put(arith.SelectOp(lane.pick(i1, a), lane.pick(type_, b), lane.pick(type_, c)))

    return step


def _constant(type_: Attribute, values: Sequence[float]) -> Step:
    def step(lane: Lane, a: int, b: int, c: int) -> None:
        lane.keep(lane.constant(values[a % len(values)], type_))

    return step


def _division(op_class: Any, type_: Attribute) -> Step:
    """A division by a divisor that is neither 0 nor -1."""

    def step(lane: Lane, a: int, b: int, c: int) -> None:
        divisor = lane.pick(type_, b)
        for bad in (0, -1):
            is_bad = lane.add(arith.CmpiOp(divisor, lane.constant(bad, type_), "eq"))
            divisor = lane.add(arith.SelectOp(is_bad, lane.constant(3, type_), divisor))
        lane.put(op_class(lane.pick(type_, a), divisor))

    return step


def _negate(lane: Lane, a: int, b: int, c: int) -> None:
    lane.put(arith.NegfOp(lane.pick(f32, a)))


def _to_integer(target: Attribute) -> Step:
    """A conversion of a float that is in range."""

    def step(lane: Lane, a: int, b: int, c: int) -> None:
        value = lane.pick(f32, a)
        for bound, predicate in ((2.0**30, "olt"), (-(2.0**30), "ogt")):
            fits = lane.add(arith.CmpfOp(value, lane.constant(bound, f32), predicate))
            value = lane.add(arith.SelectOp(fits, value, lane.constant(0.0, f32)))
        lane.put(arith.FPToSIOp(value, target))

    return step


def _float_bits(lane: Lane, a: int, b: int, c: int) -> None:
    """The bits of a float that is no NaN: the bits of a NaN are not fixed."""
    value = lane.pick(f32, a)
    is_nan = lane.add(arith.CmpfOp(value, value, "uno"))
    number = lane.add(arith.SelectOp(is_nan, lane.constant(1.0, f32), value))
    lane.put(arith.BitcastOp(number, i32))


def _index_arithmetic(lane: Lane, a: int, b: int, c: int) -> None:
    """An index expression that stays within 64 bits."""
    i, j = (lane.add(arith.IndexCastOp(lane.pick(i32, k), index)) for k in (a, b))
    factor, divisor = lane.constant(1 + b % 99, index), lane.constant(1 + c % 29, index)
    total = lane.add(arith.SubiOp(lane.add(arith.MuliOp(i, factor)), j))
    quotient = lane.add(arith.FloorDivSIOp(total, divisor))
    remainder = lane.add(arith.RemSIOp(total, divisor))
    literal = lane.add(arith.MuliOp(lane.constant(70000, index), lane.constant(70000, index)))
    result = lane.add(arith.AddiOp(lane.add(arith.SubiOp(quotient, remainder)), literal))
    lane.put(arith.CmpiOp(result, total, ("slt", "uge", "ne")[c % 3]))
    lane.put(arith.IndexCastOp(result, (i32, i64)[c % 2]))


def _conditional(lane: Lane, a: int, b: int, c: int) -> None:
    """A conditional with two results, whose branches compute."""
    x, n = lane.pick(f32, b), lane.pick(i32, c)
    branches: list[Block] = []
    for op_class in (arith.AddfOp, arith.MulfOp):
        block = Block()
        inner = Lane(Builder(InsertPoint.at_end(block)))
        value = inner.add(op_class(x, lane.pick(f32, c)))
        inner.builder.insert(scf.YieldOp(value, inner.add(arith.MuliOp(n, n))))
        branches.append(block)
    op = scf.IfOp(lane.pick(i1, a), [f32, i32], Region(branches[0]), Region(branches[1]))
    lane.builder.insert(op)
    for result in op.results:
        lane.keep(result)


def _loop(lane: Lane, a: int, b: int, c: int) -> None:
    """A loop whose carried values swap places and change on every turn."""
    start = [lane.pick(f32, a), lane.pick(f32, b), lane.pick(i32, c)]
    block = Block(arg_types=[index, f32, f32, i32])
    turn, x, y, n = block.args
    inner = Lane(Builder(InsertPoint.at_end(block)))
    total = inner.add(arith.AddfOp(x, inner.add(arith.MulfOp(y, y))))
    number = inner.add(arith.AddiOp(n, inner.add(arith.IndexCastOp(turn, i32))))
    inner.builder.insert(scf.YieldOp(y, total, number))
    bounds = [lane.constant(value, index) for value in (0, a % 4, 1)]
    op = scf.ForOp(*bounds, start, block)
    lane.builder.insert(op)
    for result in op.results:
        lane.keep(result)


STEPS: list[Step] = [
    *(
        _binary(op_class, f32)
        for op_class in (
            arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.MaximumfOp,
            arith.MinimumfOp,
        )
    ),
    *(
        _binary(op_class, type_)
        for op_class in (arith.AddiOp, arith.SubiOp, arith.MuliOp)
        for type_ in (i32, i64)
    ),
    *(
        _binary(op_class, type_)
        for op_class in (arith.AndIOp, arith.OrIOp, arith.XOrIOp)
        for type_ in (i32, i64, i1)
    ),
    *(
        _division(op_class, type_)
        for op_class in (
            arith.DivSIOp, arith.RemSIOp, arith.FloorDivSIOp, arith.DivUIOp, arith.RemUIOp,
        )
        for type_ in (i32, i64)
    ),
    *(
        _compare(arith.CmpiOp, type_, predicate)
        for type_ in (i32, i64)
        for predicate in ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
    ),
    *(_compare(arith.CmpiOp, i1, predicate) for predicate in ("eq", "ne", "ult", "uge")),
    *(
        _compare(arith.CmpfOp, f32, predicate)
        for predicate in (
            "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule",
            "une", "uno",
        )
    ),
    *(_select(type_) for type_ in (f32, i32, i64, i1)),
    _convert(arith.ExtUIOp, i1, i32), _convert(arith.ExtUIOp, i1, i64),
    _convert(arith.ExtSIOp, i32, i64), _convert(arith.TruncIOp, i64, i32),
    _convert(arith.SIToFPOp, i32, f32), _convert(arith.SIToFPOp, i64, f32),
    _convert(arith.UIToFPOp, i1, f32), _convert(arith.BitcastOp, i32, f32),
    _to_integer(i32), _to_integer(i64), _float_bits, _negate,
    _constant(f32, FLOATS), _constant(i32, INTEGERS), _constant(i64, [*INTEGERS, 2**40]),
    _index_arithmetic, _conditional, _loop,
]  # fmt: skip

_CHOICE = st.integers(0, 7)
SCRIPTS = st.lists(
    st.tuples(st.integers(0, len(STEPS) - 1), _CHOICE, _CHOICE, _CHOICE), min_size=1, max_size=60
)
"""What `program` builds a module from."""


def program(script: Sequence[tuple[int, int, int, int]], lanes: int) -> ModuleOp:
    """`kernel(f32 inputs, i32 inputs, f32 outputs, i32 outputs, i1 outputs)`.

    Lane i of `lanes` computes on elements i and `lanes + i` of each input, and writes
    OUTPUTS_PER_TYPE elements of each output.
    """
    memories = [MemRefType(type_, [-1]) for type_ in (f32, i32, f32, i32, i1)]
    function = func.FuncOp("kernel", (memories, []))
    arguments = function.body.block.args
    top = Lane(Builder(InsertPoint.at_end(function.body.block)))
    body = Block(arg_types=[index])
    lane = Lane(Builder(InsertPoint.at_end(body)))
    second = lane.add(arith.AddiOp(body.args[0], lane.constant(lanes, index)))
    for memory in arguments[:2]:
        for place in (body.args[0], second):
            lane.put(memref.LoadOp.get(memory, [place]))
    lane.put(arith.ExtSIOp(lane.pick(i32, 0), i64))
    lane.put(arith.CmpfOp(lane.pick(f32, 0), lane.pick(f32, 1), "olt"))
    for step, a, b, c in script:
        STEPS[step](lane, a, b, c)
    _store_last(lane, body.args[0], arguments[2:])
    lane.builder.insert(scf.YieldOp())
    bounds = [top.constant(value, index) for value in (0, lanes, 1)]
    top.builder.insert(scf.ForOp(*bounds, [], body))
    top.builder.insert(func.ReturnOp())
    return ModuleOp([function])


def _store_last(lane: Lane, position: SSAValue, outputs: Sequence[SSAValue]) -> None:
    lane.put(arith.TruncIOp(lane.pick(i64, 0), i32))
    base = lane.add(arith.MuliOp(position, lane.constant(OUTPUTS_PER_TYPE, index)))
    for output, type_ in zip(outputs, (f32, i32, i1), strict=True):
        for k in range(OUTPUTS_PER_TYPE):
            place = lane.add(arith.AddiOp(base, lane.constant(k, index)))
            lane.builder.insert(memref.StoreOp.get(lane.pick(type_, k), output, [place]))
