"""Buffers from `https://` URLs: the cache, what is refused, and what the errors say.

The server is a local one with a certificate of its own, made by `openssl`.
"""

from __future__ import annotations

import hashlib
import http.server
import io
import os
import re
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import uir
from uir.runtime import downloads

THREE = struct.pack("<3f", 1.0, 2.5, -0.0)
DIGEST = hashlib.sha256(THREE).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers a path as the server's table says."""

    def do_GET(self) -> None:
        self.owner.requests.append(self.path)
        self.owner.answers[self.path](self)

    @property
    def owner(self) -> Server:
        assert isinstance(self.server, Server)
        return self.server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def start(self, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def reply(self, body: bytes) -> None:
        self.start(Content_Length=str(len(body)))
        self.wfile.write(body)


Answer = Callable[[Handler], object]


class Server(http.server.ThreadingHTTPServer):
    """An HTTPS server on a free port of this machine."""

    def __init__(self, certificate: Path, key: Path):
        super().__init__(("localhost", 0), Handler)
        self.answers: dict[str, Answer] = {}
        self.requests: list[str] = []
        self.closing = threading.Event()
        """Set at the end of a test: a handler that waits for it stops."""
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)

    def finish_request(self, request: object, client_address: object) -> None:
        assert isinstance(request, socket.socket)
        # In the thread of the request, so that a handshake holds up no other. A client that
        # closes the connection early is what many of the tests are about.
        try:
            with self._context.wrap_socket(request, server_side=True) as secure:
                super().finish_request(secure, client_address)
        except (ssl.SSLError, ConnectionError):
            pass

    def url(self, answer: Answer, path: str = "/three.f32") -> str:
        """A URL that is answered so."""
        self.answers[path] = answer
        return f"https://localhost:{self.server_port}{path}"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = "openssl req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2"
    command += " -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    command += " -addext keyUsage=critical,digitalSignature,keyCertSign"
    subprocess.run(
        [*command.split(), "-out", certificate, "-keyout", key], check=True, capture_output=True
    )
    return certificate, key


@pytest.fixture
def server(
    certificate: tuple[Path, Path], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Server]:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate[0]))
    with Server(*certificate) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.closing.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache, which does not exist yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "localhost")
    return tmp_path / "cache" / "uir"


def program(folder: Path, url: str, sha256: str = DIGEST, size: int = 3) -> Path:
    file = folder / "p.uir"
    buffer = f"buffer {size} dtype=f32 slot=0 url={url} sha256={sha256}"
    file.write_text(f"%m = {buffer}\n%r = load %m\n")
    return file


def result_of(file: Path) -> bytes:
    result = uir.run(file).result
    assert result is not None
    return result.tobytes()


def error_of(file: Path) -> str:
    with pytest.raises(uir.InvalidProgram) as error:
        uir.run(file)
    text = str(error.value)
    assert text.startswith(f"{file}:1:6: error: `https://localhost:")
    return text


def entries(cache: Path) -> list[str]:
    return os.listdir(cache) if cache.exists() else []


def three(handler: Handler) -> None:
    handler.reply(THREE)


def test_a_file_is_downloaded_once(tmp_path: Path, server: Server, cache: Path) -> None:
    file = program(tmp_path, server.url(three))
    assert result_of(file) == THREE
    assert entries(cache) == [DIGEST]
    assert result_of(file) == THREE
    assert server.requests == ["/three.f32"]


def test_the_cache_goes_by_the_hash(tmp_path: Path, server: Server, cache: Path) -> None:
    assert result_of(program(tmp_path, server.url(three))) == THREE
    assert result_of(program(tmp_path, server.url(three, "/another-place"))) == THREE
    assert server.requests == ["/three.f32"]


def test_a_damaged_entry_is_downloaded_again(tmp_path: Path, server: Server, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / DIGEST).write_bytes(THREE[:-1] + b"\0")
    assert result_of(program(tmp_path, server.url(three))) == THREE
    assert (cache / DIGEST).read_bytes() == THREE


def test_a_wrong_hash(tmp_path: Path, server: Server, cache: Path) -> None:
    other = bytes(12)
    url = server.url(lambda handler: handler.reply(other))
    error = error_of(program(tmp_path, url))
    actual = hashlib.sha256(other).hexdigest()
    assert f"`{url}` has the SHA-256 {actual}, but `sha256=` says {DIGEST}" in error
    assert entries(cache) == []


@pytest.mark.parametrize("length", ["told", "not told"])
@pytest.mark.parametrize("body", [b"<html>not found</html>", b"short"])
def test_a_wrong_size(
    tmp_path: Path, server: Server, cache: Path, body: bytes, length: str
) -> None:
    def answer(handler: Handler) -> None:
        if length == "told":
            handler.reply(body)
        else:
            handler.start()
            handler.wfile.write(body)

    url = server.url(answer)
    found = f"{len(body)} or more" if len(body) > 12 and length == "not told" else len(body)
    error = error_of(program(tmp_path, url))
    assert f"`{url}` has {found} bytes, but 3 elements of f32 are 12 bytes" in error
    assert entries(cache) == []


def test_an_entry_of_another_size_than_the_buffer(
    tmp_path: Path, server: Server, cache: Path
) -> None:
    url = server.url(three)
    result_of(program(tmp_path, url))
    error = error_of(program(tmp_path, url, size=4))
    assert f"`{url}` has 12 bytes, but 4 elements of f32 are 16 bytes" in error


def test_an_endless_body_is_refused(tmp_path: Path, server: Server, cache: Path) -> None:
    def answer(handler: Handler) -> None:
        handler.start()
        while not handler.owner.closing.is_set():
            handler.wfile.write(bytes(1 << 16))

    error = error_of(program(tmp_path, server.url(answer)))
    assert re.search(r"has \d+ or more bytes, but 3 elements of f32 are 12 bytes", error)
    assert entries(cache) == []


def test_a_truncated_body(tmp_path: Path, server: Server, cache: Path) -> None:
    def answer(handler: Handler) -> None:
        handler.start(Content_Length="12")
        handler.wfile.write(THREE[:5])

    url = server.url(answer)
    error = error_of(program(tmp_path, url))
    assert (
        f"`{url}` cannot be downloaded: the connection closed before the end of the file" in error
    )
    assert f"help: a copy of the file can be put in the cache by hand: {cache / DIGEST}" in error
    assert entries(cache) == []


def test_a_file_that_the_server_does_not_have(tmp_path: Path, server: Server, cache: Path) -> None:
    url = server.url(lambda handler: handler.start(404))
    assert f"`{url}` cannot be downloaded: the server answers 404 Not Found\n" in error_of(
        program(tmp_path, url)
    )
    assert entries(cache) == []


@pytest.mark.parametrize("sent", [None, 0, 5])
def test_a_server_that_stops_sending(
    tmp_path: Path,
    server: Server,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    sent: int | None,
) -> None:
    monkeypatch.setattr(downloads, "READ_SECONDS", 0.2)

    def answer(handler: Handler) -> None:
        if sent is not None:
            handler.start(Content_Length="12")
            handler.wfile.write(THREE[:sent])
        handler.owner.closing.wait(10)

    error = error_of(program(tmp_path, server.url(answer)))
    assert "the server took too long (limits: 10 s to connect, 0.2 s without data)" in error
    assert entries(cache) == []


def test_a_server_that_does_not_finish_the_handshake(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "CONNECT_SECONDS", 0.2)
    start = time.monotonic()
    with socket.create_server(("localhost", 0)) as silent:
        error = error_of(program(tmp_path, f"https://localhost:{silent.getsockname()[1]}/x"))
    assert "the server took too long (limits: 0.2 s to connect, 60 s without data)" in error
    assert time.monotonic() - start < 5


def test_a_redirect_to_https_is_followed(tmp_path: Path, server: Server, cache: Path) -> None:
    server.url(three, "/here")
    url = server.url(lambda handler: handler.start(302, Location="/here", Content_Length="0"))
    assert result_of(program(tmp_path, url)) == THREE
    assert server.requests == ["/three.f32", "/here"]


@pytest.mark.parametrize("target", ["http://localhost:1/x", "ftp://localhost:1/x"])
def test_a_redirect_to_anything_else_is_refused(
    tmp_path: Path, server: Server, cache: Path, target: str
) -> None:
    url = server.url(lambda handler: handler.start(301, Location=target, Content_Length="0"))
    error = error_of(program(tmp_path, url))
    reason = f"the server redirects to `{target}`, which is not https"
    assert f"`{url}` cannot be downloaded: {reason}\n" in error
    assert entries(cache) == []


def test_an_untrusted_certificate(
    tmp_path: Path, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    monkeypatch.delenv("CURL_CA_BUNDLE", raising=False)
    url = server.url(three)
    error = error_of(program(tmp_path, url))
    assert f"`{url}` cannot be downloaded: the server's certificate is not trusted: self" in error
    assert server.requests == []
    assert entries(cache) == []


def test_without_a_network(tmp_path: Path, cache: Path) -> None:
    with socket.create_server(("localhost", 0)) as closed:
        port = closed.getsockname()[1]
    url = f"https://localhost:{port}/three.f32"
    file = program(tmp_path, url)
    error = error_of(file)
    assert f"`{url}` cannot be downloaded: Connection refused\n" in error
    assert f"help: a copy of the file can be put in the cache by hand: {cache / DIGEST}" in error
    (cache / DIGEST).write_bytes(THREE)
    assert result_of(file) == THREE


@pytest.mark.parametrize("authority", ["localhost:99999", "localhost:x", "localhost:1]["])
def test_a_url_of_no_server(tmp_path: Path, cache: Path, authority: str) -> None:
    error = error_of(program(tmp_path, f"https://{authority}/x"))
    assert f"`https://{authority}/x` cannot be downloaded: " in error


def test_a_cache_that_cannot_be_written(tmp_path: Path, server: Server, cache: Path) -> None:
    cache.parent.mkdir()
    cache.write_text("not a folder")
    url = server.url(three)
    assert f"`{url}` cannot be kept in {cache}: File exists" in error_of(program(tmp_path, url))


class Stderr(io.StringIO):
    """A standard error that is a terminal, or not."""

    def __init__(self, is_terminal: bool):
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_for_terminals(
    tmp_path: Path,
    server: Server,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_terminal: bool,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "stderr", Stderr(is_terminal))
    assert result_of(program(tmp_path, server.url(three))) == THREE
    assert isinstance(sys.stderr, Stderr)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sys.stderr.getvalue())
    if is_terminal:
        assert "three.f32" in shown
        assert "12/12 bytes" in shown
    else:
        assert shown == ""
    assert capsys.readouterr().out == ""


def in_another_process(file: Path) -> subprocess.Popen[str]:
    run = (
        "import pathlib, sys, uir; print(uir.run(pathlib.Path(sys.argv[1])).result.tobytes().hex())"
    )
    return subprocess.Popen(
        [sys.executable, "-c", run, file],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_processes_download_one_file_at_once(
    tmp_path: Path, server: Server, cache: Path
) -> None:
    both = threading.Barrier(2, timeout=30)

    def answer(handler: Handler) -> None:
        handler.start(Content_Length="12")
        handler.wfile.write(THREE[:5])
        both.wait()
        handler.wfile.write(THREE[5:])

    file = program(tmp_path, server.url(answer))
    processes = [in_another_process(file) for _ in range(2)]
    assert [process.communicate() for process in processes] == [(THREE.hex() + "\n", "")] * 2
    assert entries(cache) == [DIGEST]
    assert len(server.requests) == 2


def test_a_killed_download_leaves_no_entry(tmp_path: Path, server: Server, cache: Path) -> None:
    halfway = threading.Event()

    def answer(handler: Handler) -> None:
        handler.start(Content_Length="12")
        handler.wfile.write(THREE[:5])
        halfway.set()
        handler.owner.closing.wait(30)

    file = program(tmp_path, server.url(answer))
    with in_another_process(file) as process:
        started = halfway.wait(20)
        process.kill()
    assert started
    assert not (cache / DIGEST).exists()
    server.url(three)
    assert result_of(file) == THREE
    assert (cache / DIGEST).read_bytes() == THREE
