"""Which values a program stores, and which live inside the kernels that use them.

A value is stored when it is a `stage`; when evaluating it again costs more than writing and reading
it, `cost * (evaluations - 1) > STORE_COST`; when it is a reduction that another reduction or more
than one point needs; when its kernel would grow too large; and when it is a load that would be read
after a store to its buffer. Everything else is recomputed where it is used.

Users come after what they use, so one sweep from the end decides each value after all its users.
Costs depend on what operands are stored: a first round takes every value as recomputed, a second
one takes as stored what the first one stored.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue

from dialects.uir.base import UirOp
from dialects.uir.elementwise import (
    ConstantOp,
    DetachOp,
    DivisionOp,
    ElementwiseOp,
    RecipOp,
    SameValueOp,
    StageOp,
)
from dialects.uir.functions import ParamOp, ResultOp
from dialects.uir.math import MathOp
from dialects.uir.memory import LoadOp, StoreOp, buffer_of
from dialects.uir.movement import ExpandOp, PadOp, ReduceOp, StackOp
from dialects.uir.types import is_value, shape_of, size_of

STORE_COST = 4
"""What a write and the reads of a stored element cost, in additions."""
MAX_KERNEL_SIZE = 400
"""The size at which a value is stored, in scalar operations."""
MATH_COST = 35
_MANY = 8
"""The number of places from which on they are no longer told apart."""


def resolve(value: SSAValue) -> SSAValue:
    """`value` without the `detach`es around it, which mean nothing once gradients are taken."""
    while isinstance(value.owner, DetachOp):
        value = value.owner.x
    return value


def is_pointwise(op: Operation) -> bool:
    """Whether each element of the result comes from the operands' elements at the same place."""
    return isinstance(op, ElementwiseOp | MathOp | SameValueOp)


def weight_of(op: Operation) -> int:
    """The cost of one element of `op` by itself, in additions."""
    if isinstance(op, MathOp):
        return MATH_COST
    if isinstance(op, DivisionOp):
        return 8
    if isinstance(op, RecipOp):
        return 4
    return 1 if isinstance(op, ElementwiseOp) else 0


@dataclass
class _Uses:
    """Where a value is evaluated: each kernel and way to index it, with evaluations per element."""

    places: dict[tuple[Operation, int], float] = field(default_factory=dict)
    in_reduction: bool = False
    last_read: int = 0

    def add(self, place: tuple[Operation, int], evaluations: float, position: int) -> None:
        if place in self.places or len(self.places) < _MANY:
            self.places[place] = max(evaluations, self.places.get(place, 0))
        self.last_read = max(self.last_read, position)

    def evaluations(self) -> float:
        return sum(self.places.values())


Stored: TypeAlias = dict[SSAValue, int]
"""The values that are stored, and the position of the last kernel that reads each."""


@dataclass
class _Costs:
    """What evaluating each value costs, for one element, and which grow too large."""

    costs: dict[SSAValue, float] = field(default_factory=dict)
    oversized: set[SSAValue] = field(default_factory=set)


class Planner:
    """Decides for one block of the tensor level, whose sugar, gradients and calls are expanded."""

    def __init__(self, block: Block):
        self.ops = list(block.ops)
        self.positions = {op: position for position, op in enumerate(self.ops)}
        self.stores: dict[SSAValue, list[int]] = {}
        for position, op in enumerate(self.ops):
            if isinstance(op, StoreOp):
                self.stores.setdefault(buffer_of(op.memory), []).append(position)

    def plan(self) -> Stored:
        return self._decide(self._costs(self._decide(self._costs({}))))

    def _costs(self, stored: Stored) -> _Costs:
        """The costs where what is `stored` costs its readers nothing."""
        result = _Costs()
        costs, sizes = result.costs, dict[SSAValue, float]()
        for op in self.ops:
            if not isinstance(op, UirOp) or not is_value(op.result.type):
                continue
            cost = size = float(weight_of(op))
            for operand in {resolve(operand) for operand in op.operands}:
                if operand in costs and operand not in stored and operand not in result.oversized:
                    cost += costs[operand]
                    size += sizes[operand]
            if isinstance(op, ReduceOp):
                cost = (cost + 1) * prod(shape_of(op.x)[: op.pop()])
            if size > MAX_KERNEL_SIZE:
                result.oversized.add(op.result)
            # Diamonds count twice, so that both grow exponentially in the depth of a program.
            costs[op.result], sizes[op.result] = min(cost, 1e9), min(size, 1e9)
        return result

    def _decide(self, costs: _Costs) -> Stored:
        stored: Stored = {}
        uses: dict[SSAValue, _Uses] = {}
        folds: dict[Operation, tuple[int, ...]] = {}
        ways: dict[tuple[Operation, int], int] = {}
        for op in reversed(self.ops):
            position = self.positions[op]
            if isinstance(op, StoreOp | ResultOp):
                uses.setdefault(resolve(op.value), _Uses()).add((op, 0), 1.0, position)
            elif isinstance(op, UirOp) and op.result in uses:
                use = uses[op.result]
                if self._is_stored(op, use, costs, folds):
                    stored[op.result] = use.last_read
                    use = _Uses()
                    use.add((op, 0), 1.0, position)
                self._use_operands(op, use, uses, folds, ways)
        return stored

    def _is_stored(
        self,
        op: UirOp,
        use: _Uses,
        costs: _Costs,
        folds: dict[Operation, tuple[int, ...]],
    ) -> bool:
        if isinstance(op, StageOp):
            return True
        if isinstance(op, LoadOp):
            return self._is_overwritten(op, use.last_read)
        if isinstance(op, ConstantOp | ParamOp | DetachOp):
            return False
        if isinstance(op, ReduceOp):
            extents = shape_of(op.x)[: op.pop()]
            kernels = {kernel for kernel, _ in use.places}
            return (
                use.in_reduction
                or use.evaluations() > 1
                or any(folds.get(kernel, extents) != extents for kernel in kernels)
            )
        repeated = costs.costs[op.result] * (use.evaluations() - 1)
        return repeated > STORE_COST or op.result in costs.oversized

    def _is_overwritten(self, load: LoadOp, last_read: int) -> bool:
        """Whether a store to the load's buffer stands between it and a kernel that reads it."""
        stores = self.stores.get(buffer_of(load.memory), [])
        following = bisect_right(stores, self.positions[load])
        return following < len(stores) and stores[following] < last_read

    def _use_operands(
        self,
        op: UirOp,
        use: _Uses,
        uses: dict[SSAValue, _Uses],
        folds: dict[Operation, tuple[int, ...]],
        ways: dict[tuple[Operation, int], int],
    ) -> None:
        if isinstance(op, LoadOp):
            return
        if isinstance(op, ReduceOp):
            for kernel, _ in use.places:
                folds[kernel] = shape_of(op.x)[: op.pop()]
        for value in op.operands:
            if not is_value(value.type):
                continue
            operand = uses.setdefault(resolve(value), _Uses())
            operand.in_reduction |= use.in_reduction or isinstance(op, ReduceOp)
            growth = 1.0
            if isinstance(op, ExpandOp | PadOp | StackOp):
                growth = size_of(op.result) / size_of(value)
            for (kernel, way), evaluations in use.places.items():
                if not is_pointwise(op):
                    way = ways.setdefault((op, way), len(ways) + 1)
                operand.add((kernel, way), evaluations * growth, use.last_read)
