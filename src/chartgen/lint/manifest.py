"""What the linter reads: manifests with their places, and what could not be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, Protocol

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputProblem, Position
from chartgen.kernel.yaml_source import Document, Offsets, Step, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place that a finding points at."""

    file: str
    """The file as the user named it, or the template that a rendered line came from."""
    position: Position
    """Line and column."""
    end: Position | None = None
    """Where the entry ends, for what marks whole regions."""
    note: str = ""
    """How sure the place is, where it is not exact: the value that fed a template."""


class Origin(Protocol):
    """What objects are rendered from: knows where a reader would change them."""

    texts: Mapping[str, Text]
    """The text of each template, by the name that places carry."""

    def place(self, manifest: Manifest, path: Sequence[Step]) -> Place:
        """Where the entry at `path` of a rendered object comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredKey:
    """A key of a values file that the chart does not read."""

    key: str
    """The key with its parents: image.tga."""
    near: str
    """The nearest key that is read; empty when none is like it."""
    chart: str
    """The chart, with its version where that is known."""
    at: tuple[Step, ...]
    """Where it stands in the values file."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Manifest:
    """One Kubernetes object as somebody wrote it: the only place where a raw mapping is right."""

    file: str
    """The file as the user named it; <stdin> for standard input."""
    group: str
    """What it is deployed with: the chart, the kustomization or the folder it stands in."""
    document: Document
    """The YAML document it stands in."""
    root: tuple[Step, ...] = ()
    """Its path inside the document: a List holds several objects."""
    value: dict[str, Any] = field(default_factory=dict)
    """The object, as plain data."""
    origin: Origin | None = None
    """What it was rendered from; None when it stands in the file as it is."""

    spec_at: tuple[Step, ...] | None = None
    """Where its spec stands in the document, for an object that somebody makes of another one's fields."""
    ignored: tuple[IgnoredKey, ...] = ()
    """For a values file: the keys that its chart does not read."""

    @property
    def kind(self) -> str:
        """The object's kind."""
        return _text(self.value.get("kind"))

    @property
    def api_version(self) -> str:
        """The object's API group and version: apps/v1."""
        return _text(self.value.get("apiVersion"))

    @property
    def metadata(self) -> dict[str, Any]:
        """The object's metadata; empty when it is no mapping."""
        return mapping(self.value.get("metadata"))

    @property
    def name(self) -> str:
        """The object's name, or the prefix it asks the server to complete."""
        return _text(self.metadata.get("name")) or _text(self.metadata.get("generateName"))

    @property
    def namespace(self) -> str:
        """The namespace as written; empty when it is left to whoever applies the object."""
        return _text(self.metadata.get("namespace"))

    def whole(self, path: Sequence[Step]) -> tuple[Step, ...]:
        """The path from the document's root to the entry at `path` inside the object."""
        if self.spec_at is not None and path[:1] == ("spec",):
            return (*self.spec_at, *path[1:])
        return (*self.root, *path)

    def offsets(self, path: Sequence[Step]) -> Offsets | None:
        """The character offsets of the entry at `path` inside the object."""
        return self.document.offsets(self.whole(path))

    def place(self, path: Sequence[Step]) -> Place:
        """Where the entry at `path` stands, or its nearest existing ancestor."""
        whole = self.whole(path)
        if self.origin is not None:
            return self.origin.place(self, whole)
        offsets = self.document.offsets(whole)
        end = self.document.text.position(offsets[2]) if offsets else None
        return Place(file=self.file, position=self.document.position(whole), end=end)

    def belongs_to(self, other: Manifest) -> bool:
        """Whether it is that object, or one that somebody makes of its fields."""
        return self.document is other.document and self.root[: len(other.root)] == other.root

    def text_of(self, file: str) -> Text | None:
        """The text of a file that a place of this object may be in."""
        return self.document.text if self.origin is None else self.origin.texts.get(file)

    def __str__(self) -> str:
        """Kind and name, as messages speak of an object."""
        return f"{self.kind}/{self.name}" if self.name else f"{self.kind} without a name"


Fate = Literal["skipped", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A document that was not judged, and why: nothing is left out in silence."""

    fate: Fate
    """skipped: nothing for a linter in it. failed: it should have been readable."""
    problem: InputProblem
    """The place, and what stands there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Everything that one call reads."""

    manifests: tuple[Manifest, ...]
    """The objects to judge."""
    unread: tuple[Unread, ...] = ()
    """The documents that are not judged."""
    notes: tuple[str, ...] = ()
    """What the reader should know: a chart rendered by which engine, an overridden policy."""


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping, else an empty one: foreign manifests hold anything anywhere."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def mappings(value: Any) -> list[dict[str, Any]]:
    """The mappings of a list, in order; nothing when it is no list."""
    return [entry for entry in items(value) if isinstance(entry, dict)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def at(value: Any, path: Sequence[Step]) -> Any:
    """The entry at `path`, or None when there is no such entry."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and -len(value) <= step < len(value) else None
    return value
