"""Data files from `https://` URLs: downloaded once, and kept in a cache by their SHA-256.

The cache is `$XDG_CACHE_HOME/uir`, or `~/.cache/uir`. An entry's name is its hash, so no entry is
ever out of date, and a file that is put there by hand is as good as a downloaded one. A download
goes to a temporary file beside the entry, is checked there and renamed: processes that download
one file at once each rename the same bytes, and one that is killed leaves no entry.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import ssl
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urljoin

from uir.runtime.data_file import DataError, DataFile

if TYPE_CHECKING:
    from requests import Response

CONNECT_SECONDS = 10.0
"""How long a server may take to accept the connection."""
READ_SECONDS = 60.0
"""How long a server may send nothing. The whole transfer may take longer."""


def fetch(file: DataFile) -> bytes:
    """The bytes of a remote file, from the cache or downloaded; size and hash are right.

    Raises DataError.
    """
    entry = _cache() / file.digest
    try:
        data = entry.read_bytes()
    except OSError:
        data = None
    if data is None or not file.has_hash(data):
        data = _download(file, entry)
    file.check_size(len(data))
    return data


def _cache() -> Path:
    """The folder of the downloaded files."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "uir"


def _download(file: DataFile, entry: Path) -> bytes:
    """Makes `entry` the file and reads it, or leaves it alone and raises DataError."""
    # Imported here because most programs download nothing, and requests is slow to import.
    import pooch
    from requests import RequestException

    pooch.get_logger().setLevel("WARNING")
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        pooch.retrieve(  # pyright: ignore[reportUnknownMemberType]
            file.url,
            f"sha256:{file.digest}",
            entry.name,
            entry.parent,
            # What pooch says of the type of a downloader is not how it calls one.
            downloader=partial(_transfer, file),  # pyright: ignore[reportArgumentType]
        )
        return entry.read_bytes()
    # A malformed header can be a bare ValueError.
    except (RequestException, ValueError) as error:
        raise DataError(
            f"`{file.url}` cannot be downloaded: {_reason(error)}",
            help=f"a copy of the file can be put in the cache by hand: {entry}",
        ) from None
    except OSError as error:
        raise DataError(
            f"`{file.url}` cannot be kept in {entry.parent}: {_reason(error)}"
        ) from None


def _transfer(file: DataFile, url: str, target: str, _pooch: object) -> None:
    """Downloads `url` to the path `target`. pooch calls it, and removes `target` if it raises."""
    import pooch

    with ExitStack() as stack:
        advance = stack.enter_context(_progress(file))
        body = _Body(file, stack.enter_context(open(target, "wb")), advance)

        def check(response: Response, **_: object) -> None:
            stack.callback(response.close)
            _check_response(file, response)

        download = pooch.HTTPDownloader(
            chunk_size=1 << 16,
            timeout=(CONNECT_SECONDS, READ_SECONDS),
            # The hash is of the file itself, and a progress bar counts the file's bytes.
            headers={"Accept-Encoding": "identity"},
            hooks={"response": check},
        )
        download(url, body, None)
    body.check()


def _check_response(file: DataFile, response: Response) -> None:
    """Raises for a response that need not be read: what it is, is clear from its headers."""
    from requests import RequestException
    from requests.utils import requote_uri

    if response.is_redirect:
        target = urljoin(response.url, response.headers["location"])
        if not target.lower().startswith("https://"):
            raise RequestException(
                f"the server redirects to `{requote_uri(target)}`, which is not https"
            )
    elif response.status_code == 200 and "content-encoding" not in response.headers:
        length = response.headers.get("content-length", "")
        if length.isdecimal():
            file.check_size(int(length))


class _Body:
    """The body of a response on its way to disk: no longer than the file, and hashed."""

    def __init__(self, file: DataFile, out: BinaryIO, advance: Callable[[int], None]):
        self._file = file
        self._out = out
        self._advance = advance
        self._size = 0
        self._hash = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Takes the next bytes. Raises DataError when they are too many."""
        self._size += len(data)
        if self._size > self._file.size:
            raise self._file.size_error(f"{self._size} or more")
        self._hash.update(data)
        self._out.write(data)
        self._advance(len(data))

    def flush(self) -> None:
        """Part of what pooch asks of a file; closing it is soon enough."""

    def check(self) -> None:
        """Raises DataError unless what came is the file."""
        self._file.check_size(self._size)
        self._file.check_hash(self._hash.hexdigest())


@contextmanager
def _progress(file: DataFile) -> Generator[Callable[[int], None], None, None]:
    """Shows a bar while it is open, if the standard error is a terminal.

    The function that it gives moves the bar by a number of bytes.
    """
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, transient=True, disable=not sys.stderr.isatty()
    ) as progress:
        task = progress.add_task(file.url.rpartition("/")[2], total=file.size)
        yield partial(progress.advance, task)


def _reason(error: Exception) -> str:
    """Why a download failed, without the layers of the libraries around it."""
    from requests import HTTPError

    if isinstance(error, HTTPError) and error.response is not None:
        status = error.response.status_code
        return f"the server answers {status} {http.client.responses.get(status, '')}".rstrip()
    cause = _cause(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"the server's certificate is not trusted: {cause.verify_message}"
    if isinstance(cause, http.client.IncompleteRead):
        return "the connection closed before the end of the file"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    if isinstance(cause, TimeoutError):
        return (
            "the server took too long "
            f"(limits: {CONNECT_SECONDS:g} s to connect, {READ_SECONDS:g} s without data)"
        )
    return str(cause)


def _cause(error: BaseException) -> BaseException:
    """The innermost error: requests and urllib3 wrap it as a cause, an argument or a `reason`."""
    while True:
        inner = (getattr(error, "reason", None), *error.args, error.__cause__, error.__context__)
        for candidate in inner:
            if isinstance(candidate, BaseException):
                error = candidate
                break
        else:
            return error
