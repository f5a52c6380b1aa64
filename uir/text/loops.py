"""Loops of the text: what is between `range` and `end` moves into the region of a `uir.for`.

In the loop of `%i` are the effects that its `end` names (through `group` too), what depends on
`%i`, a load that stands after the `range` and reads a buffer that the loop stores to, and what
depends on any of these. The rest stays where it stands. The loop runs, whole, where its `end`
stands, so a loop that ends first and shares a needed statement is in the other one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from dialects.uir.base import TypingError
from dialects.uir.gradient import GradientOp
from dialects.uir.loops import EndOp, ForOp, RangeOp, ancestor_in
from dialects.uir.memory import GroupOp, LoadOp, StoreOp, buffer_of
from dialects.uir.nodes import stored_buffers

MAX_DEPTH = 100
"""How deep loops nest: C compilers have a limit, and it is beyond what a program needs."""


@dataclass
class ClosedLoop:
    """A loop that an `end` built, and the warnings about it: an op and a message each."""

    loop: ForOp
    warnings: list[tuple[Operation, str, str | None]]


class LoopRegions:
    """Builds the loops of one program, as its statements are added to `block`."""

    def __init__(self, block: Block):
        self._block = block
        self._positions: dict[Operation, int] = {}
        self._loads: list[LoadOp] = []
        self._stores: list[StoreOp] = []
        self._open: dict[RangeOp, None] = {}
        self._named: set[RangeOp] = set()
        self._starts: dict[ForOp, int] = {}
        self._depths: dict[ForOp, int] = {}
        self._closed: dict[SSAValue, str] = {}

    def add(self, op: Operation) -> None:
        """Notes that `op` was added to the end of the block."""
        self._positions[op] = len(self._positions)
        if isinstance(op, LoadOp):
            self._loads.append(op)
        elif isinstance(op, StoreOp):
            self._stores.append(op)
        elif isinstance(op, RangeOp):
            self._open[op] = None

    def name_end(self, value: SSAValue) -> None:
        """Notes that an `end`, right or wrong, names the range `value`."""
        if isinstance(value.owner, RangeOp):
            self._named.add(value.owner)

    def unclosed_ranges(self) -> Iterable[RangeOp]:
        """The ranges that no `end` names."""
        return [range for range in self._open if range not in self._named]

    def range_of(self, value: SSAValue) -> RangeOp | None:
        """The open range whose loop `value` is in; None if it is in no loop."""
        for range in self._open:
            if value.owner is range or value.owner in self._members(range, ()):
                return range
        return None

    def check_operands(self, operands: Sequence[SSAValue]) -> None:
        """Raises TypingError for an operand that is in a loop which has ended."""
        for number, operand in enumerate(operands):
            if operand in self._closed:
                raise TypingError(
                    f"this is in the loop of `{self._closed[operand]}`, which has ended", number
                )

    def close(self, end: EndOp) -> ClosedLoop:
        """Builds the loop that `end` closes, in the place of `end`. Raises TypingError."""
        *effects, index = end.effects
        end.drop_all_references()
        range = index.owner
        assert isinstance(range, RangeOp)
        start = self._positions[range]
        for number, effect in enumerate(effects):
            if any(self._positions[op] < start for op in _named_effects(effect)):
                raise TypingError("this effect stands before the range", number)
        members = self._members(range, effects)
        self._check_members(members, len(effects))
        depth = 1 + max((self._depths[op] for op in members if isinstance(op, ForOp)), default=0)
        if depth > MAX_DEPTH:
            raise TypingError(f"loops nest at most {MAX_DEPTH} deep", len(effects))
        loop = ForOp.of(range.bound)
        loop.location = end.location
        loop.index.name_hint = index.name_hint
        self._block.add_op(loop)
        self._starts[loop] = start
        self._depths[loop] = depth
        warnings = self._warnings(loop, members, start)
        self._move(range, members, loop)
        self.add(loop)
        return ClosedLoop(loop, warnings)

    def _members(self, range: RangeOp, effects: Iterable[SSAValue]) -> set[Operation]:
        """The ops of the block that are in the loop of `range`."""
        members: set[Operation] = set()
        buffers: set[SSAValue] = set()
        self._include_users(range.result, members, buffers)
        for effect in effects:
            self._include_effect(effect, members, buffers)
        start = self._positions[range]
        while True:
            added = len(members)
            for load in reversed(self._loads):
                if self._positions[load] < start:
                    break
                ancestor = ancestor_in(self._block, load)
                if ancestor is not None and buffer_of(load.memory) in buffers:
                    self._include(ancestor, members, buffers)
            if len(members) == added:
                return members

    def _include_effect(
        self, effect: SSAValue, members: set[Operation], buffers: set[SSAValue]
    ) -> None:
        for op in _named_effects(effect):
            self._include(op, members, buffers)

    def _include(self, op: Operation, members: set[Operation], buffers: set[SSAValue]) -> None:
        """Adds `op` and all that depends on it."""
        stack = [op]
        while stack:
            op = stack.pop()
            if op in members:
                continue
            members.add(op)
            buffers.update(stored_buffers(op))
            for result in op.results:
                stack += self._users(result)

    def _include_users(
        self, value: SSAValue, members: set[Operation], buffers: set[SSAValue]
    ) -> None:
        for user in self._users(value):
            self._include(user, members, buffers)

    def _users(self, value: SSAValue) -> list[Operation]:
        users = [ancestor_in(self._block, use.operation) for use in value.uses]
        return [user for user in users if user is not None]

    def _check_members(self, members: Iterable[Operation], index: int) -> None:
        """Raises TypingError for a range left open, LoopGradient for a gradient in the loop."""
        for op in sorted(members, key=self._positions.__getitem__):
            if isinstance(op, RangeOp):
                raise TypingError("another range depends on this one: `end` that one first", index)
            if isinstance(op, GradientOp):
                raise LoopGradient(op)

    def _warnings(
        self, loop: ForOp, members: set[Operation], start: int
    ) -> list[tuple[Operation, str, str | None]]:
        name = loop.index.name_hint or "i"
        warnings: list[tuple[Operation, str, str | None]] = []
        first = bisect_right(self._stores, start, key=self._positions.__getitem__)
        for store in self._stores[first:]:
            if store.parent is self._block and store not in members:
                warnings.append(
                    (
                        store,
                        f"this `store` stands between `%{name}` and its `end`, "
                        "but it is not in the loop",
                        f"store through `after %m %{name}`, or name it in the `end`",
                    )
                )
        for inner in members:
            if isinstance(inner, ForOp) and self._starts[inner] < start:
                outer, nested = f"`%{name}`", f"`%{inner.index.name_hint or 'i'}`"
                message = f"the loop of {nested} is inside that of {outer}, whose range comes later"
                warnings.append((inner, message, None))
        return warnings

    def _move(self, range: RangeOp, members: set[Operation], loop: ForOp) -> None:
        """Moves the members that an effect needs into `loop`, and erases the others."""
        needed = self._needed(members)
        name = f"%{loop.index.name_hint or 'i'}"
        self._closed[range.result] = name
        ordered = sorted(members, key=self._positions.__getitem__)
        for op in ordered:
            self._closed.update((result, name) for result in op.results)
        for op in reversed(ordered):
            if op not in needed:
                op.detach()
                op.erase(safe_erase=False)
        for op in ordered:
            if op in needed:
                op.detach()
                loop.body.block.add_op(op)
        range.result.replace_all_uses_with(loop.index)
        del self._open[range]
        range.detach()
        range.erase()

    def _needed(self, members: set[Operation]) -> set[Operation]:
        """The effects among `members`, and the members that these depend on."""
        stack = [op for op in members if isinstance(op, StoreOp | ForOp)]
        needed: set[Operation] = set()
        while stack:
            op = stack.pop()
            if op in needed:
                continue
            needed.add(op)
            for inner in op.walk():
                owners = [operand.owner for operand in inner.operands]
                stack += [o for o in owners if isinstance(o, Operation) and o in members]
        return needed


class LoopGradient(Exception):
    """A `gradient` of, or with respect to, a value in a loop."""

    def __init__(self, op: GradientOp):
        super().__init__("no gradient goes through a loop: this value depends on a range")
        self.op = op


def _named_effects(effect: SSAValue) -> Iterator[Operation]:
    """The op of `effect`, and those of the effects that it groups."""
    stack = [effect]
    while stack:
        op = stack.pop().owner
        assert isinstance(op, Operation)
        yield op
        if isinstance(op, GroupOp):
            stack += op.effects
