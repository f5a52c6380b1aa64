"""`tools/bench_peers.py` measures contenders in turns, compares them, and says what it lacks."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import bench_peers
import numpy as np
import pytest
from benchmarks.agreement import disagreement
from benchmarks.contender import CONTENDERS
from benchmarks.figures import Figure, Goal, find_figures, goals
from benchmarks.measure import Measured, Score, compare
from benchmarks.processes import ContenderFailed, Process
from benchmarks.report import figures_table, table, workload_table
from benchmarks.worker import save_arrays
from benchmarks.workloads import WORKLOADS

GEMM = WORKLOADS["gemm_256"]


def arguments(monkeypatch: pytest.MonkeyPatch, *words: str, **versions: str) -> list[str]:
    """The contenders that the tool chooses when these packages are installed."""
    monkeypatch.setattr(sys, "argv", ["bench_peers.py", *words])
    monkeypatch.setattr(bench_peers, "installed_versions", lambda *_: versions)
    return bench_peers.parse_arguments().contenders


def test_all_that_is_installed_takes_part(monkeypatch: pytest.MonkeyPatch) -> None:
    assert arguments(monkeypatch, numpy="2.0") == ["uir", "C", "numpy"]
    everything = ["uir", "C", "numpy", "torch", "torch-compile"]
    assert arguments(monkeypatch, numpy="2.0", torch="2.9") == everything


def test_one_thread_beside_several(monkeypatch: pytest.MonkeyPatch) -> None:
    assert arguments(monkeypatch, "--threads", "2") == ["uir", "C", "uir-1-thread"]
    assert arguments(monkeypatch, "--threads", "2", "--peers", "C") == ["C"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gemm_257"], "no program `gemm_257`; there are: mnist, gemm_256,"),
        (["gemm*", "x*"], "no program `x*`"),
        (["--peers", "uir,nimpy"], "no contender `nimpy`; there are: uir, C, numpy,"),
        (["--peers", "tinygrad"], "`tinygrad` is not installed: pip install tinygrad"),
        (["--plot", "plot.png"], "--plot needs matplotlib"),
        (["--compiler", "no-such-cc"], "no C compiler `no-such-cc`"),
        (["--threads", "0"], "expected at least 1, found 0"),
    ],
)
def test_wrong_arguments(
    words: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as stop:
        arguments(monkeypatch, *words, numpy="2.0")
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_no_such_interpreter(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench_peers.py", "--python", "/no/such/python"])
    with pytest.raises(SystemExit) as stop:
        bench_peers.parse_arguments()
    assert stop.value.code == 2
    assert "/no/such/python" in capsys.readouterr().err


def test_patterns_choose_in_the_order_of_the_table() -> None:
    chosen = bench_peers.choose_workloads(["sqrt", "gemm_?????*"])
    assert [workload.name for workload in chosen] == ["gemm_100x784x10", "gemm_784x100x10", "sqrt"]


def test_run(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    tool = str(Path(bench_peers.__file__))
    options = ["--peers", "numpy,uir,C", "--runs", "2", "--json", str(report)]
    command = [sys.executable, tool, *options, "loops_gemm_256"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "loops_gemm_256: C" in done.stdout
    content = json.loads(report.read_text())
    measured = content["workloads"]["loops_gemm_256"]
    assert (measured["operations"], measured["bytes"]) == (2 * 256**3, 3 * 4 * 256**2)
    assert min(measured["peak"], measured["bandwidth"]) > 1e8
    assert list(measured["contenders"]) == ["uir", "C", "numpy"]
    steps = [list(score["compile"]) for score in measured["contenders"].values()]
    assert steps == [["uir render", "gcc"], ["gcc"], ["first call"]]
    assert all(score["calls"] >= 2 for score in measured["contenders"].values())
    assert [figure["references"] for figure in content["figures"]] == [["C"]]


def test_a_process_that_ends(tmp_path: Path) -> None:
    process = Process("nobody", sys.executable, 1)
    with pytest.raises(ContenderFailed, match="KeyError: 'nobody'"):
        process.ask(prepare="gemm_256", folder=str(tmp_path), build=[])
    process.close()


def test_a_request_that_fails(tmp_path: Path) -> None:
    process = Process("numpy", sys.executable, 1)
    with pytest.raises(ContenderFailed, match="FileNotFoundError"):
        process.ask(prepare="gemm_256", folder=str(tmp_path), build=[])
    process.close()


def c(*elements: float) -> dict[str, np.ndarray]:
    return {"c": np.array(elements, np.float32)}


def test_agreement_within_the_tolerance() -> None:
    workload = replace(GEMM, relative=0.01, absolute=0.5)
    assert disagreement(workload, c(100, np.nan, np.inf), c(101.4, np.nan, np.inf)) is None
    found = disagreement(workload, c(100, 1, 2), c(101.6, 1, np.nan))
    assert found is not None
    assert found.startswith("c[0] is 101.6")
    assert found.endswith("not 100.0, and 1 more")
    assert disagreement(workload, c(1), c(1, 1)) == "c is float32 [2], not float32 [1]"


def test_exact_agreement() -> None:
    assert disagreement(GEMM, c(1, -0.0, np.nan), c(1, -0.0, -np.nan), exact=True) is None
    assert disagreement(GEMM, c(0.0), c(-0.0), exact=True) is not None
    assert disagreement(GEMM, c(1.0), c(1.0000001), exact=True) is not None


def test_integers_are_equal() -> None:
    one, other = ({"correct": np.array([count], np.int32)} for count in (864, 865))
    workload = replace(WORKLOADS["mnist"], updated=())
    assert disagreement(workload, one, one) is None
    assert disagreement(workload, one, other) == "correct[0] is 865, not 864, and 0 more"


def test_results_are_compared_with_numpys_and_c_with_ours(tmp_path: Path) -> None:
    results = {"uir": c(1.0), "C": c(1.0000001), "numpy": c(1.0), "jax": c(2.0)}
    for name, arrays in results.items():
        save_arrays(arrays, tmp_path / name)
    scores = {name: Score() for name in results}
    compare(GEMM, scores, tmp_path)
    failures = {name: score.failure for name, score in scores.items()}
    assert failures == {
        "uir": None,
        "C": "differs from uir: c[0] is 1.0000001, not 1.0, and 0 more",
        "numpy": None,
        "jax": "differs from numpy: c[0] is 2.0, not 1.0, and 0 more",
    }


def measured(operations: int | None = 10**9, moved: int = 10**8, **times: float) -> Measured:
    """A measurement on a machine with 100 GFLOP/s and 20 GB/s."""
    scores = {name.replace("_", "-"): Score({}, [time, 2 * time]) for name, time in times.items()}
    return Measured(operations, moved, 100e9, 20e9, scores)


def speeds(**results: Measured) -> dict[tuple[str, tuple[str, ...]], float]:
    figures = find_figures(results)
    return {(f.goal.workload, f.goal.references): pytest.approx(f.speed) for f in figures}


def test_speed_relative_to_the_peak() -> None:
    # 10^9 operations take at least 10 ms.
    assert speeds(gemm_256=measured(uir=0.0125)) == {("gemm_256", ("no-FMA peak",)): 0.8}
    assert speeds(gemm_256=measured(operations=None, uir=0.0125)) == {}


def test_the_slower_of_c_and_memory_counts() -> None:
    # 10^8 bytes take at least 5 ms.
    key = ("relu", ("C", "memory"))
    assert speeds(relu=measured(uir=0.01, C=0.008)) == {key: 0.8}
    assert speeds(relu=measured(uir=0.01, C=0.004)) == {key: 0.5}


def test_the_faster_of_numpy_and_jax_counts() -> None:
    key = ("convolution", ("numpy", "jax"))
    assert speeds(convolution=measured(uir=2.0, numpy=3.0, jax=1.0)) == {key: 0.5}
    assert speeds(convolution=measured(uir=2.0, numpy=3.0)) == {}


def test_math_relative_to_our_exp2_and_the_memory() -> None:
    # 15 ms where the memory reads 23 GB/s are 17.25 ms at 20 GB/s.
    assert speeds(exp2=measured(uir=0.0345), sin=measured(uir=0.069)) == {
        ("exp2", ("15 ms at 23 GB/s",)): 0.5,
        ("sin", ("our exp2",)): 0.5,
    }


def test_several_threads_are_measured_against_one_only() -> None:
    results = measured(uir=1.0, numpy=1.0, jax=1.0, torch=1.0, uir_1_thread=1.9)
    assert speeds(softmax=results) == {("softmax", ("uir-1-thread",)): 1.9}


def test_wrong_results_give_no_figure() -> None:
    results = measured(uir=1.0, numpy=2.0)
    results.scores["numpy"].failure = "differs from uir: ..."
    assert speeds(attention=results) == {}


def test_goals_name_what_there_is() -> None:
    others = {"no-FMA peak", "memory", "our exp2", "15 ms at 23 GB/s"}
    for goal in goals():
        assert goal.workload in WORKLOADS
        assert set(goal.references) <= CONTENDERS.keys() | others


def test_table() -> None:
    rows = [("", "time", "x"), ("uir", "1.5 s", "1"), ("numpy", "30 s", "")]
    assert table(rows) == "\n".join(
        [
            "        time  x",
            "uir    1.5 s  1",
            "numpy   30 s",
        ]
    )


def words(line: str) -> str:
    """The line with one space where there are several."""
    return " ".join(line.split())


def test_workload_table() -> None:
    results = measured(uir=0.02, numpy=0.01)
    results.scores["uir"].compile_seconds = {"uir render": 0.5, "gcc": 0.25}
    results.scores["jax"] = Score(failure="failed: no room")
    title, header, ours, numpys, failure = workload_table("gemm_256", results).splitlines()
    assert title == "gemm_256: 1 GFLOP, 100 MB; machine: 100 GFLOP/s, 20 GB/s read"
    assert header.split("  ")[-1] == "time / ours"
    # Times 0.02 and 0.04 s: the median of both, and rates of the shorter one.
    assert words(ours) == "uir 500.000 ms + 250.000 ms 30.000 ms 20.000 ms 50.00 5.00 1"
    assert words(numpys) == "numpy 15.000 ms 10.000 ms 100.00 10.00 0.5"
    assert failure == "jax failed: no room"


def test_figures_table() -> None:
    goal = Goal("relu", ("C", "memory"), 0.9, max)
    _, first, second = figures_table([Figure(goal, 0.8), Figure(goal, 0.9)]).splitlines()
    assert words(first) == "relu: the slower of C and memory 0.90 0.80 no"
    assert words(second) == "relu: the slower of C and memory 0.90 0.90 yes"
