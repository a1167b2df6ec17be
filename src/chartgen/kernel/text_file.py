"""The text of a file that somebody else wrote: UTF-8, or one clear error with the place of what is not."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Final

from chartgen.kernel.errors import InputError, InputProblem, Position

_MARKS: Final = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""Byte-order marks of what editors write instead of UTF-8; UTF-32's begins with UTF-16's."""


def read_text(path: Path) -> str:
    """The text of a file, without its byte-order mark.

    Raises:
        InputError: it cannot be read, or is not UTF-8.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _refusal(path, None, error.strerror or "something unreadable", "a file that can be read") from error
    return decoded(content, path)


def decoded(content: bytes, path: Path) -> str:
    """Bytes of the file `path` as text, without a byte-order mark.

    Raises:
        InputError: they are not UTF-8; with line and column of the first that is not.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig", errors="replace")
        place = Position(line=before.count("\n") + 1, column=len(before) - before.rfind("\n"))
        marked = next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)
        found = marked or f"the byte 0x{content[error.start]:02x}, which is no UTF-8"
        raise _refusal(path, place, found, "text in UTF-8") from error


def _refusal(path: Path, place: Position | None, found: str, expected: str) -> InputError:
    return InputError([InputProblem(file=str(path), position=place, path="", found=found, expected=expected)])
