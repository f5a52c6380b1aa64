"""Set up a development environment and run the usual jobs in it.

    python3 tools/dev.py mnist   train the digit classifier and count the digits it gets right
    python3 tools/dev.py test    pass all tests
    python3 tools/dev.py check   lint, formatting and types

Needs Python 3.11 or newer and a C compiler, nothing else: the virtual environment `.venv` is made
on the first call, and brought up to date whenever `pyproject.toml` has changed. Standard library
only.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / "python"
MNIST = ROOT / "test" / "week6" / "render"
CC = os.environ.get("CC", "cc")


def set_up() -> None:
    """Make `.venv` with the project and its development tools, unless it is up to date."""
    # Whoever calls this may have an older Python than the project allows.
    if sys.version_info < (3, 11):  # noqa: UP036
        sys.exit(f"error: Python 3.11 or newer is needed, this is {sys.version.split()[0]}")
    if not shutil.which(CC):
        sys.exit(f"error: no C compiler `{CC}`; install gcc or clang, or set CC")
    stamp = VENV / "pyproject.sha256"
    digest = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    print("Setting up .venv ...", flush=True)
    try:
        venv.create(VENV, with_pip=True)
    except subprocess.CalledProcessError:
        shutil.rmtree(VENV, ignore_errors=True)
        sys.exit(
            "error: Python's `venv` module is incomplete (on Debian: apt install python3-venv)"
        )
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.run([*pip, "--editable", f"{ROOT}[dev]"], check=False).returncode:
        sys.exit("error: pip could not install the project (see above)")
    stamp.write_text(digest)


def environment() -> dict[str, str]:
    """This process's environment, with the commands of `.venv` first on the path."""
    return {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}


def run_all(jobs: dict[str, list[str]]) -> int:
    """Run every job, also after one failed; 0 when all passed, else 1."""
    failed: list[str] = []
    for name, command in jobs.items():
        print(f"== {name}", flush=True)
        if subprocess.run(command, cwd=ROOT, env=environment(), check=False).returncode:
            failed.append(name)
    print(f"FAILED: {', '.join(failed)}" if failed else "All passed.")
    return 1 if failed else 0


def test() -> int:
    """Unit tests, and lit tests, one of which grades the programs."""
    return run_all(
        {
            "data": [str(PYTHON), "tools/mnist.py", "data"],
            "pytest": [str(PYTHON), "-m", "pytest", "--quiet"],
            "lit": [str(BIN / "lit"), "--succinct", "--verbose", "test"],
        }
    )


def check() -> int:
    """Lint, formatting and types."""
    return run_all(
        {
            "ruff check": [str(BIN / "ruff"), "check"],
            "ruff format": [str(BIN / "ruff"), "format", "--check"],
            "basedpyright": [str(BIN / "basedpyright"), "--pythonpath", str(PYTHON)],
        }
    )


def stage(what: str, command: list[str]) -> str:
    """Run one stage of a job, show what it is and how long it took, and return its output."""
    print(f"{what} ...", end=" ", flush=True)
    start = time.perf_counter()
    done = subprocess.run(
        command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"failed\n{done.stdout}{done.stderr}")
    print(f"{time.perf_counter() - start:.2f} s", flush=True)
    return done.stdout


def mnist() -> int:
    """Compile the training program, run its kernel on the digits, and report the count."""
    build = ROOT / "build" / "mnist"
    build.mkdir(parents=True, exist_ok=True)
    source, library = build / "kernel.c", build / "kernel.so"
    program = MNIST / "mnist_train.uir"
    script = [str(PYTHON), "tools/mnist.py"]
    stage("Unpacking the digits", [*script, "data"])
    stage("Writing the training program", [*script, "program"])
    stage("Compiling it to C", [str(BIN / "uir"), "render", str(program), "-o", str(source)])
    build_command = [CC, "-O2", "-shared", "-fPIC", "-o", str(library), str(source), "-lm"]
    stage("Compiling the C", build_command)
    slots = mnist_buffers(build)
    arguments = [f"{slot}:4" for slot in slots]
    call = [str(PYTHON), "tools/call_kernel.py", str(library), *arguments]
    seconds = float(stage("Training and testing", call))
    print(f"The kernel itself took {seconds:.3f} s, its C has {source.stat().st_size} bytes.")
    correct = int.from_bytes(slots[-1].read_bytes(), "little", signed=True)
    print(f"{correct} of 1000 test digits classified correctly")
    return 0


def mnist_buffers(folder: Path) -> list[Path]:
    """The kernel's buffers as files: digits and labels, then the weights and the count, zeros."""
    names = ("train-images.f32", "train-labels.i32", "test-images.f32", "test-labels.i32")
    slots: list[Path] = []
    for name in names:
        slots.append(folder / name)
        shutil.copyfile(MNIST / "data" / f"mnist-{name}", slots[-1])
    for name, elements in (("weights.f32", 784 * 10), ("correct.i32", 1)):
        slots.append(folder / name)
        slots[-1].write_bytes(bytes(4 * elements))
    return slots


def main() -> int:
    """Run the command line."""
    jobs = {"mnist": mnist, "test": test, "check": check}
    parser = argparse.ArgumentParser(
        description="\n".join((__doc__ or "").splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("job", choices=jobs, help="what to run")
    args = parser.parse_args()
    set_up()
    return jobs[args.job]()


if __name__ == "__main__":
    sys.exit(main())
