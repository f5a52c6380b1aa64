"""xDSL's vector dialect with `vector.vscale`, which MLIR has and xDSL lacks.

A scalable vector, `vector<[4]xf32>`, has 4 times as many lanes as `vector.vscale` says: 4 of them
fill the narrowest vectors that we know, those of SSE2 and NEON.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, IndexType, VectorType
from xdsl.dialects.vector import Vector as XdslVector
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def, traits_def
from xdsl.traits import Pure

SCALE = 4
"""Lanes of a scalable vector for each unit of `vector.vscale`."""


@irdl_op_definition
class VScaleOp(IRDLOperation):
    """The number, known where the code is compiled, that the lanes of scalable vectors are
    multiples of."""

    name = "vector.vscale"
    result = result_def(IndexType)
    traits = traits_def(Pure())

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])


Vector = Dialect("vector", [*XdslVector.operations, VScaleOp], [*XdslVector.attributes])


def scalable(element: Attribute) -> VectorType:
    """The type of vectors of `element` that are as wide as the machine's."""
    return VectorType(element, [SCALE], ArrayAttr([BoolAttr.from_bool(True)]))


def is_scalable(type_: Attribute) -> bool:
    """Whether `type_` is a vector whose number of lanes is a multiple of `vector.vscale`."""
    return isinstance(type_, VectorType) and any(type_.get_scalable_dims())
