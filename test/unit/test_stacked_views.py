"""Stacks of blocks of one value, evenly spaced or not, and convolutions that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ways_to_run import case_of, lowered, run_lowered

import uir
from passes.pipelines import LOWER

SIDE = 6
BLOCK = 3
Window = tuple[int, int, int]
"""The number of the image that a window is of, and where it starts in it."""


def rows_of(start: int, counts: Sequence[int], steps: Sequence[int]) -> list[int]:
    """Places in rows of `counts[-1]`, in blocks of `counts[-2]` rows, and so on."""
    places = [start]
    for count, step in zip(reversed(counts), reversed(steps), strict=True):
        places = [k * step + place for k in range(count) for place in places]
    return places


@st.composite
def windows_of_two(draw: st.DrawFn) -> list[Window]:
    """Windows that start in rows of even steps, or in places that wrap around."""
    counts = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    axes: list[list[int]] = []
    for _ in range(2):
        steps = draw(st.lists(st.integers(0, 2), min_size=len(counts), max_size=len(counts)))
        axes.append([place % (SIDE - BLOCK + 1) for place in rows_of(0, counts, steps)])
    windows = [(0, row, column) for row, column in zip(*axes, strict=True)]
    if draw(st.booleans()):
        windows[-1] = (1, *windows[-1][1:])
    if draw(st.booleans()):
        windows.reverse()
    return windows[: draw(st.integers(1, len(windows)))]


@settings(max_examples=60, deadline=None)
@given(windows_of_two(), st.booleans())
def test_a_stack_of_windows(windows: list[Window], is_padded: bool) -> None:
    count, size = len(windows), SIDE * SIDE
    lines = [
        f"%m = buffer {size} dtype=i32 slot=0",
        f"%o = buffer {(count + 2) * BLOCK * BLOCK} dtype=i32 slot=1",
        f"%n = buffer {size} dtype=i32 slot=2",
        f"%mv = reshape %m shape=[{SIDE} {SIDE}]",
        f"%nv = reshape %n shape=[{SIDE} {SIDE}]",
        f"%ov = reshape %o shape=[{count + 2} {BLOCK} {BLOCK}]",
        "%x0 = load %mv",
        "%x1 = load %nv",
    ]
    for number, (image, row, column) in enumerate(windows):
        lines.append(f"%w{number} = shrink %x{image} {row} {column} shape=[{BLOCK} {BLOCK}]")
    lines.append("%all = stack " + " ".join(f"%w{number}" for number in range(count)))
    if is_padded:
        lines += ["%around = pad %all pads=[1 1 0 0 0 0]", "store %ov %around"]
    else:
        lines += [f"%part = shrink %ov 1 0 0 shape=[{count} {BLOCK} {BLOCK}]", "store %part %all"]
    case = case_of("\n".join(lines) + "\n")
    images = np.arange(1, 2 * size + 1, dtype=np.int32).reshape(2, SIDE, SIDE)
    case.memories[0][:], case.memories[2][:] = images.reshape(2, size)
    expected = np.zeros((count + 2, BLOCK, BLOCK), np.int32)
    for number, (image, row, column) in enumerate(windows):
        expected[number + 1] = images[image, row : row + BLOCK, column : column + BLOCK]
    assert run_lowered(case, lowered(case, LOWER))[1].tolist() == expected.ravel().tolist()


TAPS = [(row, column) for row in range(3) for column in range(3)]
HEIGHT, WIDTH, CHANNELS, OUT = 5, 9, 4, 17


def convolution(is_channels_last: bool, pad: int) -> str:
    """A program with a 3x3 convolution of the image in slot 0, with weights from slot 1.

    The reduction goes over taps and then channels, or over channels and then taps.
    """
    height, width = HEIGHT + 2 * pad - 2, WIDTH + 2 * pad - 2
    depth, pixels = 9 * CHANNELS, height * width
    lines = [
        f"%m = buffer {HEIGHT * WIDTH * CHANNELS} dtype=f32 slot=0",
        f"%w = buffer {depth * OUT} dtype=f32 slot=1",
        f"%o = buffer {pixels * OUT} dtype=f32 slot=2",
    ]
    if is_channels_last:
        shape, around = f"{HEIGHT} {WIDTH} {CHANNELS}", f"{pad} {pad} {pad} {pad} 0 0"
        block, order = f"{height} {width} {CHANNELS}", "1 2 0 3"
        table, weights, out = f"{pixels} {depth}", f"{depth} {OUT}", f"{pixels} {OUT}"
    else:
        shape, around = f"{CHANNELS} {HEIGHT} {WIDTH}", f"0 0 {pad} {pad} {pad} {pad}"
        block, order = f"{CHANNELS} {height} {width}", "1 0 2 3"
        table, weights, out = f"{depth} {pixels}", f"{OUT} {depth}", f"{OUT} {pixels}"
    lines += [
        f"%mv = reshape %m shape=[{shape}]",
        f"%wv = reshape %w shape=[{weights}]",
        f"%ov = reshape %o shape=[{out}]",
        "%x = load %mv",
        "%k = load %wv",
        f"%b = pad %x pads=[{around}]",
    ]
    for number, (row, column) in enumerate(TAPS):
        start = f"{row} {column} 0" if is_channels_last else f"0 {row} {column}"
        lines.append(f"%t{number} = shrink %b {start} shape=[{block}]")
    operands = "%table %k" if is_channels_last else "%k %table"
    lines += [
        "%s = stack " + " ".join(f"%t{number}" for number in range(9)),
        f"%p = permute %s order=[{order}]",
        f"%table = reshape %p shape=[{table}]",
        f"%r = matmul {operands}",
        "store %ov %r",
    ]
    return "\n".join(lines) + "\n"


def convolved(
    image: npt.NDArray[Any], weights: npt.NDArray[Any], is_channels_last: bool, pad: int
) -> npt.NDArray[Any]:
    """The convolution, one addition after the other: [height, width, OUT]."""
    image = np.pad(image, ((pad, pad), (pad, pad), (0, 0)))
    height, width = image.shape[0] - 2, image.shape[1] - 2
    total = np.zeros((height, width, OUT), np.float32)
    order = [(tap, channel) for tap in range(9) for channel in range(CHANNELS)]
    if not is_channels_last:
        order.sort(key=lambda place: place[1])
    for tap, channel in order:
        row, column = TAPS[tap]
        block = image[row : row + height, column : column + width, channel]
        total = total + block[:, :, None] * weights[tap, channel]
    return total


@pytest.mark.parametrize("is_channels_last", [True, False])
@pytest.mark.parametrize("pad", [0, 1, 2])
def test_convolution(is_channels_last: bool, pad: int) -> None:
    generator = np.random.default_rng(7)
    image = generator.standard_normal((HEIGHT, WIDTH, CHANNELS)).astype(np.float32)
    weights = generator.standard_normal((9, CHANNELS, OUT)).astype(np.float32)
    # A zero of the padding times an infinity is NaN; -0.0 stays out of a sum that starts from 0.0.
    weights[0, 0, 3], weights[4, 1, 5], weights[2, :, 7] = np.inf, np.nan, -0.0
    image[2, 3, 1] = -0.0
    with np.errstate(invalid="ignore"):
        expected = convolved(image, weights, is_channels_last, pad)
    arrays = [image, weights, np.zeros(expected.size, np.float32)]
    if not is_channels_last:
        arrays[0] = np.ascontiguousarray(image.transpose(2, 0, 1))
        arrays[1] = np.ascontiguousarray(weights.transpose(2, 1, 0))
        expected = np.ascontiguousarray(expected.transpose(2, 0, 1))
    uir.compile(convolution(is_channels_last, pad))(*arrays)
    nan = np.isnan(expected.ravel())
    assert (np.isnan(arrays[2]) == nan).all()
    assert arrays[2][~nan].tobytes() == expected.ravel()[~nan].tobytes()
