"""Prints a module of loops (func, scf, arith, vector, memref of rank 1) as one C11 file.

The printer walks the IR and spells it; what is computed, in what order and where it is kept, the
passes have decided. A private function becomes `static`, a public one is exported. Memories are
pointers to the C type of their dtype, aligned as their element; they do not overlap. The file needs
no other: what the functions call of the kind library, which the module declares, is copied into it.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, ClassVar

from xdsl.context import Context
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from dialects.prog.c_library import is_function
from dialects.uir.checks import CHECKED
from uir.targets.c_dispatch import DISPATCH_MACROS, VECTOR_MACROS, is_dispatched, needs_vectors
from uir.targets.c_expressions import UnprintableError
from uir.targets.c_functions import is_private, print_function
from uir.targets.c_helpers import (
    EPILOGUE,
    ERROR_STRUCT,
    HELPERS,
    PARALLEL_MACRO,
    PROLOGUE,
    definitions_used_in,
)
from uir.targets.c_names import Names, is_ordinary
from uir.targets.c_uses import stored_arguments


@dataclass(frozen=True)
class CTarget(Target):
    """The target `c` of `uir-opt`."""

    name: ClassVar[str] = "c"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        print_c(module, output)


def print_c(module: ModuleOp, out: IO[str]) -> None:
    """Writes `module` as a C file; the same module always gives the same bytes.

    Raises UnprintableError, before anything is written, for an op or a type that has no place in C.
    """
    library = _library_of(module)
    functions = _callees_first(_functions_of(module, library), library)
    names = _function_names(functions)
    global_names = HELPERS.keys() | set(names.values())
    checked = {f.sym_name.data for f in functions if CHECKED in f.attributes}
    stored: dict[str, frozenset[int]] = {}
    lines: list[str] = []
    for function in functions:
        stored[function.sym_name.data] = stored_arguments(function, stored)
        local_names = Names(global_names)
        lines += ["", *print_function(function, names, local_names, stored, checked)]
    helpers = definitions_used_in(lines)
    is_dispatching = any(map(is_dispatched, functions))
    if is_dispatching or any(map(needs_vectors, functions)):
        helpers.append(VECTOR_MACROS)
    if is_dispatching:
        helpers.append(DISPATCH_MACROS)
    if any(isinstance(op, scf.ParallelOp) for function in functions for op in function.walk()):
        helpers.append(PARALLEL_MACRO)
    if checked:
        helpers = [ERROR_STRUCT, *helpers]
    out.write("\n".join([PROLOGUE, *helpers, *lines[1:], "", EPILOGUE]))


def _library_of(module: ModuleOp) -> set[str]:
    """The functions of the kind library that `module` declares."""
    declarations = (op for op in module.ops if isinstance(op, func.FuncOp) and op.is_declaration)
    return {op.sym_name.data for op in declarations if is_function(op.sym_name.data)}


def _functions_of(module: ModuleOp, library: Container[str]) -> list[func.FuncOp]:
    """The functions with a body; a declaration is of a function of `library`."""
    functions: list[func.FuncOp] = []
    for op in module.ops:
        if not isinstance(op, func.FuncOp):
            raise UnprintableError(op, "only functions stand at the top of a C file")
        if op.sym_name.data in library:
            continue
        if len(op.body.blocks) != 1:
            raise UnprintableError(op, "a function needs a body of one block")
        if op.function_type.outputs.data:
            raise UnprintableError(op, "results are written to memory, not returned")
        functions.append(op)
    return functions


def _callees_first(functions: Sequence[func.FuncOp], library: Container[str]) -> list[func.FuncOp]:
    """The functions in their order, except that a function stands after those that it calls."""
    by_symbol = {function.sym_name.data: function for function in functions}
    callees = {
        symbol: _callees(function, by_symbol, library) for symbol, function in by_symbol.items()
    }
    ordered: dict[str, func.FuncOp] = {}
    entered: set[str] = set()
    for symbol in by_symbol:
        path = [symbol]
        while path:
            waiting = [callee for callee in callees[path[-1]] if callee not in ordered]
            if not waiting:
                ordered.setdefault(path[-1], by_symbol[path[-1]])
                path.pop()
            elif path[-1] in entered:
                raise UnprintableError(by_symbol[path[-1]], "it calls itself")
            else:
                entered.add(path[-1])
                path += reversed(waiting)
    return list(ordered.values())


def _callees(
    function: func.FuncOp, by_symbol: Mapping[str, func.FuncOp], library: Container[str]
) -> list[str]:
    """The symbols of the functions that `function` calls but those of the library, each once."""
    callees: dict[str, None] = {}
    for op in function.walk():
        if isinstance(op, func.CallOp) and (callee := op.callee.string_value()) not in library:
            if callee not in by_symbol:
                raise UnprintableError(op, f"there is no function @{callee}")
            callees[callee] = None
    return list(callees)


def _function_names(functions: Sequence[func.FuncOp]) -> dict[str, str]:
    """The C name of each symbol: a public one keeps its own, because the caller knows it."""
    public = [function for function in functions if not is_private(function)]
    for function in public:
        if not is_ordinary(function.sym_name.data) or function.sym_name.data in HELPERS:
            raise UnprintableError(function, "its name is not free in C")
    names = Names(HELPERS.keys() | {function.sym_name.data for function in public})
    return {
        symbol: names.fresh(symbol, "f") if is_private(function) else symbol
        for function in functions
        for symbol in [function.sym_name.data]
    }
