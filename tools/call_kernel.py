"""Call the `kernel` of a shared library on buffers kept in files, in a process of its own.

    python tools/call_kernel.py LIBRARY [FILE:ITEMSIZE]...

Each file holds the raw bytes of one buffer; after the call it holds what the kernel left there.
The kernel's time in seconds goes to stdout. A buffer lies at an address aligned as its elements and
no more, between two zones of bytes that must stay untouched: a kernel that assumes more alignment
crashes here, and one that writes outside a buffer is reported. Standard library only, so that it
starts in a few milliseconds.
"""

import ctypes
import sys
import time
from pathlib import Path

ZONE = 256
FILL = 0xA5


class Buffer:
    """The bytes of `path` in memory, at an odd multiple of `itemsize`, between guard zones."""

    def __init__(self, path: Path, itemsize: int) -> None:
        content = path.read_bytes()
        self.path, self.size = path, len(content)
        self.block = ctypes.create_string_buffer(ZONE + 64 + self.size + ZONE)
        ctypes.memset(self.block, FILL, len(self.block))
        base = ctypes.addressof(self.block) + ZONE
        self.address = base + (itemsize - base) % 64
        ctypes.memmove(self.address, content, self.size)

    def guards_are_whole(self) -> bool:
        """Whether every byte outside the buffer still has its first value."""
        start = self.address - ctypes.addressof(self.block)
        before, after = self.block.raw[:start], self.block.raw[start + self.size :]
        return not (before + after).strip(bytes([FILL]))

    def save(self) -> None:
        """Write the contents back to the file."""
        self.path.write_bytes(ctypes.string_at(self.address, self.size))


def main() -> int:
    """Run the command line."""
    library, *arguments = sys.argv[1:]
    buffers: list[Buffer] = []
    for argument in arguments:
        path, _, itemsize = argument.rpartition(":")
        buffers.append(Buffer(Path(path), int(itemsize)))
    kernel = ctypes.CDLL(library).kernel
    kernel.restype = None
    pointers = [ctypes.c_void_p(buffer.address) for buffer in buffers]
    start = time.perf_counter()
    kernel(*pointers)
    print(time.perf_counter() - start)
    for buffer in buffers:
        if not buffer.guards_are_whole():
            print(f"the kernel wrote outside of {buffer.path.name}", file=sys.stderr)
            return 1
        buffer.save()
    return 0


if __name__ == "__main__":
    sys.exit(main())
