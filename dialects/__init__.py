"""The dialects, and those of xDSL that the compiler uses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

from xdsl.ir import Dialect

_DIALECTS = {
    "builtin": "xdsl.dialects.builtin:Builtin",
    "uir": "dialects.uir.dialect:Uir",
    "prog": "dialects.prog.dialect:Prog",
    "func": "xdsl.dialects.func:Func",
    "scf": "xdsl.dialects.scf:Scf",
    "cf": "xdsl.dialects.cf:Cf",
    "arith": "xdsl.dialects.arith:Arith",
    "complex": "xdsl.dialects.complex:Complex",
    "memref": "xdsl.dialects.memref:MemRef",
    "vector": "dialects.vector:Vector",
    "affine": "xdsl.dialects.affine:Affine",
}
"""Name to `module:object`."""


def _load(place: str) -> Dialect:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def get_all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Every dialect by its name, imported when its factory is called."""
    return {name: partial(_load, place) for name, place in _DIALECTS.items()}
