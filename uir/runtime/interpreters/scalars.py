"""The meaning of the ops that work element by element, as Prog expressions and programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeAlias

from xdsl.ir import SSAValue

from dialects.prog import Dtype, E, In, Program
from dialects.uir.constants import ConstantOp
from dialects.uir.elementwise import (
    PROG_DTYPES,
    ElementwiseOp,
    SameValueOp,
    failure_of_kind,
    prog_dtypes,
    program_of_kind,
)
from dialects.uir.functions import ParamOp, ResultOp
from dialects.uir.math import UnaryF32Op
from dialects.uir.types import dtype_of
from passes.inline_body import body_of

ScalarOp: TypeAlias = ElementwiseOp | UnaryF32Op
"""An op whose result has, at each index, a value that the elements there decide."""


def apply(op: ScalarOp, operands: Sequence[E]) -> E:
    """The result of `op` on elements `operands`."""
    if isinstance(op, ElementwiseOp):
        return type(op).scalar(operands, PROG_DTYPES[dtype_of(op.result)])
    return substitute(_body_expression(type(op)), operands)


def program_of(op: ScalarOp) -> Program:
    """The program of `op`, whose operands are the op's."""
    if isinstance(op, ElementwiseOp):
        return program_of_kind(type(op), prog_dtypes(op), PROG_DTYPES[dtype_of(op.results[0])])
    return _body_program(type(op))


def failure_of(op: ElementwiseOp) -> Program:
    """The program that says on which operands `op`, which can fail, is a runtime error."""
    return failure_of_kind(type(op), prog_dtypes(op))


@cache
def _body_program(kind: type[UnaryF32Op]) -> Program:
    return Program.of_exprs([Dtype.float32], [_body_expression(kind)])


@cache
def _body_expression(kind: type[UnaryF32Op]) -> E:
    """The program that defines the ops of `kind`, as one expression of operand 0."""
    values: dict[SSAValue, E] = {}
    for op in body_of(kind):
        if isinstance(op, ResultOp):
            return values[op.value]
        operands = [values[operand] for operand in op.operands]
        if isinstance(op, ParamOp):
            value = E.input(0, Dtype.float32)
        elif isinstance(op, ConstantOp):
            value = E.const(PROG_DTYPES[dtype_of(op.result)], op.scalar_value())
        elif isinstance(op, SameValueOp):
            (value,) = operands
        else:
            assert isinstance(op, ElementwiseOp | UnaryF32Op)
            value = apply(op, operands)
        values[op.results[0]] = value
    raise AssertionError("a body ends in its result")


def substitute(expression: E, operands: Sequence[E] | Mapping[int, E]) -> E:
    """`expression` with each input i replaced by `operands[i]`; equal parts are built once."""
    done: dict[int, E] = {}
    stack = [expression]
    while stack:
        e = stack[-1]
        waiting = [operand for operand in e.operands if id(operand) not in done]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        if isinstance(e.head, In):
            done[id(e)] = operands[e.head.i]
        else:
            done[id(e)] = E(e.head, e.dtype, tuple(done[id(o)] for o in e.operands))
    return done[id(expression)]
