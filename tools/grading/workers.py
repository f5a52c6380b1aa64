"""Processes that answer many requests, and are replaced when one kills or blocks them."""

import fcntl
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import Any, BinaryIO

from grading.values import Failed


@dataclass(frozen=True)
class Answer:
    """The reply of a worker, and what it wrote to stdout and stderr on the way."""

    reply: dict[str, Any]
    stdout: str
    stderr: str


def output_file() -> BinaryIO:
    """A temporary file to whose end every write goes, also after it was emptied."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as its worker)
    flags = fcntl.fcntl(file, fcntl.F_GETFL)
    fcntl.fcntl(file, fcntl.F_SETFL, flags | os.O_APPEND)
    return file


def contents_of(file: BinaryIO) -> str:
    """The text of the file."""
    file.seek(0)
    return file.read().decode("utf-8", errors="replace")


class Worker:
    """A process that reads a line of JSON on stdin, and replies with one on a descriptor.

    The number of the descriptor is the last argument of its command.
    """

    def __init__(self, command: list[str], environment: dict[str, str] | None = None) -> None:
        self.command, self.environment = command, environment
        self.stdout, self.stderr = output_file(), output_file()
        self.process: subprocess.Popen[bytes] | None = None
        self.replies = -1

    def ask(self, what: str, request: dict[str, Any], seconds: float) -> Answer:
        """The answer to a request; `Failed` when the worker ends or takes longer than `seconds`."""
        process = self.started()
        for file in (self.stdout, self.stderr):
            file.truncate(0)
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = self.next_line(seconds)
        except BrokenPipeError:
            line = b""
        if line is None:
            self.stop()
            raise Failed(f"{what}: expected an end within {seconds:g} s, found none")
        stdout, stderr = contents_of(self.stdout), contents_of(self.stderr)
        if not line:
            status = process.wait()
            self.stop()
            end = signal.Signals(-status).name if status < 0 else f"status {status}"
            raise Failed(f"{what}: its process ended early, with {end}\n{stderr}".rstrip())
        return Answer(json.loads(line), stdout, stderr)

    def started(self) -> subprocess.Popen[bytes]:
        """The process, started if there is none."""
        if self.process is None:
            self.replies, write_end = os.pipe()
            self.process = subprocess.Popen(
                [*self.command, str(write_end)],
                stdin=subprocess.PIPE,
                stdout=self.stdout,
                stderr=self.stderr,
                env=self.environment,
                pass_fds=(write_end,),
            )
            os.close(write_end)
        return self.process

    def next_line(self, seconds: float) -> bytes | None:
        """The next reply; empty when the process has ended, None when it takes too long."""
        deadline = time.monotonic() + seconds
        line = b""
        while not line.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.replies], [], [], left)[0]:
                return None
            part = os.read(self.replies, 65536)
            if not part:
                return b""
            line += part
        return line

    def stop(self) -> None:
        """End the process; the next request starts another."""
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        self.process.stdin.close()
        os.close(self.replies)
        self.process = None

    def close(self) -> None:
        """End the process for good."""
        self.stop()
        self.stdout.close()
        self.stderr.close()
