"""Buffers filled from files beside the program: what is checked, and what the errors say."""

import hashlib
import struct
from pathlib import Path

import pytest

import uir

THREE = struct.pack("<3f", 1.0, 2.5, -0.0)
DIGEST = hashlib.sha256(THREE).hexdigest()


def program(folder: Path, statement: str) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / "p.uir"
    file.write_text(f"# A comment.\n%m = {statement}\n%r = load %m\n")
    return file


def buffer(url: str, sha256: str = DIGEST, size: int = 3, dtype: str = "f32") -> str:
    return f"buffer {size} dtype={dtype} slot=0 url={url} sha256={sha256}"


def error_of(file: Path) -> str:
    with pytest.raises(uir.InvalidProgram) as error:
        uir.run(file)
    text = str(error.value)
    assert text.startswith(f"{file}:2:6: error: ")
    assert "    %m = buffer" in text
    assert "^^^^^^" in text
    return text


def test_a_file_beside_the_program(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "three-floats.f32").write_bytes(THREE)
    file = program(tmp_path, buffer("data/three-floats.f32"))
    outcome = uir.run(file)
    assert outcome.result is not None
    assert outcome.result.tobytes() == THREE
    kernel = uir.compile(file)
    assert kernel.new_arrays()[0].tobytes() == THREE


def test_bytes_of_bools(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"\1\0\1")
    digest = hashlib.sha256(b"\1\0\1").hexdigest()
    outcome = uir.run(program(tmp_path, buffer("b", digest, 3, "bool")))
    assert outcome.result is not None
    assert outcome.result.tolist() == [True, False, True]


def test_a_missing_file(tmp_path: Path) -> None:
    error = error_of(program(tmp_path, buffer("data/none.f32")))
    assert "`data/none.f32` cannot be read: No such file or directory" in error
    assert str(tmp_path / "data/none.f32") in error


def test_a_wrong_hash(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(THREE)
    error = error_of(program(tmp_path, buffer("x", "0" * 64)))
    assert f"`x` has the SHA-256 {DIGEST}, but `sha256=` says {'0' * 64}" in error


@pytest.mark.parametrize(("size", "expected"), [(2, 8), (4, 16)])
def test_a_wrong_size(tmp_path: Path, size: int, expected: int) -> None:
    (tmp_path / "x").write_bytes(THREE)
    error = error_of(program(tmp_path, buffer("x", size=size)))
    assert f"`x` has 12 bytes, but {size} elements of f32 are {expected} bytes" in error


def test_a_bool_of_two(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"\1\2\0")
    digest = hashlib.sha256(b"\1\2\0").hexdigest()
    error = error_of(program(tmp_path, buffer("b", digest, 3, "bool")))
    assert "`b` holds the byte 2 at element 1, but a bool is 0 or 1" in error


def test_a_link_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(THREE)
    file = program(tmp_path / "p", buffer("link"))
    (tmp_path / "p" / "link").symlink_to(tmp_path / "secret")
    error = error_of(file)
    assert f"`link` leaves the folder of the program: it is {tmp_path / 'secret'}" in error


def test_a_link_within_the_folder(tmp_path: Path) -> None:
    file = program(tmp_path, buffer("link"))
    (tmp_path / "x").write_bytes(THREE)
    (tmp_path / "link").symlink_to("x")
    assert uir.run(file).result is not None


def test_a_folder_and_a_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert "`sub` is not a file" in error_of(program(tmp_path, buffer("sub")))
    (tmp_path / "loop").symlink_to("loop")
    assert "`loop` cannot be read" in error_of(program(tmp_path, buffer("loop")))


def test_the_program_may_be_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x").write_bytes(THREE)
    program(tmp_path / "real", buffer("x"))
    (tmp_path / "alias").symlink_to("real")
    assert uir.run(tmp_path / "alias" / "p.uir").result is not None


def test_every_wrong_file_is_reported_with_the_other_errors(tmp_path: Path) -> None:
    file = tmp_path / "p.uir"
    lines = [
        "%a = " + buffer("one"),
        "%b = adn 1 2",
        "%c = " + buffer("two").replace("slot=0", "slot=1"),
        "%x = add 1.0 2.0",
        "%y = expand %x shape=[2]",
        "%z = reduce %y op=mul pop=1",
        "%g = gradient %z %x",
    ]
    file.write_text("\n".join(lines))
    with pytest.raises(uir.InvalidProgram) as error:
        uir.run(file)
    places = [(d.place.line, d.place.column) for d in error.value.diagnostics]
    assert places == [(1, 6), (2, 6), (3, 6), (7, 6)]
