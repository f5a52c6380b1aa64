"""Booleans whose bytes are read, kept as bytes: an `i1` knows only whether one is zero."""

from __future__ import annotations

from dialects.prog import BITCAST, WHERE, Const, Coord, Dtype, E, In, Op1, Op2, Op3, Program

_BOOL, _BYTE = Dtype.bool, Dtype.uint8


def with_plain_booleans(program: Program) -> Program:
    """A program of the same results, up to the bytes of booleans, that reads no byte of one.

    A boolean is true iff its byte, which a constant or a Bitcast may give, isn't 0. Only a
    Bitcast sees more of the byte, and moves keep it: they become moves of a uint8.
    """
    if not any(_reads_byte(program, index) for index in range(len(program.nodes))):
        return program
    values: dict[int, E] = {}
    bytes: dict[int, E] = {}
    """The bytes of the booleans for which the value doesn't tell."""

    def byte(i: int) -> E:
        return bytes[i] if i in bytes else E.bitcast(_BYTE, values[i])

    for index in program.reached(program.outs):
        node, dtype = program.nodes[index], program.dtypes[index]
        match node:
            case Const(Dtype.bool, element):
                bytes[index] = E(Const(_BYTE, element), _BYTE)
            case In() | Coord() | Const():
                values[index] = E(node, dtype)
            case Op1(kind, _, i) if _reads_byte(program, index):
                values[index] = E.of_kind1(kind, dtype, byte(i))
            case Op1(_, Dtype.bool, i) if program.dtypes[i] is _BOOL:
                bytes[index] = byte(i)
            case Op1(kind, Dtype.bool, i) if kind is BITCAST:
                bytes[index] = E.bitcast(_BYTE, values[i])
            case Op1(kind, _, i):
                values[index] = E.of_kind1(kind, dtype, values[i])
            case Op2(kind, i, j):
                values[index] = E.of_kind2(kind, values[i], values[j])
            case Op3(kind, i, j, l) if kind is WHERE and dtype is _BOOL:
                bytes[index] = E.where(values[i], byte(j), byte(l))
            case Op3(kind, i, j, l):
                values[index] = E.of_kind3(kind, values[i], values[j], values[l])
        if index in bytes:
            values[index] = E.cast(_BOOL, bytes[index])
    return Program.of_exprs(program.ins, [values[out] for out in program.outs])


def _reads_byte(program: Program, index: int) -> bool:
    """Whether a node reads the bits of a boolean as something else."""
    match program.nodes[index]:
        case Op1(kind, dtype, i):
            return kind is BITCAST and program.dtypes[i] is _BOOL and dtype is not _BOOL
        case _:
            return False
