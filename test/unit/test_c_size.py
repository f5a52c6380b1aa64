"""The C of each program of the suite is small."""

from __future__ import annotations

from pathlib import Path

import uir

ROOT = Path(__file__).parents[2]
LIMIT = 20_000
LARGE = {"mnist_train.uir"}
"""Has a limit of its own, and data files to be written first (`test_mnist.py`)."""


def test_each_program_of_the_suite_is_small() -> None:
    folders = (*ROOT.glob("test/week*/run"), *ROOT.glob("test/week*/render"), ROOT / "examples")
    programs = [path for folder in folders for path in folder.rglob("*.uir")]
    assert len(programs) > 500
    sizes = {
        path.name: len(uir.render(path).encode()) for path in programs if path.name not in LARGE
    }
    assert {name: size for name, size in sizes.items() if size > LIMIT} == {}
