"""Which values a program stores, and which live inside the kernels that use them.

A value is stored when it is a `stage`; when evaluating it again costs more than writing and reading
it, `cost * (evaluations - 1) > STORE_COST`; when it is a reduction that another reduction or more
than one point needs; when its kernel would grow too large; when it is a load that would be read
after a store to its buffer; and when it is needed as one scalar: by an offset, by the bound of a
loop or by scalar code. Everything else is recomputed where it is used. Of a `permute` or `reshape`
that is no such scalar, the operand is stored.

Scalar code is what a loop computes on scalars: it belongs to no kernel, it runs as it stands.

Users come after what they use, so one sweep from the end decides each value after all its users.
Costs depend on what operands are stored: a first round takes every value as recomputed, a second
one takes as stored what the first one stored.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue

from dialects.uir.base import UirOp
from dialects.uir.checks import AssertOp
from dialects.uir.constants import ConstantOp
from dialects.uir.elementwise import (
    DetachOp,
    DivisionOp,
    ElementwiseOp,
    RecipOp,
    SameValueOp,
    StageOp,
)
from dialects.uir.functions import ApplyOp, ParamOp, ResultOp
from dialects.uir.loops import ForOp, ancestor_in, is_loop_index
from dialects.uir.math import MathOp
from dialects.uir.memory import LoadOp, StoreOp, buffer_of
from dialects.uir.movement import (
    ExpandOp,
    MovementOp,
    OffsetOp,
    PadOp,
    PermuteOp,
    ReshapeOp,
    StackOp,
)
from dialects.uir.reduce import ReduceOp
from dialects.uir.types import is_value, shape_of, size_of
from passes.index import Index, coordinate
from passes.views import resolve, stacked_view

STORE_COST = 4
"""What a write and the reads of a stored element cost, in additions."""
MAX_KERNEL_SIZE = 400
"""The size at which a value is stored, in scalar operations."""
MATH_COST = 35
LOOP_TRIPS = 8
"""How often a loop is taken to run."""
_MANY = 8
"""The number of places from which on they are no longer told apart."""


def block_of(value: SSAValue) -> Block:
    """The block that `value` is computed in, or an argument of."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    assert block is not None
    return block


def is_pointwise(op: Operation) -> bool:
    """Whether each element of the result comes from the operands' elements at the same place."""
    return isinstance(op, ElementwiseOp | MathOp | SameValueOp)


def is_scalar_code(value: SSAValue) -> bool:
    """Whether `value` is a scalar that a loop computes: of scalars, or by loading one cell."""
    if is_loop_index(value):
        return True
    op = value.owner
    if not isinstance(op, UirOp) or not is_value(value.type) or shape_of(value):
        return False
    if not isinstance(op.parent_op(), ForOp) or isinstance(op, ConstantOp):
        return False
    if isinstance(op, ReshapeOp | PermuteOp | ExpandOp):
        return not shape_of(op.x)
    return is_pointwise(op) or isinstance(op, LoadOp)


def is_scalar_store(op: StoreOp) -> bool:
    """Whether a store is of scalar code: of one cell, in a loop."""
    if shape_of(op.memory) or not isinstance(op.parent_op(), ForOp):
        return False
    value = resolve(op.value)
    return is_scalar_code(value) or isinstance(value.owner, ConstantOp)


def view_offsets(memory: SSAValue) -> Iterator[SSAValue]:
    """The computed offsets of the views that lead to `memory`."""
    while isinstance(op := memory.owner, MovementOp):
        if isinstance(op, OffsetOp):
            yield from computed_offsets(op)
        memory = op.x


def computed_offsets(op: OffsetOp) -> Iterator[SSAValue]:
    """The offsets of `op` that are no literals."""
    for offset in map(resolve, op.offsets):
        if not isinstance(offset.owner, ConstantOp):
            yield offset


def weight_of(op: Operation) -> int:
    """The cost of one element of `op` by itself, in additions."""
    if isinstance(op, MathOp):
        return MATH_COST
    if isinstance(op, DivisionOp):
        return 8
    if isinstance(op, RecipOp):
        return 4
    # Where an element is, is tested.
    if isinstance(op, PadOp):
        return 2
    if isinstance(op, StackOp):
        return 0 if is_view(op) else len(op.operands)
    return 1 if isinstance(op, ElementwiseOp) else 0


def is_view(op: StackOp) -> bool:
    """Whether all operands are parts of one value, and as evenly spaced as a view needs."""
    symbols: dict[SSAValue, int] = {}

    def symbol_of(offset: SSAValue, greatest: int) -> Index:
        return Index.symbol(symbols.setdefault(resolve(offset), len(symbols)), greatest)

    coordinates = [coordinate(axis, dim) for axis, dim in enumerate(shape_of(op.result))]
    return stacked_view(op, coordinates, symbol_of) is not None


def is_uniform(op: UirOp, uniform: set[SSAValue]) -> bool:
    """Whether all elements of the result are one number that literals decide.

    `uniform` has the operands of which that is known.
    """
    if isinstance(op, ConstantOp):
        return True
    keeps = is_pointwise(op) or (isinstance(op, MovementOp) and not isinstance(op, PadOp))
    return keeps and all(resolve(operand) in uniform for operand in op.operands)


Place: TypeAlias = tuple[Operation, int]
"""The root of a kernel, and a way in which it indexes a value."""


@dataclass
class _Uses:
    """Where a value is evaluated: the places, with evaluations per element, and the last reader."""

    places: dict[Place, float] = field(default_factory=dict)
    in_reduction: bool = False
    as_scalar: bool = False
    last_read: int = 0

    def add(self, place: Place, evaluations: float, position: int) -> None:
        if place in self.places or len(self.places) < _MANY:
            self.places[place] = max(evaluations, self.places.get(place, 0))
        self.last_read = max(self.last_read, position)

    def evaluations(self) -> float:
        return sum(self.places.values())


@dataclass
class Plan:
    """The decisions for one program."""

    stored: dict[SSAValue, int] = field(default_factory=dict)
    """The values that kernels store, and the position of the last reader of each."""
    spilled: dict[SSAValue, int] = field(default_factory=dict)
    """The scalar code that kernels read, and the position of the last one."""
    scalars: set[SSAValue] = field(default_factory=set)
    """The scalar code that is needed."""


@dataclass
class _Costs:
    """What evaluating each value costs, for one element, and which grow too large."""

    costs: dict[SSAValue, float] = field(default_factory=dict)
    oversized: set[SSAValue] = field(default_factory=set)


class Planner:
    """Decides for a program of the tensor level, whose sugar, gradients and calls are expanded."""

    def __init__(self, block: Block):
        self.ops: list[Operation] = []
        self.positions: dict[Operation, int] = {}
        self.ends: dict[ForOp, int] = {}
        """The position of the end of each loop, after all that is in it."""
        self._stores: dict[SSAValue, list[int]] = {}
        self._count = 0
        self._number(block)

    def _number(self, block: Block) -> None:
        for op in block.ops:
            self.ops.append(op)
            self.positions[op] = self._count
            self._count += 1
            if isinstance(op, StoreOp):
                self._stores.setdefault(buffer_of(op.memory), []).append(self.positions[op])
            elif isinstance(op, ForOp):
                self._number(op.body.block)
                self.ends[op] = self._count
                self._count += 1

    def plan(self) -> Plan:
        first = self._decide(self._costs(Plan()))
        return self._decide(self._costs(first))

    def _costs(self, plan: Plan) -> _Costs:
        """The costs where what is stored costs its readers nothing.

        What is one number, known before the program runs, costs nothing: it is no part of a loop.
        """
        result = _Costs()
        costs, sizes = result.costs, dict[SSAValue, float]()
        uniform: set[SSAValue] = set()
        for op in self.ops:
            if not isinstance(op, UirOp) or not is_value(op.result.type):
                continue
            cost = size = float(weight_of(op))
            for operand in {resolve(operand) for operand in op.operands}:
                if operand not in costs or operand in plan.stored or operand in plan.scalars:
                    continue
                if operand not in result.oversized:
                    cost += costs[operand]
                    size += sizes[operand]
            if is_uniform(op, uniform):
                uniform.add(op.result)
                cost = 0
            if isinstance(op, ReduceOp):
                cost = (cost + 1) * prod(shape_of(op.x)[: op.pop()])
            if size > MAX_KERNEL_SIZE:
                result.oversized.add(op.result)
            # Diamonds count twice, so that both grow exponentially in the depth of a program.
            costs[op.result], sizes[op.result] = min(cost, 1e9), min(size, 1e9)
        return result

    def _decide(self, costs: _Costs) -> Plan:
        sweep = _Sweep(self, costs)
        for op in reversed(self.ops):
            sweep.visit(op)
        return sweep.plan

    def is_overwritten(self, load: LoadOp, last_read: int) -> bool:
        """Whether a store to the load's buffer stands between it and a kernel that reads it."""
        stores = self._stores.get(buffer_of(load.memory), [])
        following = bisect_right(stores, self.positions[load])
        return following < len(stores) and stores[following] < last_read

    def seen_from(self, value: SSAValue, user: Operation, position: int) -> int:
        """`position`, in or after `user`, as a position of the block of `value`.

        What a loop reads, it may read until it ends.
        """
        block = block_of(value)
        ancestor = ancestor_in(block, user)
        return max(position, self.ends[ancestor]) if isinstance(ancestor, ForOp) else position


class _Sweep:
    """One sweep over a program from its end."""

    def __init__(self, planner: Planner, costs: _Costs):
        self.planner = planner
        self.costs = costs
        self.plan = Plan()
        self.uses: dict[SSAValue, _Uses] = {}
        self.folds: dict[Operation, tuple[int, ...]] = {}
        self.ways: dict[Place, int] = {}

    def visit(self, op: Operation) -> None:
        position = self.planner.positions[op]
        match op:
            case StoreOp():
                self.need_offsets(op.memory, op)
                if is_scalar_store(op):
                    self.need_scalar(op.value, op, position)
                else:
                    self.use(op.value, op, (op, 0), 1.0, position)
            case ResultOp():
                self.use(op.value, op, (op, 0), 1.0, position)
            case AssertOp():
                self.need_scalar(op.failed, op, position)
            case ForOp():
                self.need_scalar(op.bound, op, position)
                self.note_scalar(op.index)
            case UirOp() if op.result in self.uses:
                if is_scalar_code(op.result):
                    self.visit_scalar(op, position)
                else:
                    self.visit_value(op, position)
            case _:
                pass

    def note_scalar(self, value: SSAValue) -> None:
        """Notes that scalar code is needed, and whether a kernel reads it."""
        use = self.uses.get(value)
        if use is not None:
            self.plan.scalars.add(value)
            if use.places:
                self.plan.spilled[value] = use.last_read

    def visit_scalar(self, op: UirOp, position: int) -> None:
        self.note_scalar(op.result)
        if isinstance(op, LoadOp):
            self.need_offsets(op.memory, op)
        else:
            for operand in op.operands:
                self.need_scalar(operand, op, position)

    def visit_value(self, op: UirOp, position: int) -> None:
        use = self.uses[op.result]
        if isinstance(op, LoadOp):
            self.need_offsets(op.memory, op)
        if self.is_stored(op, use):
            self.plan.stored[op.result] = use.last_read
            use = _Uses()
            use.add((op, 0), 1.0, position)
        if isinstance(op, ApplyOp):
            self.need_memory(op, position)
        elif not isinstance(op, LoadOp):
            self.use_operands(op, use)

    def is_stored(self, op: UirOp, use: _Uses) -> bool:
        if isinstance(op, ConstantOp | ParamOp | DetachOp):
            return False
        if use.as_scalar or isinstance(op, StageOp | ApplyOp):
            return True
        if isinstance(op, PermuteOp | ReshapeOp):
            # Its operand costs as much, and is stored in the order in which it is computed.
            return False
        if isinstance(op, LoadOp):
            return self.planner.is_overwritten(op, use.last_read)
        if isinstance(op, ReduceOp):
            extents = shape_of(op.x)[: op.pop()]
            return (
                use.in_reduction
                or use.evaluations() > 1
                or any(self.folds.get(kernel, extents) != extents for kernel, _ in use.places)
            )
        repeated = self.costs.costs[op.result] * (use.evaluations() - 1)
        return repeated > STORE_COST or op.result in self.costs.oversized

    def use_operands(self, op: UirOp, use: _Uses) -> None:
        if isinstance(op, ReduceOp):
            for kernel, _ in use.places:
                self.folds[kernel] = shape_of(op.x)[: op.pop()]
        offsets = set(computed_offsets(op)) if isinstance(op, OffsetOp) else set[SSAValue]()
        for value in map(resolve, op.operands):
            growth = 1.0
            if isinstance(op, ExpandOp | PadOp | StackOp):
                growth = size_of(op.result) / size_of(value)
            for (kernel, way), evaluations in use.places.items():
                if not is_pointwise(op):
                    way = self.ways.setdefault((op, way), len(self.ways) + 1)
                self.use(value, op, (kernel, way), evaluations * growth, use.last_read)
            operand = self.uses[value]
            operand.in_reduction |= use.in_reduction or isinstance(op, ReduceOp)
            operand.as_scalar |= value in offsets

    def use(
        self, value: SSAValue, user: Operation, place: Place, evaluations: float, position: int
    ) -> None:
        """Notes that a kernel evaluates `value`, on the way through `user`."""
        value = resolve(value)
        if self.is_outside_loop(value, user):
            evaluations *= LOOP_TRIPS
        position = self.planner.seen_from(value, user, position)
        self.uses.setdefault(value, _Uses()).add(place, evaluations, position)

    def is_outside_loop(self, value: SSAValue, user: Operation) -> bool:
        """Whether `value` is computed outside a loop that `user` is in."""
        return user.parent is not block_of(value)

    def need_scalar(self, value: SSAValue, user: Operation, position: int) -> None:
        """Notes that `user` needs `value` in memory, where a scalar is read from."""
        value = resolve(value)
        use = self.uses.setdefault(value, _Uses())
        use.as_scalar = True
        use.last_read = max(use.last_read, self.planner.seen_from(value, user, position))

    def need_memory(self, op: ApplyOp, position: int) -> None:
        """Notes that a function reads its arguments from memory."""
        for argument in op.arguments:
            self.use(argument, op, (op, 0), 1.0, position)
            self.need_scalar(argument, op, position)

    def need_offsets(self, memory: SSAValue, user: Operation) -> None:
        """Notes that `user` needs the computed offsets of a view as scalars.

        A kernel reads them from memory when it runs; how late that is, the readers of the view say.
        """
        readers = self.uses.get(user.results[0]) if isinstance(user, LoadOp) else None
        position = self.planner.positions[user]
        for offset in view_offsets(memory):
            self.need_scalar(offset, user, position)
            if not self.is_scalar_access(user):
                last = max(position, readers.last_read if readers else 0)
                self.use(offset, user, (user, 0), 1.0, last)

    def is_scalar_access(self, op: Operation) -> bool:
        if isinstance(op, StoreOp):
            return is_scalar_store(op)
        return isinstance(op, LoadOp) and is_scalar_code(op.result)
