"""`fold-constants` changes no bit and no runtime error; a constant program becomes its literal."""

from __future__ import annotations

from math import prod
from random import Random

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from random_programs import programs
from ways_to_run import applied, assert_same_bits, canonical, case_of, run_uir
from xdsl.dialects.builtin import ModuleOp

from dialects.uir.constants import ConstantOp
from dialects.uir.functions import ResultOp
from passes.pipelines import RUN, apply_passes
from uir.runtime.failure import RuntimeFailure
from uir.runtime.interpret import interpret
from uir.text.parser import parse_text

LITERALS = {
    "f32": ("0.0", "-0.0", "1.0", "-2.5", "0.1", "nan", "inf", "-inf", "1e-45", "3e+38", "2e+09"),
    "i32": ("0", "1", "2", "-1", "3", "-7", "65536", "2147483647", "-2147483648"),
    "bool": ("true", "false"),
}
Shape = tuple[int, ...]
SHAPES: tuple[Shape, ...] = ((), (3,), (2, 3), (3, 1))
BINARY = {
    "f32": ("add", "mul", "max", "sub", "fdiv"),
    "i32": ("add", "mul", "max", "xor", "div", "mod"),
    "bool": ("mul", "max", "xor"),
}
UNARY = ("neg", "relu", "recip", "exp2", "log2", "sqrt", "sin", "floor", "exp", "log")


class Constants:
    """A program without buffers, params or loops, that grows by one statement at a time."""

    def __init__(self, rng: Random):
        self.rng = rng
        self.lines: list[str] = []
        self.values: list[tuple[str, str, Shape]] = []

    def emit(self, statement: str, dtype: str, shape: Shape) -> None:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {statement}")
        self.values.append((name, dtype, shape))

    def pick(self, dtype: str, shape: Shape) -> str:
        """A value of this type: an old one, or a literal, expanded where needed."""
        old = [name for name, d, s in self.values if (d, s) == (dtype, shape)]
        if old and self.rng.randrange(3):
            return self.rng.choice(old[-2:])
        literal = self.rng.choice(LITERALS[dtype])
        if not shape:
            return literal
        self.emit(f"expand {literal} shape={spell(shape)}", dtype, shape)
        return self.values[-1][0]

    def step(self) -> None:
        rng = self.rng
        dtype, shape = rng.choice(list(BINARY)), rng.choice(SHAPES)
        x, y = self.pick(dtype, shape), self.pick(dtype, shape)
        match rng.randrange(10):
            case 0 | 1 | 2:
                self.emit(f"{rng.choice(BINARY[dtype])} {x} {y}", dtype, shape)
            case 3:
                self.emit(f"cmplt {x} {y}", "bool", shape)
            case 4:
                self.emit(f"where {self.pick('bool', shape)} {x} {y}", dtype, shape)
            case 5:
                to = rng.choice([*BINARY])
                self.emit(f"cast {x} dtype={to}", to, shape)
            case 6:
                self.emit(f"{rng.choice(UNARY)} {self.pick('f32', shape)}", "f32", shape)
            case 7:
                self.emit(f"stack {x} {y} {x}", dtype, (3, *shape))
            case 8 if shape:
                op = rng.choice(["mul", "max"])
                self.emit(f"reduce {x} op={op} pop={len(shape)}", dtype, ())
            case _ if shape:
                # Computed, because the text refuses a literal that is out of bounds.
                self.emit(f"add {rng.choice((0, 1, 1))} {rng.choice((-1, 0, 1, 2))}", "i32", ())
                self.emit(f"index {x} {self.values[-1][0]}", dtype, shape[1:])
            case _:
                self.emit(f"bitcast {self.pick('f32', ())} dtype=i32", "i32", ())

    def text(self) -> str:
        """The program, which ends in a scalar made of its last value."""
        name, dtype, shape = self.values[-1]
        if shape:
            self.emit(f"reshape {name} shape=[{prod(shape)}]", dtype, (prod(shape),))
            self.emit(f"reduce {self.values[-1][0]} op=max pop=1", dtype, ())
        else:
            self.emit(f"detach {name}", dtype, ())
        return "\n".join(self.lines)


def spell(shape: Shape) -> str:
    return f"[{' '.join(map(str, shape))}]"


def constant_program(seed: int) -> str:
    program = Constants(Random(seed))
    for _ in range(program.rng.randint(1, 14)):
        program.step()
    return program.text()


def result_of(module: ModuleOp) -> bytes | str:
    """The bits of the result, or the place and the kind of the runtime error."""
    module = module.clone()
    apply_passes(RUN, module)
    try:
        result = interpret(module, {}).result
    except RuntimeFailure as failure:
        return str(failure)
    assert result is not None
    return canonical(result)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32).map(constant_program))
def test_a_constant_program_is_its_literal(text: str) -> None:
    module = parse_text(text)
    expected = result_of(module)
    folded = applied(module, "fold-constants")
    note(f"{text}\n{folded}")
    assert result_of(folded) == expected
    if isinstance(expected, bytes):
        assert [type(op) for op in folded.body.block.ops] == [ConstantOp, ResultOp]


@settings(max_examples=50, deadline=None)
@given(programs())
def test_no_bit_changes(text: str) -> None:
    note(text)
    case = case_of(text)
    expected = run_uir(case, case.module)
    assert_same_bits(expected, run_uir(case, applied(case.module, "fold-constants")), text)


@settings(max_examples=50, deadline=None)
@given(programs())
def test_no_bit_changes_before_sugar_and_gradients_are_expanded(text: str) -> None:
    note(text)
    case = case_of(text)
    module = applied(parse_text(text), "fold-constants")
    apply_passes(RUN, module)
    assert_same_bits(run_uir(case, case.module), run_uir(case, module), text)


@pytest.mark.parametrize("count", [1, 7, 1000])
def test_a_sum_of_one_literal_is_added_in_order(count: int) -> None:
    expected = np.float32(0)
    for _ in range(count):
        expected += np.float32(0.1)
    text = f"%v = expand 0.1 shape=[{count}]\n%s = reduce %v op=add pop=1"
    literal = applied(parse_text(text), "fold-constants").body.block.first_op
    assert isinstance(literal, ConstantOp)
    assert np.float32(literal.scalar_value()) == expected


def test_a_long_fold_is_left_to_the_kernel() -> None:
    text = "%v = expand 0.1 shape=[1000000]\n%s = reduce %v op=add pop=1"
    ops = [op.name for op in applied(parse_text(text), "fold-constants").body.block.ops]
    assert ops == ["uir.constant", "uir.expand", "uir.reduce", "uir.result"]
