"""Programs taken apart: identities, single nodes, and leaves replaced by expressions."""

from __future__ import annotations

import pytest

from dialects.prog import (
    CAST,
    COPY,
    WHERE,
    Binary,
    Const,
    Coord,
    Dtype,
    E,
    In,
    InvalidProgram,
    Node,
    Op1,
    Op2,
    Op3,
    Program,
)

B, I32, F32 = Dtype.bool, Dtype.int32, Dtype.float32
X, Y = E.input(0, F32), E.input(1, F32)


def test_identity() -> None:
    assert Program.v([F32], [In(0)], [0]).is_identity()
    assert Program.v([F32], [Coord(0), In(0)], [1]).is_identity()
    assert Program.of_node([F32], In(0)).outs == (1,)
    assert Program.of_node([F32], In(0)).is_identity()
    assert not Program.of_exprs([F32], [E.copy(X)]).is_identity()
    assert not Program.of_exprs([F32], [X, X]).is_identity()
    assert not Program.of_exprs([F32, F32], [X]).is_identity()


@pytest.mark.parametrize(
    ("ins", "node"),
    [
        ([], Coord(1)),
        ([], Const(F32, bytes(4))),
        ([F32], Op1(CAST, I32, 0)),
        ([F32, F32], Op2(Binary.SUB, 0, 1)),
        ([B, F32, F32], Op3(WHERE, 0, 1, 2)),
    ],
)
def test_programs_of_a_single_node(ins: list[Dtype], node: Node) -> None:
    program = Program.of_node(ins, node)
    assert program.single() == node
    assert program.is_single()


@pytest.mark.parametrize(
    "program",
    [
        Program.of_node([F32], Op2(Binary.ADD, 0, 0)),
        Program.of_node([F32, F32], Op2(Binary.SUB, 1, 0)),
        Program.of_node([F32], Const(F32, bytes(4))),
        Program.of_node([F32], In(0)),
        Program.of_exprs([F32], [X]),
        Program.of_exprs([F32, F32], [Y - X]),
        Program.of_exprs([F32, F32], [E.neg(X - Y)]),
        Program.v([F32], [In(0), Op1(COPY, F32, 0)], [1, 1]),
        Program.v([F32], [In(0), Op1(COPY, F32, 0)], [0]),
        Program.v([F32, F32], [In(1), In(0), Op2(Binary.SUB, 0, 1)], [2]),
    ],
)
def test_programs_that_are_not_a_single_node(program: Program) -> None:
    assert program.single() is None
    assert not program.is_single()


def test_substitution_replaces_each_leaf_at_once() -> None:
    program = Program.of_exprs([F32, F32], [(X + Y) * X, E.cast(F32, E.coord(0))])
    reached: list[Node] = []

    def swapped(node: Node) -> E | None:
        reached.append(node)
        return E.input(1 - node.i, F32) if isinstance(node, In) else None

    replaced = program.subst([F32, F32], swapped, [0])
    assert reached == [In(0), In(1)]
    assert replaced == Program.of_exprs([F32, F32], [(Y + X) * Y])


def test_substitution_calls_once_a_node_and_merges_what_becomes_equal() -> None:
    nodes: list[Node] = [In(0), In(1), In(0), Op2(Binary.ADD, 0, 1), Op2(Binary.ADD, 3, 2)]
    program = Program.v([F32, F32], nodes, [4, 3])
    reached: list[Node] = []

    def first(node: Node) -> E:
        reached.append(node)
        return X

    replaced = program.subst([F32], first, outs=[1, 0, 1])
    assert reached == [In(0), In(1), In(0)]
    assert replaced == Program.of_exprs([F32], [X + X, (X + X) + X, X + X])


def test_substitution_by_nothing_drops_dead_nodes() -> None:
    nodes: list[Node] = [In(1), Coord(3), In(0), In(0), Op2(Binary.ADD, 3, 2)]
    program = Program.v([F32, F32], nodes, [4])
    normal = program.subst([F32], lambda _: None)
    assert normal == Program.v([F32], [In(0), Op2(Binary.ADD, 0, 0)], [1])
    assert normal.subst([F32], lambda _: None) == normal


def test_substitutions_that_are_refused() -> None:
    program = Program.of_exprs([F32, F32], [Y + X])
    with pytest.raises(InvalidProgram, match="node 0: is of f32, the expression that replaces it"):
        program.subst([F32], lambda _: E.coord(0))
    with pytest.raises(InvalidProgram, match="reads operand 1 of 1"):
        program.subst([F32], lambda _: None)
    with pytest.raises(InvalidProgram, match="operand 0 is of i32, its expression of f32"):
        program.subst([I32, F32], lambda _: None)
    with pytest.raises(InvalidProgram, match="outs: a program has at least one output"):
        program.subst([F32, F32], lambda _: None, [])
    with pytest.raises(InvalidProgram, match="outs: output 1 of 1"):
        program.subst([F32, F32], lambda _: None, [1])


def test_substitution_in_a_chain_of_100_000_nodes() -> None:
    e = X
    for _ in range(100_000):
        e = -e
    program = Program.of_exprs([F32], [e])
    assert len(program.subst([F32], lambda _: X * X).nodes) == 100_002
