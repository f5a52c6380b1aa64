"""The `.uir` compiler: tensor programs with an exact meaning, run or compiled to C.

    import uir

    uir.run("%a = fdiv 10.0 3.0").result            # array(3.3333335, dtype=float32)
    print(uir.render(pathlib.Path("prog.uir")))     # one C file
    kernel = uir.compile(pathlib.Path("prog.uir"))  # a function on numpy arrays

A program is given as its text (a `str`), or as the path of its file (a `pathlib.Path`); relative
`url=` paths in a text start in the current folder. All errors of a program are in one
`InvalidProgram`, whose `str` shows them with their places.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uir.api import compile, parse, render, run
    from uir.runtime.compiled import Buffer, Compiled
    from uir.runtime.failure import RuntimeFailure, TooLarge
    from uir.runtime.interpret import Outcome
    from uir.text.diagnostics import InvalidProgram

__all__ = [
    "Buffer",
    "Compiled",
    "InvalidProgram",
    "Outcome",
    "RuntimeFailure",
    "TooLarge",
    "compile",
    "parse",
    "render",
    "run",
]

_MODULES = {
    "Buffer": "uir.runtime.compiled",
    "Compiled": "uir.runtime.compiled",
    "InvalidProgram": "uir.text.diagnostics",
    "Outcome": "uir.runtime.interpret",
    "RuntimeFailure": "uir.runtime.failure",
    "TooLarge": "uir.runtime.failure",
}


def __getattr__(name: str) -> Any:
    # The compiler takes a while to import, which `import uir` alone should not.
    if name in __all__:
        return getattr(import_module(_MODULES.get(name, "uir.api")), name)
    raise AttributeError(f"module 'uir' has no attribute '{name}'")
