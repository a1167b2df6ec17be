"""A JSON file of a model folder: plain data, read within bounds, with the place of every key when it is asked for.

The data comes from the JSON parser. Only when something is wrong is the text read a second time, as YAML (which
JSON is a part of), for the line and column of the key in question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, InputProblem, Position
from chartgen.kernel.structure import dotted
from chartgen.kernel.text_file import read_text
from chartgen.kernel.units import MIB
from chartgen.kernel.yaml_source import Document, Step, read

MAX_BYTES: Final = 64 * MIB
"""The longest tensor index in use (trillion-parameter models) is half of this; a larger file is refused unread."""


def refusal(file: str, found: str, expected: str, position: Position | None = None) -> InputError:
    """An error that means a whole file."""
    return InputError([InputProblem(file=file, position=position, path="", found=found, expected=expected)])


def read_bounded(path: Path) -> str:
    """The text of a file of bounded size.

    Raises:
        InputError: the file is missing, no file, too large, or no UTF-8.
    """
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise refusal(str(path), "something that is no file", "a JSON file")
        if size > MAX_BYTES:
            raise refusal(str(path), f"{size} bytes", f"at most {MAX_BYTES}")
    except OSError as error:
        raise refusal(str(path), error.strerror or "an unreadable file", "a readable file") from error
    except ValueError as error:  # a null character
        raise refusal(str(path), "a name that no file has", "the path of a JSON file") from error
    return read_text(path)


@dataclass(frozen=True, kw_only=True)
class JsonFile:
    """One JSON file that holds an object. Not slotted: the positions are worked out once, when first needed."""

    file: str
    """The file as the user named it."""
    text: str
    """Its text."""
    value: Mapping[str, Any]
    """Its object, as plain data."""

    @cached_property
    def _document(self) -> Document | None:
        # A tab is white space in JSON and never stands inside a string; YAML dislikes it.
        try:
            return next(iter(read(self.text.replace("\t", " "), self.file)), None)
        except InputError:
            return None

    def problem(self, path: Sequence[Step], found: str, expected: str, nearest: str | None = None) -> InputProblem:
        """A problem at the entry `path`, or at its nearest ancestor when there is no such entry."""
        position = self._document.position(path) if self._document else None
        return InputProblem(
            file=self.file,
            position=position,
            path=dotted(tuple(path)),
            found=found,
            expected=expected,
            nearest=nearest,
        )


def read_json(path: Path) -> JsonFile:
    """Read the JSON object of a file.

    Raises:
        InputError: the file is missing or too large, or holds no JSON object.
    """
    text = read_bounded(path)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        position = Position(line=error.lineno, column=error.colno)
        raise refusal(str(path), f"text that is no JSON: {error.msg}", "valid JSON", position) from error
    except (RecursionError, ValueError) as error:  # too deep, or a number of thousands of digits
        raise refusal(str(path), "nesting or a number too large to read", "JSON of sane size") from error
    if not isinstance(value, dict):
        raise refusal(str(path), "JSON that is no object", "an object, as config.json has it")
    return JsonFile(file=str(path), text=text, value=value)
