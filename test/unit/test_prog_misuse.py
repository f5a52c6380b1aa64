"""Programs and expressions that are no such: what is refused, and in which words."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from dialects.prog import (
    WHERE,
    Binary,
    Const,
    Dtype,
    E,
    In,
    InvalidProgram,
    Op1,
    Op2,
    Op3,
    Program,
    Unary,
    accepts1,
    accepts2,
    bits,
    evaluate,
)
from dialects.prog.compiled import compiled_kinds

f32, i4 = Dtype.float32, Dtype.int4


@pytest.mark.parametrize(
    "node",
    [
        "x",
        Op2(Unary.NEG, 0, 0),
        Op2(WHERE, 0, 0),
        Op1(Binary.ADD, f32, 0),
        Op1(Unary.NEG, "f32", 0),
        Op3(Binary.ADD, 0, 0, 0),
        Const(f32, "abcd"),
        Const(f32, bytearray(4)),
        Op2(Binary.ADD, 0, 0.0),
    ],
    ids=repr,
)
def test_what_is_no_node(node: Any) -> None:
    with pytest.raises(InvalidProgram, match=r"^node 1: .* is no node$"):
        Program.v([f32], [In(0), node], [1])


def test_what_is_no_dtype() -> None:
    with pytest.raises(InvalidProgram, match=r"^operand 1: 'f32' is no dtype$"):
        Program.v([f32, "f32"], [In(0)], [0])


def test_kinds_accept_only_their_own_number_of_operands() -> None:
    assert accepts1(Binary.ADD, f32, f32) is False
    assert accepts2(Unary.NEG, f32) is False


def test_an_input_that_is_no_operand() -> None:
    with pytest.raises(InvalidProgram, match=r"^node 1: reads operand 3 of 1$"):
        Program.of_exprs([f32], [E.input(0, f32) + E.input(3, f32)])


@pytest.mark.parametrize("use", [lambda x: x + 1, lambda x: x < 1, lambda x: E.fma(x, x, 1.0)])
def test_operands_are_expressions(use: Callable[[Any], object]) -> None:
    with pytest.raises(InvalidProgram, match="takes expressions, found 1"):
        use(E.input(0, f32))
    with pytest.raises(InvalidProgram, match="a program takes expressions, found 1"):
        Program.of_exprs([f32], [1])


def test_expressions_do_not_change() -> None:
    x = E.input(0, f32)
    with pytest.raises(AttributeError, match="immutable"):
        x.dtype = Dtype.int32
    for _ in range(100_000):
        x = x + x
    assert copy.deepcopy(x) is copy.copy(x) is x
    assert pickle.loads(pickle.dumps(x)) == x


def test_a_constant_that_is_no_element() -> None:
    message = "^constant: 2147483648 is outside the range of i32$"
    with pytest.raises(InvalidProgram, match=message):
        E.const(Dtype.int32, 2**31)


def test_comparisons_have_no_truth() -> None:
    a, b = E.input(0, f32), E.input(1, f32)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(a < b < a)


@pytest.mark.parametrize(
    ("scalar", "dtype", "value"),
    [
        (np.complex64(1 + 2j), Dtype.complex128, 1 + 2j),
        (np.float16(0.5), f32, 0.5),
        (np.bool_(True), Dtype.int32, 1),
        (ml_dtypes.int4(-3), i4, -3),
        (ml_dtypes.bfloat16(1.5), Dtype.float64, 1.5),
    ],
)
def test_scalars_of_numpy_are_numbers(scalar: Any, dtype: Dtype, value: complex) -> None:
    assert bits(dtype, scalar) == bits(dtype, value)


def test_no_complex_scalar_is_a_float() -> None:
    with pytest.raises(ValueError, match="is no element of f32"):
        bits(f32, np.complex64(1))


def test_elements_beside_their_low_bits() -> None:
    """The bits above the four of an int4 mean nothing."""
    x = np.array([0xF9, 0x18, 0x0F], np.uint8).view(ml_dtypes.int4)
    condition = np.array([True, True, False])
    program = Program.v([Dtype.bool, i4], [In(0), In(1), Op3(WHERE, 0, 1, 1)], [2])
    for kinds in (None, compiled_kinds()):
        (found,) = evaluate(program, [condition, x], (3,), kinds=kinds)
        assert found.view(np.uint8).tolist() == [0x9, 0x8, 0xF]
