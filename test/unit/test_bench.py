"""`tools/bench.py` measures a program and says how much work it is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "tools" / "bench.py"


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCH), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_report(tmp_path: Path) -> None:
    program = tmp_path / "program.uir"
    program.write_text(
        "%m = buffer 1000 dtype=f32 slot=0\n%x = load %m\n%y = add %x %x\nstore %m %y\n"
    )
    done = bench(str(program))
    assert done.returncode == 0, done.stderr
    time, work = r"[0-9.]+ (s|ms|us)", r"[0-9.e-]+ GFLOP/s"
    assert re.fullmatch(
        rf"to C +{time}, [0-9]+ bytes\n"
        rf"\S+ -O2 +{time}\n"
        rf"kernel +{time}, the median of [0-9]+ calls\n"
        rf"work +1e-06 GFLOP, {work}\n",
        done.stdout,
    )


def test_missing_file(tmp_path: Path) -> None:
    done = bench(str(tmp_path / "none.uir"))
    assert done.returncode == 1
    assert "none.uir" in done.stderr


def test_invalid_program(tmp_path: Path) -> None:
    program = tmp_path / "program.uir"
    program.write_text("%y = add 1 2.0\n")
    done = bench(str(program))
    assert done.returncode == 1
    assert ":1:" in done.stderr
