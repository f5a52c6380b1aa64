"""The commands `uir` and `uir-opt`: output, exit status, and errors without tracebacks."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SOFTMAX = """\
%m = buffer 3 dtype=f32 slot=0 data=[1.0 2.0 3.0]
%o = buffer 3 dtype=f32 slot=7
%x = load %m
%y = add %x %x
store %o %y
%r = reduce %y op=add pop=1
"""


def command(name: str, *args: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    program = Path(sys.executable).with_name(name)
    done = subprocess.run(
        [program, *map(str, args)], input=stdin, capture_output=True, check=False, timeout=60
    )
    assert b"Traceback" not in done.stderr
    return done


def write(folder: Path, text: str | bytes) -> Path:
    file = folder / "p.uir"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def fails(done: subprocess.CompletedProcess[bytes], status: int, *messages: str) -> None:
    """Checks the exit status, that there is no output, and parts of the messages."""
    assert (done.returncode, done.stdout) == (status, b"")
    for message in messages:
        assert message in done.stderr.decode()


def test_run_prints_the_result_and_the_stored_slots(tmp_path: Path) -> None:
    done = command("uir", "run", write(tmp_path, SOFTMAX))
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"12.0\nslot 7 = [2.0 4.0 6.0]\n"


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("", ""),
        ("# Only a comment.", ""),
        ("%a = add 1 2", "3\n"),
        ("%a = fdiv 10.0 3.0", "3.3333335\n"),
        ("%a = cmplt 1 2", "true\n"),
        ("%a = stack true false", "[true false]\n"),
        ("%a = expand -0.0 shape=[2 1 2]", "[[[-0.0 -0.0]] [[-0.0 -0.0]]]\n"),
        ("%a = stack nan inf -inf 1e16", "[nan inf -inf 1e+16]\n"),
        ("%m = buffer 4 dtype=f32 slot=0", ""),
    ],
)
def test_run_prints_values(tmp_path: Path, text: str, output: str) -> None:
    done = command("uir", "run", write(tmp_path, text))
    assert (done.returncode, done.stdout.decode()) == (0, output)


def test_run_with_slots_from_files(tmp_path: Path) -> None:
    file = write(tmp_path, "%m = buffer 4 dtype=i32 slot=2\n%x = load %m\n%r = add %x %x")
    np.save(tmp_path / "a=b.npy", np.array([[1, 2], [3, 4]], np.int32))
    done = command("uir", "run", file, "--slot", f"2={tmp_path / 'a=b.npy'}")
    assert done.stdout == b"[2 4 6 8]\n"


def test_slots_that_do_not_fit(tmp_path: Path) -> None:
    file = write(tmp_path, SOFTMAX)
    np.save(tmp_path / "a.npy", np.zeros(3, np.float32))
    (tmp_path / "b.npy").write_bytes(b"no array")
    (tmp_path / "c.npy").write_bytes(b"")
    array = tmp_path / "a.npy"
    fails(command("uir", "run", file, "--slot", f"5={array}"), 1, "no buffer in this slot")
    fails(command("uir", "run", file, "--slot", f"0={array}"), 1, "the program itself says")
    for name in ("b.npy", "c.npy"):
        given = command("uir", "run", file, "--slot", f"7={tmp_path / name}")
        fails(given, 1, "not a .npy file of numbers")
    fails(command("uir", "run", file, "--slot", "7=none.npy"), 1, "none.npy: No such file")
    fails(command("uir", "run", file, "--slot", "x=1"), 2, "expected `S=FILE.npy`")


def test_a_runtime_error_shows_its_statement(tmp_path: Path) -> None:
    file = write(tmp_path, "%a = add 1 2\n%z = div %a 0 # Oh.\n%b = add %z 1")
    fails(
        command("uir", "run", file),
        1,
        f"{file}:2:6: error: division by zero\n    %z = div %a 0 # Oh.\n         ^^^\n",
    )


def test_nothing_is_printed_before_a_failure(tmp_path: Path) -> None:
    text = f"{SOFTMAX}%q = cast nan dtype=i32\n%s = add %q 1\n"
    fails(command("uir", "run", write(tmp_path, text)), 1, "cast out of range")


def test_errors_of_all_kinds_come_together(tmp_path: Path) -> None:
    lines = [
        "%x = add 1.0 2.0",
        "%y = expand %x shape=[2]",
        "%z = reduce %y op=mul pop=1",
        "%g = gradient %z %x",
        f"%m = buffer 1 dtype=f32 slot=0 url=none sha256={'0' * 64}",
        "%w = foo 1",
    ]
    file = write(tmp_path, "\n".join(lines))
    for verb in ("run", "render", "check"):
        done = command("uir", verb, file)
        fails(done, 1)
        heads = [line for line in done.stderr.decode().split("\n") if ": error: " in line]
        assert [head.removeprefix(f"{file}:").split(": ")[0] for head in heads] == [
            "4:6",
            "5:6",
            "6:6",
        ]
        assert f"    note: `reduce` is here: {file}:3:6" in done.stderr.decode()


def test_check_is_silent_about_a_valid_program(tmp_path: Path) -> None:
    done = command("uir", "check", write(tmp_path, SOFTMAX))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_render_to_stdout_and_to_a_file(tmp_path: Path) -> None:
    file = write(tmp_path, SOFTMAX)
    printed = command("uir", "render", file)
    assert printed.returncode == 0
    assert b"void kernel(" in printed.stdout
    written = command("uir", "render", file, "-o", tmp_path / "k.c")
    assert (written.returncode, written.stdout) == (0, b"")
    assert (tmp_path / "k.c").read_bytes() == printed.stdout
    assert sorted(os.listdir(tmp_path)) == ["k.c", "p.uir"]


def test_a_failed_render_leaves_the_file_alone(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text("old")
    fails(command("uir", "render", write(tmp_path, "%a = foo"), "-o", tmp_path / "k.c"), 1)
    assert (tmp_path / "k.c").read_text() == "old"


def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    file = write(tmp_path, SOFTMAX)
    fails(command("uir", "render", file, "-o", tmp_path / "no" / "k.c"), 1, "No such file")
    fails(command("uir", "render", file, "-o", tmp_path), 1, "Is a directory")


def test_render_does_not_need_numpy(tmp_path: Path) -> None:
    file = write(tmp_path, SOFTMAX)
    script = (
        "import sys\nsys.argv = ['uir', 'render', sys.argv[1], '-o', sys.argv[2]]\n"
        "from uir.cli import main\ntry: main()\nexcept SystemExit as e: assert not e.code\n"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script, file, tmp_path / "k.c"], check=True)


@pytest.mark.parametrize("verb", ["run", "render", "check"])
def test_files_that_cannot_be_read(tmp_path: Path, verb: str) -> None:
    fails(command("uir", verb, tmp_path / "none.uir"), 1, "none.uir: No such file or directory")
    fails(command("uir", verb, tmp_path), 1, "Is a directory")
    fails(command("uir", verb, write(tmp_path, b"%a = add 1 2\n\xff")), 1, ":2:1: error: ")


@pytest.mark.parametrize(
    "args",
    [[], ["fly"], ["run"], ["run", "a", "b"], ["run", "--frob", "a"], ["run", "-o", "k", "a"]],
)
def test_wrong_command_lines(args: list[str]) -> None:
    fails(command("uir", *args), 2, "usage: uir")


def test_version() -> None:
    assert command("uir", "--version").stdout == b"uir 0.1.0\n"


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    file = write(tmp_path, "%a = expand 1.5 shape=[100000]")
    program = Path(sys.executable).with_name("uir")
    with subprocess.Popen(
        [program, "run", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_an_interrupt_is_no_traceback(tmp_path: Path) -> None:
    text = "%m = expand 1.0 shape=[1000000 100000]\n%x = recip %m\n%r = reduce %x op=add pop=2"
    program = Path(sys.executable).with_name("uir")
    with subprocess.Popen(
        [program, "run", write(tmp_path, text)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Whoever runs the tests in the background ignores interrupts, and so would this process.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(8)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 130
    assert errors == b""


def test_a_program_that_needs_too_much_memory(tmp_path: Path) -> None:
    text = "%m = expand 1.0 shape=[100000 100000 3]\n%p = pad %m pads=[1 1 0 0 0 0]\n"
    file = write(tmp_path, f"{text}%r = index %p 0 0 0")
    fails(command("uir", "run", file), 1, f"{file}: error: the program needs about 120 GB")
    assert command("uir", "check", file).returncode == 0


def test_warnings_leave_the_output_and_the_status_alone(tmp_path: Path) -> None:
    lines = [
        "%m = buffer 1 dtype=i32 slot=0",
        "%n = buffer 1 dtype=i32 slot=1",
        "%a = index %m 0",
        "%b = index %n 0",
        "%i = range 3",
        "%s = store %a 7",
        "%t = store %b %i",
        "end %t %i",
    ]
    file = write(tmp_path, "\n".join(lines))
    done = command("uir", "run", file)
    assert (done.returncode, done.stdout) == (0, b"slot 0 = [7]\nslot 1 = [2]\n")
    assert done.stderr.decode().startswith(f"{file}:6:6: warning: ")


def test_opt_applies_passes_in_the_order_given(tmp_path: Path) -> None:
    file = write(tmp_path, "%x = add 1.0 2.0\n%y = exp %x\n%g = gradient %y %x\n")
    flags = command("uir-opt", "--expand-sugar", "--autodiff", file, "-t", "uir")
    pipeline = command("uir-opt", "-p", "expand-sugar,autodiff", "-t", "uir", file)
    mixed = command("uir-opt", file, "--expand-sugar", "-p", "autodiff", "--target=uir")
    assert flags.returncode == 0
    assert flags.stdout.startswith(b"%x = add 1.0 2.0\n")
    assert b"gradient" not in flags.stdout
    assert pipeline.stdout == mixed.stdout == flags.stdout


def test_opt_reads_what_it_prints(tmp_path: Path) -> None:
    file = write(tmp_path, SOFTMAX)
    printed = command("uir-opt", file).stdout
    again = command("uir-opt", "--frontend", "mlir", "-", stdin=printed)
    assert again.stdout == printed
    assert command("uir-opt", "-f", "mlir", "-t", "uir", stdin=printed).stdout == SOFTMAX.encode()
    assert command("uir-opt", "-f", "uir", "-t", "uir", "-", stdin=SOFTMAX.encode()).stdout


def test_opt_prints_c(tmp_path: Path) -> None:
    flags = ["--expand-sugar", "--autodiff", "--inline-calls", "--form-kernels"]
    flags += ["--expand-math", "--rangeify", "--lower-loops"]
    file = write(tmp_path, SOFTMAX)
    done = command("uir-opt", *flags, "-t", "c", file, "-o", tmp_path / "k.c")
    assert (done.returncode, done.stdout) == (0, b"")
    assert (tmp_path / "k.c").read_bytes() == command("uir", "render", file).stdout


def test_opt_shows_each_step_on_stderr(tmp_path: Path) -> None:
    file = write(tmp_path, SOFTMAX)
    options = ["--print-ir-after-all", "--time-passes", "--verify-each"]
    done = command("uir-opt", "--merge-nodes", "--expand-sugar", *options, file)
    assert done.returncode == 0
    for name in (b"merge-nodes", b"expand-sugar"):
        assert b"// IR after " + name + b":\nbuiltin.module {" in done.stderr
        assert b"\n" + name + b": 0." in b"\n" + done.stderr
    assert b"IR after" not in done.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--frobnicate"], "unrecognized arguments: --frobnicate"),
        (["--expand"], "unrecognized arguments: --expand"),
        (["-p", "fly"], "fly"),
        (["-p", "expand-sugar{"], "pipeline"),
        (["--autodiff=order=2"], "order"),
        (["-t", "elf"], "elf"),
        (["-f", "f77"], "f77"),
        (["-p"], "expected one argument"),
    ],
)
def test_opt_wrong_command_lines(tmp_path: Path, args: list[str], message: str) -> None:
    fails(command("uir-opt", write(tmp_path, SOFTMAX), *args), 2, message)


def test_opt_errors(tmp_path: Path) -> None:
    fails(command("uir-opt", tmp_path / "none.uir"), 1, "none.uir: No such file or directory")
    fails(command("uir-opt", tmp_path), 1)
    (tmp_path / "a.txt").write_text("")
    fails(command("uir-opt", tmp_path / "a.txt"), 1, "a .uir or .mlir file is needed")
    fails(command("uir-opt", write(tmp_path, b"\xff")), 1, "p.uir:1:1: error: ")
    fails(command("uir-opt", write(tmp_path, "%a = foo")), 1, "p.uir:1:6: error: unknown op `foo`")
    (tmp_path / "a.mlir").write_text('%0 = "uir.add"() : () -> tensor<f32>\n%1 = what')
    fails(command("uir-opt", tmp_path / "a.mlir"), 1, "a.mlir:2:")
    fails(command("uir-opt", "-t", "c", write(tmp_path, SOFTMAX)), 1, "p.uir: error: ")


def test_opt_shows_errors_of_passes_at_their_place(tmp_path: Path) -> None:
    text = "%x = add 1.0 2.0\n%y = expand %x shape=[2]\n%z = reduce %y op=mul pop=1\n"
    file = write(tmp_path, f"{text}%g = gradient %z %x")
    fails(
        command("uir-opt", "--autodiff", file),
        1,
        f"{file}:4:6: error: `reduce op=mul` has no gradient\n    %g = gradient %z %x\n",
    )
    (tmp_path / "p.mlir").write_bytes(command("uir-opt", file).stdout)
    fails(command("uir-opt", "--autodiff", tmp_path / "p.mlir"), 1, "p.mlir: error: `gradient`")


def test_opt_checks_the_rules_of_programs(tmp_path: Path) -> None:
    buffer = "  %{} = uir.buffer {{slot = 0 : i64}} : !uir.mem<1xf32>\n"
    (tmp_path / "a.mlir").write_text(buffer.format("a") + buffer.format("b"))
    fails(command("uir-opt", tmp_path / "a.mlir"), 1, "a.mlir: error: 'uir.buffer' slot 0 already")


def test_opt_does_not_read_data_files(tmp_path: Path) -> None:
    text = f"%m = buffer 1 dtype=f32 slot=0 url=none sha256={'0' * 64}\n%r = load %m"
    assert command("uir-opt", write(tmp_path, text)).returncode == 0
