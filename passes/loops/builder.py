"""Nested loops under construction, where each value is made as far out as it can be."""

from __future__ import annotations

import math
from collections.abc import Generator, Hashable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.dialects import arith, complex, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    FloatAttr,
    IndexType,
    IntegerAttr,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.core import OpResult

from dialects.prog import COMPLEX, SIGNED, Dtype, Value, bits, type_of, value_of, width
from dialects.prog.dtypes import PARTS

INDEX = IndexType()

_SIGNLESS = {dtype: width(dtype) for dtype in SIGNED} | {Dtype.bool: 1}
"""The dtypes whose IR types are signless integers, and the widths of those."""

_OF_WIDTH = {bits: dtype for dtype, bits in _SIGNLESS.items()}


@dataclass
class Loop:
    """A loop while its body is built: set `yields`, one for each of `arguments`."""

    variable: SSAValue
    arguments: Sequence[SSAValue]
    yields: Sequence[SSAValue] = ()
    results: Sequence[SSAValue] = ()
    """What the loop gives, once its body is built."""


@dataclass
class _Scope:
    """The body of an open loop, or what stands around all loops."""

    ops: list[Operation] = field(default_factory=list[Operation])
    values: dict[Hashable, SSAValue] = field(default_factory=dict[Hashable, SSAValue])
    """Pure values of this scope by what makes them."""


class LoopBuilder:
    """Builds ops inside nested loops.

    A pure op goes into the outermost scope where its operands exist, and two equal ones of
    a scope are one. An op with effects goes into the innermost scope.
    """

    def __init__(self) -> None:
        self._scopes = [_Scope()]
        self._depths: dict[SSAValue, int] = {}

    @property
    def ops(self) -> Sequence[Operation]:
        """The finished ops, to stand in order."""
        assert len(self._scopes) == 1, "expected every loop to be closed"
        return self._scopes[0].ops

    def depth(self, value: SSAValue) -> int:
        """The number of loops around `value`."""
        return self._depths.get(value, 0)

    def pure(self, op: Operation, key: Hashable = None, *, hoisted: bool = True) -> SSAValue:
        """The result of `op`, or of an equal earlier one: of its class, operands and `key`.

        Stays in the innermost scope unless it may be `hoisted`.
        """
        innermost = len(self._scopes) - 1
        depth = max(map(self.depth, op.operands), default=0) if hoisted else innermost
        scope = self._scopes[depth]
        full_key = (type(op), key, *op.operands)
        if (value := scope.values.get(full_key)) is not None:
            op.erase()
            return value
        scope.ops.append(op)
        (result,) = op.results
        scope.values[full_key] = result
        self._depths[result] = depth
        return result

    def effect(self, op: Operation) -> Sequence[OpResult]:
        """The results of `op`, which stays where it is built."""
        self._scopes[-1].ops.append(op)
        for result in op.results:
            self._depths[result] = len(self._scopes) - 1
        return op.results

    def outermost(self, op: Operation) -> SSAValue:
        """The result of `op`, which has no operands and stands around all loops."""
        self._scopes[0].ops.append(op)
        (result,) = op.results
        return result

    def index(self, value: int) -> SSAValue:
        """A constant index."""
        attr = IntegerAttr(value, INDEX)
        return self.pure(arith.ConstantOp(attr), attr)

    def constant(self, dtype: Dtype, value: Value) -> SSAValue:
        """A constant of a dtype."""
        return self.element(dtype, bits(dtype, value))

    def element(self, dtype: Dtype, element: bytes) -> SSAValue:
        """The element of a dtype with these bits."""
        # Keyed by the bits: attributes take -0.0 for 0.0, and a NaN for different from itself.
        type, key = type_of(dtype), (dtype, element)
        if dtype in COMPLEX:
            half, part = len(element) // 2, type_of(PARTS[dtype])
            assert isinstance(part, AnyFloat)
            real, imaginary = (
                self.element(PARTS[dtype], e) for e in (element[:half], element[half:])
            )
            return self.pure(complex.CreateOp(real, imaginary, ComplexType(part)), type)
        value = value_of(dtype, element)
        if dtype in _SIGNLESS:
            attr = IntegerAttr(int(value.real), _SIGNLESS[dtype])
            return self.pure(arith.ConstantOp(attr), key)
        number = math.nan if value != value else value
        if isinstance(type, AnyFloat) and element == bits(dtype, number):
            return self.pure(arith.ConstantOp(FloatAttr(value.real, type)), key)
        # No attribute of the type has these bits.
        return self.pure(
            arith.BitcastOp(self.element(_OF_WIDTH[width(dtype)], element), type), type
        )

    @contextmanager
    def loop(
        self, extent: int | SSAValue, step: int | SSAValue = 1, inits: Iterable[SSAValue] = ()
    ) -> Generator[Loop]:
        """A loop over `0, step, ...` below `extent`, around what is built in the context."""
        inits = tuple(inits)
        last = self.index(extent) if isinstance(extent, int) else extent
        first = self.index(0)
        by = self.index(step) if isinstance(step, int) else step
        block = Block(arg_types=[INDEX, *(init.type for init in inits)])
        self._scopes.append(_Scope())
        for argument in block.args:
            self._depths[argument] = len(self._scopes) - 1
        loop = Loop(block.args[0], block.args[1:])
        yield loop
        scope = self._scopes.pop()
        block.add_ops((*scope.ops, scf.YieldOp(*loop.yields)))
        loop.results = self.effect(scf.ForOp(first, last, by, inits, block))
