"""One node per meaning: value numbering of the ops of a block.

Statements with the same op, attributes and operands are one node. The exceptions are `buffer`,
`alloc`, `range`, `store`, `end`, and two `load`s with a `store` to the same buffer between them; a
launch or a loop counts as a store to every buffer that it stores to, and a load in a loop is not
one outside.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Attribute, Operation, SSAValue

from dialects.uir.base import UirOp
from dialects.uir.kernel import LaunchOp
from dialects.uir.loops import EndOp, ForOp, RangeOp
from dialects.uir.memory import AllocOp, BufferOp, LoadOp, StoreOp, buffer_of

_UNIQUE = (BufferOp, AllocOp, StoreOp, RangeOp, EndOp)


def stored_memories(op: Operation) -> Iterator[SSAValue]:
    """The memories that `op`, a store, a launch or a loop, stores to.

    A launch counts as a store to all its memories.
    """
    for inner in op.walk():
        if isinstance(inner, StoreOp):
            yield inner.memory
        elif isinstance(inner, LaunchOp):
            yield from inner.memories


def stored_buffers(op: Operation) -> Iterator[SSAValue]:
    """The buffers that `op`, a store, a launch or a loop, stores to."""
    return map(buffer_of, stored_memories(op))


class Nodes:
    """The distinct nodes of a block seen so far, in order; in a loop also those around it."""

    def __init__(self, around: Nodes | None = None) -> None:
        self._around = around
        self._nodes: dict[tuple[object, ...], Operation] = {}
        self._versions: dict[SSAValue, int] = {}
        self._buffers: dict[SSAValue, SSAValue] = {}
        """What `buffer_of` says of memories: chains of `after` are as long as a program."""
        self._types: dict[int, tuple[Attribute, Attribute]] = {}
        """By identity, a type and the first one that is equal: hashing a type takes long."""
        self._first_types: dict[Attribute, Attribute] = {}
        self._order: dict[Operation, int] = {}
        self._barrier = 0

    def add(self, op: Operation) -> Operation:
        """The node of `op`'s meaning: `op` itself, unless an equal one was added before."""
        if isinstance(op, UirOp) and not isinstance(op, _UNIQUE):
            key = self._key(op)
            node = self._find(key, op)
            if node is not None:
                return node
            self._nodes[key] = op
        elif isinstance(op, StoreOp | LaunchOp | ForOp):
            for memory in stored_memories(op):
                buffer = self._buffer_of(memory)
                self._versions[buffer] = self._versions.get(buffer, 0) + 1
        self._order[op] = len(self._order)
        return op

    def separate_loads(self) -> None:
        """From here on no load is one with a load before."""
        self._barrier += 1

    def position(self, op: Operation) -> int | None:
        """The number of nodes added before `op`, or before the loop with it; None if not added."""
        ancestor: Operation | None = op
        while ancestor is not None and ancestor not in self._order:
            ancestor = ancestor.parent_op()
        return None if ancestor is None else self._order[ancestor]

    def _find(self, key: tuple[object, ...], op: Operation) -> Operation | None:
        node = self._nodes.get(key)
        around = self._around
        while node is None and around is not None and not isinstance(op, LoadOp):
            node, around = around._nodes.get(key), around._around
        return node

    def _buffer_of(self, memory: SSAValue) -> SSAValue:
        path: list[SSAValue] = []
        while memory not in self._buffers and isinstance(op := memory.owner, UirOp) and op.operands:
            path.append(memory)
            memory = op.operands[0]
        buffer = self._buffers.get(memory, memory)
        self._buffers.update(dict.fromkeys(path, buffer))
        return buffer

    def _first_type(self, type: Attribute) -> int:
        """A number that only equal types share."""
        known = self._types.get(id(type))
        if known is None:
            known = self._types[id(type)] = type, self._first_types.setdefault(type, type)
        return id(known[1])

    def _key(self, op: UirOp) -> tuple[object, ...]:
        version = None
        if isinstance(op, LoadOp):
            version = self._barrier, self._versions.get(self._buffer_of(op.memory), 0)
        return (
            type(op),
            self._first_type(op.result.type),
            version,
            *op.operands,
            *op.properties.items(),
        )
