"""What a program's text gives its buffers: `data=` elements, and `url=` files (week 6, 5).

A file is beside the `.uir` file or in the cache of downloads. Its SHA-256, size and elements are
checked on every use.
"""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp

from dialects.uir.memory import BufferOp
from dialects.uir.types import DTYPE_NAMES, dtype_of, size_of
from uir.runtime.data_file import DataError, DataFile
from uir.runtime.downloads import fetch
from uir.text.diagnostics import Diagnostic, place_of

Contents: TypeAlias = dict[int, bytes]
"""Slot to its elements at the start: little-endian, one byte a bool."""


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
                diagnostics.append(Diagnostic(place_of(op), str(error), error.help))
    return contents, diagnostics


def _read_file(op: BufferOp, folder: Path) -> bytes:
    """The bytes of the file that `op` names, checked. Raises DataError."""
    assert op.url is not None
    assert op.sha256 is not None
    dtype, count = DTYPE_NAMES[dtype_of(op.result)], size_of(op.result)
    file = DataFile(op.url.data, op.sha256.data, count, dtype)
    data = fetch(file) if file.is_remote else _read_local(file, folder)
    file.check_elements(data)
    return data


def _read_local(file: DataFile, folder: Path) -> bytes:
    """The bytes of a relative path; size and hash are right. Raises DataError."""
    path = _find(file.url, folder)
    try:
        file.check_size(path.stat().st_size)
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"`{file.url}` cannot be read: {error.strerror}: {path}") from None
    file.check_hash(hashlib.sha256(data).hexdigest())
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
