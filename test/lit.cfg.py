"""Lit configuration: what is visible as text, namely IR, C, diagnostics and commands.

The course's programs (`week1` ... `week6`) are all graded by one test, `suite.test`; `unit` is
pytest's, and so are the programs in `bench`.
"""
# lit defines `config` and `lit_config` before it executes this file.
# ruff: noqa: F821

import os
import sys
from pathlib import Path

import lit.formats

root = Path(__file__).parent

config.name = "uir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = str(root)
config.test_exec_root = str(root.parent / "build" / "lit")
config.suffixes = [".mlir", ".test", ".uir"]
config.excludes = ["unit", "data", "bench", *(path.name for path in root.glob("week*"))]
config.environment["PATH"] = os.pathsep.join(
    [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
)

# lit needs the optional package psutil to stop a test. The suite takes longest.
if lit_config.maxIndividualTestTimeIsSupported[0]:
    config.maxIndividualTestTime = 300
