"""YAML read once, with the place of every key and item, and with the scalar rules of Kubernetes.

kubectl and Helm read YAML through a Go library whose scalars differ from every Python loader: `y` and `on`
are booleans, 0644 and 0o644 are 420, 22:22 and dates are strings, 1e3 is a float. This reader follows them.
It makes one pass over libyaml's events and keeps positions in a table beside the plain data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from chartgen.kernel.errors import InputError, InputProblem, Position

_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_BYTES: Final = 64 * 1024 * 1024
"""A larger input is refused before it is parsed."""
MAX_DEPTH: Final = 100
"""Deeper nesting than any manifest needs; the CEL library stops far earlier."""
MAX_NODES: Final = 2_000_000
"""Nodes of one file after aliases are expanded: an alias bomb ends here."""

_TRUE: Final = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE: Final = frozenset({"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL: Final = {
    ".nan": float("nan"), ".NaN": float("nan"), ".NAN": float("nan"),
    ".inf": float("inf"), ".Inf": float("inf"), ".INF": float("inf"),
    "+.inf": float("inf"), "+.Inf": float("inf"), "+.INF": float("inf"),
    "-.inf": float("-inf"), "-.Inf": float("-inf"), "-.INF": float("-inf"),
}  # fmt: skip
_NUMERIC_START: Final = frozenset("0123456789+-.")

Step = str | int
Mark = tuple[int, int, int]
"""Line and column from zero, and the character offset."""


@dataclass(frozen=True, slots=True)
class Span:
    """Where an entry stands: its key (or dash), and its value from start to end."""

    key: Mark
    start: Mark
    end: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """A key written twice in one mapping: the last one wins, and the reader is told."""

    path: tuple[Step, ...]
    key: str
    position: Position


@dataclass(slots=True)
class Document:
    """One YAML document: plain data, and the table of positions beside it."""

    value: Any
    """Plain dicts, lists and scalars."""
    start: Mark
    """Where the document's content starts."""
    spans: dict[int, dict[Step, Span]] = field(default_factory=dict)
    """By id() of the container, then by key or index. The ids hold as long as `value` does."""
    duplicates: list[Duplicate] = field(default_factory=list)

    def span(self, path: Sequence[Step]) -> Span | None:
        """The span of the entry at `path`, or None when there is no such entry."""
        node, found = self.value, None
        for step in path:
            found = self.spans.get(id(node), {}).get(step)
            if found is None:
                return None
            node = node[step]
        return found

    def position(self, path: Sequence[Step]) -> Position:
        """Where the entry at `path` stands: its key; or its nearest existing ancestor's."""
        steps = tuple(path)
        for length in range(len(steps), 0, -1):
            span = self.span(steps[:length])
            if span is not None:
                return _position(span.key)
        return _position(self.start)

    def value_position(self, path: Sequence[Step]) -> Position:
        """Where the value at `path` starts; where its key or nearest ancestor stands if there is none."""
        span = self.span(path)
        return self.position(path) if span is None else _position(span.start)


def _position(mark: Mark) -> Position:
    return Position(line=mark[0] + 1, column=mark[1] + 1)


def _mark(mark: Any) -> Mark:
    return (mark.line, mark.column, mark.index)


def scalar(text: str) -> Any:
    """The value of a plain (unquoted) scalar as Kubernetes' own YAML reader sees it."""
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text[0] not in _NUMERIC_START:
        return text
    if text in _SPECIAL:
        return _SPECIAL[text]
    return _number(text)


def _number(text: str) -> Any:
    plain = text.replace("_", "")
    sign, digits = (plain[0], plain[1:]) if plain[:1] in {"+", "-"} else ("", plain)
    for prefix, base in (("0x", 16), ("0b", 2), ("0o", 8)):
        if digits.startswith(prefix):
            return _integer(sign, digits[2:], base, text)
    if digits.isascii() and digits.isdigit():
        if digits != "0" and digits.startswith("0"):
            octal = _integer(sign, digits, 8, None)
            return float(sign + digits) if octal is None else octal
        return int(sign + digits)
    if _FLOAT.fullmatch(plain):
        return float(plain)
    return text


def _integer(sign: str, digits: str, base: int, otherwise: Any) -> Any:
    try:
        return int(sign + digits, base)
    except ValueError:
        return otherwise


class _Reader:
    """Turns the event stream of one file into documents."""

    def __init__(self, text: str, file: str) -> None:
        self.events = _Loader(text)
        self.file = file
        self.nodes = 0
        self.anchors: dict[str | None, tuple[Any, int]] = {}
        self.document = Document(None, (0, 0, 0))

    def documents(self) -> Iterator[Document]:
        events = self.events
        try:
            while not events.check_event(yaml.StreamEndEvent):
                event = events.get_event()
                if isinstance(event, yaml.DocumentStartEvent):
                    self.anchors.clear()
                    first = events.peek_event()
                    self.document = Document(None, _mark(first.start_mark))
                    self.document.value, _, _ = self.node((), 0)
                    yield self.document
        finally:
            events.dispose()

    def node(self, path: tuple[Step, ...], depth: int) -> tuple[Any, Mark, Mark]:
        event = self.events.get_event()
        self.count(1, event)
        if depth > MAX_DEPTH:
            self.refuse(event, f"nesting deeper than {MAX_DEPTH} levels", "a flatter document")
        start = _mark(event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                self.refuse(event, f"*{event.anchor}", "an anchor that is defined before it is used")
            value, size = self.anchors[event.anchor]
            self.count(size, event)
            return value, start, _mark(event.end_mark)
        before = self.nodes
        if isinstance(event, yaml.ScalarEvent):
            value, end = self.scalar_value(event), _mark(event.end_mark)
        elif isinstance(event, yaml.MappingStartEvent):
            value, end = self.mapping(path, depth)
        else:
            value, end = self.sequence(path, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, self.nodes - before + 1)
        return value, start, end

    def scalar_value(self, event: Any) -> Any:
        tag = event.tag
        if tag is None:
            return scalar(event.value) if event.implicit[0] else event.value
        if tag in {"!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:binary"}:
            return event.value
        return scalar(event.value)

    def mapping(self, path: tuple[Step, ...], depth: int) -> tuple[dict[str, Any], Mark]:
        result: dict[str, Any] = {}
        spans: dict[Step, Span] = {}
        self.document.spans[id(result)] = spans
        merges: list[Any] = []
        events = self.events
        while not events.check_event(yaml.MappingEndEvent):
            event = events.peek_event()
            if not isinstance(event, yaml.ScalarEvent):
                self.refuse(event, "a key that is no text", "a text key; is this an unrendered template?")
            events.get_event()
            plain = event.implicit[0] and event.tag is None
            key, mark = event.value, _mark(event.start_mark)
            value, start, end = self.node((*path, key), depth + 1)
            if plain and key == "<<":
                merges.extend(value if isinstance(value, list) else [value])
                continue
            if key in result:
                position = _position(mark)
                self.document.duplicates.append(Duplicate(path=path, key=key, position=position))
            result[key] = value
            spans[key] = Span(mark, start, end)
        for merged in merges:
            if isinstance(merged, dict):
                for key, value in merged.items():
                    if key not in result:
                        result[key] = value
                        spans[key] = self.document.spans[id(merged)][key]
        return result, _mark(events.get_event().end_mark)

    def sequence(self, path: tuple[Step, ...], depth: int) -> tuple[list[Any], Mark]:
        result: list[Any] = []
        spans: dict[Step, Span] = {}
        self.document.spans[id(result)] = spans
        events = self.events
        while not events.check_event(yaml.SequenceEndEvent):
            index = len(result)
            value, start, end = self.node((*path, index), depth + 1)
            result.append(value)
            spans[index] = Span(start, start, end)
        return result, _mark(events.get_event().end_mark)

    def count(self, nodes: int, event: Any) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            self.refuse(event, f"more than {MAX_NODES} nodes once aliases are expanded", "a smaller document")

    def refuse(self, event: Any, found: str, expected: str) -> None:
        raise _refusal(self.file, _position(_mark(event.start_mark)), found, expected)


def _refusal(file: str, position: Position | None, found: str, expected: str) -> InputError:
    problem = InputProblem(file=file, position=position, path="", found=found, expected=expected)
    return InputError([problem])


def read(text: str, file: str) -> Iterator[Document]:
    """Read every document of `text`; `file` is the name that errors carry.

    Raises:
        InputError: the text is no YAML, or is larger or deeper than anything sane.
    """
    if len(text) > MAX_BYTES:
        raise _refusal(file, None, f"{len(text)} characters", f"at most {MAX_BYTES}")
    try:
        yield from _Reader(text, file).documents()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = None if mark is None else Position(line=mark.line + 1, column=mark.column + 1)
        raise _refusal(file, position, error.problem or "something that is no YAML", "valid YAML") from error
    except yaml.YAMLError as error:
        raise _refusal(file, None, str(error), "valid YAML") from error
