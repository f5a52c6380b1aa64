"""`.uir` text to the `uir` dialect.

One pass over the lines. Each statement becomes an op (or the equal op that stands before: one node
per meaning), and each error is recorded with its place. What depends on a wrong statement is left
out in silence, so that every error shown is independent of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, NamedTuple

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Region, SSAValue

from dialects.uir.base import TypingError, UirOp, arity_of
from dialects.uir.constants import ConstantOp
from dialects.uir.dialect import OPS
from dialects.uir.elements import LiteralError, parse_element
from dialects.uir.functions import ResultOp
from dialects.uir.loops import EndOp, ForOp, RangeOp
from dialects.uir.nodes import Nodes
from dialects.uir.rules import ProgramRules
from dialects.uir.types import DTYPES, EffectType, is_value
from uir.text.attributes import read_attribute
from uir.text.diagnostics import Diagnostic, InvalidProgram, Place, place_of
from uir.text.lexer import Token, tokenize
from uir.text.loops import LoopGradient, LoopRegions

MAX_SEARCHES = 20
"""How many unknown names are compared with the known ones."""


class StatementError(Exception):
    """The statement has errors, which are recorded; or it depends on one that has."""


class Parsed(NamedTuple):
    """A program, its errors and its warnings. With errors, the module lacks what is wrong."""

    module: ModuleOp
    errors: list[Diagnostic]
    warnings: list[Diagnostic]


def parse_program(text: str, file: str) -> Parsed:
    """The program of `text`, as far as it is right."""
    parser = _Parser(file)
    parser.parse_lines(text)
    parser.check_loops()
    parser.check_result()
    return Parsed(parser.finish(), parser.diagnostics, parser.warnings)


def parse_text(text: str, file: str = "<text>") -> ModuleOp:
    """The program of `text`, as a module of the `uir` dialect. Raises InvalidProgram."""
    parsed = parse_program(text, file)
    if parsed.errors:
        raise InvalidProgram(parsed.errors, text)
    return parsed.module


def parse_body(text: str, file: str) -> ModuleOp:
    """The body of `text`: a program whose result may depend on params. Raises InvalidProgram."""
    parser = _Parser(file)
    parser.parse_lines(text)
    module = parser.finish()
    if parser.diagnostics:
        raise InvalidProgram(parser.diagnostics, text)
    return module


@lru_cache(maxsize=1024)
def _int_attr(value: int) -> IntAttr:
    return IntAttr(value)


class _Parser:
    def __init__(self, file: str):
        self.file = file
        self.file_attr = StringAttr(file)
        self.diagnostics: list[Diagnostic] = []
        self.values: dict[str, SSAValue | None] = {}
        self.places: dict[str, Place] = {}
        self.nodes = Nodes()
        self.rules = ProgramRules()
        self.block = Block()
        self.loops = LoopRegions(self.block)
        self.warnings: list[Diagnostic] = []
        self.line = 0
        self.searches = 0
        self.last: tuple[Token, SSAValue] | None = None

    def error(
        self,
        token: Token,
        message: str,
        help: str | None = None,
        notes: tuple[tuple[Place, str], ...] = (),
    ) -> None:
        column = token.value_column or token.column
        place = Place(self.line, column, self.file)
        self.diagnostics.append(Diagnostic(place, message, help, notes))

    def parse_lines(self, text: str) -> None:
        for number, line in enumerate(text.split("\n"), 1):
            self.parse_line(number, line)

    def check_loops(self) -> None:
        """Each range is closed."""
        for range in self.loops.unclosed_ranges():
            self.diagnostics.append(
                Diagnostic(place_of(range), "this range is never closed", "close it with `end`")
            )

    def check_result(self) -> None:
        """A program's result depends on no param; a body's may."""
        if self.last is not None:
            head, value = self.last
            try:
                self.rules.check_result(value)
            except TypingError as error:
                self.error(head, error.message, error.help)
            if is_value(value.type) and self.loops.range_of(value) is not None:
                self.error(head, "the program's result depends on a range")

    def finish(self) -> ModuleOp:
        if self.last is not None and is_value(self.last[1].type):
            head, value = self.last
            result = ResultOp.create(operands=[value])
            result.location = self.location(head)
            self.block.add_op(result)
        return ModuleOp(Region(self.block))

    def parse_line(self, number: int, line: str) -> None:
        tokens = tokenize(line)
        if not tokens:
            return
        self.line, self.last = number, None
        name, rest = self.split_name(tokens)
        value = None
        try:
            if rest:
                value = self.parse_statement(name, rest)
        except StatementError:
            pass
        if name is not None:
            self.define(name, value)

    def split_name(self, tokens: list[Token]) -> tuple[Token | None, list[Token]]:
        """The name that a line defines, if any, and the tokens of its op; none after an error."""
        first = tokens[0]
        if first.kind == "name":
            if len(tokens) == 1 or tokens[1].kind != "equals":
                self.error(first, f"expected `=` after `{first.text}`")
                return first, []
            if len(tokens) == 2:
                self.error(tokens[1], "expected an op after `=`")
            return first, tokens[2:]
        return None, tokens

    def define(self, name: Token, value: SSAValue | None) -> None:
        if name.text in self.places:
            note = (self.places[name.text], f"`{name.text}` is first defined here")
            self.error(name, f"`{name.text}` is defined twice", notes=(note,))
            return
        self.places[name.text] = Place(self.line, name.column, self.file)
        self.values[name.text] = value
        if value is not None and value.name_hint is None:
            hint = name.text[1:]
            if SSAValue.is_valid_name(hint):
                value.name_hint = hint

    def parse_statement(self, name: Token | None, tokens: list[Token]) -> SSAValue:
        head, *rest = tokens
        op = self.find_op(head)
        errors = len(self.diagnostics)
        split = next((i for i, t in enumerate(rest) if t.kind == "attribute"), len(rest))
        operand_tokens, attribute_tokens = rest[:split], rest[split:]
        attributes, spots = self.read_attributes(op, head, operand_tokens, attribute_tokens)
        positional = sum(form.positional for form in op.SIGNATURE.values())
        operand_tokens = operand_tokens[positional:]
        operands = [self.find_operand(token) for token in operand_tokens]
        if op is EndOp and operands and (index := operands[-1]) is not None:
            self.loops.name_end(index)
        if all(token.kind == "attribute" for token in attribute_tokens):
            self.check_arity(op, head, operand_tokens)
        if len(self.diagnostics) > errors or None in operands:
            raise StatementError
        known = [operand for operand in operands if operand is not None]
        node = self.build(op, head, operand_tokens, known, attributes, spots)
        value = node.results[0]
        if name is None and not isinstance(value.type, EffectType):
            self.error(head, f"the result of `{head.text}` needs a name: `%name = {head.text} ...`")
            raise StatementError
        self.last = (head, value)
        return value

    def find_op(self, head: Token) -> type[UirOp]:
        if head.kind != "word":
            self.error(head, f"expected an op, found `{head.text}`")
            raise StatementError
        op = OPS.get(head.text)
        if op is None:
            close = [name for name in OPS if len(name) > 2 and head.text.startswith(name)]
            close += get_close_matches(head.text, OPS, 1) if len(head.text) < 40 else []
            help = f"did you mean `{close[0]}`?" if close else None
            self.error(head, f"unknown op `{head.text}`", help)
            raise StatementError
        return op

    def find_operand(self, token: Token) -> SSAValue | None:
        """The value of an operand; None after an error, here or where it is defined."""
        if token.kind == "name":
            if token.text not in self.values:
                close = self.close_matches(token.text)
                help = f"did you mean `{close[0]}`?" if close else None
                self.error(token, f"unknown name `{token.text}`", help)
            return self.values.get(token.text)
        try:
            dtype, value = parse_element(token.text)
        except LiteralError as error:
            help = None
            if token.text in self.places or f"%{token.text}" in self.places:
                help = f"names start with `%`: `%{token.text}`"
            message = str(error)
            if message.endswith("is not a literal"):
                message = f"expected an operand (a `%name` or a literal), found `{token.text}`"
            self.error(token, message, help)
            return None
        literal = ConstantOp.literal(DTYPES[dtype], value)
        node = self.nodes.add(literal)
        if node is literal:
            literal.location = self.location(token)
            self.block.add_op(literal)
        return node.results[0]

    def close_matches(self, name: str) -> list[str]:
        """A name like `name`. Looked for a few times only: it takes a look at every name."""
        if len(name) > 40 or self.searches >= MAX_SEARCHES:
            return []
        self.searches += 1
        return get_close_matches(name, self.values, 1)

    def check_arity(self, op: type[UirOp], head: Token, operands: Sequence[Token]) -> None:
        least, most = arity_of(op)
        found = len(operands)
        if found < least or (most is not None and found > most):
            wanted = f"{least}" if most == least else f"at least {least}"
            plural = "" if wanted.endswith("1") else "s"
            spot = operands[most] if most is not None and found > most else head
            self.error(spot, f"`{head.text}` takes {wanted} operand{plural}, found {found}")

    def read_attributes(
        self, op: type[UirOp], head: Token, operands: list[Token], tokens: list[Token]
    ) -> tuple[dict[str, Any], dict[str, Token]]:
        """The attributes' values, and the token of each."""
        values: dict[str, Any] = {}
        spots: dict[str, Token] = {}
        positional = [name for name, form in op.SIGNATURE.items() if form.positional]
        for name, token in zip(positional, operands, strict=False):
            spots[name] = token
            self.read_attribute(op, name, token, token.text, values)
        for token in tokens:
            name = token.text
            if token.kind != "attribute":
                self.error(token, f"operands come before attributes, found `{token.text}`")
            elif name not in op.SIGNATURE or op.SIGNATURE[name].positional:
                known = ", ".join(f"`{n}=`" for n, f in op.SIGNATURE.items() if not f.positional)
                self.error(
                    token._replace(value_column=0),
                    f"`{head.text}` has no attribute `{name}`",
                    f"its attributes are {known}" if known else "it has no attributes",
                )
            elif name in spots:
                self.error(token._replace(value_column=0), f"attribute `{name}` is given twice")
            else:
                spots[name] = token
                self.read_attribute(op, name, token, token.value, values)
        for name, form in op.SIGNATURE.items():
            if name not in spots and not form.optional:
                shown = "its number" if form.positional else f"`{name}=`"
                self.error(head, f"`{head.text}` needs {shown}, {form.form.value}")
        return values, spots

    def read_attribute(
        self, op: type[UirOp], name: str, token: Token, text: str, values: dict[str, Any]
    ) -> None:
        try:
            values[name] = read_attribute(op.SIGNATURE[name].form, text)
        except ValueError as error:
            label = "" if op.SIGNATURE[name].positional else f"`{name}=`: "
            self.error(token, f"{label}{error}")

    def build(
        self,
        op: type[UirOp],
        head: Token,
        tokens: Sequence[Token],
        operands: Sequence[SSAValue],
        attributes: dict[str, Any],
        spots: dict[str, Token],
    ) -> UirOp | ForOp:
        """The node of a statement. Raises StatementError."""
        node = None
        try:
            self.loops.check_operands(operands)
            node = op.of(operands, attributes)
            node.location = self.location(head)
            self.rules.visit(node)
            return self.close_loop(node) if isinstance(node, EndOp) else self.add(node)
        except TypingError as error:
            if node is not None:
                node.drop_all_references()
            spot = head
            if isinstance(error.where, int):
                spot = tokens[error.where]
            elif error.where is not None:
                spot = spots.get(error.where, head)
            self.error(spot, error.message, error.help)
            raise StatementError from None

    def add(self, node: UirOp) -> UirOp:
        """Adds a statement's op to the program, unless an equal one stands before."""
        if isinstance(node, RangeOp):
            self.nodes.separate_loads()
        known = self.nodes.add(node)
        if known is node:
            self.block.add_op(node)
            self.loops.add(node)
        else:
            node.drop_all_references()
        assert isinstance(known, UirOp)
        return known

    def close_loop(self, end: EndOp) -> ForOp:
        """Builds the loop that `end` closes. Raises TypingError or StatementError."""
        try:
            closed = self.loops.close(end)
        except LoopGradient as error:
            self.diagnostics.append(Diagnostic(place_of(error.op), str(error)))
            raise StatementError from None
        self.nodes.add(closed.loop)
        self.nodes.separate_loads()
        self.warnings += [
            Diagnostic(place_of(op), message, help, severity="warning")
            for op, message, help in closed.warnings
        ]
        return closed.loop

    def location(self, token: Token) -> FileLineColLoc:
        return FileLineColLoc(self.file_attr, _int_attr(self.line), _int_attr(token.column))
