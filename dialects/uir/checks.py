"""`uir.assert`: what `insert-checks` puts before a statement that can fail."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, i1
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def

from dialects.uir.base import OpMeta
from dialects.uir.types import tensor_type

CHECKED = "uir.checked"
"""The attribute of a module, and of its function, whose runtime errors are reported."""


@irdl_op_definition
class AssertOp(IRDLOperation, metaclass=OpMeta):
    """Stops the program with the runtime error `kind`, at this op's place, if `failed`."""

    name = "uir.assert"
    failed = operand_def(tensor_type(i1))
    kind = prop_def(StringAttr)
    assembly_format = "$failed `,` $kind attr-dict"

    @staticmethod
    def of(failed: SSAValue, kind: str) -> AssertOp:
        return AssertOp.create(operands=[failed], properties={"kind": StringAttr(kind)})
