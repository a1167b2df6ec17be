"""What the API server refuses although its published schema allows it: merged from constraints.yaml."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


class Constraints:
    """The entries of constraints.yaml, and which of them have found their definition."""

    def __init__(self, data: Json) -> None:
        self._fields: list[Json] = data["fields"]
        self._names: list[Json] = data["names"]
        self._label: Json = data["shapes"]["dns_label"]
        self._unused = {
            (entry["definition"], field) for entry in self._fields for field in entry.get("properties", [""])
        }

    def apply(self, definitions: dict[str, Json]) -> None:
        """Merge every entry whose definition this minor has."""
        for entry in self._fields:
            name = entry["definition"]
            if name not in definitions:
                continue
            if "itself" in entry:
                definitions[name] = _merge(definitions[name], entry["itself"])
                self._unused.discard((name, ""))
            for field, addition in entry.get("properties", {}).items():
                fields = definitions[name]["properties"]
                if field in fields:
                    fields[field] = _merge(fields[field], addition)
                    self._unused.discard((name, field))

    def envelope(self, kind: str, minor: str | None) -> Json:
        """What every object of a kind must have, whatever its definition says; no minor for custom resources."""
        rule = next(
            entry["rule"]
            for entry in self._names
            if (kind in entry["kinds"] and minor in entry.get("minors", [minor])) or not entry["kinds"]
        )
        name = {"type": "string", **rule}
        namespace = {"type": "string", **self._label}
        return {
            "required": ["apiVersion", "kind", "metadata"],
            "properties": {"metadata": {"properties": {"name": name, "namespace": namespace}}},
        }

    def finish(self) -> None:
        """Refuse entries that no minor knows.

        Raises:
            SystemExit: naming them.
        """
        if self._unused:
            raise SystemExit(f"constraints.yaml: no such field in any minor: {sorted(self._unused)}")


def _merge(base: Json, addition: Json) -> Json:
    if "$ref" in base:  # beside a reference no other keyword counts: the addition stands in its place
        return addition
    result = dict(base)
    for key, value in addition.items():
        old = result.get(key)
        result[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result
