"""The text form of programs: `(f32) {v0 = in 0, v1 = recip v0} -> (v1)`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from xdsl.parser import AttrParser
from xdsl.printer import Printer

from .dtypes import BOOLEANS, COMPLEX, FLOATS, Dtype, size
from .kinds import Binary, Compare, Kind1, Kind2, Kind3, Move, Ternary, Unary
from .program import Const, Coord, In, InvalidProgram, Node, Op1, Op2, Op3, Program
from .storage import bits, value_of

_KINDS1: dict[str, Kind1] = {kind.value: kind for kinds in (Move, Unary) for kind in kinds}
_KINDS2: dict[str, Kind2] = {kind.value: kind for kinds in (Binary, Compare) for kind in kinds}
_KINDS3: dict[str, Kind3] = {kind.value: kind for kind in Ternary}
_KINDS: dict[str, Kind1 | Kind2 | Kind3] = {**_KINDS1, **_KINDS2, **_KINDS3}
_LITERALS = {**dict.fromkeys(BOOLEANS, bool), **dict.fromkeys(FLOATS, float)}
"""The type of a literal of each dtype that isn't an integer's; complex ones have none."""
_DTYPES = {dtype.value: dtype for dtype in Dtype}


def print_program(printer: Printer, program: Program) -> None:
    """Print `program` so that `parse_program` reads back an equal one."""
    ins = ", ".join(dtype.value for dtype in program.ins)
    nodes = ", ".join(f"v{i} = {_node_text(node)}" for i, node in enumerate(program.nodes))
    outs = ", ".join(f"v{out}" for out in program.outs)
    printer.print_string(f"({ins}) {{{nodes}}} -> ({outs})")


def _node_text(node: Node) -> str:
    match node:
        case In(i):
            return f"in {i}"
        case Coord(axis):
            return f"coord {axis}"
        case Const(dtype):
            return f"const {const_text(node)} : {dtype.value}"
        case Op1(kind, dtype, i):
            return f"{kind.value} v{i} : {dtype.value}"
        case Op2(kind, i, j):
            return f"{kind.value} v{i} v{j}"
        case Op3(kind, i, j, l):
            return f"{kind.value} v{i} v{j} v{l}"


def const_text(const: Const) -> str:
    """A literal where one gives these very bits, the bits in hexadecimal otherwise."""
    dtype, element = const.dtype, const.bits
    value = value_of(dtype, element)
    if dtype in FLOATS:
        assert isinstance(value, float)
        if math.isfinite(value):
            return _shortest_decimal(dtype, value)
    elif dtype not in COMPLEX and bits(dtype, value) == element:
        return str(value).lower()
    return f"bits 0x{int.from_bytes(element, sys.byteorder):0{2 * size(dtype)}X}"


def _shortest_decimal(dtype: Dtype, value: float) -> str:
    """The shortest decimal with a point that reads back to the bits of `value`."""
    element = bits(dtype, value)
    texts = (f"{value:.{digits}g}" for digits in range(1, 18))
    text = next(text for text in texts if bits(dtype, float(text)) == element)
    mantissa, e, exponent = text.partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + e + exponent


def parse_program(parser: AttrParser) -> Program:
    """Parse what `print_program` prints; a parse error for a program that doesn't hold."""
    start = parser.pos
    ins = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_dtype(parser))
    nodes: list[Node] = []
    with parser.in_braces():
        while parser.parse_optional_keyword(f"v{len(nodes)}"):
            parser.parse_punctuation("=")
            nodes.append(_parse_node(parser))
            if not parser.parse_optional_punctuation(","):
                break
    parser.parse_punctuation("->")
    outs = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: _parse_reference(parser)
    )
    try:
        return Program.v(ins, nodes, outs)
    except InvalidProgram as error:
        parser.raise_error(str(error), start, parser.pos)


def _parse_node(parser: AttrParser) -> Node:
    start = parser.pos
    head = parser.parse_identifier(context_msg=" for the kind of a node")
    match head:
        case "in":
            return In(parser.parse_integer(allow_boolean=False, allow_negative=False))
        case "coord":
            return Coord(parser.parse_integer(allow_boolean=False, allow_negative=False))
        case "const":
            return parse_const(parser, _parse_dtype)
        case _ if kind1 := _KINDS1.get(head):
            i = _parse_reference(parser)
            parser.parse_punctuation(":")
            return Op1(kind1, _parse_dtype(parser), i)
        case _ if kind2 := _KINDS2.get(head):
            return Op2(kind2, _parse_reference(parser), _parse_reference(parser))
        case _ if kind3 := _KINDS3.get(head):
            return Op3(kind3, *(_parse_reference(parser) for _ in range(3)))
        case _:
            parser.raise_error(f"unknown kind `{head}`", start, start + len(head))


def parse_kind(parser: AttrParser) -> Kind1 | Kind2 | Kind3:
    """Parse the name of a kind."""
    start = parser.pos
    name = parser.parse_identifier(context_msg=" for a kind")
    if name not in _KINDS:
        parser.raise_error(f"unknown kind `{name}`", start, start + len(name))
    return _KINDS[name]


def _parse_reference(parser: AttrParser) -> int:
    start = parser.pos
    name = parser.parse_identifier(context_msg=" for an earlier node")
    if not (name[0] == "v" and name[1:].isdecimal()):
        message = f"expected the name of a node, as `v0`, found `{name}`"
        parser.raise_error(message, start, start + len(name))
    return int(name[1:])


def _parse_dtype(parser: AttrParser) -> Dtype:
    start = parser.pos
    name = parser.parse_identifier(context_msg=" for a dtype")
    if name not in _DTYPES:
        parser.raise_error(f"unknown dtype `{name}`", start, start + len(name))
    return _DTYPES[name]


def parse_const(parser: AttrParser, parse_dtype: Callable[[AttrParser], Dtype]) -> Const:
    """Parse what `const_text` gives, and after a colon the dtype."""
    start = parser.pos
    raw = parser.parse_optional_keyword("bits") is not None
    value = parser.parse_optional_boolean()
    if value is None:
        value = parser.parse_number(allow_boolean=False)
    end = parser.pos
    parser.parse_punctuation(":")
    dtype = parse_dtype(parser)
    try:
        if raw and isinstance(value, int):
            return Const(dtype, value.to_bytes(size(dtype), sys.byteorder))
        if not raw and dtype not in COMPLEX and type(value) is _LITERALS.get(dtype, int):
            return Const(dtype, bits(dtype, value))
    except (OverflowError, ValueError):
        pass
    parser.raise_error(f"not a constant of {dtype.value}", start, end)
