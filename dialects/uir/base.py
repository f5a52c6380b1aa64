"""What every `uir` op has: a spelling, attributes, one typing rule, a verifier and a syntax.

A subclass states its operands (as xDSL operand definitions) and
  * `infer_type`: the typing rule, the one place that says which operands and attributes are
    ACCEPTED and what the result is. Parser, verifier and builders all call it;
  * `SIGNATURE`: the attributes of the text and the form of each;
  * `properties_of` / `text_attributes`: what of these is stored on the op, and how to get it back
    (a shape or a dtype is in the result type and stored nowhere else).
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, ClassVar, Self

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, VarOperandDef, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


class Form(Enum):
    """The form of an attribute's value in the text."""

    WORD = "a word"
    INTEGER = "an integer"
    INTEGERS = "a list of integers"
    DTYPE = "a dtype (bool, i32 or f32)"
    LITERALS = "a list of literals"
    PATH = "a path or URL"
    DIGEST = "64 lowercase hex digits"


@dataclass(frozen=True)
class TextAttribute:
    """An attribute of an op's text: its form, and whether it may be left out.

    A `positional` one is written among the operands, without its name (`buffer 4`, `param 0`).
    """

    form: Form
    optional: bool = False
    positional: bool = False


Attributes = Mapping[str, Any]
"""Values of text attributes by name: int, tuple of ints, str, DType or Elements, by the form."""


@dataclass
class TypingError(Exception):
    """A broken typing rule. `where` is the operand's number, the attribute's name, or the op."""

    message: str
    where: int | str | None = None
    help: str | None = None

    def __str__(self) -> str:
        return self.message


class OpMeta(ABCMeta):
    """The metaclass of op classes, without the virtual subclasses of ABCs.

    `isinstance` of an ABC runs Python code, and passes ask for the class of an op very often.
    """

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


class UirOp(IRDLOperation, metaclass=OpMeta):
    """Base of all ops that a statement of the text can be."""

    SIGNATURE: ClassVar[dict[str, TextAttribute]] = {}

    result = result_def()

    @classmethod
    def spelling(cls) -> str:
        """The op's name in the text."""
        return cls.name.removeprefix("uir.")

    @classmethod
    @abstractmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        """The result type. Raises TypingError when operands or attributes break the op's rule."""

    @classmethod
    def properties_of(cls, attributes: Attributes) -> dict[str, Attribute]:
        """The properties that store `attributes`."""
        return {}

    def text_attributes(self) -> dict[str, Any]:
        """The attributes that the text of this op has."""
        return {}

    @classmethod
    def of(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Self:
        """The op on `operands` with the text's `attributes`. Raises TypingError."""
        return cls.create(
            operands=operands,
            result_types=[cls.infer_type(operands, attributes)],
            properties=cls.properties_of(attributes),
        )

    def share(self, operand: int, g: SSAValue, b: NodeBuilder) -> SSAValue | None:
        """What operand `operand`, an f32, receives of `g`, the gradient of the result.

        The op's row in the table of week 6, section 4; None where nothing flows.
        """
        return None

    def verify_(self) -> None:
        try:
            expected = self.infer_type(self.operands, self.text_attributes())
        except TypingError as error:
            raise VerifyException(f"'{self.name}' {error.message}") from None
        if expected != self.result.type:
            raise VerifyException(
                f"'{self.name}' gives {expected}, but its result is {self.result.type}"
            )

    def print(self, printer: Printer) -> None:
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.properties | self.attributes)
        printer.print_string(" : ")
        types = [operand.type for operand in self.operands]
        if any(type != self.result.type for type in types):
            with printer.in_parens():
                printer.print_list(types, printer.print_attribute)
            printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        names = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        properties = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_type
        )
        if types is None:
            result_type = parser.parse_type()
            types = [result_type] * len(names or ())
        else:
            parser.parse_punctuation("->")
            result_type = parser.parse_type()
        operands = parser.resolve_operands(names or (), types, parser.pos)
        return cls.create(operands=operands, result_types=[result_type], properties=properties)


@cache
def arity_of(op: type[UirOp]) -> tuple[int, int | None]:
    """The least and greatest number of operands of `op`; None for no bound."""
    definitions = [definition for _, definition in op.get_irdl_definition().operands]
    fixed = sum(not isinstance(definition, VarOperandDef) for definition in definitions)
    return fixed, None if fixed < len(definitions) else fixed


class NodeBuilder:
    """Makes ops of the dialect from operands and text attributes, and hands each to `insert`."""

    def __init__(self, insert: Callable[[UirOp], SSAValue]):
        self._insert = insert

    def make(self, op: type[UirOp], /, *operands: SSAValue, **attributes: Any) -> SSAValue:
        """The result of `op` on `operands`. Raises TypingError."""
        return self._insert(op.of(operands, attributes))
