"""The compiler that is graded: a command, or the project's own in a process for many programs."""

import subprocess
import sys
from pathlib import Path
from typing import Protocol

from grading.values import Failed, shorten
from grading.workers import Worker

OWN_COMMAND = ["uir"]


class Compiler(Protocol):
    """Something that runs the command lines of a compiler."""

    def call(
        self, arguments: list[str], folder: Path, seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run the command in the folder; `Failed` when it crashes or takes too long."""
        ...

    def close(self) -> None:
        """End every process."""
        ...


class CommandCompiler:
    """One process a call."""

    def __init__(self, command: list[str]) -> None:
        self.command = command

    def call(
        self, arguments: list[str], folder: Path, seconds: float
    ) -> subprocess.CompletedProcess[str]:
        return execute(f"`{arguments[0]}`", [*self.command, *arguments], folder, seconds)

    def close(self) -> None:
        pass


class OwnCompiler:
    """The compiler of this project, imported once in a worker process."""

    def __init__(self) -> None:
        server = Path(__file__).with_name("serve_uir.py")
        self.worker = Worker([sys.executable, str(server)])

    def call(
        self, arguments: list[str], folder: Path, seconds: float
    ) -> subprocess.CompletedProcess[str]:
        request = {"folder": str(folder), "arguments": arguments}
        answer = self.worker.ask(f"`{arguments[0]}`", request, seconds)
        status: int = answer.reply["status"]
        return subprocess.CompletedProcess(arguments, status, answer.stdout, answer.stderr)

    def close(self) -> None:
        self.worker.close()


def compiler_of(command: list[str]) -> Compiler:
    """The compiler behind a command."""
    return OwnCompiler() if command == OWN_COMMAND else CommandCompiler(command)


def execute(
    what: str, command: list[str], folder: Path, seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder; `Failed` when it takes too long or cannot be started."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            timeout=seconds,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{what}: expected an end within {seconds:g} s, found none") from error
    except OSError as error:
        raise Failed(f"{what}: cannot run `{command[0]}`: {error.strerror}") from error


def expect_success(what: str, done: subprocess.CompletedProcess[str]) -> None:
    """Fail unless the command's exit status is 0."""
    if done.returncode:
        message = shorten(done.stderr.strip(), 2000)
        raise Failed(f"{what}: expected exit status 0, found {done.returncode}\n{message}".rstrip())
