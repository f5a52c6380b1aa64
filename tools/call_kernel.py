"""Call the `kernel` of a shared library on buffers kept in files, in a process of its own.

    python tools/call_kernel.py LIBRARY [FILE:ITEMSIZE]...
    python tools/call_kernel.py --serve DESCRIPTOR

Each file holds the raw bytes of one buffer; after the call it holds what the kernel left there.
The kernel's time in seconds goes to stdout. A buffer lies at an address aligned as its elements and
no more, between two zones of bytes that must stay untouched: a kernel that assumes more alignment
crashes here, and one that writes outside a buffer is reported; where the address sanitizer is in
the process, so is one that reads there. Standard library only, so that it starts in a few
milliseconds.

With `--serve`, requests come as lines of JSON on stdin, and the replies go to the descriptor.
"""

import ctypes
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

ZONE = 256
FILL = 0xA5

PROCESS = ctypes.CDLL(None)


class Buffer:
    """The bytes of `path` in memory, at an odd multiple of `itemsize`, between guard zones."""

    def __init__(self, path: Path, itemsize: int) -> None:
        self.content = path.read_bytes()
        self.path, self.size = path, len(self.content)
        self.block = ctypes.create_string_buffer(ZONE + 64 + self.size + ZONE)
        base = ctypes.addressof(self.block) + ZONE
        self.address = base + (itemsize - base) % 64

    def fill(self) -> None:
        """Give the buffer and its zones their first contents."""
        ctypes.memset(self.block, FILL, len(self.block))
        ctypes.memmove(self.address, self.content, self.size)

    def guards_are_whole(self) -> bool:
        """Whether every byte outside the buffer still has its first value."""
        start = self.address - ctypes.addressof(self.block)
        before, after = self.block.raw[:start], self.block.raw[start + self.size :]
        return not (before + after).strip(bytes([FILL]))

    def close_zones(self) -> None:
        """Make an access to the zones an error, if the address sanitizer is in this process."""
        self._tell_sanitizer("__asan_poison_memory_region")

    def open_zones(self) -> None:
        """Allow what `close_zones` forbids."""
        self._tell_sanitizer("__asan_unpoison_memory_region")

    def _tell_sanitizer(self, function: str) -> None:
        tell = getattr(PROCESS, function, None)
        if tell is not None:
            start, end = ctypes.addressof(self.block), self.address + self.size
            after = start + len(self.block) - end
            tell(ctypes.c_void_p(start), ctypes.c_size_t(self.address - start))
            tell(ctypes.c_void_p(end), ctypes.c_size_t(after))

    def left(self) -> bytes:
        """The contents now."""
        return ctypes.string_at(self.address, self.size)


class ErrorStruct(ctypes.Structure):
    """`struct uir_error` of the rendered C."""

    _fields_ = [("line", ctypes.c_int32), ("kind", ctypes.c_char_p)]


class KernelError(Exception):
    """The kernel did what no kernel may do; the message says what."""


def call_kernel(
    library: str, symbol: str, buffers: list[Buffer], calls: int = 1, checked: bool = False
) -> dict[str, Any]:
    """Call the kernel `calls` times on fresh buffers, and save what it left.

    Gives the `seconds` of the first call and, of a checked kernel, its `status`, `line` and `kind`.
    Raises KernelError when it wrote outside its buffers, or did not do the same each time.
    """
    kernel = getattr(ctypes.CDLL(library), symbol)
    kernel.restype = ctypes.c_int if checked else None
    first: tuple[Any, ...] | None = None
    seconds = 0.0
    for _ in range(calls):
        for buffer in buffers:
            buffer.fill()
            buffer.close_zones()
        error = ErrorStruct()
        arguments: list[Any] = [ctypes.c_void_p(buffer.address) for buffer in buffers]
        arguments += [ctypes.byref(error)] if checked else []
        start = time.perf_counter()
        status = kernel(*arguments)
        elapsed = time.perf_counter() - start
        for buffer in buffers:
            buffer.open_zones()
            if not buffer.guards_are_whole():
                raise KernelError(f"the kernel wrote outside of {buffer.path.name}")
        kind = error.kind.decode() if error.kind else None
        found = (status, error.line, kind, [buffer.left() for buffer in buffers])
        if first is None:
            first, seconds = found, elapsed
        elif found != first:
            raise KernelError("a second call of the kernel did not do what the first did")
    for buffer in buffers:
        buffer.path.write_bytes(buffer.left())
    reply: dict[str, Any] = {"seconds": seconds}
    if checked and first is not None:
        reply.update(zip(("status", "line", "kind"), first, strict=False))
    return reply


def serve(descriptor: int) -> None:
    """Answer requests until stdin ends."""
    for line in sys.stdin:
        request = json.loads(line)
        buffers = [Buffer(Path(path), size) for path, size in request.pop("buffers")]
        try:
            reply = call_kernel(buffers=buffers, **request)
        except KernelError as error:
            reply = {"failure": str(error)}
        os.write(descriptor, json.dumps(reply).encode() + b"\n")


def main() -> int:
    """Run the command line."""
    library, *arguments = sys.argv[1:]
    if library == "--serve":
        serve(int(arguments[0]))
        return 0
    buffers: list[Buffer] = []
    for argument in arguments:
        path, _, itemsize = argument.rpartition(":")
        buffers.append(Buffer(Path(path), int(itemsize)))
    try:
        print(call_kernel(library, "kernel", buffers)["seconds"])
    except KernelError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
