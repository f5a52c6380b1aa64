"""`uir-opt`: reads `.uir` or `.mlir`, applies passes in the order given, and prints the module.

uir-opt --expand-sugar --autodiff prog.uir
uir-opt -p "expand-sugar,autodiff" -t uir prog.uir
uir-opt --frontend uir - < prog.uir
"""

from __future__ import annotations

import gc
import os
import re
import sys
import time
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import IO, ClassVar, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.passes import ModulePass, PassPipeline
from xdsl.printer import Printer
from xdsl.tools.command_line_tool import CommandLineTool
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError
from xdsl.utils.frontend import Frontend
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import xDSLOptMain

from dialects import get_all_dialects
from passes import get_all_passes

_SEPARATOR = re.compile(rb"^(?://|#) -----[ \t\r]*$", re.MULTILINE)
_MAX_ERRORS = 10


class Rejected(Exception):
    """The input has errors; `str` is what to show of them."""


@dataclass(frozen=True)
class UirFrontend(Frontend):
    """Reads `.uir` text."""

    name: ClassVar[str] = "uir"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        from uir.program import decode
        from uir.text.parser import parse_text

        return parse_text(decode(input.read(), input_name), input_name)


@dataclass(frozen=True)
class UirTarget(Target):
    """Prints a module on the `uir` level as `.uir` text."""

    name: ClassVar[str] = "uir"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        from uir.text.printer import print_text

        print_text(module, output)


def _c_target() -> type[Target]:
    from uir.targets.c import CTarget

    return CTarget


def _mlir_frontend() -> type[Frontend]:
    from xdsl.frontend.mlir import MLIRFrontend

    return MLIRFrontend


def _mlir_target() -> type[Target]:
    from xdsl.targets.mlir import MLIRTarget

    return MLIRTarget


class UirOptMain(xDSLOptMain):
    """The driver, with the dialects, passes, frontends and targets of this project only."""

    def __init__(self, args: Sequence[str]):
        super().__init__(
            "Apply passes to a .uir or .mlir file, in the order given.", gather_passes(args)
        )

    def register_all_dialects(self) -> None:
        for name, factory in get_all_dialects().items():
            self.ctx.register_dialect(name, factory)

    def register_all_passes(self) -> None:
        for flag, factory in get_all_passes().items():
            self.register_pass(flag, factory)

    def register_all_frontends(self) -> None:
        self.available_frontends = {"uir": lambda: UirFrontend, "mlir": _mlir_frontend}

    def register_all_targets(self) -> None:
        self.available_targets = {"mlir": _mlir_target, "uir": lambda: UirTarget, "c": _c_target}

    def register_all_arguments(self, arg_parser: ArgumentParser) -> None:
        arg_parser.prog = "uir-opt"
        arg_parser.allow_abbrev = False
        CommandLineTool.register_all_arguments(self, arg_parser)
        add_arguments(arg_parser)
        # What the stock driver reads of options that this one does not have.
        arg_parser.set_defaults(print_no_properties=False, syntax_highlight=False)

    def setup_pipeline(self) -> None:
        started = time.perf_counter()

        def callback(
            previous: ModulePass | None, module: ModuleOp, next: ModulePass | None
        ) -> None:
            nonlocal started
            if previous is not None:
                if self.args.time_passes:
                    spent = time.perf_counter() - started
                    print(f"{previous.name}: {spent:.3f} s", file=sys.stderr)
                if self.args.print_ir_after_all:
                    print(f"// IR after {previous.name}:", file=sys.stderr)
                    Printer(stream=sys.stderr).print_op(module)
                    print("\n", file=sys.stderr)
            first_or_last = previous is None or next is None
            if (first_or_last or self.args.verify_each) and not self.args.disable_verify:
                verify(module, self.get_input_name())
            started = time.perf_counter()

        try:
            self.pipeline = PassPipeline.parse_spec(
                self.available_passes, self.args.passes, callback
            )
        except (ValueError, ArgSpecParseError) as error:
            _refuse_command_line(str(error))

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        name = self.args.input_file
        if name is None or name == "-":
            return sys.stdin.buffer, "mlir"
        return open(name, "rb"), os.path.splitext(name)[1].removeprefix(".")

    def get_input_name(self) -> str:
        name = self.args.input_file
        return "<stdin>" if name is None or name == "-" else name

    def frontend_name(self, extension: str) -> str:
        """The frontend of the input. Raises Rejected when nothing says which."""
        name = parse_spec(self.args.frontend).name if self.args.frontend else extension
        if name not in self.available_frontends:
            raise Rejected(
                f"{self.get_input_name()}: error: a .uir or .mlir file is needed\n"
                "    help: `--frontend uir` or `--frontend mlir` says what another one is"
            )
        return name

    def run(self) -> None:
        stream, extension = self.get_input_stream()
        frontend = self.frontend_name(extension)
        with stream:
            chunks = split_chunks(stream.read()) if self.args.split_input_file else [stream.read()]
        expected = self.args.verify_diagnostics
        outputs: list[str] = []
        for chunk in chunks:
            try:
                outputs.append(self.process(chunk, frontend))
            except Rejected as error:
                if not expected:
                    raise
                outputs.append(f"{error}\n")
        separator = "# -----\n" if parse_spec(self.args.target).name == "uir" else "// -----\n"
        self.write(separator.join(outputs))

    def process(self, chunk: bytes, frontend: str) -> str:
        """The output for one chunk of the input. Raises Rejected."""
        source = chunk.decode(errors="replace")
        try:
            module = self.parse_chunk(BytesIO(chunk), frontend)
            assert module is not None
            self.apply_passes(module)
            return self.output_resulting_program(module)
        except Exception as error:
            message = explain(error, source, self.get_input_name())
            if message is None:
                raise
            raise Rejected(message) from error

    def write(self, text: str) -> None:
        """Writes the output, whole or not at all."""
        from uir.files import write_whole

        if self.args.output_file in (None, "-"):
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            write_whole(self.args.output_file, text)


def add_arguments(parser: ArgumentParser) -> None:
    """The options beside those of every xDSL tool, and a flag for each pass."""
    parser.add_argument(
        "-t", "--target", default="mlir", help="what to print: mlir (the default), uir or c"
    )
    parser.add_argument("-o", "--output-file", metavar="OUT", help="the file to write")
    parser.add_argument(
        "-p",
        "--passes",
        default="",
        help="passes to apply: `a,b{option=1}`, after the flags before",
    )
    for flag, help in {
        "--print-ir-after-all": "print the module after each pass, to stderr",
        "--time-passes": "print the time of each pass, to stderr",
        "--verify-each": "verify after every pass, not only at the start and the end",
        "--verify-diagnostics": "print errors as output, and exit with 0",
        "--split-input-file": "process the pieces between lines `// -----` or `# -----` one by one",
        "--print-op-generic": "print every op in the generic form",
        "--print-debuginfo": "print the place of every op",
    }.items():
        parser.add_argument(flag, action="store_true", help=help)
    passes = parser.add_argument_group("passes", "Applied in the order given.")
    for flag in get_all_passes():
        # Gathered into `-p` before the arguments are parsed; here for `--help`.
        passes.add_argument(f"--{flag}", nargs="?", metavar="OPTIONS", default=SUPPRESS)


def gather_passes(args: Sequence[str]) -> list[str]:
    """`args` with `--PASS`, `--PASS=options`, `-p` and `--passes`, in their order, as one `-p`."""
    flags = {f"--{flag}": flag for flag in get_all_passes()}
    pipeline: list[str] = []
    rest: list[str] = []
    items = iter(args)
    for arg in items:
        name, equals, value = arg.partition("=")
        if name in flags:
            pipeline.append(f"{flags[name]}{{{value}}}" if value else flags[name])
        elif arg in ("-p", "--passes"):
            following = next(items, None)
            if following is None:
                return [*rest, arg]
            pipeline.append(following)
        elif name == "--passes" and equals:
            pipeline.append(value)
        elif arg == "--":
            rest += [arg, *items]
        else:
            rest.append(arg)
    return [f"--passes={','.join(pipeline)}", *rest] if pipeline else rest


def split_chunks(data: bytes) -> list[bytes]:
    """The pieces of `data`, each after empty lines so that its lines keep their numbers."""
    chunks: list[bytes] = []
    start = 0
    for match in [*_SEPARATOR.finditer(data), None]:
        end = len(data) if match is None else match.start()
        chunks.append(b"\n" * data.count(b"\n", 0, start) + data[start:end])
        start = end if match is None else match.end()
    return chunks


def verify(module: ModuleOp, file: str) -> None:
    """Raises Rejected unless `module` keeps the rules of its ops and of programs."""
    try:
        module.verify()
    except Exception as error:
        if not _is_refusal(error):
            raise
        errors = [f"{_spot(op, file)}: error: {message}" for op, message in _broken_ops(module)]
        raise Rejected("\n".join(errors[:_MAX_ERRORS])) from None
    if errors := [f"{_spot(op, file)}: error: {message}" for op, message in _broken_rules(module)]:
        raise Rejected("\n".join(errors[:_MAX_ERRORS]))


def _broken_ops(module: ModuleOp) -> Iterator[tuple[Operation, str]]:
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except Exception as error:
            if not _is_refusal(error):
                raise
            yield op, str(error)


def _is_refusal(error: Exception) -> bool:
    """Whether a verifier says no; some of xDSL's raise a bare Exception."""
    return isinstance(error, DiagnosticException) or type(error) is Exception


def _early_users(region: Region, defined: set[SSAValue]) -> Iterator[Operation]:
    """The ops that use a value which is neither in `defined` nor stands before them."""
    inner: list[SSAValue] = []
    for block in region.blocks:
        defined.update(block.args)
        inner += block.args
        for op in block.ops:
            if any(operand not in defined for operand in op.operands):
                yield op
            for nested in op.regions:
                yield from _early_users(nested, defined)
            defined.update(op.results)
            inner += op.results
    defined.difference_update(inner)


def _broken_rules(module: ModuleOp) -> Iterator[tuple[Operation, str]]:
    """What breaks a rule that spans several ops."""
    from dialects.uir.base import TypingError
    from dialects.uir.rules import ProgramRules

    for op in _early_users(module.body, set()):
        yield op, f"'{op.name}' uses a value that is not defined before it"
    rules = ProgramRules()
    for op in module.body.block.walk():
        try:
            rules.visit(op)
        except TypingError as error:
            yield op, f"'{op.name}' {error.message}"


def _spot(op: Operation, file: str) -> str:
    from uir.text.diagnostics import place_of

    place = place_of(op)
    return str(place) if place.line else file


def explain(error: Exception, source: str, file: str) -> str | None:
    """What to show of an error in the input `source`; None for one that is not the input's."""
    from passes.autodiff import InvalidGradients
    from uir.program import gradient_diagnostics
    from uir.targets.c_expressions import UnprintableError
    from uir.text.diagnostics import InvalidProgram, place_of
    from uir.text.printer import NotText

    match error:
        case Rejected() | InvalidProgram() | ParseError():
            return str(error)
        case InvalidGradients():
            if place_of(error.errors[0][0]).line:
                return str(InvalidProgram(gradient_diagnostics(error), source))
            return f"{file}: error: {error}"
        # The last is what xDSL says of affine maps that multiply or divide by coordinates.
        case DiagnosticException() | NotText() | UnprintableError() | NotImplementedError():
            return f"{file}: error: {error}"
        case _:
            return None


def _refuse_command_line(message: str) -> NoReturn:
    print(f"uir-opt: error: {message}", file=sys.stderr)
    raise SystemExit(2)


def main() -> None:
    """The console script `uir-opt`."""
    from uir.files import run_command

    gc.disable()
    run_command("uir-opt", lambda: _main(sys.argv[1:]))


def _main(args: Sequence[str]) -> int:
    try:
        UirOptMain(args).run()
    except Rejected as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    main()
