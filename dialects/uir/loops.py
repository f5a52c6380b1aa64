"""Loops: `uir.for`, a region that runs once for each index, and the statements it is written as.

The text opens a loop with `range` and closes it with `end`. These two stand alone only while a
program is parsed; the parser moves what is in the loop into the region of a `uir.for`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from dialects.uir.base import Attributes, OpMeta, TypingError, UirOp
from dialects.uir.requirements import require_dtype
from dialects.uir.types import EFFECT, EffectType, shape_of, spell_type, tensor_type

INDEX_TYPE = tensor_type(i32)
"""The type of a loop's index: an i32 scalar."""


def require_effect(operand: SSAValue, number: int) -> None:
    """Raises TypingError unless operand `number` is an effect."""
    if not isinstance(operand.type, EffectType):
        raise TypingError(
            f"operand {number + 1} is {spell_type(operand.type)}, but an effect is needed", number
        )


@irdl_op_definition
class RangeOp(UirOp):
    """`range n`: the index of a loop, 0 to n - 1. Only while a program is parsed."""

    name = "uir.range"
    bound = operand_def()

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        (bound,) = operands
        require_dtype(bound, 0, ("i32",))
        if shape_of(bound):
            raise TypingError(
                f"the bound of a range is an i32 scalar, found {spell_type(bound.type)}", 0
            )
        return INDEX_TYPE


@irdl_op_definition
class EndOp(UirOp):
    """`end e... %i`: closes range `%i` around the effects. Only while a program is parsed."""

    name = "uir.end"
    effects = var_operand_def()

    @classmethod
    def infer_type(cls, operands: Sequence[SSAValue], attributes: Attributes) -> Attribute:
        if not operands or not isinstance(operands[-1].owner, RangeOp):
            raise TypingError(
                "the last operand of `end` is the range that it closes",
                len(operands) - 1 if operands else None,
            )
        for number, effect in enumerate(operands[:-1]):
            require_effect(effect, number)
        return EFFECT


@irdl_op_definition
class ForOp(IRDLOperation, metaclass=OpMeta):
    """Runs its region for each index from 0 to `bound - 1`, in order; not at all when that is <= 0.

    %e = uir.for %i in %n {
      ...
    }
    """

    name = "uir.for"
    bound = operand_def()
    result = result_def(EffectType)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    @staticmethod
    def of(bound: SSAValue) -> ForOp:
        """An empty loop."""
        body = Region(Block(arg_types=[INDEX_TYPE]))
        return ForOp.create(operands=[bound], result_types=[EFFECT], regions=[body])

    @property
    def index(self) -> BlockArgument:
        return self.body.block.args[0]

    def verify_(self) -> None:
        if self.bound.type != INDEX_TYPE or [a.type for a in self.body.block.args] != [INDEX_TYPE]:
            raise VerifyException("'uir.for' has an i32 scalar as its bound and as its index")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.index)
        printer.print_string(" in ")
        printer.print_ssa_value(self.bound)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        index = parser.parse_argument(expect_type=False).resolve(INDEX_TYPE)
        parser.parse_keyword("in")
        bound = parser.resolve_operand(parser.parse_unresolved_operand(), INDEX_TYPE)
        body = parser.parse_region([index])
        return cls.create(operands=[bound], result_types=[EFFECT], regions=[body])


def is_loop_index(value: SSAValue) -> bool:
    """Whether `value` is the index of a loop."""
    if isinstance(value, BlockArgument):
        return isinstance(value.block.parent_op(), ForOp)
    return isinstance(value.owner, RangeOp)


def ancestor_in(block: Block, op: Operation) -> Operation | None:
    """The op of `block` that is `op` or contains it; None if `op` is elsewhere."""
    ancestor: Operation | None = op
    while ancestor is not None and ancestor.parent is not block:
        ancestor = ancestor.parent_op()
    return ancestor
