"""A nest as nests over parts of its domain, where `ranges` decides what the nest tests.

What is tested are the guards of reads, and conditions on coordinates in programs: padding, `stack`,
masks. The domain is cut into boxes where one of them changes, as long as the tests that are saved
are worth the code; what stays open in a box is tested there. A box that a condition on two axes
crosses is cut along the diagonal, in tiles (`diagonal.py`).

Parts of the parallel axes may come in any order. Along a reduction axis, only elements go that may
as well be folded last: nothing else changes its place in the fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import NamedTuple

from dialects.prog import BOOLEANS, COMPLEX, Dtype, E, Monoid, Program
from passes.index import Index, coordinate

from .condition import Box, Condition
from .diagonal import Line, Run, runs
from .nest import Nest, View
from .scope import Part, Scope
from .simplify import constant_of, simplified

_LOOPS = 12
"""The code of loops around a program, counted in its nodes."""

_FOLD = 4
"""How often the code of a fold has its programs: for tiles, and for what remains of them."""

_CODE = 160
"""The code that the parts of a nest may have together; if the nest has more, twice as much."""

_SAVED = 4
"""How many tests, while the nest runs, are worth a node of code."""

_SHARE = 8
"""How many times its code a nest may grow by a cut that saves each point a test."""

_TRIED = 4
"""How many cuts of a box are tried, where a fold forbids some, and how many diagonals."""


def split(nest: Nest) -> list[Nest]:
    """The nests that do together what `nest` does, in their order."""
    views = (*nest.reads, *nest.epilogue_reads)
    is_tested = nest.coords or any(view.guards != () for view in views)
    is_small = prod(nest.extents.values()) < _SAVED * _LOOPS
    return _Splitter(nest).nests() if is_tested and not is_small else [nest]


class _Piece(NamedTuple):
    """A nest over a box: a fold and what becomes of its accumulators, or a map alone."""

    box: Box
    fold: Part | None
    result: Part
    absorbed: frozenset[tuple[int, E]] = frozenset()
    """What `result` folds into accumulators, by number, for elements that have gone."""
    run: Run | None = None
    """The tiles of the box that belong to the piece, if not all of it does."""

    def truth(self, condition: Condition) -> bool | None:
        """What a condition is at all points."""
        value = condition.truth(self.box)
        if value is None and self.run is not None:
            return self.run.truth(condition, self.box)
        return value

    @property
    def code(self) -> int:
        """About how many nodes the loops have."""
        if self.fold is None:
            return _LOOPS + self.result.code
        return _LOOPS + _FOLD * (self.fold.code + self.result.code)

    @property
    def open(self) -> tuple[Condition, ...]:
        """The conditions that are tested."""
        return self.result.open if self.fold is None else self.fold.open + self.result.open

    @property
    def points(self) -> int:
        """The number of elements that are computed."""
        return prod(map(len, self.box.values()))


class _Cut(NamedTuple):
    """A cut of a box between coordinate `at` of `axis` and the one before."""

    saved: int
    """How many tests it decides while the nest runs."""
    axis: int
    at: int


class _Splitter:
    """Splits one nest."""

    def __init__(self, nest: Nest) -> None:
        self._nest = nest
        self._box: Box = {axis: range(extent) for axis, extent in nest.extents.items()}
        symbols = len(nest.symbols)
        body = Scope(nest.body.ins, 0, nest.reads, symbols)
        if nest.monoids:
            self._fold, accumulators = body, nest.body.results
            epilogue = nest.epilogue or _identity(accumulators)
            count = len(accumulators)
            self._result = Scope(epilogue.ins, count, nest.epilogue_reads, symbols)
            self._whole = self._piece(self._box, nest.body.exprs(), epilogue.exprs())
        else:
            self._fold, self._result = None, body
            self._whole = self._piece(self._box, None, nest.body.exprs())

    def nests(self) -> list[Nest]:
        """The nests of all pieces."""
        pieces = [self._whole]
        room = max(_CODE - self._whole.code, self._whole.code)
        done: list[_Piece] = []
        while pieces:
            # The oldest first, so that all become small alike.
            piece, *pieces = pieces
            parts = self._best(piece, room)
            if parts is None:
                done.append(piece)
            else:
                pieces += parts
                room -= _growth(piece, parts)
        done.sort(key=lambda piece: [along.start for along in piece.box.values()])
        return [self._nest_of(part) for piece in done for part in self._tiled(piece, room)]

    # Pieces

    def _piece(
        self,
        box: Box,
        fold: Sequence[E] | None,
        results: Sequence[E],
        absorbed: frozenset[tuple[int, E]] = frozenset(),
        run: Run | None = None,
    ) -> _Piece:
        """The piece over `box`, or the tiles of `run`, of programs of these outputs."""
        piece = _Piece(box, None, Part((), (), 0), absorbed, run)
        result = self._result.part(results, piece.truth)
        if self._fold is None or fold is None:
            return piece._replace(result=result)
        part = self._fold.part(fold, piece.truth)
        if self._is_absorbed(part):
            # What is left of the fold is its start.
            _, results = self._absorb(part, absorbed, results)
            dtypes = self._nest.body.results
            starts = {
                E.input(i, dtype): E.const(dtype, monoid.identity(dtype))
                for i, (monoid, dtype) in enumerate(zip(self._nest.monoids, dtypes, strict=True))
            }
            result = self._result.part(simplified(results, starts), piece.truth)
        if self._result.uses_accumulators(result):
            return piece._replace(fold=part, result=result)
        parallel = {axis: box[axis] for axis in self._nest.parallel}
        return piece._replace(box=parallel, result=result)

    def _is_absorbed(self, part: Part) -> bool:
        """Whether all elements of a fold may as well be folded once, and last."""
        pairs = zip(self._nest.monoids, part.outs, strict=True)
        return all(_is_absorbed(monoid, e) for monoid, e in pairs)

    def _absorb(
        self, part: Part, absorbed: frozenset[tuple[int, E]], results: Sequence[E]
    ) -> tuple[frozenset[tuple[int, E]], Sequence[E]]:
        """`absorbed` and `results` where accumulators also take in the elements of `part`."""
        new: dict[E, E] = {}
        for i, (monoid, e) in enumerate(zip(self._nest.monoids, part.outs, strict=True)):
            if not _is_neutral(monoid, e) and (i, e) not in absorbed:
                accumulator = E.input(i, e.dtype)
                new[accumulator] = E.of_kind2(monoid.kind(e.dtype), accumulator, e)
                absorbed |= {(i, e)}
        return absorbed, simplified(results, new)

    # Cuts

    def _best(self, piece: _Piece, room: int) -> list[_Piece] | None:
        """What the best cut makes of `piece`; None if none is worth its code, or has room."""
        for cut in sorted(self._cuts(piece), reverse=True)[:_TRIED]:
            if cut.saved < _SAVED * _LOOPS:
                return None
            parts = self._parts(piece, cut)
            if parts is None:
                continue
            growth = _growth(piece, parts)
            share = _SHARE * cut.saved * self._whole.code
            is_worth = cut.saved >= _SAVED * growth and share >= growth * self._whole.points
            return parts if is_worth and growth <= room else None
        return None

    def _cuts(self, piece: _Piece) -> list[_Cut]:
        """The cuts of `piece` where a condition that it tests changes."""
        cuts: list[_Cut] = []
        for axis, along in piece.box.items():
            edges = [condition.edges(axis, self._box) for condition in piece.open]
            others = piece.points // len(along)
            for at in {at for pair in edges for at in pair if at in along[1:]}:
                before = sum(at <= stop for stop, _ in edges)
                behind = sum(at >= start for _, start in edges)
                saved = before * (at - along.start) + behind * (along.stop - at)
                cuts.append(_Cut(saved * others, axis, at))
        return cuts

    def _parts(self, piece: _Piece, cut: _Cut) -> list[_Piece] | None:
        """What `cut` makes of `piece`; None if the fold needs both sides, in their order."""
        along = piece.box[cut.axis]
        sides = (range(along.start, cut.at), range(cut.at, along.stop))
        boxes: list[Box] = [{**piece.box, cut.axis: side} for side in sides]
        fold = None if piece.fold is None else piece.fold.outs
        results: Sequence[E] = piece.result.outs
        if cut.axis in self._nest.parallel:
            return [self._piece(box, fold, results, piece.absorbed) for box in boxes]
        assert self._fold is not None
        assert fold is not None
        for gone, kept in (boxes, reversed(boxes)):
            part = self._fold.part(fold, lambda condition, box=gone: condition.truth(box))
            if self._is_absorbed(part):
                absorbed, results = self._absorb(part, piece.absorbed, results)
                return [self._piece(kept, fold, results, absorbed)]
        return None

    def _tiled(self, piece: _Piece, room: int) -> list[_Piece]:
        """`piece`, or its runs of tiles along a diagonal where they are worth their code."""
        fold = None if piece.fold is None else piece.fold.outs
        for condition in piece.open[:_TRIED]:
            axes = [axis for axis in self._nest.parallel if axis in condition.axes]
            for row, column in pairwise(axes):
                parts = [
                    self._piece(piece.box, fold, piece.result.outs, piece.absorbed, run)
                    for run in runs(condition, piece.box, row, column)
                ]
                if parts and _growth(piece, parts) <= room:
                    return parts
        return [piece]

    # Nests

    def _nest_of(self, piece: _Piece) -> Nest:
        """The nest that `piece` is, with coordinates that start from 0."""
        nest, box = self._nest, piece.box
        extents = {axis: len(along) for axis, along in box.items()}
        starts = {axis: Index((), along.start) for axis, along in box.items()}
        blocks: tuple[tuple[int, Index], ...] = ()
        if piece.run is not None:
            blocks = _enter(piece.run, extents, starts)
        moved = {axis: coordinate(axis, extents[axis]) + start for axis, start in starts.items()}

        def move(index: Index) -> Index:
            return index.substitute(lambda atom: moved.get(atom.axis, Index()))

        def program(
            scope: Scope, part: Part, accumulators: int = 0
        ) -> tuple[Program, tuple[View, ...]]:
            program, views = scope.program(part, piece.truth, coords, accumulators)
            return program, tuple(view.map(move) for view in views)

        coords = {axis: move(index) for axis, index in nest.coords.items()}
        nest = replace(
            nest,
            extents={axis: extent for axis, extent in extents.items() if extent > 1},
            parallel=tuple(axis for axis in nest.parallel if extents[axis] > 1),
            reduction=tuple(axis for axis in nest.reduction if extents.get(axis, 1) > 1),
            blocks=blocks,
            coords=coords,
            writes=tuple(view.map(move) for view in nest.writes),
        )
        if self._fold is None or piece.fold is None:
            result, views = program(self._result, piece.result)
            return replace(
                nest, body=result, reads=views, monoids=(), epilogue=None, epilogue_reads=()
            )
        body, reads = program(self._fold, piece.fold)
        result, views = program(self._result, piece.result, len(nest.monoids))
        epilogue = None if result == _identity(result.ins) else result
        return replace(nest, body=body, reads=reads, epilogue=epilogue, epilogue_reads=views)


def _enter(
    run: Run, extents: dict[int, int], starts: dict[int, Index]
) -> tuple[tuple[int, Index], ...]:
    """Make `extents` and `starts` those of one tile of `run`: the loops over its tiles."""
    row_block = max(extents) + 1
    column_block = row_block + 1
    row = coordinate(row_block, run.rows)

    def on(line: Line) -> Index:
        return row * line.slope + line.offset

    column = on(run.first) + coordinate(column_block, on(run.tiles).bounds[1])
    for axis, tile in ((run.row_axis, row), (run.column_axis, column)):
        extents[axis] = run.size
        starts[axis] += tile * run.size
    return (row_block, Index((), run.rows)), (column_block, on(run.tiles))


def _identity(dtypes: Sequence[Dtype]) -> Program:
    """The program whose results are its operands."""
    return Program.of_exprs(dtypes, [E.input(i, dtype) for i, dtype in enumerate(dtypes)])


def _growth(piece: _Piece, parts: Iterable[_Piece]) -> int:
    """By how much `parts` have more code than `piece`."""
    return sum(part.code for part in parts) - piece.code


def _is_neutral(monoid: Monoid, e: E) -> bool:
    """Whether no accumulator changes when it takes in `e`.

    A float sum starts from +0.0, and so is never -0.0: both zeros leave it as it is.
    """
    if e.dtype in COMPLEX and monoid is Monoid.PRODUCT:
        return False  # by 1, an infinite part makes a NaN of the other
    return constant_of(e) == monoid.identity(e.dtype)


def _is_absorbed(monoid: Monoid, e: E) -> bool:
    """Whether elements `e`, wherever they stand in a fold, may be folded once, and last."""
    value = constant_of(e)
    if value is None or value != value:
        return False
    is_order = monoid in (Monoid.MAX, Monoid.MIN) or e.dtype in BOOLEANS
    return is_order or _is_neutral(monoid, e)
