"""Panels: local copies of a block of memory, in which the lanes of a tile lie side by side.

A panel has a row of lanes for each point of the block. It is filled by 4x4 transposes where memory
is contiguous across the lanes' direction, and element by element elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import I64, DenseArrayBase, VectorType, i64
from xdsl.ir import SSAValue

from dialects.prog import Dtype, memory_dtype, type_of
from passes.index import Index

from .nest import View
from .points import ZERO, Points, load_op

_SIDE = 4
"""Rows and columns of the blocks that are transposed in registers: any machine has vectors of 4."""

_ALIGNMENT = 64
"""Of panels, in bytes: that of the widest vectors."""

_Mask: TypeAlias = DenseArrayBase[I64]
_ZIP_LOW: _Mask = DenseArrayBase.from_list(i64, [0, 4, 1, 5])
_ZIP_HIGH: _Mask = DenseArrayBase.from_list(i64, [2, 6, 3, 7])


@dataclass(frozen=True)
class Block:
    """What a panel is filled with: the lanes of a tile at all points of `axes`, outermost first.

    Of the last of these axes, that is `points` points from `start`.
    """

    axes: tuple[int, ...]
    start: Index
    points: int
    lane: int
    lane_start: Index
    lanes: int


class Panel:
    """The copy of what one view reads."""

    def __init__(self, points: Points, view: View, lanes: int, rows: int) -> None:
        self._points = points
        self._view = view
        self._lanes = lanes
        self._dtype = memory_dtype(view.memory)
        alloca = memref.AllocaOp.get(type_of(self._dtype), _ALIGNMENT, [rows * lanes])
        self._memory = points.builder.outermost(alloca)
        self._memory.name_hint = "panel"
        self._size = rows * lanes

    def clear(self) -> None:
        """Make all elements zero, for lanes that are never filled."""
        zero = self._points.builder.constant(self._dtype, 0)
        with self._points.builder.loop(self._size) as loop:
            self._points.store(zero, self._memory, loop.variable)

    def load(self, row: Index, lane: Index, *, as_vector: bool) -> SSAValue:
        """The element of a lane in a row, or the vector of those from there on."""
        index = self._points.emit(row * self._lanes + lane)
        load = load_op(self._memory, index, as_vector=as_vector)
        # The loop around the fills is further out, but the index may not depend on it.
        return self._points.builder.pure(load, hoisted=False)

    def fill(self, block: Block, start: Index) -> None:
        """Copy a block to the rows that begin at `start`."""
        points, view = self._points, self._view
        *outer, last = block.axes
        with ExitStack() as loops:
            row = ZERO
            for axis in outer:
                loops.enter_context(points.axis_loop(axis))
                row = row * points.nest.extents[axis] + points.axes[axis]
            start = start + row * (block.points * self._lanes)
            is_word = self._dtype in (Dtype.float32, Dtype.int32)
            is_wide = min(block.points, block.lanes) >= _SIDE
            across = view.index.stride(last) == 1 and view.index.stride(block.lane) not in (None, 0)
            if is_word and is_wide and across and view.guards == ():
                self._transpose(block, start)
            else:
                self._copy(block, start)

    def _copy(self, block: Block, start: Index) -> None:
        points, last = self._points, block.axes[-1]
        with points.loop(last, block.points) as k, points.loop(block.lane, block.lanes) as lane:
            points.axes[last] = block.start + k
            points.axes[block.lane] = block.lane_start + lane
            place = points.emit(start + k * self._lanes + lane)
            points.store(points.read(self._view), self._memory, place)

    def _transpose(self, block: Block, start: Index) -> None:
        points, last = self._points, block.axes[-1]
        # What a row has of the block is read at once: the rows may share sets of the cache.
        for lane, _ in points.tiles(block.lane, block.lanes, _SIDE, again=True):
            for k, _ in points.tiles(last, block.points, _SIDE, again=True):
                points.axes[last] = block.start + k
                rows: list[SSAValue] = []
                for i in range(_SIDE):
                    points.axes[block.lane] = block.lane_start + lane + i
                    rows.append(self._load_vector(points.value(self._view.index)))
                for i, column in enumerate(self._transposed(rows)):
                    place = points.emit(start + (k + i) * self._lanes + lane)
                    points.store(column, self._memory, place)

    def _transposed(self, rows: Sequence[SSAValue]) -> list[SSAValue]:
        """The columns of four rows."""
        a, b, c, d = rows
        pairs = [(self._zip(a, c, m), self._zip(b, d, m)) for m in (_ZIP_LOW, _ZIP_HIGH)]
        return [self._zip(ac, bd, m) for ac, bd in pairs for m in (_ZIP_LOW, _ZIP_HIGH)]

    def _zip(self, a: SSAValue, b: SSAValue, mask: _Mask) -> SSAValue:
        shuffle = vector.ShuffleOp(a, b, mask, result_type=self._vector_type)
        return self._points.builder.effect(shuffle)[0]

    @property
    def _vector_type(self) -> VectorType:
        return VectorType(type_of(self._dtype), [_SIDE])

    def _load_vector(self, index: SSAValue) -> SSAValue:
        load = vector.LoadOp(self._view.memory, [index], self._vector_type)
        return self._points.builder.effect(load)[0]
