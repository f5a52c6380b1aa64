"""Values as `.uir` prints them, and their comparison bit by bit."""

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

DTYPES: dict[str, np.dtype[np.generic]] = {
    "bool": np.dtype(np.uint8),
    "i32": np.dtype("<i4"),
    "f32": np.dtype("<f4"),
}

Array = npt.NDArray[np.generic]


class Failed(Exception):
    """A test failed; the message says what was expected and what was found."""


@dataclass(frozen=True)
class Value:
    """A scalar or tensor: dtype name, shape, and elements in row-major order."""

    dtype: str
    shape: tuple[int, ...]
    elements: Array

    def same_bits(self, other: "Value") -> bool:
        """Whether type and bits agree, where all NaNs are the same."""
        return (
            self.dtype == other.dtype
            and self.shape == other.shape
            and bits(self.elements).tobytes() == bits(other.elements).tobytes()
        )


def bits(elements: Array) -> Array:
    """The elements with every NaN replaced by one NaN."""
    if elements.dtype == DTYPES["f32"]:
        return np.where(np.isnan(elements), np.float32(np.nan), elements).astype("<f4")
    return elements


def parse_f32(tokens: list[str]) -> Array:
    """The nearest f32 of each decimal, rounded once.

    A double is exact enough except where it lies on the middle between two f32s.
    """
    doubles = np.array([float(token) for token in tokens], np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = doubles.astype(np.float32)
        toward = np.where(doubles > nearest, np.inf, -np.inf).astype(np.float32)
        other = np.nextafter(nearest, toward)
        middle = (nearest.astype(np.float64) + other.astype(np.float64)) / 2
    for i in np.flatnonzero((doubles == middle) & (doubles != nearest)):
        exact, low, high = Fraction(tokens[i]), *sorted((nearest[i], other[i]))
        if exact != Fraction(float(doubles[i])):
            nearest[i] = high if exact > Fraction(float(doubles[i])) else low
    return nearest.astype("<f4")


def parse_value(text: str) -> Value:
    """Read a printed scalar or nested list; the form of the first element tells the dtype."""
    tokens = re.findall(r"[][]|[^][\s]+", text)
    leaves = [token for token in tokens if token not in "[]"]
    if not leaves:
        raise Failed(f"expected a value, found `{text}`")
    shape = shape_of(tokens, len(leaves))
    try:
        if leaves[0] in ("true", "false"):
            flags = [("false", "true").index(token) for token in leaves]
            return Value("bool", shape, np.array(flags, DTYPES["bool"]))
        if re.fullmatch(r"-?\d+", leaves[0]):
            return Value("i32", shape, np.array([int(token) for token in leaves], "<i4"))
        return Value("f32", shape, parse_f32(leaves))
    except (ValueError, OverflowError) as error:
        raise Failed(f"expected a value, found `{shorten(text)}` ({error})") from error


def shape_of(tokens: list[str], leaves: int) -> tuple[int, ...]:
    """The shape of a nested list: how many lists or elements each level has per list above."""
    opened: list[int] = []
    depth = 0
    for token in tokens:
        if token == "[":
            if depth == len(opened):
                opened.append(0)
            opened[depth] += 1
        depth += {"[": 1, "]": -1}.get(token, 0)
    counts = [*opened, leaves]
    return tuple(inner // outer for outer, inner in pairwise(counts))


def shorten(text: str, limit: int = 300) -> str:
    """The text, cut in the middle when it is long."""
    half = limit // 2
    return text if len(text) <= limit else f"{text[:half]} ... {text[-half:]}"


def describe(value: Value) -> str:
    """Type and elements, for a message."""
    elements = " ".join(str(element) for element in value.elements[:64])
    return f"{value.dtype}{list(value.shape)} {shorten(elements)}"


def expect_same(what: str, expected: Value, found: Value) -> None:
    """Fail unless the two values have the same bits; name the first difference of long ones."""
    if expected.same_bits(found):
        return
    detail = ""
    if expected.dtype == found.dtype and expected.elements.size == found.elements.size:
        differ = bits(expected.elements).view(np.uint8) != bits(found.elements).view(np.uint8)
        places = np.flatnonzero(differ.reshape(expected.elements.size, -1).any(1))
        if places.size:
            i = int(places[0])
            detail = (
                f" ({places.size} of {expected.elements.size} differ; element {i}: expected "
                f"{expected.elements[i]}, found {found.elements[i]})"
            )
    raise Failed(f"{what}: expected {describe(expected)}, found {describe(found)}{detail}")
