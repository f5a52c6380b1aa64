"""Builds C source with the system compiler and loads the result into this process."""

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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
    with tempfile.TemporaryDirectory(prefix="uir-") as directory:
        # The loaded library stays mapped after its file is gone.
        return ctypes.CDLL(str(_build([source], compiler, flags, Path(directory))))


def cached_library(
    sources: Sequence[str], *, compiler: str = "cc", flags: Sequence[str] = ("-O2",)
) -> ctypes.CDLL:
    """The shared library of `sources`, which are compiled side by side, loaded.

    It is kept in the user's cache directory, and built only where no library of these sources,
    flags and this version of the compiler is there. Where nothing can be written there, it is
    built every time. Several processes may ask for it at once.

    Raises CompileError as `compile_c` does.
    """
    import pooch

    version = _run([_found(compiler), "--version"], compiler)
    key = repr((version, tuple(flags), tuple(sources)))
    name = f"{hashlib.sha256(key.encode()).hexdigest()}.so"
    folder = Path(pooch.os_cache("uir"), "native")
    library = folder / name
    if library.exists():
        return ctypes.CDLL(str(library))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        building = tempfile.TemporaryDirectory(dir=folder)
    except OSError:
        building = tempfile.TemporaryDirectory(prefix="uir-")
    with building as directory:
        built = _build(sources, compiler, flags, Path(directory))
        if built.parent.parent != folder:
            return ctypes.CDLL(str(built))
        # In one step, so that no process sees a part of it.
        built.replace(library)
    return ctypes.CDLL(str(library))


def _found(compiler: str) -> str:
    """The path of `compiler`; raises CompileError if it is not on the search path."""
    path = shutil.which(compiler)
    if path is None:
        raise CompileError(f"no C compiler `{compiler}` on the search path")
    return path


def _build(sources: Sequence[str], compiler: str, flags: Sequence[str], folder: Path) -> Path:
    """The file of the shared library of `sources`, in `folder`."""
    path = _found(compiler)

    def compiled(position: int) -> str:
        source = folder / f"kernel{position}.c"
        source.write_text(sources[position], encoding="utf-8")
        target = str(source.with_suffix(".o"))
        _run([path, *flags, "-fPIC", "-c", "-o", target, str(source)], compiler)
        return target

    with ThreadPoolExecutor() as pool:
        objects = list(pool.map(compiled, range(len(sources))))
    library = folder / "kernel.so"
    _run([path, *flags, "-shared", "-o", str(library), *objects, "-lm"], compiler)
    return library


def _run(command: Sequence[str], compiler: str) -> str:
    """What `command`, a call of `compiler`, writes to stdout; raises CompileError if it fails."""
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if result.returncode:
        raise CompileError(f"`{compiler}` failed on the generated C", result.stderr)
    return result.stdout
