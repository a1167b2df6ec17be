"""Custom resources: the structural schema inside a CustomResourceDefinition to a strict JSON schema."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from chartgen.kernel.yaml_source import read
from schemagen.modules import Module

Json = dict[str, Any]

_KEPT: Final = frozenset({
    "enum", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength", "minProperties",
    "minimum", "multipleOf", "pattern", "required", "type", "uniqueItems",
})  # fmt: skip
_JUNCTORS: Final = ("allOf", "anyOf", "oneOf")
_TEMPLATE_LINE: Final = re.compile(r"^\s*\{\{.*\}\}\s*$", re.MULTILINE)
"""Some projects keep their definitions as Helm templates: a condition around the whole file."""
_SHARED_FROM: Final = 160
"""Characters from which a schema that stands twice in one file is worth a definition of its own."""

_TEXT: Final = {"type": "string"}
OBJECT_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
METADATA: Final = {"$ref": f"../_definitions.json#/definitions/{OBJECT_META}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One served version of a custom resource."""

    group: str
    version: str
    kind: str
    file: str
    """The file of the module that defines it."""
    schema: Json


def resources(module: Module, paths: list[str], kinds: list[str]) -> Iterator[Resource]:
    """Every served version of the named kinds.

    Raises:
        SystemExit: a kind is defined in none of the files.
    """
    missing = set(kinds)
    files = [file for path in paths for file in _files(module, path)]
    for file in files:
        for document in read(_TEMPLATE_LINE.sub("", module.text(file)), file):
            content = document.value
            if not isinstance(content, dict) or content.get("kind") != "CustomResourceDefinition":
                continue
            spec = content["spec"]
            kind = spec.get("names", {}).get("kind")  # a patch for such a definition names no kind
            if kind not in kinds:
                continue
            missing.discard(kind)
            for version in spec["versions"]:
                if version["served"]:
                    schema = root(version["schema"]["openAPIV3Schema"])
                    yield Resource(
                        group=spec["group"], version=version["name"], kind=kind, file=file, schema=schema,
                    )  # fmt: skip
    if missing:
        raise SystemExit(f"{module.path}@{module.version}: no definition of {', '.join(sorted(missing))}")


def _files(module: Module, path: str) -> list[str]:
    start = module.folder / path
    found = [start] if start.is_file() else sorted(file for file in start.iterdir() if file.suffix in {".yaml", ".yml"})
    return [file.relative_to(module.folder).as_posix() for file in found]


def root(node: Json) -> Json:
    """The schema of a whole object: closed, with the metadata that every object has."""
    result = strict(node)
    result["properties"] |= {"apiVersion": _TEXT, "kind": _TEXT, "metadata": METADATA}
    result["additionalProperties"] = False
    return share(result)


def strict(node: Json) -> Json:
    """A structural schema without prose and defaults, closed where the server would drop unknown fields."""
    result = _keywords(node)
    open_ended = node.get("x-kubernetes-preserve-unknown-fields") is True
    if node.get("x-kubernetes-int-or-string"):
        result["type"] = ["integer", "string"]
        result.pop("anyOf", None)
    if node.get("nullable") and "type" in result:
        kinds = result["type"]
        result["type"] = [*(kinds if isinstance(kinds, list) else [kinds]), "null"]
        if "enum" in result:
            result["enum"] = [*result["enum"], None]
    if "items" in node:
        result["items"] = strict(node["items"])
        result |= _list_rule(node)
    if "properties" in node:
        result["properties"] = {name: strict(value) for name, value in node["properties"].items()}
    if isinstance(node.get("additionalProperties"), dict):
        result["additionalProperties"] = strict(node["additionalProperties"])
    elif node.get("type") == "object" and not open_ended and node.get("additionalProperties") is not True:
        result["additionalProperties"] = False
    return result


def _keywords(node: Json) -> Json:
    """The keywords that limit a value; of a junctor's branches nothing else, for they are not structural."""
    result = {key: node[key] for key in sorted(node) if key in _KEPT}
    if "(?i)" in result.get("pattern", ""):
        result["pattern"] = _any_case(result["pattern"])
    for bound in ("minimum", "maximum"):
        exclusive = f"exclusive{bound.capitalize()}"
        if node.get(exclusive):
            result[exclusive] = result.pop(bound)
    for junctor in _JUNCTORS:
        if junctor in node:
            result[junctor] = [_branch(option) for option in node[junctor]]
    if "not" in node:
        result["not"] = _branch(node["not"])
    return result


def _any_case(pattern: str) -> str:
    """A pattern without Go's inline flag (?i), which JSON Schema's dialect lacks: each letter in both cases."""
    plain = pattern.replace("(?i)", "")
    return "".join(f"[{one.lower()}{one.upper()}]" if one.isalpha() else one for one in plain)


def _branch(node: Json) -> Json:
    result = _keywords(node)
    if "properties" in node:
        result["properties"] = {name: _branch(value) for name, value in node["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            result[key] = _branch(node[key])
    return result


def _list_rule(node: Json) -> Json:
    match node.get("x-kubernetes-list-type"):
        case "set":
            return {"uniqueItems": True}
        case "map":
            fields = node["items"].get("properties", {})
            return {"x-unique-by": {key: fields[key].get("default", "") for key in node["x-kubernetes-list-map-keys"]}}
        case _:
            return {}


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
