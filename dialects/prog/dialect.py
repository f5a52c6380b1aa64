"""`prog.loop`, which runs scalar programs over memory, and the dialect itself."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    i64,
)
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintKind,
    AffineExpr,
)
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from .attrs import Access, AccessAttr, ConstAttr, KindAttr, MonoidAttr, ProgramAttr
from .dtypes import Dtype
from .loop_syntax import parse_loop, print_loop
from .monoids import Monoid
from .program import MAX_RANK, Coord, Program
from .program_op import ApplyOp, ConstOp, CoordOp, InOp, ProgramOp, YieldOp
from .types import dtype_of, memory_dtype


@irdl_op_definition
class LoopOp(IRDLOperation):
    """A fused loop nest: `writes = epilogue(fold(body(reads)), epilogue_reads)` at each point.

    At each index of `shape`, in any order: every accumulator starts as its monoid's
    identity, and takes in the body's output at each index of `reduction`, row-major. The
    epilogue's operands are the accumulators, then the elements of `epilogue_reads`;
    without an epilogue the results are the accumulators, and the body's outputs where
    `reduction` is empty. The results are written after everything is read. No point
    touches an element that another point writes.

    Coordinates are of the parallel axes, then (in body and reads) of the reduction axes.
    Symbols are indices that are the same for all points; none is negative.
    Memories are flat and don't overlap. An element of less than a byte has one to itself, and
    an `i4` its sign extended over it. An `i1` or `ui1` in memory is 0 or 1: a true result is
    written as 1, whatever its byte is.

    A monoid's kind combines in the dtype of the elements: a sum of narrow floats rounds
    after each addition.

    ```
    prog.loop (%a, %o : memref<?xf32>, memref<?xf32>)
      shape [4] reduction [8] monoids [#prog.monoid<sum>]
      body #prog.program<(f32) {v0 = in 0} -> (v0)>
      reads [#prog.access<0, affine_map<(d0, d1) -> (d0 * 8 + d1)>>]
      writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
    ```
    """

    name = "prog.loop"

    memories = var_operand_def(MemRefType)
    symbols = var_operand_def(IndexType())

    shape = prop_def(DenseArrayBase[IntegerType])
    reduction = prop_def(DenseArrayBase[IntegerType])
    monoids = prop_def(ArrayAttr[MonoidAttr])
    body = prop_def(ProgramAttr)
    reads = prop_def(ArrayAttr[AccessAttr])
    epilogue = opt_prop_def(ProgramAttr)
    epilogue_reads = prop_def(ArrayAttr[AccessAttr])
    writes = prop_def(ArrayAttr[AccessAttr])

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        memories: Sequence[SSAValue],
        symbols: Sequence[SSAValue] = (),
        *,
        shape: Sequence[int],
        body: Program,
        reads: Sequence[Access],
        writes: Sequence[Access],
        reduction: Sequence[int] = (),
        monoids: Sequence[Monoid] = (),
        epilogue: Program | None = None,
        epilogue_reads: Sequence[Access] = (),
    ) -> None:
        super().__init__(
            operands=[memories, symbols],
            properties={
                "shape": DenseArrayBase.from_list(i64, shape),
                "reduction": DenseArrayBase.from_list(i64, reduction),
                "monoids": ArrayAttr(map(MonoidAttr, monoids)),
                "body": ProgramAttr(body),
                "reads": ArrayAttr(map(AccessAttr, reads)),
                "epilogue": None if epilogue is None else ProgramAttr(epilogue),
                "epilogue_reads": ArrayAttr(map(AccessAttr, epilogue_reads)),
                "writes": ArrayAttr(map(AccessAttr, writes)),
            },
        )

    @classmethod
    def parse(cls, parser: Parser) -> LoopOp:
        return parse_loop(cls, parser)

    def print(self, printer: Printer) -> None:
        print_loop(printer, self)

    @property
    def results_program(self) -> Program | None:
        """The program whose outputs are written, None where they are the accumulators."""
        if self.epilogue is not None:
            return self.epilogue.data
        return None if len(self.reduction) else self.body.data

    def verify_(self) -> None:
        for memory in self.memories:
            _verify_memory(memory.type)
        if len(set(self.memories)) != len(self.memories):
            raise VerifyException("a memory is passed twice")
        for extents in (self.shape, self.reduction):
            if any(extent < 1 for extent in extents.get_values()):
                raise VerifyException("an extent is less than 1")
        rank = len(self.shape)
        if rank + len(self.reduction) > MAX_RANK:
            raise VerifyException(f"more than {MAX_RANK} axes")
        self._verify_program("body", self.body.data, rank + len(self.reduction))
        self._verify_reads("reads", self.reads, rank + len(self.reduction), self.body.data.ins)
        results = self.body.data.results
        self._verify_monoids(results)
        if self.epilogue is not None:
            results = self._verify_epilogue(self.epilogue.data)
        elif self.epilogue_reads.data:
            raise VerifyException("`epilogue_reads` without an epilogue")
        self._verify_writes(results)

    def _verify_monoids(self, results: tuple[Dtype, ...]) -> None:
        monoids = [attr.data for attr in self.monoids]
        expected = len(results) if len(self.reduction) else 0
        if len(monoids) != expected:
            raise VerifyException(f"expected {expected} monoids, found {len(monoids)}")
        for monoid, dtype in zip(monoids, results, strict=False):
            if not monoid.accepts(dtype):
                raise VerifyException(f"monoid `{monoid.value}` does not take {dtype.value}")

    def _verify_epilogue(self, epilogue: Program) -> tuple[Dtype, ...]:
        if not len(self.reduction):
            raise VerifyException("an epilogue without a reduction")
        accumulators = self.body.data.results
        count = len(accumulators)
        if epilogue.ins[:count] != accumulators:
            raise VerifyException("the first operands of `epilogue` are not the accumulators")
        self._verify_program("epilogue", epilogue, len(self.shape))
        self._verify_reads(
            "epilogue_reads", self.epilogue_reads, len(self.shape), epilogue.ins[count:]
        )
        return epilogue.results

    def _verify_program(self, name: str, program: Program, rank: int) -> None:
        for index, node in enumerate(program.nodes):
            if isinstance(node, Coord) and node.axis >= rank:
                raise VerifyException(f"`{name}`: node {index}: axis {node.axis} of {rank}")

    def _verify_reads(
        self, name: str, accesses: ArrayAttr[AccessAttr], rank: int, dtypes: tuple[Dtype, ...]
    ) -> None:
        if len(accesses) != len(dtypes):
            raise VerifyException(
                f"expected {len(dtypes)} accesses in `{name}`, found {len(accesses)}"
            )
        for index, (attr, dtype) in enumerate(zip(accesses, dtypes, strict=True)):
            self._verify_access(f"`{name}` {index}", attr.data, rank, dtype)

    def _verify_writes(self, results: tuple[Dtype, ...]) -> None:
        self._verify_reads("writes", self.writes, len(self.shape), results)
        for index, attr in enumerate(self.writes):
            if attr.data.condition.constraints:
                raise VerifyException(f"`writes` {index}: a write has no condition")

    def _verify_access(self, name: str, access: Access, rank: int, dtype: Dtype) -> None:
        if not 0 <= access.memory < len(self.memories):
            raise VerifyException(f"{name}: memory {access.memory} of {len(self.memories)}")
        for what, space in (("map", access.map), ("condition", access.condition)):
            if space.num_dims != rank or space.num_symbols > len(self.symbols):
                raise VerifyException(
                    f"{name}: expected a {what} over {rank} dimensions and at most"
                    f" {len(self.symbols)} symbols,"
                    f" found {space.num_dims} and {space.num_symbols}"
                )
        if len(access.map.results) != 1:
            raise VerifyException(f"{name}: expected a map to one address")
        if any(c.kind is AffineConstraintKind.le for c in access.condition.constraints):
            raise VerifyException(f"{name}: expected constraints of the forms `>=` and `==`")
        exprs = [*access.map.results, *(c.lhs for c in access.condition.constraints)]
        if not all(map(_has_positive_divisors, exprs)):
            raise VerifyException(f"{name}: expected divisors that are positive constants")
        found = memory_dtype(self.memories[access.memory])
        if found is not dtype:
            raise VerifyException(
                f"{name}: expected a memory of {dtype.value}, found one of {found.value}"
            )


def _has_positive_divisors(expr: AffineExpr) -> bool:
    """Whether every quotient and remainder in `expr` is by a positive constant."""
    divisions = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.CeilDiv, AffineBinaryOpKind.Mod)
    return all(
        isinstance(part.rhs, AffineConstantExpr) and part.rhs.value > 0
        for part in expr.dfs()
        if isinstance(part, AffineBinaryOpExpr) and part.kind in divisions
    )


def _verify_memory(memory_type: Attribute) -> None:
    if not (
        isa(memory_type, MemRefType)
        and memory_type.get_shape() == (DYNAMIC_INDEX,)
        and isinstance(memory_type.layout, NoneAttr)
        and _is_element(memory_type.element_type)
    ):
        raise VerifyException(f"expected a flat memory of a dtype, found {memory_type}")


def _is_element(type: Attribute) -> bool:
    try:
        dtype_of(type)
    except KeyError:
        return False
    return True


Prog = Dialect(
    "prog",
    [LoopOp, ProgramOp, InOp, CoordOp, ConstOp, ApplyOp, YieldOp],
    [AccessAttr, ConstAttr, KindAttr, MonoidAttr, ProgramAttr],
)
