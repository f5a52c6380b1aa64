"""Builds C source with the system compiler and loads the result into this process."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path


class CompileError(Exception):
    """The C compiler is missing, or refused the source; carries what it wrote to stderr."""

    def __init__(self, message: str, stderr: str = "") -> None:
        super().__init__(f"{message}\n{stderr}" if stderr else message)
        self.stderr = stderr


def compile_c(source: str, *, compiler: str = "cc", flags: Sequence[str] = ("-O2",)) -> ctypes.CDLL:
    """The shared library that `compiler` makes of `source`, loaded; no file of it remains.

    Raises CompileError when the compiler is not on the search path, or does not accept the source.
    """
    path = shutil.which(compiler)
    if path is None:
        raise CompileError(f"no C compiler `{compiler}` on the search path")
    with tempfile.TemporaryDirectory(prefix="uir-") as directory:
        source_file = Path(directory, "kernel.c")
        library_file = Path(directory, "kernel.so")
        source_file.write_text(source, encoding="utf-8")
        command = [path, *flags, "-shared", "-fPIC", "-o", str(library_file), str(source_file)]
        result = subprocess.run(
            [*command, "-lm"], capture_output=True, text=True, errors="replace", check=False
        )
        if result.returncode:
            raise CompileError(f"`{compiler}` failed on the generated C", result.stderr)
        # The loaded library stays mapped after its file is gone.
        return ctypes.CDLL(str(library_file))
