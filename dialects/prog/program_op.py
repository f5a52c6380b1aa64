"""`prog.program`: a scalar program as ops, for reading and writing by hand.

```
prog.program @box_muller(%u1: f32, %u2: f32) {
  %0 = prog.const -2.0 : f32
  %1 = prog.apply log %u1 : f32
  %2 = prog.apply mul %0, %1 : f32
  %3 = prog.apply sqrt %2 : f32
  %4 = prog.const 6.2831855 : f32
  %5 = prog.apply mul %4, %u2 : f32
  %6 = prog.apply cos %5 : f32
  %7 = prog.apply mul %3, %6 : f32
  prog.yield %7 : f32
}
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolNameConstraint, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    CallableOpInterface,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    Pure,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from .attrs import ConstAttr, KindAttr
from .dtypes import Dtype
from .kinds import Binary, Compare, Kind1, Kind2, Kind3, Move, Ternary, Unary
from .program import Const, Coord, In, InvalidProgram, Node, Op1, Op2, Op3, Program, references
from .syntax import parse_kind
from .types import dtype_of, type_of

Number: TypeAlias = Callable[[SSAValue], int]
"""The index of the node that a value is."""


class _Callable(CallableOpInterface):
    """A program is called on numpy arrays, by the interpreter."""

    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        assert isinstance(op, ProgramOp)
        return op.body

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, ProgramOp)
        return tuple(op.body.block.arg_types)

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, ProgramOp)
        return tuple(type_of(dtype) for dtype in op.program.results)


@irdl_op_definition
class ProgramOp(IRDLOperation):
    """A scalar program: its operands are the block's arguments, and each op is a node.

    The arguments are nodes too, the first ones, if anything but `prog.in` reads one of them.
    """

    name = "prog.program"

    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), _Callable())

    def __init__(self, name: str, body: Region) -> None:
        super().__init__(properties={"sym_name": StringAttr(name)}, regions=[body])

    @classmethod
    def of(cls, name: str, program: Program) -> ProgramOp:
        """The op called `name` whose program is `program`, node for node."""
        block = Block(arg_types=[type_of(dtype) for dtype in program.ins])
        values: list[SSAValue] = []
        if _starts_with_operands(program):
            values += block.args
        for node, dtype in zip(
            program.nodes[len(values) :], program.dtypes[len(values) :], strict=True
        ):
            op = _op_of(node, dtype, block.args, [values[r] for r in references(node)])
            block.add_op(op)
            values.append(op.results[0])
        block.add_op(YieldOp([values[out] for out in program.outs]))
        return cls(name, Region(block))

    @property
    def program(self) -> Program:
        """The program as plain data; raises InvalidProgram if it doesn't hold together."""
        block = self.body.block
        ins = [_dtype(f"operand {i}", type) for i, type in enumerate(block.arg_types)]
        *ops, last = block.ops or (None,)
        nodes: list[Node] = []
        numbers: dict[SSAValue, int] = {}
        if any(not isinstance(use.operation, InOp) for arg in block.args for use in arg.uses):
            nodes += map(In, range(len(ins)))
            numbers |= {argument: argument.index for argument in block.args}
        for number, op in enumerate(ops, len(nodes)):
            if not isinstance(op, _NODES):
                raise InvalidProgram(f"node {number}: `{op.name}` is no node of a program")
            numbers[op.result] = number
        for op in ops:
            assert isinstance(op, _NODES)
            try:
                nodes.append(op.node(numbers.__getitem__))
            except InvalidProgram as error:
                raise InvalidProgram(f"node {len(nodes)}: {error}") from None
        if not isinstance(last, YieldOp):
            raise InvalidProgram("outs: a program ends with `prog.yield`")
        return Program.v(ins, nodes, [numbers[value] for value in last.values])

    def verify_(self) -> None:
        try:
            program = self.program
        except InvalidProgram as error:
            raise VerifyException(str(error)) from None
        ops = [op for op in self.body.block.ops if isinstance(op, _NODES)]
        first = len(program.nodes) - len(ops)
        for number, op in enumerate(ops, first):
            expected = type_of(program.dtypes[number])
            if op.result.type != expected:
                raise VerifyException(
                    f"node {number}: expected a result of {expected}, found {op.result.type}"
                )

    @classmethod
    def parse(cls, parser: Parser) -> ProgramOp:
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(name.data, parser.parse_region(arguments))
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name)
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def _starts_with_operands(program: Program) -> bool:
    """Whether the first nodes are the operands, in order, and something reads one of them."""
    count = len(program.ins)
    read = {r for node in program.nodes for r in references(node)} | {*program.outs}
    return program.nodes[:count] == (*map(In, range(count)),) and not read.isdisjoint(range(count))


def _dtype(what: str, type: Attribute) -> Dtype:
    try:
        return dtype_of(type)
    except KeyError:
        raise InvalidProgram(f"{what}: no dtype has the type {type}") from None


@irdl_op_definition
class InOp(IRDLOperation):
    """An operand's element: `%0 = prog.in %x : f32`. An argument that is read is that, too."""

    name = "prog.in"
    _T: ClassVar = VarConstraint("T", AnyAttr())
    operand = operand_def(_T)
    result = result_def(_T)
    traits = traits_def(Pure(), HasParent(ProgramOp))
    assembly_format = "$operand attr-dict `:` type($operand)"

    def __init__(self, operand: SSAValue) -> None:
        super().__init__(operands=[operand], result_types=[operand.type])

    def node(self, number: Number) -> Node:
        if not isinstance(self.operand, BlockArgument):
            raise InvalidProgram("`prog.in` reads no operand of the program")
        return In(self.operand.index)


@irdl_op_definition
class CoordOp(IRDLOperation):
    """The index along an axis: `%0 = prog.coord 1 : i64`."""

    name = "prog.coord"
    axis = prop_def(IntegerAttr.constr(type=i64))
    result = result_def(i64)
    traits = traits_def(Pure(), HasParent(ProgramOp))

    def __init__(self, axis: int) -> None:
        super().__init__(properties={"axis": IntegerAttr(axis, i64)}, result_types=[i64])

    def node(self, number: Number) -> Node:
        return Coord(self.axis.value.data)

    @classmethod
    def parse(cls, parser: Parser) -> CoordOp:
        op = cls(parser.parse_integer(allow_boolean=False))
        op.attributes |= parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if type != i64:
            parser.raise_error(f"expected a coordinate to be of i64, found {type}")
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.axis.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : i64")


@irdl_op_definition
class ConstOp(IRDLOperation):
    """An element by its bits: `%0 = prog.const -0.5 : f32`."""

    name = "prog.const"
    value = prop_def(ConstAttr)
    result = result_def()
    traits = traits_def(Pure(), HasParent(ProgramOp))

    def __init__(self, const: Const) -> None:
        super().__init__(
            properties={"value": ConstAttr(const)}, result_types=[type_of(const.dtype)]
        )

    def node(self, number: Number) -> Node:
        return self.value.data

    @classmethod
    def parse(cls, parser: Parser) -> ConstOp:
        op = cls(ConstAttr.parse_undelimited(parser))
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.value.print_undelimited(printer)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class ApplyOp(IRDLOperation):
    """A kind of earlier nodes: `%1 = prog.apply exp %0 : f32`.

    Operands and result are of the one type that is stated, or else of several:
    `%2 = prog.apply where %c, %x, %y : (i1, f32, f32) -> f32`.
    """

    name = "prog.apply"
    kind = prop_def(KindAttr)
    arguments = var_operand_def()
    result = result_def()
    traits = traits_def(Pure(), HasParent(ProgramOp))

    def __init__(
        self, kind: Kind1 | Kind2 | Kind3, arguments: Sequence[SSAValue], result_type: Attribute
    ) -> None:
        super().__init__(
            properties={"kind": KindAttr(kind)}, operands=[arguments], result_types=[result_type]
        )

    def node(self, number: Number) -> Node:
        numbers = [number(argument) for argument in self.arguments]
        match self.kind.data, numbers:
            case (Move() | Unary()) as kind, [i]:
                return Op1(kind, _dtype("result", self.result.type), i)
            case (Binary() | Compare()) as kind, [i, j]:
                return Op2(kind, i, j)
            case Ternary() as kind, [i, j, l]:
                return Op3(kind, i, j, l)
            case kind, _:
                raise InvalidProgram(f"`{kind.value}` does not take {len(numbers)} operands")

    @classmethod
    def parse(cls, parser: Parser) -> ApplyOp:
        kind = parse_kind(parser)
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        start = parser.pos
        parser.parse_punctuation(":")
        types = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_type
        )
        if types is None:
            result_type = parser.parse_type()
            types = [result_type] * len(operands)
        else:
            parser.parse_punctuation("->")
            result_type = parser.parse_type()
        op = cls(kind, parser.resolve_operands(operands, types, start), result_type)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data.value} ")
        printer.print_list(self.arguments, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        types = [argument.type for argument in self.arguments]
        if any(type != self.result.type for type in types):
            with printer.in_parens():
                printer.print_list(types, printer.print_attribute)
            printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The outputs: `prog.yield %7 : f32`."""

    name = "prog.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator(), HasParent(ProgramOp))
    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, values: Sequence[SSAValue]) -> None:
        super().__init__(operands=[values])


_NODES = InOp, CoordOp, ConstOp, ApplyOp


def _op_of(
    node: Node, dtype: Dtype, operands: Sequence[SSAValue], arguments: Sequence[SSAValue]
) -> InOp | CoordOp | ConstOp | ApplyOp:
    """The op of a node of `dtype` that reads `arguments`, in a program over `operands`."""
    match node:
        case In(i):
            return InOp(operands[i])
        case Coord(axis):
            return CoordOp(axis)
        case Const():
            return ConstOp(node)
        case Op1() | Op2() | Op3():
            return ApplyOp(node.kind, arguments, type_of(dtype))
