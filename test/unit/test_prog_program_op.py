"""`prog.program`: to plain data and back, and run on arrays."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from prog_strategies import programs
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.parser import Parser
from xdsl.printer import Printer

from dialects.prog import (
    CAST,
    ApplyOp,
    Binary,
    Const,
    Coord,
    Dtype,
    In,
    InOp,
    Node,
    Op1,
    Op2,
    Prog,
    Program,
    ProgramOp,
)
from uir.runtime.interpreters.prog import ProgFunctions

I32, F32 = Dtype.int32, Dtype.float32


def parsed(text: str) -> ProgramOp:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(Prog)
    module = Parser(context, text).parse_module()
    module.verify()
    (op,) = module.ops
    assert isinstance(op, ProgramOp)
    return op


def printed(op: ProgramOp, *, generic: bool) -> str:
    out = io.StringIO()
    Printer(stream=out, print_generic_format=generic).print_op(ModuleOp([op.clone()]))
    return out.getvalue()


@given(programs())
def test_programs_become_ops_and_come_back(program: Program) -> None:
    op = ProgramOp.of("p", program)
    op.verify()
    assert op.program == program
    for generic in (False, True):
        assert parsed(printed(op, generic=generic)).program == program


@pytest.mark.parametrize(
    ("nodes", "outs", "ops"),
    [
        # The operands are the arguments where they come first and are read ...
        ([In(0), In(1), Op2(Binary.ADD, 0, 1)], [2], [ApplyOp]),
        ([In(0), In(1)], [1], []),
        ([In(0), In(1), In(0), Op2(Binary.ADD, 1, 2)], [3], [InOp, ApplyOp]),
        # ... and nodes of their own elsewhere.
        ([In(1), In(0), Op2(Binary.ADD, 0, 1)], [2], [InOp, InOp, ApplyOp]),
        ([In(0), Op2(Binary.ADD, 0, 0)], [1], [InOp, ApplyOp]),
        ([In(0), In(1), In(0)], [2], [InOp, InOp, InOp]),
    ],
)
def test_operands_are_arguments_or_nodes(
    nodes: list[Node], outs: list[int], ops: list[type]
) -> None:
    program = Program.v([F32, F32], nodes, outs)
    op = ProgramOp.of("p", program)
    assert [type(node) for node in op.body.block.ops][:-1] == ops
    assert op.program == program


def test_text_is_the_program_it_says() -> None:
    op = parsed(
        """
        prog.program @f(%x: f32) {
          %0 = prog.coord 1 : i64
          %1 = prog.apply cast %0 : (i64) -> f32
          %2 = prog.const -0.0 : f32
          %3 = prog.apply sub %1, %x : f32
          prog.yield %3, %2 : f32, f32
        }"""
    )
    assert op.program == Program.v(
        [F32],
        [
            In(0),
            Coord(1),
            Op1(CAST, F32, 1),
            Const(F32, np.float32(-0.0).tobytes()),
            Op2(Binary.SUB, 2, 0),
        ],
        [4, 3],
    )


def test_a_program_is_called_at_every_index_of_a_shape() -> None:
    op = parsed(
        """
        prog.program @f(%x: i8) {
          %0 = prog.coord 0 : i64
          %1 = prog.apply cast %0 : (i64) -> i8
          %2 = prog.apply mul %1, %x : i8
          prog.yield %2 : i8
        }"""
    )
    module = op.parent_op()
    assert isinstance(module, ModuleOp)
    interpreter = Interpreter(module)
    interpreter.register_implementations(ProgFunctions())
    (result,) = interpreter.call_op("f", ((3, 2), np.array([100, 3], np.int8)))
    assert result.dtype == np.int8
    # 2 * 100 wraps.
    assert result.tolist() == [[0, 0], [100, 3], [-56, 6]]
