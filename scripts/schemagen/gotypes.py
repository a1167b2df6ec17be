"""What only the Go source of the Kubernetes API says: closed sets of words, the life of each version."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ENUM: Final = re.compile(r"// \+enum\n(?://[^\n]*\n)*type (\w+) string")
_CONSTANT: Final = re.compile(
    r'^\s*(?:const\s+)?\w+\s+(?:(\w+)\s*=\s*"([^"]*)"|=\s*(\w+)\("([^"]*)"\))',
    re.MULTILINE,
)
"""Both `Name Type = "Word"` and `Name = Type("Word")`."""
_COMPUTED: Final = re.compile(r'^\s*\w+\s+=\s*(\w+)\((?!")', re.MULTILINE)
"""A word that stands elsewhere: the set cannot be told from this file, so it counts as open."""
_STRUCT: Final = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD: Final = re.compile(r'^\t\w+\s+([\w.*\[\]]+)\s+`[^`]*json:"(\w+)', re.MULTILINE)
_IMPORT: Final = re.compile(r'^\t(?:(\w+) )?"k8s\.io/api/([\w/]+)"', re.MULTILINE)
_LIFE: Final = re.compile(
    r"func \(in \*(\w+)\) APILifecycle(Introduced|Removed|Replacement)\(\)[^{]*\{\s*return ([^\n]+)\n",
)
_MINOR: Final = re.compile(r"1, (\d+)$")
_REPLACEMENT: Final = re.compile(r'Group: "([^"]*)", Version: "(\w+)", Kind: "(\w+)"')
_GROUP: Final = re.compile(r'GroupName = "([^"]*)"')


@dataclass(frozen=True, slots=True)
class Enum:
    """A field that takes one of a closed set of words."""

    struct: str
    """The struct, as OpenAPI names it: io.k8s.api.core.v1.PodSpec."""
    field: str
    """The field's JSON name."""
    words: tuple[str, ...]
    """The words, sorted."""
    repeated: bool
    """Whether the field is a list of such words."""


def enums(folder: Path, also: Collection[str]) -> Iterator[Enum]:
    """Every field of a closed type in the k8s.io/api module at `folder`: marked `// +enum`, or named in `also`."""
    sources = {
        file.parent.relative_to(folder).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(folder.glob("*/*/types.go"))
    }
    words: dict[tuple[str, str], set[str]] = {}
    for package, text in sources.items():
        closed = {*_ENUM.findall(text), *also} - set(_COMPUTED.findall(text))
        for typed, literal, converted, argument in _CONSTANT.findall(text):
            kind, word = typed or converted, literal or argument
            if kind in closed:
                words.setdefault((package, kind), set()).add(word)
    for package, text in sources.items():
        imports = {alias or path.rpartition("/")[2]: path for alias, path in _IMPORT.findall(text)}
        for struct, body in _STRUCT.findall(text):
            for written, field in _FIELD.findall(body):
                prefix, _, kind = written.replace("[]", "").replace("*", "").rpartition(".")
                known = words.get((imports.get(prefix, "") if prefix else package, kind))
                if known:
                    name = f"io.k8s.api.{package.replace('/', '.')}.{struct}"
                    yield Enum(name, field, tuple(sorted(known)), written.startswith("[]"))


@dataclass(frozen=True, slots=True)
class Life:
    """When a kind came and went in one API version; minors of Kubernetes 1."""

    api_version: str
    """Group and version: policy/v1beta1."""
    kind: str
    introduced: int | None
    removed: int | None
    replacement: str | None
    """The API version that took over: policy/v1."""


def lives(folder: Path) -> Iterator[Life]:
    """The life of every kind that the k8s.io/api module at `folder` states one for."""
    for file in sorted(folder.glob("*/*/zz_generated.prerelease-lifecycle.go")):
        group = _GROUP.search((file.parent / "register.go").read_text(encoding="utf-8"))
        if group is None:
            raise SystemExit(f"{file}: its package has no GroupName")
        prefix = f"{group[1]}/" if group[1] else ""
        facts: dict[str, dict[str, str]] = {}
        for kind, what, value in _LIFE.findall(file.read_text(encoding="utf-8")):
            facts.setdefault(kind, {})[what] = value
        for kind, fact in facts.items():
            if not kind.endswith("List"):
                yield Life(
                    api_version=f"{prefix}{file.parent.name}",
                    kind=kind,
                    introduced=_minor(fact.get("Introduced")),
                    removed=_minor(fact.get("Removed")),
                    replacement=_replacement(fact.get("Replacement")),
                )


def _minor(value: str | None) -> int | None:
    match = _MINOR.match(value) if value else None
    return int(match[1]) if match else None


def _replacement(value: str | None) -> str | None:
    match = _REPLACEMENT.search(value) if value else None
    return None if match is None else f"{match[1]}/{match[2]}" if match[1] else match[2]
