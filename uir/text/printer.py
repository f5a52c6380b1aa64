"""The `uir` dialect back to `.uir` text that parses to the same program."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import IO, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from dialects.uir.base import Form, TextAttribute, UirOp
from dialects.uir.constants import ConstantOp
from dialects.uir.dialect import OPS
from dialects.uir.functions import CallOp, ParamOp, ResultOp, open_operands
from dialects.uir.loops import ForOp
from dialects.uir.memory import LoadOp, StoreOp
from dialects.uir.movement import ReshapeOp
from dialects.uir.types import DTYPE_NAMES, EffectType, shape_of, spell_shape


class NotText(ValueError):
    """A module that `.uir` text cannot express."""


def print_text(module: ModuleOp, out: IO[str]) -> None:
    """Writes `module`, which is on the `uir` level, as `.uir` text. Raises NotText."""
    printer = _Printer()
    for op in module.body.block.ops:
        printer.print_op(op)
    out.write("".join(f"{line}\n" for line in printer.lines))


def text_of(module: ModuleOp) -> str:
    """`module`, which is on the `uir` level, as `.uir` text. Raises NotText."""
    out = StringIO()
    print_text(module, out)
    return out.getvalue()


class _Printer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[SSAValue, str] = {}
        self.taken: set[str] = set()
        self.last: SSAValue | None = None
        self.params: dict[SSAValue, int] = {}
        """Each value's number of params: its largest free one's, plus 1."""

    def print_op(self, op: Operation) -> None:
        if isinstance(op, ConstantOp):
            self.names[op.result] = op.value.data.spell()
        elif isinstance(op, ResultOp):
            self.print_result(op)
        elif isinstance(op, ForOp):
            self.print_loop(op)
        elif isinstance(op, UirOp) and op.spelling() in OPS:
            self.print_statement(op)
        else:
            raise NotText(f"`{op.name}` is not an op of the .uir text")

    def print_statement(self, op: UirOp) -> None:
        name = self.new_name(op.result)
        text = spell_statement(op, [self.names[operand] for operand in self.operands_of(op)])
        unnamed = (
            isinstance(op.result.type, EffectType)
            and op.result.first_use is None
            and not isinstance(op.parent_op(), ForOp)
        )
        self.lines.append(text if unnamed else f"{name} = {text}")
        self.names[op.result] = name
        self.last = op.result

    def operands_of(self, op: UirOp) -> Sequence[SSAValue]:
        """The operands to print: of a call's arguments those that its body still takes."""
        operands = op.operands
        if isinstance(op, CallOp):
            operands = op.operands[: 1 + self.params.get(op.body, 0)]
        inner = open_operands(op)
        count = max((self.params.get(operand, 0) for operand in inner), default=0)
        self.params[op.result] = op.number() + 1 if isinstance(op, ParamOp) else count
        return operands

    def print_loop(self, op: ForOp) -> None:
        """A `range`, the statements of the loop, and an `end` that names its effects."""
        index = self.names[op.index] = self.new_name(op.index)
        self.lines.append(f"{index} = range {self.names[op.bound]}")
        for inner in op.body.block.ops:
            self.print_op(inner)
        stores = [e for e in op.body.block.ops if isinstance(e, StoreOp | ForOp)]
        effects = [self.names[effect.result] for effect in stores]
        text = " ".join(["end", *effects, index])
        name = self.names[op.result] = self.new_name(op.result)
        nameless = op.result.first_use is None and not isinstance(op.parent_op(), ForOp)
        self.lines.append(text if nameless else f"{name} = {text}")
        self.last = op.result

    def print_result(self, op: ResultOp) -> None:
        """Repeats the result's statement at the end, where parsing makes it one node again."""
        value = op.value
        if value is self.last:
            return
        producer = value.owner
        if isinstance(producer, UirOp) and not isinstance(producer, ConstantOp | LoadOp):
            text = spell_statement(producer, [self.names[v] for v in producer.operands])
        else:
            text = (
                f"{ReshapeOp.spelling()} {self.names[value]} shape={spell_shape(shape_of(value))}"
            )
        self.lines.append(f"{self.unused('result')} = {text}")

    def new_name(self, value: SSAValue) -> str:
        return self.unused(value.name_hint or str(len(self.taken)))

    def unused(self, hint: str) -> str:
        """`hint` as a name that is not taken, with a number where needed."""
        stem = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in hint)
        name, number = f"%{stem}", 0
        while name in self.taken:
            number += 1
            name = f"%{stem}_{number}"
        self.taken.add(name)
        return name


def spell_statement(op: UirOp, operands: list[str]) -> str:
    """The statement of `op` on operands of these names, without `%name =`."""
    values = op.text_attributes()
    positional: list[str] = []
    named: list[str] = []
    for name, form in op.SIGNATURE.items():
        if name in values:
            text = _spell_attribute(form, values[name])
            if form.positional:
                positional.append(text)
            else:
                named.append(f"{name}={text}")
    return " ".join([op.spelling(), *positional, *operands, *named])


def _spell_attribute(form: TextAttribute, value: Any) -> str:
    match form.form:
        case Form.DTYPE:
            return DTYPE_NAMES[value]
        case Form.INTEGERS:
            return spell_shape(value)
        case Form.LITERALS:
            return f"[{value.spell()}]"
        case _:
            return str(value)
