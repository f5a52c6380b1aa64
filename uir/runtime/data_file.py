"""What a program says of a data file (week 6, 5), and the errors of a file that is another."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


class DataError(Exception):
    """A data file that is missing or not the one that the program names."""

    def __init__(self, message: str, help: str | None = None):
        super().__init__(message)
        self.help = help
        """What the reader can do about it."""


@dataclass(frozen=True)
class DataFile:
    """The file of `url=`, as its `buffer` statement describes it."""

    url: str
    """A relative path, or a URL that starts with `https://`."""
    digest: str
    """Its SHA-256: 64 lowercase hex digits."""
    count: int
    """The elements of the buffer."""
    dtype: str
    """Their dtype: `f32`, `i32` or `bool`."""

    @property
    def is_remote(self) -> bool:
        return self.url.startswith("https://")

    @property
    def size(self) -> int:
        """The bytes that the file must have."""
        return self.count if self.dtype == "bool" else 4 * self.count

    def has_hash(self, data: bytes) -> bool:
        """Whether `data` is what `sha256=` names."""
        return hashlib.sha256(data).hexdigest() == self.digest

    def check_size(self, found: int) -> None:
        """Raises DataError unless `found` bytes are the right number."""
        if found != self.size:
            raise self.size_error(str(found))

    def size_error(self, found: str) -> DataError:
        """The error of a file that has `found` bytes, a number in words."""
        return DataError(
            f"`{self.url}` has {found} bytes, "
            f"but {self.count} elements of {self.dtype} are {self.size} bytes"
        )

    def check_hash(self, actual: str) -> None:
        """Raises DataError unless `actual`, in lowercase hex digits, is the right SHA-256."""
        if actual != self.digest:
            raise DataError(
                f"`{self.url}` has the SHA-256 {actual}, but `sha256=` says {self.digest}"
            )

    def check_elements(self, data: bytes) -> None:
        """Raises DataError when a byte of `data` is not an element: a bool is 0 or 1."""
        if self.dtype == "bool" and (wrong := data.translate(None, b"\0\1")):
            element = data.index(wrong[:1])
            raise DataError(
                f"`{self.url}` holds the byte {wrong[0]} at element {element}, but a bool is 0 or 1"
            )
