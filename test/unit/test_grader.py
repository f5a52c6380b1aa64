"""The grader: tests with a wrong header fail, and so do compilers that crash or hang."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GRADE = Path(__file__).parents[2] / "tools" / "grade.py"

ADD = """\
%b = buffer 2 dtype=i32 slot=0 data=[1 2]
%x = load %b
%y = add %x %x
store %b %y
"""

DIVIDE = """\
%b = buffer 2 dtype=i32 slot=0 data=[1 0]
%out = buffer 1 dtype=i32 slot=1 data=[5]
%i = range 2
%m = index %b %i
%d = load %m
%q = div 6 %d
%s = store %m %q
end %s %i
%o = index %out 0
store %o 9
"""


def grade(folder: Path, *options: str, **programs: str) -> tuple[int, str]:
    """Exit status and output of the grader on `programs`."""
    for name, text in programs.items():
        (folder / f"{name}.uir").write_text(text)
    command = [sys.executable, GRADE, "--jobs", "1", *options, folder]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, env=environment
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout


RIGHT = [
    f"# slot 0: [2 4]\n# render\n{ADD}",
    "# run: 3\n%r = add 1 2\n",
    "# invalid: bool\n%i = add 1 2\n%r = add %i true #!\n",
    f"# error: division by zero\n# slot 0: [6 0]\n# slot 1: [5]\n{DIVIDE}",
    f"# error: zero\n{DIVIDE}".replace("%q = div 6 %d", "%q = div 6 %d #!"),
    f"# render check: slot 0 >= 1.5\n{ADD}",
]


def test_right_headers_pass(tmp_path: Path) -> None:
    programs = {f"right{number}": text for number, text in enumerate(RIGHT)}
    assert grade(tmp_path, **programs) == (0, f"{len(RIGHT)} passed, 0 failed\n")


WRONG = {
    "slot": (f"# slot 0: [2 5]\n{ADD}", "slot 0: expected i32[2] 2 5, found i32[2] 2 4"),
    "no_result": (f"# run: 3\n{ADD}", "expected the result i32[] 3, found none"),
    "dtype": ("# run: 3.0\n%r = add 1 2\n", "expected f32[] 3.0, found i32[] 3"),
    "sign": ("# run: -0.0\n%r = add 0.0 0.0\n", "expected f32[] -0.0, found f32[] 0.0"),
    "message": ("# invalid: shape\n%r = add 1 true\n", "expected a message with `shape`"),
    "line": (
        "# invalid: bool\n%i = add 1 2 #!\n%r = add %i true\n",
        "expected an error at line 2, found errors at lines: 3",
    ),
    "valid": (
        f"# invalid: bool\n{ADD}",
        "expected exit status 1 and a diagnostic, found status 0",
    ),
    "kind": (f"# error: cast\n{DIVIDE}", "expected a message with `cast`"),
    "slot_at_error": (
        f"# error: zero\n# slot 0: [6 6]\n{DIVIDE}",
        "slot 0: expected i32[2] 6 6, found i32[2] 6 0",
    ),
    "bound": (
        f"# render check: slot 0 >= 2.5\n{ADD}",
        "slot 0: expected at least 2.5, found 2",
    ),
    "size": (f"# render\n# max_bytes: 99\n{ADD}", "expected at most 99 bytes of C"),
    "header": ("# run:3\n%r = add 1 2\n", "malformed header `# run:3`"),
    "no_header": (ADD, "expected a test header, found none"),
}


def test_wrong_headers_fail(tmp_path: Path) -> None:
    status, output = grade(tmp_path, **{name: text for name, (text, _) in WRONG.items()})
    assert status == 1
    assert output.endswith(f"0 passed, {len(WRONG)} failed\n")
    reasons = dict(
        re.findall(r"FAIL \S*/(\w+)\.uir: (.*?)(?=^FAIL|\Z)", output, re.DOTALL | re.MULTILINE)
    )
    for name, (_, reason) in WRONG.items():
        assert reason in reasons[name]


def fake_compiler(folder: Path, text: str) -> list[str]:
    """The option for a compiler that runs the Python program `text`."""
    script = folder / "compiler.py"
    script.write_text(text)
    return ["--compiler", f"{sys.executable} -S {script}"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import time; time.sleep(60)", "`run`: expected an end within 0.5 s, found none"),
        ("import os; os.abort()", "`run`: expected exit status 0, found -6"),
        ("print(4)", "`run`, result: expected i32[] 3, found i32[] 4"),
    ],
)
def test_bad_compilers_fail(tmp_path: Path, text: str, reason: str) -> None:
    compiler = fake_compiler(tmp_path, text)
    status, output = grade(tmp_path, *compiler, a="# run: 3\n# time: 0.5\n%r = add 1 2\n")
    assert status == 1
    assert reason in output


KERNELS = {
    "writes outside": ("slot0[2] = 1;", "the kernel wrote outside of buffer0"),
    "crashes": ("*(volatile int *)0 = 1;", "its process ended early, with SIGSEGV"),
    "hangs": ("for (volatile int i = 0;;) i = 1;", "kernel: expected an end within 2 s"),
    "does nothing": ("", "slot 0: expected i32[2] 2 4, found i32[2] 1 2"),
}


@pytest.mark.parametrize("kind", KERNELS)
def test_bad_kernels_fail_alone(tmp_path: Path, kind: str) -> None:
    """The kernel of `b` is bad; those that are built and called with it are not."""
    body, reason = KERNELS[kind]
    good = "for (int i = 0; i < 2; i++) slot0[i] += slot0[i];"
    compiler = fake_compiler(
        tmp_path,
        "import sys\n"
        "if sys.argv[1] == 'run': print('slot 0 = [2 4]'); sys.exit()\n"
        f"body = {body!r} if sys.argv[2] == 'b.uir' else {good!r}\n"
        "print('#include <stdint.h>\\nvoid kernel(int32_t *slot0) {' + body + '}')\n",
    )
    text = f"# slot 0: [2 4]\n# time: 2\n{ADD}"
    status, output = grade(tmp_path, *compiler, a=text, b=text, c=text)
    assert status == 1
    assert reason in output
    assert re.findall(r"FAIL \S*/(\w+)\.uir", output) == ["b"]
    assert output.endswith("2 passed, 1 failed\n")


def test_a_kernel_that_does_not_compile_fails_alone(tmp_path: Path) -> None:
    compiler = fake_compiler(
        tmp_path,
        "import sys\n"
        "if sys.argv[1] == 'run': print('slot 0 = [1 2]'); sys.exit()\n"
        "body = 'this is no C' if sys.argv[2] == 'b.uir' else ''\n"
        "print('#include <stdint.h>\\nvoid kernel(int32_t *slot0) {' + body + '}')\n",
    )
    text = f"# slot 0: [1 2]\n{ADD}"
    status, output = grade(tmp_path, *compiler, a=text, b=text, c=text)
    assert status == 1
    assert re.findall(r"FAIL \S*/(\w+)\.uir: cc -O2: C compiler", output) == ["b"]
    assert output.endswith("2 passed, 1 failed\n")


def test_benchmarks_are_not_tests(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "program.uir").write_text(ADD)
    assert grade(tmp_path, right=RIGHT[1]) == (0, "1 passed, 0 failed\n")
