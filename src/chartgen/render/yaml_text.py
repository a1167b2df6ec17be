"""YAML text from plain data, block style, the same bytes each time.

Text that could be read as anything but itself is written as a JSON string, which YAML reads as such: user
text can open no comment, no anchor, no template and no second document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from chartgen.kernel.decision import Decision, Values
from chartgen.kernel.scalars import scalar

_PLAIN: Final = re.compile(r"[A-Za-z0-9/][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./()-]+)*")
_KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WIDTH: Final = 100


def _text(value: str) -> str:
    """A string as a scalar: plain where no reader can take it for something else, JSON otherwise."""
    if _PLAIN.fullmatch(value) and isinstance(scalar(value), str) and not _looks_special(value):
        return value
    return _quoted(value)


def _quoted(value: str) -> str:
    """A double-quoted scalar; what YAML does not take as printable is escaped, beyond what JSON escapes."""
    text = json.dumps(value, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else f"\\U{ord(character):08x}" for character in text)


def _looks_special(value: str) -> bool:
    """Whether another YAML reader takes the text for a date, a number or a time."""
    return value[0].isdigit() and not any(character.isalpha() for character in value)


def _key(key: str) -> str:
    return key if _KEY.fullmatch(key) and isinstance(scalar(key), str) else _quoted(key)


def block(value: Any, indent: int = 0) -> Iterator[str]:
    """The lines of a value in block style, without the key it belongs to."""
    pad = " " * indent
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _entry(f"{pad}{_key(key)}:", item, indent + 2)
    else:
        for item in value:
            if isinstance(item, Mapping | list) and item:
                first, *rest = block(item, indent + 2)
                yield f"{pad}- {first.lstrip()}"
                yield from rest
            else:
                yield f"{pad}- {inline(item)}"


def _entry(head: str, value: Any, indent: int) -> Iterator[str]:
    if isinstance(value, Mapping | list) and value:
        yield head
        yield from block(value, indent)
    else:
        yield f"{head} {inline(value)}"


def inline(value: Any) -> str:
    """A scalar or an empty container on one line."""
    if isinstance(value, str):
        return _text(value)
    return json.dumps(value)


def document(value: Mapping[str, Any]) -> str:
    """A whole document, such as Chart.yaml."""
    return "\n".join(block(value)) + "\n"


def commented(values: Values) -> str:
    """values.yaml: each leaf under its reason, as `# --` comments that helm-docs also reads."""
    return "\n".join(_commented(values, 0)) + "\n"


def _commented(values: Values, indent: int) -> Iterator[str]:
    pad = " " * indent
    for number, (key, value) in enumerate(values.items()):
        if not isinstance(value, Decision):
            if indent == 0 and number:
                yield ""
            yield f"{pad}{_key(key)}:"
            yield from _commented(value, indent + 2)
            continue
        yield from comment(value, indent)
        yield from _entry(f"{pad}{_key(key)}:", value.value, indent + 2)


def comment(decision: Decision[Any], indent: int) -> Iterator[str]:
    """The reason of a decision as comment lines: one line of text, whatever it holds."""
    origin = "" if decision.origin == "worked out" else f" ({decision.origin})"
    text = " ".join(f"{decision.because}{origin}".split())
    if not text.isprintable():
        text = "".join(character if character.isprintable() else "?" for character in text)
    for number, line in enumerate(wrapped(text, _WIDTH - indent)):
        yield f"{' ' * indent}# {'-- ' if number == 0 else ''}{line}"


def wrapped(text: str, width: int) -> Iterator[str]:
    """Words in lines of at most `width`, a longer word alone. textwrap does more and takes twenty times as long."""
    line = ""
    for word in text.split(" "):
        if line and len(line) + len(word) >= width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line
