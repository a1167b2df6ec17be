"""The keys of a profile as a Markdown page, made from the same types as the schema and the error messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from chartgen.kernel.structure import schema_of
from chartgen.profile.types import Profile

FILE: Final = "profile.md"
"""The committed copy, in the folder docs."""

_HEAD: Final = """\
# The keys of a profile

`model`, `gpu`, `context` and `region` are enough; every other key has a default with a reason, which
`chartgen plan` shows. This page is generated from the types that read profiles. Editors complete from
`profiles/profile.schema.json`."""


def profile_page() -> str:
    """The whole page."""
    schema = schema_of(Profile)
    return "\n".join([_HEAD, *_section("", "Profile", schema["$defs"])]) + "\n"


def _section(place: str, name: str, known: Mapping[str, Any]) -> Iterator[str]:
    """A table of one mapping's keys, then a section for each mapping below it."""
    definition = known[name]
    if place:
        yield f"\n## `{place}`\n\n{definition['description']}"
    below = []
    rows = []
    for key, value in definition["properties"].items():
        if key == _TAG:
            continue
        rows.append(f"| `{key}` | {_about(value, known)} | {_example(value)} |")
        below += [(_place(place, key, target, known), target) for target in _mappings(value)]
    if rows:
        yield "\n| key | what it is | for example |"
        yield "|---|---|---|"
        yield from rows
    for inner, target in below:
        yield from _section(inner, target, known)


_TAG: Final = "by"
"""The key that tells variants of a mapping apart."""


def _place(place: str, key: str, target: str, known: Mapping[str, Any]) -> str:
    path = f"{place}.{key}" if place else key
    tag = known[target]["properties"].get(_TAG)
    return path if tag is None else f"{path}: {{{_TAG}: {tag['enum'][0]}}}"


def _mappings(value: Any) -> Iterator[str]:
    """The mappings that a value may be, by name."""
    if isinstance(value, list):
        for one in value:
            yield from _mappings(one)
    elif isinstance(value, dict):
        if "$ref" in value:
            yield str(value["$ref"]).removeprefix("#/$defs/")
        yield from _mappings(value.get("anyOf", []))


def _about(value: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    if "$ref" in value:
        return _cell(known[next(_mappings(value))]["description"])
    words = sorted(str(word) for word in _words(value))
    choice = f" One of {', '.join(f'`{word}`' for word in words)}." if words else ""
    return _cell(str(value.get("description", "")) + choice)


def _words(value: Any) -> Iterator[str]:
    for one in (value, *value.get("anyOf", ()), value.get("items", {})):
        yield from (word for word in one.get("enum", ()) if word is not None)


def _example(value: Mapping[str, Any]) -> str:
    """An example of the key itself, or of the kind of word that it takes."""
    for one in (value, *value.get("anyOf", ()), value.get("items", {})):
        if one.get("examples"):
            example = one["examples"][0]
            return f"`{_cell(example if isinstance(example, str) else json.dumps(example))}`"
    return ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
