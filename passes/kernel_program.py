"""A kernel's body as scalar programs over coordinates: shapes disappear, movement becomes indexing.

Coordinates are pushed from the root to the leaves. Movement ops change them; a `pad` gives its fill
where a condition on them fails, and what is under it reads memory only where it holds; a `reduce`
becomes an accumulator, whose body sees the reduction axes as further coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.utils.exceptions import PassFailedException

from dialects.prog import Dtype, E, Monoid
from dialects.uir.base import UirOp
from dialects.uir.constants import ConstantOp
from dialects.uir.elementwise import PROG_DTYPES, ElementwiseOp
from dialects.uir.kernel import KernelOp, YieldOp
from dialects.uir.movement import ExpandOp, MovementOp, PadOp, StackOp
from dialects.uir.reduce import MONOIDS, ReduceOp
from dialects.uir.types import dtype_of, shape_of
from passes.index import Index, Symbol, compose, coordinate
from passes.views import operand_coordinates, stacked_view


class Read(NamedTuple):
    """The element of a kernel's operand at `address`, touched only where all `guards` are >= 0."""

    operand: int
    address: Index
    guards: tuple[Index, ...]


class Site(NamedTuple):
    """A value at coordinates, where `guards` are >= 0, inside the reduction or not."""

    value: SSAValue
    coordinates: tuple[Index, ...]
    guards: tuple[Index, ...]
    folded: bool


Step: TypeAlias = tuple[Sequence[Site], Callable[[Sequence[E]], E]]


@dataclass
class KernelProgram:
    """Scalar expressions of one kernel over the axes of `shape`, then those of `reduction`.

    `folds` are the expressions that the accumulators fold, over the inputs `fold_reads`. `results`
    are over the accumulators, then the inputs `reads`; each has an address in `writes`.
    """

    shape: tuple[int, ...]
    reduction: tuple[int, ...] = ()
    monoids: list[Monoid] = field(default_factory=list)
    folds: list[E] = field(default_factory=list)
    fold_reads: list[Read] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    results: list[E] = field(default_factory=list)
    writes: list[Index] = field(default_factory=list)
    symbols: list[tuple[int, int]] = field(default_factory=list)
    """The operand, an i32 scalar, and the greatest value of each symbol of the indices."""


class _Evaluator:
    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        block = kernel.body.block
        last = block.last_op
        assert isinstance(last, YieldOp)
        self.roots = list(last.values)
        self.maps = [read.data.results[0] for read in kernel.reads]
        shape = shape_of(self.roots[0])
        self.program = KernelProgram(shape, symbols=kernel.symbol_operands())
        self.symbols = [Index.symbol(k, top) for k, (_, top) in enumerate(self.program.symbols)]
        self.arguments = block.args
        reduces = [op for op in block.ops if isinstance(op, ReduceOp)]
        self.accumulators = len(reduces)
        if reduces:
            popped = shape_of(reduces[0].x)[: reduces[0].pop()]
            self.program.reduction = popped
            self.reduced = [coordinate(len(shape) + a, dim) for a, dim in enumerate(popped)]
        self.coordinates = [coordinate(axis, dim) for axis, dim in enumerate(shape)]
        self.numbers: dict[tuple[bool, Read], int] = {}
        self.values: dict[Site, E] = {}
        for write in kernel.writes:
            address = self.compose(write.data.results[0], self.coordinates)
            self.program.writes.append(address)

    def compose(self, map: AffineExpr, coordinates: Sequence[Index]) -> Index:
        return compose(map, coordinates, self.symbols)

    def symbol_of(self, offset: SSAValue, greatest: int) -> Index:
        """The symbol of a computed offset in the kernel: one of its operands, a scalar."""
        assert isinstance(offset, BlockArgument)
        key = (offset.index, greatest)
        if key not in self.program.symbols:
            self.program.symbols.append(key)
        return Index.symbol(self.program.symbols.index(key), greatest)

    def symbol_value(self, symbol: Symbol, folded: bool) -> E:
        """A symbol as an int64, where a condition depends on it."""
        operand, greatest = self.program.symbols[symbol.number]
        scalar = self.read(Site(self.arguments[operand], (), (), folded), self.arguments[operand])
        if self.kernel.is_in_bounds(operand):
            return E.cast(Dtype.int64, scalar)
        return clamp(scalar, greatest)

    def run(self) -> KernelProgram:
        for root in self.roots:
            site = Site(root, tuple(self.coordinates), (), False)
            self.program.results.append(self.evaluate(site))
        return self.program

    def evaluate(self, root: Site) -> E:
        """The expression of `root`, without recursion: programs may be deep."""
        stack = [root]
        steps: dict[Site, Step] = {}
        while stack:
            site = stack[-1]
            if site in self.values:
                stack.pop()
                continue
            if site not in steps:
                steps[site] = self.step(site)
            needed, combine = steps[site]
            missing = [need for need in needed if need not in self.values]
            if missing:
                stack += reversed(missing)
                continue
            self.values[site] = combine([self.values[need] for need in needed])
            stack.pop()
        return self.values[root]

    def step(self, site: Site) -> Step:
        """What `site` needs, and how its value is made from that."""
        value = site.value
        if isinstance(value, BlockArgument):
            read = self.read(site, value)
            return (), lambda _: read
        op = value.owner
        assert isinstance(op, UirOp)
        match op:
            case ConstantOp():
                literal = E.const(PROG_DTYPES[dtype_of(value)], op.scalar_value())
                return (), lambda _: literal
            case ElementwiseOp():
                dtype = PROG_DTYPES[dtype_of(value)]
                needed = [site._replace(value=operand) for operand in op.operands]
                return needed, lambda operands: op.scalar(operands, dtype)
            case ReduceOp():
                return self.step_reduce(site, op)
            case PadOp():
                return self.step_pad(site, op)
            case StackOp():
                return self.step_stack(site, op)
            case ExpandOp():
                moved = [
                    Index() if dim == 1 else index
                    for dim, index in zip(shape_of(op.x), site.coordinates, strict=False)
                ]
            case MovementOp():
                moved = operand_coordinates(op, site.coordinates, self.symbol_of)
            case _:
                raise PassFailedException(
                    f"rangeify: found `{op.name}` in a kernel; run `expand-math` before this pass"
                )
        return [site._replace(value=op.x, coordinates=tuple(moved))], lambda operands: operands[0]

    def read(self, site: Site, argument: BlockArgument) -> E:
        address = self.compose(self.maps[argument.index], site.coordinates)
        read = Read(argument.index, address, site.guards)
        folded = site.folded
        reads = self.program.fold_reads if folded else self.program.reads
        number = self.numbers.get((folded, read))
        if number is None:
            number = self.numbers[folded, read] = len(reads)
            reads.append(read)
        first = 0 if folded else self.accumulators
        return E.input(first + number, PROG_DTYPES[dtype_of(argument)])

    def step_reduce(self, site: Site, op: ReduceOp) -> Step:
        assert not site.folded, "a reduction inside another is stored"
        inner = (*self.reduced, *site.coordinates)

        def accumulate(operands: Sequence[E]) -> E:
            number = len(self.program.folds)
            self.program.folds.append(operands[0])
            self.program.monoids.append(MONOIDS[op.kind.data])
            return E.input(number, operands[0].dtype)

        return [Site(op.x, inner, site.guards, True)], accumulate

    def step_pad(self, site: Site, op: PadOp) -> Step:
        moved: list[Index] = []
        guards: list[Index] = []
        for index, before, dim in zip(site.coordinates, op.before(), shape_of(op.x), strict=True):
            index = index + -before
            moved.append(index)
            guards += [index, index * -1 + (dim - 1)]
        zero = zero_of(PROG_DTYPES[dtype_of(op.result)])
        if any(guard.bounds[1] < 0 for guard in guards):
            return (), lambda _: zero
        tested = [guard for guard in guards if guard.bounds[0] < 0]
        inside = Site(op.x, tuple(moved), (*site.guards, *tested), site.folded)

        def symbol(symbol: Symbol) -> E:
            return self.symbol_value(symbol, site.folded)

        def select(operands: Sequence[E]) -> E:
            if not tested:
                return operands[0]
            return E.where(all_not_negative(tested, symbol), operands[0], zero)

        return [inside], select

    def step_stack(self, site: Site, op: StackOp) -> Step:
        view = stacked_view(op, site.coordinates, self.symbol_of)
        if view is not None:
            value, moved = view
            needed = [site._replace(value=value, coordinates=tuple(moved))]
            return needed, lambda operands: operands[0]
        which, *rest = site.coordinates
        low, high = which.bounds
        # Under a pad, the position may be outside; what is selected there is not used.
        low, high = max(low, 0), min(high, len(op.operands) - 1)
        candidates = list(op.operands)[low : high + 1]
        needed = [site._replace(value=value, coordinates=tuple(rest)) for value in candidates]

        def select(operands: Sequence[E]) -> E:
            result = operands[-1]
            position = which.to_expression(lambda s: self.symbol_value(s, site.folded))
            for number in range(len(operands) - 2, -1, -1):
                bound = E.const(Dtype.int64, low + number + 1)
                result = E.where(E.less(position, bound), operands[number], result)
            return result

        return needed, select


def zero_of(dtype: Dtype) -> E:
    """The fill of a pad."""
    return E.const(dtype, False if dtype is Dtype.bool else 0)


def clamp(scalar: E, greatest: int) -> E:
    """An int32 as an int64 from 0 to `greatest`."""
    low, high = (E.const(Dtype.int32, bound) for bound in (0, greatest))
    above = E.where(E.less(high, scalar), high, scalar)
    return E.cast(Dtype.int64, E.where(E.less(scalar, low), low, above))


def all_not_negative(guards: Sequence[Index], symbol: Callable[[Symbol], E]) -> E:
    """Whether every guard is >= 0."""
    minus_one = E.const(Dtype.int64, -1)
    conditions = [E.less(minus_one, guard.to_expression(symbol)) for guard in guards]
    result = conditions[0]
    for condition in conditions[1:]:
        result = E.and_(result, condition)
    return result


def program_of(kernel: KernelOp) -> KernelProgram:
    """The scalar programs of `kernel`."""
    return _Evaluator(kernel).run()
