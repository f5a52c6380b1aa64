"""The main job: the training program, on the digits, from text to the count of right answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import uir

ROOT = Path(__file__).parent.parent.parent
TOOL = ROOT / "tools" / "mnist.py"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A freshly written program, with its data files beside it."""
    folder = tmp_path_factory.mktemp("mnist")
    path = folder / "mnist_train.uir"
    for arguments in (["data", "-o", str(folder / "data")], ["program", "-o", str(path)]):
        subprocess.run([sys.executable, str(TOOL), *arguments], check=True, capture_output=True)
    return path


def test_the_program_is_the_committed_one(program: Path) -> None:
    committed = ROOT / "test" / "week6" / "render" / "mnist_train.uir"
    assert program.read_text() == committed.read_text()


def test_864_of_1000_with_the_same_bits_in_every_slot(program: Path) -> None:
    outcome = uir.run(program)
    kernel = uir.compile(program)
    arrays = kernel.new_arrays()
    kernel(*arrays)
    slots = dict(enumerate(arrays))
    assert outcome.slots.keys() == {4, 5}
    for slot, array in outcome.slots.items():
        np.testing.assert_array_equal(slots[slot].view(np.int32), array.view(np.int32))
    # The count of the week 6 document's reference.
    assert slots[5].tolist() == [864]


def test_the_c_is_small_and_hardly_grows_with_the_steps(program: Path) -> None:
    """120 steps are two epochs and a part of one."""
    longer = program.parent / "longer.uir"
    arguments = ["program", "--steps", "120", "-o", str(longer)]
    subprocess.run([sys.executable, str(TOOL), *arguments], check=True, capture_output=True)
    size = len(uir.render(program))
    assert size <= 40_000
    assert len(uir.render(longer)) <= 1.1 * size
