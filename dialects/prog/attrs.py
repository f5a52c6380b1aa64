"""The attributes of the dialect: programs and their parts, monoids and accesses."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import AffineMapAttr, AffineSetAttr
from xdsl.ir import Data
from xdsl.ir.affine import AffineMap, AffineSet
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from .dtypes import Dtype
from .kinds import Kind1, Kind2, Kind3
from .monoids import Monoid
from .program import Const, Program
from .syntax import const_text, parse_const, parse_kind, parse_program, print_program
from .types import dtype_of, type_of


@irdl_attr_definition
class ProgramAttr(Data[Program]):
    """A scalar program, its nodes in order.

    `#prog.program<(f32, f32) {v0 = in 0, v1 = in 1, v2 = mul v0 v1} -> (v2)>`
    """

    name = "prog.program"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Program:
        with parser.in_angle_brackets():
            return parse_program(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_program(printer, self.data)


@irdl_attr_definition
class KindAttr(Data[Kind1 | Kind2 | Kind3]):
    """What a node computes: `#prog.kind<exp>`."""

    name = "prog.kind"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Kind1 | Kind2 | Kind3:
        with parser.in_angle_brackets():
            return parse_kind(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)


@irdl_attr_definition
class ConstAttr(Data[Const]):
    """An element of a dtype, by its bits: `#prog.const<-0.5 : f32>`."""

    name = "prog.const"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Const:
        with parser.in_angle_brackets():
            return cls.parse_undelimited(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_undelimited(printer)

    @classmethod
    def parse_undelimited(cls, parser: AttrParser) -> Const:
        """Parse what `print_undelimited` prints."""
        return parse_const(parser, _parse_type)

    def print_undelimited(self, printer: Printer) -> None:
        """Print the literal and the type."""
        printer.print_string(f"{const_text(self.data)} : ")
        printer.print_attribute(type_of(self.data.dtype))


def _parse_type(parser: AttrParser) -> Dtype:
    type = parser.parse_type()
    try:
        return dtype_of(type)
    except KeyError:
        parser.raise_error(f"no dtype has the type {type}")


@irdl_attr_definition
class MonoidAttr(Data[Monoid]):
    """What a reduction folds with: `#prog.monoid<sum>`."""

    name = "prog.monoid"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Monoid:
        with parser.in_angle_brackets():
            name = parser.expect(
                lambda: parser.parse_optional_keyword_in(tuple(m.value for m in Monoid)),
                "expected a monoid: " + ", ".join(f"`{m.value}`" for m in Monoid),
            )
            return Monoid(name)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)


@dataclass(frozen=True)
class Access:
    """Which element of a memory a point of an iteration space reads or writes.

    The element's address is `map` of the point's coordinates and the loop's symbols. Where
    `condition` fails, a read gives zero and touches nothing.
    """

    memory: int
    """An index into the memories of the loop."""
    map: AffineMap
    """From the coordinates to one address."""
    condition: AffineSet
    """The points that have an element: all of them when there are no constraints."""

    @classmethod
    def of_map(cls, memory: int, map: AffineMap) -> Access:
        """The access of every point."""
        return cls(memory, map, AffineSet(map.num_dims, map.num_symbols, ()))


@irdl_attr_definition
class AccessAttr(Data[Access]):
    """One access: `#prog.access<0, affine_map<(d0)[s0] -> (d0 + s0)>>`.

    The condition is left out when it always holds:
    `#prog.access<0, affine_map<(d0) -> (d0 + -1)>, affine_set<(d0) : (d0 + -1 >= 0)>>`.
    """

    name = "prog.access"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Access:
        with parser.in_angle_brackets():
            memory = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_punctuation(",")
            map = parser.parse_attribute()
            if not isinstance(map, AffineMapAttr):
                parser.raise_error("expected an `affine_map`")
            if not parser.parse_optional_punctuation(","):
                return Access.of_map(memory, map.data)
            condition = parser.parse_attribute()
            if not isinstance(condition, AffineSetAttr):
                parser.raise_error("expected an `affine_set`")
            return Access(memory, map.data, condition.data)

    def print_parameter(self, printer: Printer) -> None:
        access = self.data
        with printer.in_angle_brackets():
            printer.print_string(f"{access.memory}, ")
            printer.print_attribute(AffineMapAttr(access.map))
            if access.condition.constraints:
                printer.print_string(", ")
                printer.print_attribute(AffineSetAttr(access.condition))
