"""The text form of `prog.loop`: a line for the iteration space, a line for each other part.

By hand because the declarative form cannot spread an op over lines nor leave out the
parts that a map loop hasn't.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IndexType, IntegerType, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer

from .attrs import AccessAttr, MonoidAttr, ProgramAttr

if TYPE_CHECKING:
    from .dialect import LoopOp

_INDEX = IndexType()
_Parsed = TypeVar("_Parsed", bound=AccessAttr | MonoidAttr | ProgramAttr)


def print_loop(printer: Printer, op: LoopOp) -> None:
    """Print what follows the name of `op`."""
    printer.print_string(" ")
    with printer.in_parens():
        printer.print_list(op.memories, printer.print_ssa_value)
        if op.memories:
            printer.print_string(" : ")
            printer.print_list(op.memories.types, printer.print_attribute)
    if op.symbols:
        printer.print_string(" symbols ")
        with printer.in_parens():
            printer.print_list(op.symbols, printer.print_ssa_value)
    _print_extents(printer, "shape", op.shape.get_values())
    if len(op.reduction):
        _print_extents(printer, "reduction", op.reduction.get_values())
    _print_rest(printer, op)


def _print_extents(printer: Printer, name: str, extents: Sequence[int]) -> None:
    printer.print_string(f" {name} {list(extents)}")


def _print_rest(printer: Printer, op: LoopOp) -> None:
    parts: list[tuple[str, Attribute | None]] = [
        ("monoids", op.monoids if op.monoids.data else None),
        ("body", op.body),
        ("reads", op.reads if op.reads.data else None),
        ("epilogue", op.epilogue),
        ("epilogue_reads", op.epilogue_reads if op.epilogue_reads.data else None),
        ("writes", op.writes),
    ]
    with printer.indented():
        for name, attr in parts:
            if attr is not None:
                printer.print_string(f"\n{name} ")
                printer.print_attribute(attr)
        if op.attributes:
            printer.print_string("\nattributes")
            printer.print_op_attributes(op.attributes)


def parse_loop(op_class: type[LoopOp], parser: Parser) -> LoopOp:
    """Parse what `print_loop` prints."""
    with parser.in_parens():
        memories = _parse_memories(parser)
    symbols: list[SSAValue] = []
    if parser.parse_optional_keyword("symbols"):
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        symbols = [parser.resolve_operand(operand, _INDEX) for operand in operands]
    parser.parse_keyword("shape")
    properties: dict[str, Attribute] = {"shape": _parse_extents(parser)}
    reduction = DenseArrayBase.from_list(i64, [])
    if parser.parse_optional_keyword("reduction"):
        reduction = _parse_extents(parser)
    properties["reduction"] = reduction
    properties["monoids"] = _parse_optional_array(parser, "monoids", MonoidAttr)
    parser.parse_keyword("body")
    properties["body"] = _parse(parser, ProgramAttr)
    properties["reads"] = _parse_optional_array(parser, "reads", AccessAttr)
    if parser.parse_optional_keyword("epilogue"):
        properties["epilogue"] = _parse(parser, ProgramAttr)
    properties["epilogue_reads"] = _parse_optional_array(parser, "epilogue_reads", AccessAttr)
    properties["writes"] = _parse_optional_array(parser, "writes", AccessAttr)
    attributes = {}
    if parser.parse_optional_keyword("attributes"):
        attributes = parser.parse_optional_attr_dict()
    sizes = [len(memories), len(symbols)]
    properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)
    return op_class.create(
        operands=[*memories, *symbols], properties=properties, attributes=attributes
    )


def _parse_memories(parser: Parser) -> Sequence[SSAValue]:
    operands: list[UnresolvedOperand] | None = (
        parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
    )
    if operands is None:
        return []
    start = parser.pos
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    return parser.resolve_operands(operands, types, start)


def _parse_extents(parser: Parser) -> DenseArrayBase[IntegerType]:
    extents = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
    )
    return DenseArrayBase.from_list(i64, extents)


def _parse(parser: AttrParser, attr_class: type[_Parsed]) -> _Parsed:
    attr = parser.parse_attribute()
    if not isinstance(attr, attr_class):
        parser.raise_error(f"expected a `#{attr_class.name}`")
    return attr


def _parse_optional_array(
    parser: Parser, name: str, attr_class: type[_Parsed]
) -> ArrayAttr[_Parsed]:
    """The array that follows `name`; an empty one where `name` doesn't follow."""
    if not parser.parse_optional_keyword(name):
        return ArrayAttr([])
    return ArrayAttr(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: _parse(parser, attr_class)
        )
    )
