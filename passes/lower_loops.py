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

Loops are split where `ranges` decides their guards and masks (`loops/split.py`).
Parallel axes are merged, interchanged and tiled; the elements of a fold are taken in order,
so every bit stays. A fold along which memory is contiguous keeps a tile of accumulators in
local arrays (`loops/schedule.py` says how many); another fold carries scalars.
"""

from __future__ import annotations

from math import prod

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.utils.exceptions import PassFailedException

from dialects.prog import LoopOp
from dialects.prog.c_library import PREFIX
from dialects.uir.dispatch import DISPATCH

from .loops.axes import simplified
from .loops.emit import NestEmitter
from .loops.nest import Nest, nest_of
from .loops.schedule import schedule_of
from .loops.split import split

MUCH_WORK = 1 << 18
"""The scalar operations from which on a loop is worth compiling for several machines."""


def work_of(nest: Nest) -> int:
    """The scalar operations of `nest`: those of its body at every point."""
    return len(nest.body.nodes) * prod(nest.extents.values())


def mark_dispatched(function: Operation | None) -> None:
    """Give a private function the mark."""
    if isinstance(function, func.FuncOp) and function.sym_visibility == StringAttr("private"):
        function.attributes[DISPATCH] = UnitAttr()


class LowerLoop(RewritePattern):
    """Replaces a `prog.loop` by its loops."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoopOp, rewriter: PatternRewriter) -> None:
        nests = [simplified(nest) for nest in split(nest_of(op))]
        if sum(map(work_of, nests)) >= MUCH_WORK:
            mark_dispatched(op.parent_op())
        loops = [NestEmitter(nest, schedule_of(nest)).emit() for nest in nests]
        rewriter.replace(op, [op for ops in loops for op in ops], [])


class LowerLoopsPass(ModulePass):
    """Lowers every `prog.loop` to scf, arith and memref."""

    name = "lower-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # What a loop becomes holds no loop to lower: one visit of each is enough.
        PatternRewriteWalker(LowerLoop(), apply_recursively=False).rewrite_module(op)
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
