"""Measure the errors of the complex kinds of `nx_kinds.h`.

    python tools/complex_errors.py [--count N] [--seed N] [--strata]

Prints a table (Markdown) of each kind's bound and its worst errors, in unit roundoffs of a part and
normwise, |z' - z| / |z|; those of Pow are in units of its bound, 3 + 3 |w log z|. With `--strata`
the worst operands of each stratum follow. The exit status is 1 if a kind is past its bound.

The operands are those of the tests, N in each stratum (500 take about a minute of one core); the
exact values are mpmath's.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "test" / "unit"))

from nx_complex import BOUNDS, C64, C128, worst_errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=200, help="operands in each stratum")
    parser.add_argument("--seed", type=int, default=1, help="of the draws")
    parser.add_argument("--strata", action="store_true", help="list the worst of each stratum")
    arguments = parser.parse_args()
    print("| kind | bound | complex64 | complex128 |\n|---|---|---|---|")
    lines: list[str] = []
    passed = True
    for kind, bound in BOUNDS.items():
        cells: list[str] = []
        for dtype in (C64, C128):
            worst = worst_errors(kind, dtype, arguments.count, arguments.seed)
            error = max(error for error, _ in worst.values())
            passed &= error <= bound
            cells.append(f"{error:.2f}")
            lines += [
                f"{kind.value} {dtype.value} {stratum}: {error:.3f} at {operands}"
                for stratum, (error, operands) in worst.items()
            ]
        print(f"| {kind.value} | {bound} | {' | '.join(cells)} |", flush=True)
    if arguments.strata:
        print("", *lines, sep="\n")
    return not passed


if __name__ == "__main__":
    sys.exit(main())
