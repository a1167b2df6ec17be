"""YAML read once, with the place of every key and item, and with the scalar rules of Kubernetes.

It makes one pass over libyaml's events and keeps character offsets in a table beside the plain data; lines
and columns are worked out when somebody asks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Final, NoReturn

import yaml

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, InputProblem, Position
from chartgen.kernel.scalars import key as key_text
from chartgen.kernel.scalars import scalar
from chartgen.kernel.yaml_faults import UNPRINTABLE, yaml_fault

_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Alias: Final[Any] = yaml.AliasEvent
_Scalar: Final[Any] = yaml.ScalarEvent
_MappingStart: Final[Any] = yaml.MappingStartEvent
_MappingEnd: Final[Any] = yaml.MappingEndEvent
_SequenceEnd: Final[Any] = yaml.SequenceEndEvent
_DocumentStart: Final[Any] = yaml.DocumentStartEvent
_StreamEnd: Final[Any] = yaml.StreamEndEvent

MAX_BYTES: Final = 64 * 1024 * 1024
"""A larger input is refused before it is parsed."""
MAX_DEPTH: Final = 100
"""Deeper nesting than any manifest needs; the CEL library stops far earlier."""
MAX_EXPANDED: Final = 1_000_000
"""Nodes that aliases may add to one file: an alias bomb ends here."""

Step = str | int
Mark = tuple[int, int, int]
"""Line and column from zero, and the character offset."""
Offsets = tuple[int, int, int]
"""Character offsets of an entry: its key (or dash), and its value's start and end."""


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


class Text:
    """The text of one file, able to say which line and column an offset is."""

    def __init__(self, content: str) -> None:
        self.content = content

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset at which each line starts."""
        return [0, *(found.end() for found in re.finditer(r"\r\n|\n|\r|\x85|\u2028|\u2029", self.content))]

    def mark(self, offset: int) -> Mark:
        """The mark of an offset."""
        line = bisect_right(self.line_starts, offset) - 1
        return (line, offset - self.line_starts[line], offset)

    def position(self, offset: int) -> Position:
        """The position of an offset, counted from one."""
        line, column, _ = self.mark(offset)
        return Position(line=line + 1, column=column + 1)


@dataclass(slots=True)
class Document:
    """One YAML document: plain data, and the table of positions beside it."""

    value: Any
    """Plain dicts, lists and scalars."""
    start: int
    """The offset at which the document's content starts."""
    text: Text
    """The file the document stands in."""
    spans: dict[int, dict[Step, Offsets]] = field(default_factory=dict)
    """By id() of the container, then by key or index. The ids hold as long as `value` does."""
    duplicates: list[Duplicate] = field(default_factory=list)

    def offsets(self, path: Sequence[Step]) -> Offsets | None:
        """The character offsets of the entry at `path`, or None when there is no such entry."""
        node, found = self.value, None
        for step in path:
            found = self.spans.get(id(node), {}).get(step)
            if found is None:
                return None
            node = node[step]
        return found

    def span(self, path: Sequence[Step]) -> Span | None:
        """The span of the entry at `path`, or None when there is no such entry."""
        found = self.offsets(path)
        return None if found is None else Span(*map(self.text.mark, found))

    def position(self, path: Sequence[Step]) -> Position:
        """Where the entry at `path` stands: its key; or its nearest existing ancestor's."""
        steps = tuple(path)
        for length in range(len(steps), 0, -1):
            found = self.offsets(steps[:length])
            if found is not None:
                return self.text.position(found[0])
        return self.text.position(self.start)

    def value_position(self, path: Sequence[Step]) -> Position:
        """Where the value at `path` starts; where its key or nearest ancestor stands if there is none."""
        found = self.offsets(path)
        return self.position(path) if found is None else self.text.position(found[1])


_TEXT_TAGS: Final = frozenset({"!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:binary"})
_UNSEEN: Final = object()


class _Reader:
    """Turns the event stream of one text into documents."""

    def __init__(self, content: str, file: str) -> None:
        self.text = Text(content)
        self.file = file
        self.events = _Loader(content)
        self.nodes = 0
        self.expanded = 0
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.scalars: dict[str, Any] = {}
        self.keys: dict[str, str] = {}
        self.path: list[Step] = []
        self.document = Document(None, 0, self.text)

    def documents(self) -> Iterator[Document]:
        take = self.events.get_event
        event: Any
        try:
            while type(event := take()) is not _StreamEnd:
                if type(event) is _DocumentStart:
                    self.anchors.clear()
                    first: Any = take()
                    self.document = Document(None, first.start_mark.index, self.text)
                    self.document.value = self.node(first)[0]
                    yield self.document
        finally:
            self.events.dispose()

    def node(self, event: Any) -> tuple[Any, int]:
        """The value that starts with `event`, and the offset at which it ends."""
        self.nodes += 1
        kind = type(event)
        if kind is _Alias:
            if event.anchor not in self.anchors:
                self.refuse(event, f"*{event.anchor}", "an anchor that is defined before it is used")
            value, size = self.anchors[event.anchor]
            self.nodes += size
            self.expanded += size
            if self.expanded > MAX_EXPANDED:
                self.refuse(event, f"aliases that add more than {MAX_EXPANDED} nodes", "a smaller document")
            return value, event.end_mark.index
        before = self.nodes
        if kind is _Scalar:
            value, end = self.scalar_value(event), event.end_mark.index
        else:
            if len(self.path) >= MAX_DEPTH:
                self.refuse(event, f"nesting deeper than {MAX_DEPTH} levels", "a flatter document")
            value, end = self.mapping() if kind is _MappingStart else self.sequence()
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, self.nodes - before + 1)
        return value, end

    def scalar_value(self, event: Any) -> Any:
        text: str = event.value
        if event.tag is None:
            if not event.implicit[0]:
                return text
        elif event.tag in _TEXT_TAGS:
            return text
        value = self.scalars.get(text, _UNSEEN)
        if value is _UNSEEN:
            value = self.scalars[text] = scalar(text)
        return value

    def mapping(self) -> tuple[dict[str, Any], int]:
        result: dict[str, Any] = {}
        spans: dict[Step, Offsets] = {}
        self.document.spans[id(result)] = spans
        merges: list[Any] = []
        take, path, keys = self.events.get_event, self.path, self.keys
        path.append("")
        event: Any
        while type(event := take()) is not _MappingEnd:
            if type(event) is not _Scalar:
                self.refuse(event, "a key that is no text", "a text key; is this an unrendered template?")
            key: str = event.value
            at = event.start_mark.index
            merge = False
            if event.implicit[0]:
                merge = key == "<<"
                key = keys.get(key) or keys.setdefault(key, key_text(key))
            path[-1] = key
            event = take()
            value, end = self.node(event)
            if merge:
                merges.extend(value if isinstance(value, list) else [value])
                continue
            if key in result:
                place = self.text.position(at)
                self.document.duplicates.append(Duplicate(path=tuple(path[:-1]), key=key, position=place))
            result[key] = value
            spans[key] = (at, event.start_mark.index, end)
        path.pop()
        self.merge(merges, result, spans)
        return result, event.end_mark.index

    def merge(self, merges: list[Any], result: dict[str, Any], spans: dict[Step, Offsets]) -> None:
        """Take over the entries of `<<` that the mapping does not have itself, with their places."""
        for merged in merges:
            if isinstance(merged, dict):
                places = self.document.spans[id(merged)]
                for key, value in merged.items():
                    if key not in result:
                        result[key] = value
                        spans[key] = places[key]

    def sequence(self) -> tuple[list[Any], int]:
        result: list[Any] = []
        spans: dict[Step, Offsets] = {}
        self.document.spans[id(result)] = spans
        take, path = self.events.get_event, self.path
        path.append(0)
        event: Any
        while type(event := take()) is not _SequenceEnd:
            index = path[-1] = len(result)
            value, end = self.node(event)
            result.append(value)
            start = event.start_mark.index
            spans[index] = (start, start, end)
        path.pop()
        return result, event.end_mark.index

    def refuse(self, event: Any, found: str, expected: str) -> NoReturn:
        raise refusal(self.file, self.text.position(event.start_mark.index), found, expected)


def refusal(file: str, position: Position | None, found: str, expected: str) -> InputError:
    """The error for an input that cannot be read."""
    problem = InputProblem(file=file, position=position, path="", found=found, expected=expected)
    return InputError([problem])


def read(text: str, file: str) -> Iterator[Document]:
    """Read every document of `text`; `file` is the name that errors carry.

    Raises:
        InputError: the text is no YAML, or is larger or deeper than anything sane.
    """
    if len(text) > MAX_BYTES:
        raise refusal(file, None, f"{len(text)} characters", f"at most {MAX_BYTES}")
    try:
        yield from _Reader(text.removeprefix("\ufeff"), file).documents()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = None if mark is None else Position(line=mark.line + 1, column=mark.column + 1)
        raise refusal(file, position, yaml_fault(error.problem or "something else"), "valid YAML") from error
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise _unreadable(text.removeprefix("\ufeff"), file) from error


def _unreadable(text: str, file: str) -> InputError:
    """The error for a character that YAML does not allow anywhere."""
    bad = UNPRINTABLE.search(text)
    if bad is None:
        return refusal(file, None, "a character that YAML does not allow", "valid YAML")
    found = f"the character U+{ord(bad[0]):04X}, which YAML does not allow"
    return refusal(file, Text(text).position(bad.start()), found, "text without control characters")
