"""Values of a statement's attributes, read by the form that the op's signature gives them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from dialects.uir.base import Form
from dialects.uir.elements import Elements, Scalar, parse_element
from dialects.uir.types import DTYPES

_INTEGER = re.compile(r"-?[0-9]{1,18}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_URL = re.compile(r"https://[^\s/]+(/[^\s]*)?")
_PATH = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")


class FormError(ValueError):
    """A value that is not of its attribute's form."""


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise FormError(f"expected an integer, found `{text}`")
    return int(text)


def _items(text: str) -> list[str]:
    if not text.startswith("["):
        raise FormError(f"expected a list `[...]`, found `{text}`")
    if not text.endswith("]"):
        raise FormError("the list is not closed: expected `]`")
    if "," in text:
        raise FormError("the items of a list are separated by spaces, found `,`")
    return text[1:-1].split()


def _integers(text: str) -> tuple[int, ...]:
    return tuple(_integer(item) for item in _items(text))


def _dtype(text: str) -> Any:
    if text not in DTYPES:
        raise FormError(f"expected bool, i32 or f32, found `{text}`")
    return DTYPES[text]


def _literals(text: str) -> Elements:
    items = _items(text)
    dtype: str | None = None
    values: list[Scalar] = []
    for item in items:
        dtype, value = parse_element(item, dtype)
        values.append(value)
    if dtype is None:
        raise FormError("expected at least one literal, found none")
    return Elements.pack(dtype, values)


def _word(text: str) -> str:
    if not text or text.startswith("["):
        raise FormError(f"expected a word, found `{text}`")
    return text


def _path(text: str) -> str:
    if _URL.fullmatch(text):
        return text
    if not _PATH.fullmatch(text) or ".." in text.split("/"):
        raise FormError(
            f"expected `https://...` or a relative path (letters, digits, `_ . -`, "
            f"separated by `/`, no `..`), found `{text}`"
        )
    return text


def _digest(text: str) -> str:
    if not _DIGEST.fullmatch(text):
        raise FormError(f"expected 64 lowercase hex digits, found `{text}`")
    return text


_READERS: dict[Form, Callable[[str], Any]] = {
    Form.WORD: _word,
    Form.INTEGER: _integer,
    Form.INTEGERS: _integers,
    Form.DTYPE: _dtype,
    Form.LITERALS: _literals,
    Form.PATH: _path,
    Form.DIGEST: _digest,
}


def read_attribute(form: Form, text: str) -> Any:
    """The value that `text` spells. Raises ValueError with a message for the reader."""
    if not text:
        raise FormError(f"expected {form.value}, found nothing")
    return _READERS[form](text)
