"""Measure the errors of the kinds that are not exact, against mpmath.

    python tools/kind_errors.py [--count N] [--seed N] [--strata]

Prints two tables (Markdown). The first has the bounds of the kinds of floats and their worst
errors, in ranks from the correctly rounded result, in float32 and float64. The second has those of
complex kinds in unit roundoffs of a part, normwise; those of Pow are in units of its
bound, 3 + 3 |w log z|. With `--strata` the worst operands follow. The exit status is 1 if a kind is
past its bound.

The operands are those of the tests, N in each stratum (500 take about a minute of one core).
`sweep_kinds.py` checks the float32 kinds of one operand at all operands.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "test" / "unit"))

import nx_complex
import prog_bounds

from dialects.prog import Dtype


def float_errors(count: int, seed: int) -> tuple[bool, list[str]]:
    """Print the table of floats; whether all are within bounds, and the worst operands."""
    print("| kind | bound, float32 | worst | bound, float64 | worst |\n|---|---|---|---|---|")
    passed, lines = True, list[str]()
    for kind, bounds in prog_bounds.BOUNDS.items():
        cells: list[str] = []
        for dtype, bound in zip((Dtype.float32, Dtype.float64), bounds, strict=True):
            error, operands = prog_bounds.worst_rank(kind, dtype, count, seed)
            passed &= error <= bound
            cells += [str(bound), str(error)]
            lines.append(f"{kind.value} {dtype.value}: {error} at {operands}")
        print(f"| {kind.value} | {' | '.join(cells)} |", flush=True)
    return passed, lines


def complex_errors(count: int, seed: int) -> tuple[bool, list[str]]:
    """Print the table of complex kinds; whether all are within bounds, and the worst operands."""
    print("| kind | bound | complex64 | complex128 |\n|---|---|---|---|")
    passed, lines = True, list[str]()
    for kind, bound in nx_complex.BOUNDS.items():
        cells: list[str] = []
        for dtype in (Dtype.complex64, Dtype.complex128):
            worst = nx_complex.worst_errors(kind, dtype, count, seed)
            error = max(error for error, _ in worst.values())
            passed &= error <= bound
            cells.append(f"{error:.2f}")
            lines += [
                f"{kind.value} {dtype.value} {stratum}: {error:.3f} at {operands}"
                for stratum, (error, operands) in worst.items()
            ]
        print(f"| {kind.value} | {bound} | {' | '.join(cells)} |", flush=True)
    return passed, lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=200, help="operands in each stratum")
    parser.add_argument("--seed", type=int, default=1, help="of the draws")
    parser.add_argument("--strata", action="store_true", help="list the worst operands")
    arguments = parser.parse_args()
    floats_pass, floats = float_errors(10 * arguments.count, arguments.seed)
    print()
    complex_pass, lines = complex_errors(arguments.count, arguments.seed)
    if arguments.strata:
        print("", *floats, *lines, sep="\n")
    return not (floats_pass and complex_pass)


if __name__ == "__main__":
    sys.exit(main())
