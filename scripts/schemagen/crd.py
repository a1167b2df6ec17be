"""Custom resources: the structural schema inside a CustomResourceDefinition to a strict JSON schema."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from chartgen.kernel.yaml_source import read
from schemagen.modules import Module
from schemagen.rules import Untranslatable, translate
from schemagen.sharing import share

Json = dict[str, Any]

_KEPT: Final = frozenset({
    "enum", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength", "minProperties",
    "minimum", "multipleOf", "pattern", "required", "type", "uniqueItems",
})  # fmt: skip
_JUNCTORS: Final = ("allOf", "anyOf", "oneOf")
_TEMPLATE_LINE: Final = re.compile(r"^\s*\{\{.*\}\}\s*$", re.MULTILINE)
"""Some projects keep their definitions as Helm templates: a condition around the whole file."""
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
    """Its strict JSON schema."""
    rules: int
    """How many CEL rules its definition has beside its schema."""
    rules_checked: int
    """How many of them the JSON schema says too."""


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
                    node = version["schema"]["openAPIV3Schema"]
                    counts = count_rules(node)
                    yield Resource(
                        group=spec["group"],
                        version=version["name"],
                        kind=kind,
                        file=file,
                        schema=root(node),
                        rules=counts["rules"],
                        rules_checked=counts["checked"],
                    )
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
    if "status" in result["properties"]:  # it is the server's to write, and a chart's is passed over
        result["properties"]["status"] = {}
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
    result |= _rules(node, result.get("allOf", []))
    if "properties" in node:
        result["properties"] = {name: strict(value) for name, value in node["properties"].items()}
        defaulted = {name for name, value in node["properties"].items() if "default" in value}
        required = [name for name in node.get("required", ()) if name not in defaulted]
        result.pop("required", None)
        result |= {"required": required} if required else {}
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
            options = [_branch(option) for option in node[junctor]]
            result["anyOf" if junctor == "oneOf" and _counts_on_defaults(node) else junctor] = options
    if "not" in node:
        result["not"] = _branch(node["not"])
    return result


def _counts_on_defaults(node: Json) -> bool:
    """Whether branches speak of a field with a default: while it is left out, several of them seem to hold."""
    defaulted = {name for name, value in node.get("properties", {}).items() if "default" in value}
    return any(defaulted & set(option.get("properties", {})) for option in node["oneOf"])


def _any_case(pattern: str) -> str:
    """A pattern without Go's inline flag (?i), which JSON Schema's dialect lacks: each letter in both cases."""
    plain = pattern.replace("(?i)", "")
    if set("[\\") & set(plain):
        raise SystemExit(f"the pattern {pattern} is more than letters and choices")
    return "".join(f"[{one.lower()}{one.upper()}]" if one.isalpha() else one for one in plain)


def _branch(node: Json) -> Json:
    result = _keywords(node)
    if "properties" in node:
        result["properties"] = {name: _branch(value) for name, value in node["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            result[key] = _branch(node[key])
    return result


def _rules(node: Json, others: list[Json]) -> Json:
    """The CEL rules of one part that JSON Schema can say, each with the message that its definition gives it.

    A rule is negated twice, so that a validator reports the rule once and none of its parts.
    """
    said: list[Json] = []
    keys: Json = {}
    for rule in node.get("x-kubernetes-validations", ()):
        try:
            schema = translate(rule["rule"], node)
        except Untranslatable:
            continue
        if "x-unique-by" in schema:
            keys = schema
            continue
        said.append({"not": {"not": schema}, "x-rule": " ".join(rule.get("message", rule["rule"]).split())})
    return {**keys, "allOf": [*others, *said]} if said else keys


def count_rules(node: Any) -> Counter[str]:
    """How many CEL rules stand in a definition, and how many of them are checked."""
    counts: Counter[str] = Counter()
    if isinstance(node, dict):
        for rule in node.get("x-kubernetes-validations", ()):
            counts["rules"] += 1
            with contextlib.suppress(Untranslatable):
                translate(rule["rule"], node)
                counts["checked"] += 1
        for key, value in node.items():
            if key != "x-kubernetes-validations":
                counts += count_rules(value)
    elif isinstance(node, list):
        for value in node:
            counts += count_rules(value)
    return counts


def _list_rule(node: Json) -> Json:
    match node.get("x-kubernetes-list-type"):
        case "set":
            return {"uniqueItems": True}
        case "map":
            fields = node["items"].get("properties", {})
            return {"x-unique-by": {key: fields[key].get("default", "") for key in node["x-kubernetes-list-map-keys"]}}
        case _:
            return {}
