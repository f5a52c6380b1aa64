"""`fuse-loops`: calls in a row whose loops can run part by part become one.

```
func.call @kernel_e(%x, %e)     ->      func.call @kernel_e_to_s(%x, %e, %s)
func.call @kernel_s(%e, %s)
```

The function that takes their place has their loops, one after the other, and `lower-loops` runs all
of them on one part of the rows before the next part: while what one loop wrote is in a cache, the
others read it. So the rows of a softmax go through memory once, not once for each kernel.
`loops/fusion.py` says which loops can.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.passes import ModulePass

from dialects.prog import LoopOp, memory_dtype, size
from dialects.uir.attributes import SOURCE
from passes.loops.fusion import fused
from passes.loops.nest import Nest, nest_of
from passes.loops.threads import is_worth_sharing
from passes.lower_loops import nests_of
from passes.names import new_name
from passes.rangeify import OUTPUT
from passes.roll_calls import blocks_of, constant_index, runs_of_calls

NO_SOURCE = StringAttr("")

_MOST = 16
"""The most loops that are fused: a cache holds no more of what they touch."""


class _Kernel:
    """A function that runs one loop and does nothing else."""

    def __init__(self, function: func.FuncOp, loop: LoopOp):
        self.function = function
        self.loop = loop

    @staticmethod
    def of(function: func.FuncOp) -> _Kernel | None:
        """`function` as a kernel, if it is one."""
        ops = [] if function.is_declaration else list(function.body.block.ops)
        if len(ops) != 2 or not isinstance(ops[0], LoopOp):
            return None
        return _Kernel(function, ops[0])

    @cached_property
    def is_large(self) -> bool:
        return is_worth_sharing(nest_of(self.loop))

    @cached_property
    def nests(self) -> list[Nest]:
        """What the loop becomes, on the function's arguments."""
        return nests_of(self.loop)

    def on(self, arguments: Sequence[SSAValue]) -> dict[SSAValue, SSAValue]:
        """The function's own arguments, as `arguments`."""
        return dict(zip(self.function.body.block.args, arguments, strict=True))


class _Fuser:
    """Replaces calls of the functions of a module."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self.taken = {op.sym_name.data for op in module.ops if isinstance(op, func.FuncOp)}
        self.kernels = {
            op.sym_name.data: kernel
            for op in module.ops
            if isinstance(op, func.FuncOp) and (kernel := _Kernel.of(op)) is not None
        }
        self.made: dict[tuple[object, ...], str] = {}
        """What has been fused, by the functions and which arguments they share."""

    def visit(self, calls: Sequence[func.CallOp]) -> None:
        """Fuses what can be of a run of calls."""
        start = 0
        while start < len(calls):
            end = start + 1
            while end < min(len(calls), start + _MOST) and self.can_fuse(calls[start : end + 1]):
                end += 1
            if end > start + 1:
                self.fuse(calls[start:end])
            start = end

    def can_fuse(self, calls: Sequence[func.CallOp]) -> bool:
        kernels = [self.kernels.get(call.callee.string_value()) for call in calls]
        known = [kernel for kernel in kernels if kernel is not None]
        if len(known) < len(calls) or not any(kernel.is_large for kernel in known):
            return False
        memories = dict.fromkeys(argument for call in calls for argument in call.arguments)
        if any(may_overlap(one, other) for one, other in combinations(memories, 2)):
            return False
        nests = [
            nest.on(kernel.on(call.arguments))
            for kernel, call in zip(known, calls, strict=True)
            for nest in kernel.nests
        ]
        return fused(nests) is not None

    def fuse(self, calls: Sequence[func.CallOp]) -> None:
        """Puts one call in the place of `calls`, at the last of them."""
        arguments = list(dict.fromkeys(a for call in calls for a in call.arguments))
        places = tuple(tuple(arguments.index(a) for a in call.arguments) for call in calls)
        names = tuple(call.callee.string_value() for call in calls)
        key = (names, places)
        if key not in self.made:
            self.made[key] = self.build(names, places, arguments)
        last = calls[-1]
        block = last.parent
        assert block is not None
        block.insert_op_before(func.CallOp(self.made[key], arguments, []), last)
        for call in calls:
            call.detach()
            call.erase()

    def build(
        self, names: Sequence[str], places: Sequence[Sequence[int]], arguments: Sequence[SSAValue]
    ) -> str:
        """The name of a new function with the loops of `names`, one after the other."""
        kernels = [self.kernels[name] for name in names]
        block = Block(arg_types=[argument.type for argument in arguments])
        sources: list[Attribute] = []
        for kernel, numbers in zip(kernels, places, strict=True):
            values = kernel.on([block.args[number] for number in numbers])
            for old, new in values.items():
                # What reads a memory has a better name for it than what writes it.
                if new.name_hint in (None, OUTPUT):
                    new.name_hint = old.name_hint
            block.add_op(kernel.loop.clone(value_mapper=values))
            sources.append(kernel.function.attributes.get(SOURCE, NO_SOURCE))
        block.add_op(func.ReturnOp())
        name = new_name(f"{names[0]}_to_{names[-1].removeprefix('kernel_')}", self.taken)
        types = [argument.type for argument in block.args]
        made = func.FuncOp(name, (types, []), Region(block), visibility="private")
        if any(source != NO_SOURCE for source in sources):
            made.attributes[SOURCE] = ArrayAttr(sources)
        self.module.body.block.insert_op_after(made, kernels[-1].function)
        return name


def may_overlap(one: SSAValue, other: SSAValue) -> bool:
    """Whether two arguments of calls may share memory, as views that aren't known to be apart."""
    a, b = one.owner, other.owner
    if not isinstance(a, memref.ViewOp) or not isinstance(b, memref.ViewOp):
        return False
    if a.source is not b.source:
        return False
    if (first := bytes_of(a)) is None or (second := bytes_of(b)) is None:
        return True
    return first.start < second.stop and second.start < first.stop


def bytes_of(view: memref.ViewOp) -> range | None:
    """The bytes of its source that a view of one axis sees, if that is known."""
    start, count = (constant_index(value) for value in (view.byte_shift, *view.sizes))
    if start is None or count is None:
        return None
    return range(start, start + count * size(memory_dtype(view.result)))


class FuseLoopsPass(ModulePass):
    """Fuses calls in a row into calls of functions with several loops."""

    name = "fuse-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fuser = _Fuser(op)
        for block in blocks_of(op):
            for calls in list(runs_of_calls(block)):
                fuser.visit(calls)
        if fuser.made:
            erase_uncalled(op)


def erase_uncalled(module: ModuleOp) -> None:
    """Erases the private functions with a body that nothing calls."""
    called = {op.callee.string_value() for op in module.walk() if isinstance(op, func.CallOp)}
    for op in list(module.ops):
        if not isinstance(op, func.FuncOp) or op.is_declaration or op.sym_name.data in called:
            continue
        if op.sym_visibility == StringAttr("private"):
            op.detach()
            op.erase()
