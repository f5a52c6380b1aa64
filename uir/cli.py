"""The `uir` command: run, render and check programs.

    uir run FILE [--slot S=array.npy]...   interpret, and print the result and the stored slots
    uir render FILE [-o OUT] [--checks]    print the program as one C file
    uir check FILE                         only report the errors

Exit status: 0; 1 for an invalid program or a runtime error, with the diagnostics on stderr; 2 for a
wrong command line.
"""

from __future__ import annotations

import argparse
import gc
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from uir.files import run_command, write_whole

if TYPE_CHECKING:
    from uir.program import Program, Text


class CommandError(Exception):
    """What the command was given cannot be used; `str` says why."""


def main() -> None:
    """The console script `uir`."""
    # Ops and arrays are freed by their reference counts; a collector finds little and costs much.
    gc.disable()
    run_command("uir", lambda: run(sys.argv[1:]))


def run(args: Sequence[str]) -> int:
    """Does what the command line `args` says, and returns the exit status."""
    options = _argument_parser().parse_args(args)
    from uir.program import load_program, read_source
    from uir.runtime.failure import RuntimeFailure, TooLarge
    from uir.text.diagnostics import InvalidProgram

    text: Text | None = None
    try:
        text = read_source(Path(options.file))
        program = load_program(text)
        for warning in program.warnings:
            print(warning.render(text.text), file=sys.stderr)
        match options.command:
            case "run":
                sys.stdout.write(_run(program, dict(options.slot)))
            case "render":
                _render(program, options.output, options.checks)
            case _:
                pass
        return 0
    except (InvalidProgram, CommandError) as error:
        message = str(error)
    except RuntimeFailure as failure:
        assert text is not None
        message = failure.diagnostic().render(text.text)
    except TooLarge as error:
        message = f"{options.file}: error: {error}"
    print(message, file=sys.stderr)
    return 1


def _argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="uir", description="The compiler of .uir tensor programs.", allow_abbrev=False
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run",
        help="interpret a program, and print its result and the slots that it stores to",
        allow_abbrev=False,
    )
    run.add_argument(
        "--slot",
        action="append",
        default=[],
        type=_slot,
        metavar="S=FILE.npy",
        help="the contents of slot S at the start; may be given for several slots",
    )
    render = commands.add_parser("render", help="print a program as C", allow_abbrev=False)
    render.add_argument("-o", "--output", metavar="OUT", help="the C file to write")
    render.add_argument(
        "--checks", action="store_true", help="have the kernel report runtime errors"
    )
    check = commands.add_parser("check", help="report the errors of a program", allow_abbrev=False)
    for command in (run, render, check):
        command.add_argument("file", metavar="FILE", help="the .uir file")
    return parser


class _Version(argparse.Action):
    """Prints the version, which is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"uir {version('uir')}")
        parser.exit()


def _slot(text: str) -> tuple[int, str]:
    match = re.fullmatch(r"([0-9]{1,5})=(.+)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"expected `S=FILE.npy`, found `{text}`")
    return int(match[1]), match[2]


def _run(program: Program, files: dict[int, str]) -> str:
    """What a run of `program` prints, with the slots of `files` read from them.

    Raises CommandError, RuntimeFailure and TooLarge.
    """
    from uir.runtime.interpret import interpret
    from uir.runtime.slots import read_array, with_slots
    from uir.runtime.spell import spell_array

    try:
        slots = with_slots(program, {slot: read_array(path) for slot, path in files.items()})
    except ValueError as error:
        raise CommandError(f"uir: error: {error}") from None
    outcome = interpret(program.module, slots)
    lines = [] if outcome.result is None else [spell_array(outcome.result)]
    lines += [f"slot {slot} = {spell_array(array)}" for slot, array in outcome.slots.items()]
    return "".join(f"{line}\n" for line in lines)


def _render(program: Program, output: str | None, checks: bool) -> None:
    from uir.api import c_of

    source = c_of(program, checks=checks)
    if output is None:
        sys.stdout.write(source)
    else:
        write_whole(output, source)
