"""One node per meaning: value numbering of the ops of a block.

Statements with the same op, attributes and operands are one node. The exceptions are `buffer`,
`store`, and two `load`s with a `store` to the same buffer between them.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from dialects.uir.base import UirOp
from dialects.uir.memory import BufferOp, LoadOp, StoreOp, buffer_of

_UNIQUE = (BufferOp, StoreOp)


class Nodes:
    """The distinct nodes seen so far, in the order of the text."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[object, ...], Operation] = {}
        self._versions: dict[SSAValue, int] = {}
        self._order: dict[Operation, int] = {}

    def add(self, op: Operation) -> Operation:
        """The node of `op`'s meaning: `op` itself, unless an equal one was added before."""
        if isinstance(op, UirOp) and not isinstance(op, _UNIQUE):
            node = self._nodes.setdefault(self._key(op), op)
            if node is not op:
                return node
        elif isinstance(op, StoreOp):
            buffer = buffer_of(op.memory)
            self._versions[buffer] = self._versions.get(buffer, 0) + 1
        self._order[op] = len(self._order)
        return op

    def position(self, op: Operation) -> int | None:
        """The number of nodes added before `op`; None if it was not added."""
        return self._order.get(op)

    def _key(self, op: UirOp) -> tuple[object, ...]:
        version = self._versions.get(buffer_of(op.memory), 0) if isinstance(op, LoadOp) else None
        return (
            type(op),
            op.result.type,
            version,
            *op.operands,
            *op.properties.items(),
        )
