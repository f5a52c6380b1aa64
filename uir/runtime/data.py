"""What a program's text gives its buffers: `data=` elements, and `url=` files, checked (week 6, 5).

A file is found beside the `.uir` file, or downloaded once and kept in a cache by its hash. Its
SHA-256 and size are checked on every use.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp

from dialects.uir.memory import BufferOp
from dialects.uir.types import DTYPE_NAMES, dtype_of, size_of
from uir.text.diagnostics import Diagnostic, place_of

Contents: TypeAlias = dict[int, bytes]
"""Slot to its elements at the start: little-endian, one byte a bool."""


class DataError(Exception):
    """A data file that is missing or not the one that the program names."""


def read_contents(module: ModuleOp, folder: Path) -> tuple[Contents, list[Diagnostic]]:
    """The contents that `module` gives its buffers, and an error for each that it cannot have.

    Relative paths start in `folder`, the one of the `.uir` file, and may not leave it.
    """
    contents: Contents = {}
    diagnostics: list[Diagnostic] = []
    for op in module.body.block.ops:
        if not isinstance(op, BufferOp):
            continue
        if op.data is not None:
            contents[op.slot.value.data] = op.data.data.data
        elif op.url is not None:
            try:
                contents[op.slot.value.data] = _read_file(op, folder)
            except DataError as error:
                diagnostics.append(Diagnostic(place_of(op), str(error)))
    return contents, diagnostics


def _read_file(op: BufferOp, folder: Path) -> bytes:
    """The bytes of the file that `op` names, checked. Raises DataError."""
    assert op.url is not None
    assert op.sha256 is not None
    url, digest = op.url.data, op.sha256.data
    dtype, count = DTYPE_NAMES[dtype_of(op.result)], size_of(op.result)
    size = count if dtype == "bool" else 4 * count
    path = _download(url, digest) if url.startswith("https://") else _find(url, folder)
    try:
        found = path.stat().st_size
        if found != size:
            raise DataError(
                f"`{url}` has {found} bytes, but {count} elements of {dtype} are {size} bytes"
            )
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"`{url}` cannot be read: {error.strerror}: {path}") from None
    actual = hashlib.sha256(data).hexdigest()
    if actual != digest:
        raise DataError(f"`{url}` has the SHA-256 {actual}, but `sha256=` says {digest}")
    if dtype == "bool" and (wrong := data.translate(None, b"\0\1")):
        element = data.index(wrong[:1])
        raise DataError(
            f"`{url}` holds the byte {wrong[0]} at element {element}, but a bool is 0 or 1"
        )
    return data


def _find(url: str, folder: Path) -> Path:
    """The file of a relative path, symbolic links resolved. Raises DataError."""
    path = folder / url
    try:
        target = path.resolve(strict=True)
        mode = target.stat().st_mode
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a loop of symbolic links"
        raise DataError(f"`{url}` cannot be read: {reason}: {path}") from None
    if not target.is_relative_to(folder.resolve()):
        raise DataError(f"`{url}` leaves the folder of the program: it is {target}")
    if not stat.S_ISREG(mode):
        raise DataError(f"`{url}` is not a file: {path}")
    return target


def _cache() -> Path:
    """The folder of the downloaded files."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "uir"


def _download(url: str, digest: str) -> Path:
    """The cached copy of `url`, downloaded unless it is there. Raises DataError."""
    path = _cache() / digest
    if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest:
        return path
    import pooch
    from requests import RequestException

    pooch.get_logger().setLevel("WARNING")
    try:
        pooch.retrieve(url, f"sha256:{digest}", digest, path.parent)  # pyright: ignore[reportUnknownMemberType]
    except RequestException as error:
        raise DataError(f"`{url}` cannot be downloaded: {error}") from None
    except ValueError as error:
        # A download whose hash is wrong: the message of pooch names both, and nothing is kept.
        raise DataError(f"`{url}` is not the file that `sha256=` names: {error}") from None
    except OSError as error:
        raise DataError(f"`{url}` cannot be kept in {path.parent}: {error.strerror}") from None
    return path
