"""Kubernetes' own kinds: OpenAPI v3 files to one table of strict definitions for each minor."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from schemagen.gotypes import Enum

Json = dict[str, Any]

_KEPT: Final = frozenset({
    "enum", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum", "pattern", "required",
    "type",
})  # fmt: skip
_SCHEMA_PREFIX: Final = "#/components/schemas/"
_LETTER: Final = r"[A-Za-z0-9+/][\r\n]*"
_BASE64: Final = {
    "pattern": rf"^[\r\n]*(({_LETTER}){{4}})*(({_LETTER}){{2}}=[\r\n]*=|({_LETTER}){{3}}=)?[\r\n]*$",
    "x-words": "base64",
}
"""In fours, filled up with =; line ends anywhere, as Go's decoder takes them."""
_INT32: Final = {"minimum": -(2**31), "maximum": 2**31 - 1}


def read(folder: Path) -> dict[str, Json]:
    """Every schema of the OpenAPI v3 files in `folder`; the files repeat each other and must agree.

    They do agree but for the list of kinds that a schema stands for, which is joined.
    """
    schemas: dict[str, Json] = {}
    for file in sorted(folder.glob("*_openapi.json")):
        content = json.loads(file.read_text(encoding="utf-8"))
        for name, schema in content.get("components", {}).get("schemas", {}).items():
            known = schemas.setdefault(name, schema)
            if _shape(known) != _shape(schema):
                raise SystemExit(f"{file}: {name} differs from the same schema in another file")
            kinds = "x-kubernetes-group-version-kind"
            known[kinds] = known.get(kinds, []) + [k for k in schema.get(kinds, []) if k not in known.get(kinds, [])]
    return schemas


def _shape(schema: Json) -> Json:
    return {key: value for key, value in schema.items() if key != "x-kubernetes-group-version-kind"}


def roots(schemas: Mapping[str, Json], wanted: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, str, str, str]]:
    """Group, version, kind and definition of each wanted kind, in every version there is."""
    for name, schema in schemas.items():
        for entry in schema["x-kubernetes-group-version-kind"]:
            if entry["kind"] in wanted.get(entry["group"], ()) and name.endswith(f".{entry['kind']}"):
                yield entry["group"], entry["version"], entry["kind"], name


def closure(schemas: Mapping[str, Json], names: Sequence[str]) -> dict[str, Json]:
    """The named schemas and all they refer to, made strict; but for the status of the named ones.

    A status is the server's to write; what a manifest says there is passed over.
    """
    definitions = {name: strict(schema, schemas) for name, schema in schemas.items()}
    for name in names:
        if "status" in definitions[name]["properties"]:
            definitions[name]["properties"]["status"] = {}
    return reachable(definitions, names)


def reachable(definitions: Mapping[str, Json], names: Iterable[str]) -> dict[str, Json]:
    """The named definitions and all they refer to."""
    result: dict[str, Json] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in result:
            result[name] = definitions[name]
            waiting += _references(result[name])
    return dict(sorted(result.items()))


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].removeprefix("#/definitions/")
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def strict(node: Json, schemas: Mapping[str, Json]) -> Json:
    """A schema without prose and defaults, closed to unknown fields."""
    if "$ref" in node:
        return {"$ref": f"#/definitions/{node['$ref'].removeprefix(_SCHEMA_PREFIX)}"}
    if "allOf" in node:  # how OpenAPI v3 puts a default beside a reference
        (only,) = node["allOf"]
        return strict(only, schemas)
    result: Json = {key: copy.deepcopy(node[key]) for key in sorted(node) if key in _KEPT}
    match node.get("format"):
        case "int32":
            result |= _INT32
        case "byte":
            result |= _BASE64
    for key in ("oneOf", "anyOf"):
        if key in node:
            result[key] = [strict(option, schemas) for option in node[key]]
    if "items" in node:
        result["items"] = strict(node["items"], schemas)
        result |= _list_rule(node, schemas)
    if "properties" in node:
        result["properties"] = {name: strict(value, schemas) for name, value in node["properties"].items()}
        result["additionalProperties"] = False
    elif isinstance(node.get("additionalProperties"), dict):
        result["additionalProperties"] = strict(node["additionalProperties"], schemas)
    return result


def _list_rule(node: Json, schemas: Mapping[str, Json]) -> Json:
    """Lists that are sets or maps in truth: the API refuses a second entry with the same key."""
    match node.get("x-kubernetes-list-type"):
        case "set":
            return {"uniqueItems": True}
        case "map":
            reference = node["items"].get("$ref") or node["items"].get("allOf", [{}])[0].get("$ref", "")
            item = schemas.get(reference.removeprefix(_SCHEMA_PREFIX), node["items"])
            fields = item.get("properties", {})
            keys = node["x-kubernetes-list-map-keys"]
            return {"x-unique-by": {key: fields.get(key, {}).get("default", "") for key in keys}}
        case _:
            return {}


def close_words(definitions: Mapping[str, Json], enums: Iterable[Enum]) -> None:
    """Put the closed sets of words, which the OpenAPI files leave open, into the definitions."""
    for enum in enums:
        definition = definitions.get(enum.struct, {})
        field = definition.get("properties", {}).get(enum.field)
        if field is None:
            continue
        optional = enum.field not in definition.get("required", ())
        words = sorted({*enum.words, ""}) if optional and not enum.repeated else list(enum.words)
        target = field.get("items") if enum.repeated else field
        if target is None or target.get("type") != "string":
            raise SystemExit(f"{enum.struct}.{enum.field} has words but is no text")
        target["enum"] = words
