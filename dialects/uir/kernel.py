"""Kernels: pure tensor functions, and the launches that run them on memory.

`form-kernels` makes them; `rangeify` turns each kernel into one `prog.loop`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    IntegerType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsolatedFromAbove, IsTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from dialects.uir.base import OpMeta
from dialects.uir.types import MemType


@irdl_op_definition
class TemporaryOp(IRDLOperation, metaclass=OpMeta):
    """Scratch memory of the program, undefined until it is written."""

    name = "uir.temporary"
    memory = result_def(MemType)
    assembly_format = "attr-dict `:` type($memory)"


@irdl_op_definition
class OutputOp(IRDLOperation, metaclass=OpMeta):
    """The memory that the program's result is written to."""

    name = "uir.output"
    memory = result_def(MemType)
    assembly_format = "attr-dict `:` type($memory)"


@irdl_op_definition
class YieldOp(IRDLOperation, metaclass=OpMeta):
    """The results of a kernel."""

    name = "uir.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator())
    assembly_format = "$values attr-dict `:` type($values)"


@irdl_op_definition
class KernelOp(IRDLOperation, metaclass=OpMeta):
    """A pure function of tensors, and where in memory its operands and results are.

    Block argument i is read through `reads[i]` from memory `read_memories[i]` of the launch,
    result j is written through `writes[j]` to memory `write_memories[j]`. A map takes the
    coordinates of an element to its address, less the offset that the launch adds. Its symbols
    are i32 scalar arguments: symbol k is argument `symbols[2 * k]`, clamped to 0 and
    `symbols[2 * k + 1]`. The arguments `in_bounds` are known to need no clamping, wherever the
    kernel takes them as an offset.
    """

    name = "uir.kernel"
    sym_name = prop_def(SymbolNameConstraint())
    reads = prop_def(ArrayAttr[AffineMapAttr])
    read_memories = prop_def(DenseArrayBase[IntegerType])
    writes = prop_def(ArrayAttr[AffineMapAttr])
    write_memories = prop_def(DenseArrayBase[IntegerType])
    symbols = prop_def(DenseArrayBase[IntegerType])
    in_bounds = opt_prop_def(DenseArrayBase[IntegerType])
    source = opt_prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove())
    assembly_format = (
        "$sym_name `reads` $reads `of` qualified($read_memories)"
        " `writes` $writes `of` qualified($write_memories) `symbols` qualified($symbols)"
        " (`in_bounds` qualified($in_bounds)^)? (`source` $source^)? attr-dict-with-keyword $body"
    )

    @staticmethod
    def of(
        name: str,
        reads: Sequence[tuple[int, AffineMap]],
        writes: Sequence[tuple[int, AffineMap]],
        symbols: Sequence[tuple[int, int]],
        in_bounds: Sequence[int],
        source: str,
        body: Region,
    ) -> KernelOp:
        """The kernel `name`; an access is a number of the launch's memories and a map."""
        known = {"in_bounds": DenseArrayBase.from_list(i64, in_bounds)} if in_bounds else {}
        return KernelOp.create(
            properties={
                "sym_name": StringAttr(name),
                "reads": ArrayAttr([AffineMapAttr(map) for _, map in reads]),
                "read_memories": DenseArrayBase.from_list(i64, [memory for memory, _ in reads]),
                "writes": ArrayAttr([AffineMapAttr(map) for _, map in writes]),
                "write_memories": DenseArrayBase.from_list(i64, [memory for memory, _ in writes]),
                "symbols": DenseArrayBase.from_list(i64, [n for pair in symbols for n in pair]),
                "source": StringAttr(source),
                **known,
            },
            regions=[body],
        )

    def symbol_operands(self) -> list[tuple[int, int]]:
        """The argument and the greatest value of each symbol."""
        numbers = self.symbols.get_values()
        return list(zip(numbers[::2], numbers[1::2], strict=True))

    def is_in_bounds(self, argument: int) -> bool:
        """Whether a scalar argument needs no clamping where it is an offset."""
        return self.in_bounds is not None and argument in self.in_bounds.get_values()

    def verify_(self) -> None:
        block = self.body.block
        if len(self.reads) != len(block.args) or len(self.reads) != len(self.read_memories):
            raise VerifyException("'uir.kernel' needs one read for each block argument")
        last = block.last_op
        if not isinstance(last, YieldOp) or len(last.values) != len(self.writes):
            raise VerifyException("'uir.kernel' needs one write for each value that it yields")


@irdl_op_definition
class LaunchOp(IRDLOperation, metaclass=OpMeta):
    """Runs a kernel on memories, with an offset for each read, then one for each write."""

    name = "uir.launch"
    memories = var_operand_def(MemType)
    kernel = prop_def(FlatSymbolRefAttrConstr)
    offsets = prop_def(DenseArrayBase[IntegerType])
    assembly_format = (
        "$kernel `(` $memories `)` `offsets` qualified($offsets) attr-dict `:` type($memories)"
    )

    @staticmethod
    def of(kernel: str, memories: Sequence[SSAValue], offsets: Sequence[int]) -> LaunchOp:
        return LaunchOp.create(
            operands=memories,
            properties={
                "kernel": SymbolRefAttr(kernel),
                "offsets": DenseArrayBase.from_list(i64, offsets),
            },
        )
