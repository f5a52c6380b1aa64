"""The `uir` dialect, and its ops by their spelling in the text."""

from __future__ import annotations

from xdsl.ir import Dialect

from dialects.uir import (
    checks,
    constants,
    elementwise,
    functions,
    gradient,
    kernel,
    loops,
    math,
    memory,
    movement,
    reduce,
    sugar,
)
from dialects.uir.base import UirOp
from dialects.uir.elements import ElementsAttr
from dialects.uir.types import EffectType, MemType

STATEMENTS: list[type[UirOp]] = [
    elementwise.AddOp,
    elementwise.MulOp,
    elementwise.MaxOp,
    elementwise.CmpltOp,
    elementwise.WhereOp,
    elementwise.XorOp,
    elementwise.DivOp,
    elementwise.ModOp,
    elementwise.RecipOp,
    elementwise.CastOp,
    elementwise.BitcastOp,
    elementwise.DetachOp,
    elementwise.StageOp,
    math.Exp2Op,
    math.Log2Op,
    math.SqrtOp,
    math.SinOp,
    sugar.NegOp,
    sugar.SubOp,
    sugar.FdivOp,
    sugar.ReluOp,
    sugar.ExpOp,
    sugar.LogOp,
    sugar.FloorOp,
    sugar.CmpeqOp,
    sugar.MatmulOp,
    movement.ReshapeOp,
    movement.PermuteOp,
    movement.ExpandOp,
    movement.PadOp,
    movement.ShrinkOp,
    movement.IndexOp,
    movement.StackOp,
    reduce.ReduceOp,
    memory.BufferOp,
    memory.AllocOp,
    memory.LoadOp,
    memory.StoreOp,
    memory.AfterOp,
    memory.GroupOp,
    loops.RangeOp,
    loops.EndOp,
    functions.ParamOp,
    functions.CallOp,
    gradient.GradientOp,
]
"""Every op that a statement of the text can name."""

OPS: dict[str, type[UirOp]] = {op.spelling(): op for op in STATEMENTS}

_WHILE_PARSING = (loops.RangeOp, loops.EndOp)

Uir = Dialect(
    "uir",
    [
        constants.ConstantOp,
        *(op for op in STATEMENTS if op not in _WHILE_PARSING),
        functions.ResultOp,
        elementwise.DivisionFailsOp,
        elementwise.CastFailsOp,
        checks.AssertOp,
        functions.FunctionOp,
        functions.ApplyOp,
        loops.ForOp,
        kernel.TemporaryOp,
        kernel.OutputOp,
        kernel.KernelOp,
        kernel.YieldOp,
        kernel.LaunchOp,
    ],
    [MemType, EffectType, ElementsAttr],
)
