"""What both commands do around their work: files written whole, and errors without tracebacks."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path


def write_whole(path: str, text: str) -> None:
    """Writes `text` to the file `path`, whole or not at all. Raises OSError."""
    target = Path(path)
    if target.exists() and not target.is_file():
        # A device or a pipe, /dev/stdout for instance, is written to and not replaced.
        target.write_text(text, encoding="utf-8")
        return
    target = target.resolve()
    try:
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        # The user knows the file by its own name, not by the temporary one.
        raise OSError(error.errno, error.strerror, path) from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def run_command(name: str, command: Callable[[], int]) -> None:
    """Exits with the status of `command`; what goes wrong outside it is told in one line."""
    try:
        status = command()
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        # The reader has gone. Python would complain about the pipe once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 141
    except OSError as error:
        status = _fail(name, _spell_os_error(error))
    except RecursionError:
        status = _fail(name, "the program is nested too deeply, in loops within loops")
    except MemoryError:
        status = _fail(name, "there is not enough memory")
    except Exception as error:
        status = _fail(name, f"internal error: {_spell_internal_error(error)}")
    sys.exit(status)


def _fail(name: str, message: str) -> int:
    print(f"{name}: error: {message}", file=sys.stderr)
    return 1


def _spell_os_error(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename is not None else reason


def _spell_internal_error(error: Exception) -> str:
    """The error and where it was raised, for a report."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})"
    message = str(error).partition("\n")[0]
    return f"{type(error).__name__}{': ' if message else ''}{message}{place}"
