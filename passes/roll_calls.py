"""`roll-calls`: runs of calls that repeat become loops.

```
func.call @f(%x, %c0) : (memref<?xf32>, index) -> ()
func.call @f(%x, %c4) : (memref<?xf32>, index) -> ()
func.call @f(%x, %c8) : (memref<?xf32>, index) -> ()
func.call @f(%x, %c12) : (memref<?xf32>, index) -> ()
```
becomes
```
scf.for %i = %c0 to %c4 step %c1 {
  %0 = arith.muli %i, %c4 : index
  func.call @f(%x, %0) : (memref<?xf32>, index) -> ()
}
```

The order of the calls stays. A call repeats another one where they differ only in constants: in
index arguments, and in where a `memref.view` begins. `repeats` says what repeats, loops in loops
included. A training program whose steps are written out shrinks to the loops it was written from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from passes.loops.builder import LoopBuilder
from passes.repeats import Item, Node, fold_repeats

VARIABLES = "ijklmn"


def constant_index(value: SSAValue) -> int | None:
    """The value of a constant index."""
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data if isinstance(value.type, IndexType) else None
    return None


def item_of(call: func.CallOp, place: int) -> Item:
    """A call as an item: its numbers are constant indices and where views begin."""
    kinds: list[object] = [call.callee]
    numbers: list[int] = []
    for argument in call.arguments:
        op = argument.owner
        number = constant_index(argument)
        if number is None and isinstance(op, memref.ViewOp):
            number = constant_index(op.byte_shift)
            sizes = [size if (n := constant_index(size)) is None else n for size in op.sizes]
            whole = (op.source, *sizes, argument.type)
            kinds.append(argument if number is None else whole)
        else:
            kinds.append(argument if number is None else None)
        if number is not None:
            numbers.append(number)
    return Item(tuple(kinds), tuple(numbers), place)


class _Roller:
    """Builds the loops of the calls of one run."""

    def __init__(self, calls: Sequence[func.CallOp]):
        self.calls = calls
        self.builder = LoopBuilder()

    def emit(self, nodes: Sequence[Node]) -> Sequence[Operation]:
        for node in nodes:
            self.visit(node, [self.builder.index(number) for number in node.numbers], 0)
        return self.builder.ops

    def visit(self, node: Node, numbers: Sequence[SSAValue], depth: int) -> None:
        """Emits `node` with `numbers` in place of its own."""
        if isinstance(node, Item):
            self.call(self.calls[node.place], iter(numbers))
            return
        with self.builder.loop(node.turns) as loop:
            loop.variable.name_hint = VARIABLES[depth % len(VARIABLES)]
            moved = [
                self.moved(number, loop.variable, step)
                for number, step in zip(numbers, node.steps, strict=True)
            ]
            for inner in node.body:
                own, moved = moved[: len(inner.numbers)], moved[len(inner.numbers) :]
                self.visit(inner, own, depth + 1)

    def moved(self, number: SSAValue, turn: SSAValue, step: int) -> SSAValue:
        """`number + step * turn`."""
        if step == 0:
            return number
        if step != 1:
            turn = self.builder.pure(arith.MuliOp(turn, self.builder.index(step)))
        return (
            turn if constant_index(number) == 0 else self.builder.pure(arith.AddiOp(turn, number))
        )

    def call(self, call: func.CallOp, numbers: Iterator[SSAValue]) -> None:
        """Emits a call like `call` with `numbers` as its numbers."""
        arguments: list[SSAValue] = []
        for argument in call.arguments:
            op = argument.owner
            if constant_index(argument) is not None:
                argument = next(numbers)
            elif isinstance(op, memref.ViewOp) and constant_index(op.byte_shift) is not None:
                argument = self.view(op, next(numbers))
            arguments.append(argument)
        self.builder.effect(func.CallOp(call.callee, arguments, []))

    def view(self, view: memref.ViewOp, start: SSAValue) -> SSAValue:
        """The view that is like `view`, but begins at `start`."""
        if constant_index(start) == constant_index(view.byte_shift):
            return view.result
        operands = [view.source, start, *view.sizes]
        moved = memref.ViewOp.create(operands=operands, result_types=[view.result.type])
        moved.result.name_hint = view.result.name_hint
        return self.builder.pure(moved, view.result.type)


def blocks_of(module: ModuleOp) -> list[Block]:
    """All blocks of `module`, those of its functions and of loops in them."""
    return [block for op in module.walk() for region in op.regions for block in region.blocks]


def runs_of_calls(block: Block) -> Iterator[list[func.CallOp]]:
    """The calls of `block`, as runs with no other effect between them."""
    run: list[func.CallOp] = []
    for op in block.ops:
        if isinstance(op, func.CallOp) and not op.results:
            run.append(op)
        elif not isinstance(op, arith.ConstantOp | memref.ViewOp):
            yield run
            run = []
    yield run


def roll_calls(block: Block) -> None:
    """Rolls the calls of `block`."""
    for calls in list(runs_of_calls(block)):
        nodes = fold_repeats([item_of(call, place) for place, call in enumerate(calls)])
        if len(nodes) < len(calls):
            # What any of the calls uses is defined before the last of them.
            block.insert_ops_before(_Roller(calls).emit(nodes), calls[-1])
            for call in calls:
                call.detach()
                call.erase()
            erase_unused(block)


def erase_unused(block: Block) -> None:
    """Erases the constants and views of `block` that nothing uses."""
    op = block.last_op
    while op is not None:
        before = op.prev_op
        if isinstance(op, arith.ConstantOp | memref.ViewOp) and op.results[0].first_use is None:
            op.detach()
            op.erase()
        op = before


class RollCallsPass(ModulePass):
    """Rolls repeated calls into loops."""

    name = "roll-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in blocks_of(op):
            roll_calls(block)
