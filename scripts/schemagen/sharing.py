"""One large part written once: a schema in which equal parts stand many times becomes small."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

Json = dict[str, Any]

_SHARED_FROM: Final = 160
"""Characters from which a schema that stands twice in one file is worth a definition of its own."""


def share(schema: Json) -> Json:
    """The same schema, with every larger part that stands in it more than once written as a definition."""
    counts: Counter[str] = Counter()
    _count(schema, counts)
    repeated = [text for text, count in counts.items() if count > 1 and len(text) >= _SHARED_FROM]
    names = {text: f"part{number}" for number, text in enumerate(sorted(repeated), start=1)}
    used: dict[str, Json] = {}
    result = _replace(schema, names, used, top=True)
    return {**result, "definitions": dict(sorted(used.items()))} if used else result


def _children(node: Json) -> Iterator[tuple[str, str | int | None, Json]]:
    for name, value in node.get("properties", {}).items():
        yield "properties", name, value
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield key, None, node[key]


def _count(node: Json, counts: Counter[str]) -> None:
    for _, _, child in _children(node):
        text = _text(child)
        counts[text] += 1
        if counts[text] == 1:  # what lies inside a repeated part is counted once, as it will be written once
            _count(child, counts)


def _replace(node: Json, names: Mapping[str, str], used: dict[str, Json], *, top: bool = False) -> Json:
    if not top:
        name = names.get(_text(node))
        if name is not None:
            if name not in used:
                used[name] = {}
                used[name] = _replace(node, names, used, top=True)
            return {"$ref": f"#/definitions/{name}"}
    result = dict(node)
    for key, name_in, child in _children(node):
        if name_in is None:
            result[key] = _replace(child, names, used)
        else:
            result[key] = {**result[key], name_in: _replace(child, names, used)}
    return result


def _text(node: Json) -> str:
    return json.dumps(node, sort_keys=True, separators=(",", ":"))
