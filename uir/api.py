"""The functions of the public Python API, which `import uir` gives on first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from passes.autodiff import InvalidGradients, differentiate
from passes.pipelines import LOWER, LOWER_CHECKED, apply_passes
from uir.program import Program, Source, gradient_diagnostics, load_program, read_source
from uir.text.diagnostics import InvalidProgram
from uir.text.parser import parse_text

if TYPE_CHECKING:
    import numpy.typing as npt

    from uir.runtime.compiled import Compiled
    from uir.runtime.interpret import Outcome


def parse(source: Source) -> ModuleOp:
    """The program as a module of the `uir` dialect, with one op for each different statement.

    Raises InvalidProgram for the errors of the text and of its gradients (data files are not read),
    and OSError when the file cannot be read.
    """
    text = read_source(source)
    module = parse_text(text.text, text.file)
    if errors := differentiate(module.clone()):
        raise InvalidProgram(gradient_diagnostics(InvalidGradients(errors)), text.text)
    return module


def run(source: Source, slots: Mapping[int, npt.ArrayLike] | None = None) -> Outcome:
    """Interprets the program, exactly and on one core.

    `slots` gives the contents of buffers at the start: slot to an array of the buffer's number of
    elements, in any shape, of dtype float32 for f32, int32 for i32, bool for bool. The arrays are
    not written to. A slot that is not given starts as the text says, or as zeros.

    The outcome has `result`, an array of the shape of the last statement (None when that is no
    value), and `slots`, the contents at the end of each slot that the program stores to, flat.

    Raises InvalidProgram; RuntimeFailure when a statement fails (a zero divisor, say); TooLarge
    when the machine's memory is too small; ValueError for slots that do not fit the buffers.
    """
    from uir.runtime.interpret import interpret
    from uir.runtime.slots import with_slots

    program = load_program(read_source(source))
    return interpret(program.module, with_slots(program, slots or {}))


def render(source: Source, *, checks: bool = False) -> str:
    """The program as one self-contained C file.

    Its `kernel` takes a pointer to each buffer, in increasing slot number (`float`, `int32_t`, or
    `uint8_t` for bool), and a last one for the result when that is a value. With `checks` it also
    takes a `struct uir_error *`, and returns 1 after a runtime error, of which that has the kind
    and the line; without, such an operation has a total result. Raises InvalidProgram.
    """
    return c_of(load_program(read_source(source)), checks=checks)


def compile(source: Source, *, compiler: str = "cc", flags: Sequence[str] = ("-O2",)) -> Compiled:
    """The program as a function on numpy arrays, built with the system's C compiler.

    Raises InvalidProgram, and `dialects.prog.native.CompileError` when the C cannot be built.
    """
    from uir.runtime.compiled import Compiled

    return Compiled.build(load_program(read_source(source)), compiler, flags)


def c_of(program: Program, *, checks: bool = False) -> str:
    """The C file of a program, whose module is lowered on the way."""
    from uir.targets.c import print_c

    apply_passes(LOWER_CHECKED if checks else LOWER, program.module)
    out = StringIO()
    print_c(program.module, out)
    return out.getvalue()
