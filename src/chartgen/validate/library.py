"""The schemas that ship with chartgen: which there are, and a compiled validator for each, built once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema_rs

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import UnknownName
from chartgen.kernel.structure import from_json

FOLDER: Final = Path(__file__).resolve().parent / "schemas"
"""The generated schemas; kubeconform reads the same folder."""

_BASE: Final = "chartgen:///"
"""The address under which the validator knows the folder; nothing is ever fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """When an API version of a kind came and went, in minors of Kubernetes 1."""

    introduced: int | None
    """The first minor that knows it; None when its source does not say."""
    removed: int | None
    """The first minor that no longer serves it; None when no removal is planned."""
    replacement: str | None
    """The API version that took over; None when there is none, or its source does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One minor of Kubernetes."""

    minor: str
    """The minor as people write it: 1.37."""
    patch: str
    """The patch release that its schemas are taken from: v1.37.2."""
    folder: str
    """Its folder of schemas, which is also how kubeconform spells the version: v1.37.0."""
    kinds: frozenset[tuple[str, str]]
    """API version and kind of every built-in kind it has a schema for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """One schema file."""

    path: str
    """Its path relative to FOLDER."""
    origin: str
    """Where it comes from, with the version: github.com/kedacore/keda/v2 v2.21.0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """What index.json says."""

    releases: dict[str, Release]
    """By minor."""
    custom: dict[tuple[str, str], Schema]
    """The schema of each custom resource, by API version and kind."""
    lives: dict[tuple[str, str], Life]
    """API version and kind of built-in kinds, past and present."""


@cache
def index() -> Index:
    """The index, read once."""
    data = _content("index.json")
    releases = [
        Release(
            minor=entry["minor"],
            patch=entry["version"],
            folder=entry["folder"],
            kinds=frozenset(map(tuple, entry["kinds"])),
        )
        for entry in data["kubernetes"]
    ]
    return Index(
        releases={release.minor: release for release in releases},
        custom={
            (entry["api_version"], entry["kind"]): Schema(
                path=entry["path"], origin=f"{entry['module']} {entry['version'] or entry['from']}"
            )
            for entry in data["custom"]
        },
        lives={
            (entry["api_version"], entry["kind"]): Life(
                introduced=entry["introduced"], removed=entry["removed"], replacement=entry["replacement"]
            )
            for entry in data["lives"]
        },
    )


def release(kubernetes: str) -> Release:
    """The release that `kubernetes` names: 1.34, v1.34 or 1.34.2.

    Raises:
        UnknownName: there are no schemas for it.
    """
    known = index().releases
    minor = ".".join(kubernetes.removeprefix("v").split(".")[:2])
    if minor not in known:
        raise UnknownName("Kubernetes release", kubernetes, known, hint=f"one of {', '.join(known)}")
    return known[minor]


def schema(api_version: str, kind: str, at: Release) -> Schema | None:
    """The schema of a kind in one release of Kubernetes; None when there is none."""
    if (api_version, kind) in at.kinds:
        group, _, version = api_version.rpartition("/")
        path = f"{at.folder}/{group or version}/{kind.lower()}_{version}.json"
        return Schema(path=path, origin=f"Kubernetes {at.patch}")
    return index().custom.get((api_version, kind))


@cache
def validator(path: str) -> Any:
    """The compiled validator of one schema file."""
    return jsonschema_rs.validator_for(
        _content(path),
        base_uri=f"{_BASE}{path}",
        registry=_registry(path.partition("/")[0]),
        keywords={"x-unique-by": UniqueBy},
        pattern_options=jsonschema_rs.RegexOptions(),  # linear in the length of a hostile text
    )


@cache
def _registry(folder: str) -> Any:
    path = f"{folder}/_definitions.json"
    return jsonschema_rs.Registry([(f"{_BASE}{path}", _content(path))])


def _content(path: str) -> Any:
    return from_json((FOLDER / path).read_bytes())


def at_location(location: str) -> Any:
    """The schema that holds the keyword at `location`, an address that the validator names with an error.

    Read again from the file: it is for words in messages, and rare; to hold every schema would cost more.
    """
    path, _, pointer = location.removeprefix(_BASE).partition("#/")
    node = _content(path)
    for part in pointer.split("/")[:-1]:
        step = part.replace("~1", "/").replace("~0", "~")
        node = node[int(step)] if isinstance(node, list) else node[step]
    return node


class UniqueBy:
    """The keyword `x-unique-by`: a list that is a map, with the default of each field of its key."""

    def __init__(self, parent_schema: dict[str, Any], value: Any, schema_path: list[str | int]) -> None:
        del parent_schema, schema_path
        self._keys = list(value.items())

    def validate(self, instance: Any) -> None:
        """Raise for the first repeated key."""
        for error in self.iter_errors(instance):
            raise error

    def iter_errors(self, instance: Any) -> Iterator[ValueError]:
        """Yield an error for each repeated key; its text is the index of it and of the first."""
        first: dict[Any, int] = {}
        if not isinstance(instance, list):
            return
        for position, entry in enumerate(instance):
            if isinstance(entry, dict):
                key = tuple(repr(entry.get(field, default)) for field, default in self._keys)
                if key in first:
                    yield ValueError(f"{position} {first[key]}")
                else:
                    first[key] = position
