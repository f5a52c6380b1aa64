"""`lower-loops`: loop nests without shapes become explicit loops over memory.

```
prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [4]
  body #prog.program<(f32) {v0 = in 0, v1 = add v0 v0} -> (v1)>
  reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
  writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
```
becomes
```
scf.for %i = %c0 to %c4 step %c1 {
  %x = memref.load %a[%i] : memref<?xf32>
  %y = arith.addf %x, %x : f32
  memref.store %y, %o[%i] : memref<?xf32>
}
```

A kind that arith has no op for is a call of its function in the kind library, which is
declared: `func.func private @nx_exp_f32(f32) -> f32`.

Comparisons that the ranges of floats decide are constants (`loops/float_ranges.py`).
Loops are split where `ranges` decides their guards and masks (`loops/split.py`).
Parallel axes are merged, interchanged and tiled; the elements of a fold are taken in order,
so every bit stays. A fold along which memory is contiguous keeps a tile of accumulators in
local arrays (`loops/schedule.py` says how many); another fold carries scalars.

A nest with much work becomes a function of one of its parts (`loops/threads.py`), which is called
in a parallel loop:
```
scf.parallel (%part) = (%c0) to (%c64) step (%c1) {
  func.call @kernel_part(%a, %o, %part) : (memref<?xf32>, memref<?xf32>, index) -> ()
}
```
What a part keeps, panels and accumulators, is local to the call, and so private to a thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import PassFailedException

from dialects.prog import LoopOp
from dialects.prog.c_library import PREFIX
from dialects.uir.dispatch import DISPATCH

from .loops.axes import simplified
from .loops.emit import NestEmitter
from .loops.nest import Nest, nest_of
from .loops.schedule import schedule_of
from .loops.split import split
from .loops.threads import Threaded, threaded
from .loops.work import DISPATCHED, work_of


@dataclass
class LowerLoop(RewritePattern):
    """Replaces a `prog.loop` by its loops, and adds functions whose names are not `taken`."""

    taken: set[str]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoopOp, rewriter: PatternRewriter) -> None:
        function = op.parent_op()
        ops: list[Operation] = []
        work = 0
        for nest in (simplified(nest) for nest in split(nest_of(op))):
            rest: Nest | None = nest
            if isinstance(function, func.FuncOp) and (shared := threaded(nest)) is not None:
                part, arguments = _function_of(shared, self._name(function))
                rewriter.insert(part, InsertPoint.before(function))
                ops += _parallel_calls(part, arguments, shared.parts)
                rest = shared.rest
            if rest is not None:
                work += work_of(rest)
                ops += NestEmitter(rest, schedule_of(rest)).emit()
        if work >= DISPATCHED:
            _mark_dispatched(function)
        rewriter.replace(op, ops, [])

    def _name(self, function: func.FuncOp) -> str:
        """A name for the function of a part of `function`."""
        stem = f"{function.sym_name.data}_part"
        names = (stem, *(f"{stem}_{number}" for number in range(len(self.taken))))
        name = next(name for name in names if name not in self.taken)
        self.taken.add(name)
        return name


def _mark_dispatched(function: Operation | None) -> None:
    """Give a private function the mark."""
    if isinstance(function, func.FuncOp) and function.sym_visibility == StringAttr("private"):
        function.attributes[DISPATCH] = UnitAttr()


def _function_of(shared: Threaded, name: str) -> tuple[func.FuncOp, list[SSAValue]]:
    """The function of a part, whose last argument is its number, and the arguments before."""
    nest = shared.part
    views = (*nest.reads, *nest.epilogue_reads, *nest.writes)
    used = {symbol.number for index in nest.indices() for symbol in index.symbols()}
    values = [view.memory for view in views]
    values += [value for number, value in enumerate(nest.symbols) if number in used]
    values = list(dict.fromkeys(values))
    block = Block(arg_types=[*(value.type for value in values), IndexType()])
    *arguments, number = block.args
    for argument, value in zip(arguments, values, strict=True):
        argument.name_hint = value.name_hint
    number.name_hint = "part"
    inner = dict[SSAValue, SSAValue](zip(values, arguments, strict=True))
    loops = NestEmitter(nest.within(inner, number), shared.schedule).emit()
    block.add_ops((*loops, func.ReturnOp()))
    types = [argument.type for argument in block.args]
    function = func.FuncOp(name, (types, []), Region(block), visibility="private")
    _mark_dispatched(function)
    return function, values


def _parallel_calls(
    part: func.FuncOp, arguments: Sequence[SSAValue], parts: int
) -> list[Operation]:
    """A parallel loop over calls of `part`."""
    block = Block(arg_types=[IndexType()])
    (number,) = block.args
    number.name_hint = "part"
    call = func.CallOp(part.sym_name.data, [*arguments, number], [])
    block.add_ops((call, scf.ReduceOp()))
    first, end, step = (
        arith.ConstantOp(IntegerAttr.from_index_int_value(value)) for value in (0, parts, 1)
    )
    return [first, end, step, scf.ParallelOp([first], [end], [step], [block])]


class LowerLoopsPass(ModulePass):
    """Lowers every `prog.loop` to scf, arith and memref."""

    name = "lower-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        taken = {inner.sym_name.data for inner in op.ops if isinstance(inner, func.FuncOp)}
        # What a loop becomes holds no loop to lower: one visit of each is enough.
        PatternRewriteWalker(LowerLoop(taken), apply_recursively=False).rewrite_module(op)
        declare_library(op)


def declare_library(module: ModuleOp) -> None:
    """Declares the functions of the kind library that `module` calls, in order of their names.

    Raises PassFailedException if `module` has a function of its own of such a name.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
    missing: dict[str, func.FuncOp] = {}
    for op in module.walk():
        if isinstance(op, func.CallOp) and (name := op.callee.string_value()).startswith(PREFIX):
            if name not in functions:
                missing[name] = func.FuncOp.external(name, op.operand_types, op.result_types)
            elif not functions[name].is_declaration:
                raise PassFailedException(
                    f"lower-loops: @{name} has the name of a function of the kind library"
                )
    for _, declaration in sorted(missing.items()):
        module.body.block.add_op(declaration)
