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

Comparisons that the ranges of floats decide are constants (`loops/number_ranges.py`).
Loops are split where `ranges` decides their guards and masks (`loops/split.py`).
Parallel axes are merged, interchanged and tiled. Sums and products of floats take their elements
in order, so every bit stays; other folds have no order. Accumulators are vectors or scalars that
loops carry, or local arrays, as `loops/schedule.py` says.

A nest with much work becomes a function of one of its parts (`loops/threads.py`), which is called
in a parallel loop:
```
scf.parallel (%part) = (%c0) to (%c64) step (%c1) {
  func.call @kernel_part(%a, %o, %part) : (memref<?xf32>, memref<?xf32>, index) -> ()
}
```
What a part keeps, panels and accumulators, is local to the call, and so private to a thread. Of
loops in a row that `loops/fusion.py` allows it for, one part of each is called in each turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
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
from dialects.uir.attributes import DISPATCH, SOURCE
from passes.names import new_name

from .loops.axes import simplified
from .loops.emit import emit_nest
from .loops.fusion import fused
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
        if isinstance(function, func.FuncOp) and self._fuse(op, function, rewriter):
            return
        ops: list[Operation] = []
        work = 0
        for nest in nests_of(op):
            rest: Nest | None = nest
            if isinstance(function, func.FuncOp) and (shared := threaded(nest)) is not None:
                ops += self._in_parallel((shared,), _sources(function)[:1], function, rewriter)
                rest = shared.rest
            if rest is not None:
                work += work_of(rest)
                ops += emit_nest(rest, schedule_of(rest))
        if work >= DISPATCHED:
            _mark_dispatched(function)
        rewriter.replace(op, ops, [])

    def _fuse(self, op: LoopOp, function: func.FuncOp, rewriter: PatternRewriter) -> bool:
        """Replaces `op` and the loops after it by one over their parts, if they have such parts."""
        loops = [op, *_loops_after(op)]
        nests = [nests_of(loop) for loop in loops] if len(loops) > 1 else []
        parts = fused([nest for some in nests for nest in some])
        if parts is None:
            return False
        texts: list[Attribute | None] = []
        for some, text in zip_longest(nests, _sources(function)[: len(nests)]):
            texts += [text, *[None] * (len(some) - 1)]
        for loop in loops[1:]:
            rewriter.erase(loop)
        rewriter.replace(op, self._in_parallel(parts, texts, function, rewriter), [])
        return True

    def _in_parallel(
        self,
        nests: Sequence[Threaded],
        texts: Sequence[Attribute | None],
        function: func.FuncOp,
        rewriter: PatternRewriter,
    ) -> list[Operation]:
        """A parallel loop that runs `nests`, one after the other, on each of their parts; `texts`
        are the statements of some of them."""
        calls: list[tuple[func.FuncOp, list[SSAValue]]] = []
        for nest, text in zip_longest(nests, texts):
            name = new_name(f"{function.sym_name.data}_part", self.taken)
            part, arguments = _function_of(nest, name)
            if text is not None:
                part.attributes[SOURCE] = text
            rewriter.insert(part, InsertPoint.before(function))
            calls.append((part, arguments))
        return _parallel_calls(calls, nests[0].parts)


def nests_of(op: LoopOp) -> list[Nest]:
    """The nests that `op` becomes."""
    return [simplified(nest) for nest in split(nest_of(op))]


def _loops_after(op: LoopOp) -> list[LoopOp]:
    """The loops that follow `op` without anything between."""
    loops: list[LoopOp] = []
    following = op.next_op
    while isinstance(following, LoopOp):
        loops.append(following)
        following = following.next_op
    return loops


def _sources(function: func.FuncOp) -> Sequence[Attribute | None]:
    """The statements of each loop of `function`, taken from it to go with the code."""
    source = function.attributes.pop(SOURCE, None)
    return cast("ArrayAttr[Attribute]", source).data if isinstance(source, ArrayAttr) else [source]


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
    inside = nest.on(inner)
    inside = replace(inside, symbols=(*inside.symbols, number))
    loops = emit_nest(inside, shared.schedule)
    block.add_ops((*loops, func.ReturnOp()))
    types = [argument.type for argument in block.args]
    function = func.FuncOp(name, (types, []), Region(block), visibility="private")
    _mark_dispatched(function)
    return function, values


def _parallel_calls(
    calls: Sequence[tuple[func.FuncOp, Sequence[SSAValue]]], parts: int
) -> list[Operation]:
    """A parallel loop over calls of functions of a part, with their arguments."""
    block = Block(arg_types=[IndexType()])
    (number,) = block.args
    number.name_hint = "part"
    for part, arguments in calls:
        block.add_op(func.CallOp(part.sym_name.data, [*arguments, number], []))
    block.add_op(scf.ReduceOp())
    first, end, step = (
        arith.ConstantOp(IntegerAttr.from_index_int_value(value)) for value in (0, parts, 1)
    )
    return [first, end, step, scf.ParallelOp([first], [end], [step], [block])]


class LowerLoopsPass(ModulePass):
    """Lowers every `prog.loop` to scf, arith, vector and memref."""

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
