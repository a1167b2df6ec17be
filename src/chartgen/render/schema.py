"""values.schema.json: the type of every value, its reason as description, and the guards of the chart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from chartgen.chart.types import Chart
from chartgen.chart.values import join
from chartgen.kernel.decision import Decision, Values
from chartgen.kernel.structure import pretty


def values_schema(chart: Chart) -> str:
    """The schema as text. A mapping that no component declares open is closed: a mistyped key is refused."""
    opened = {path for component in chart.components for path in component.open}
    schema: dict[str, Any] = {"$schema": "http://json-schema.org/draft-07/schema#", "title": chart.name}
    schema |= _group(join(chart.components), "", opened)
    schema["properties"]["global"] = {"type": "object", "description": "Helm's own; this chart reads none."}
    for component in chart.components:
        for guard in component.guards:
            target = _find(schema, guard.path)
            # A plain rule would print only its number. A const in the else branch prints the reason.
            target["if"] = dict(guard.rule)
            target["else"] = {"const": guard.because}
    return pretty(schema)


def _group(values: Values, path: str, opened: set[str]) -> dict[str, Any]:
    properties = {}
    for key, value in values.items():
        inner = f"{path}.{key}" if path else key
        if isinstance(value, Decision):
            properties[key] = _leaf(value)
        else:
            properties[key] = _group(value, inner, opened)
    extra: bool | dict[str, Any] = {"type": ["string", "number", "boolean", "object", "array"]}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if path not in opened else [],
        "additionalProperties": extra if path in opened else False,
    }


def _leaf(decision: Decision[Any]) -> dict[str, Any]:
    return {**_type(decision.value), "description": " ".join(decision.because.split())}


_TYPES: Final = {bool: "boolean", int: "integer", str: "string", list: "array"}


def _type(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, float):  # Helm's --set gives 0.85 as text
        return {"type": ["number", "string"], "pattern": r"^[0-9]+(\.[0-9]+)?$"}
    name = _TYPES.get(type(value))
    return {"type": name} if name else {}


def _mapping(value: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping leaf, such as annotations: open, of the kind of value it holds."""
    kinds = {json.dumps(_type(item), sort_keys=True) for item in value.values()}
    if len(kinds) == 1:
        (kind,) = kinds
        return {"type": "object", "additionalProperties": json.loads(kind)}
    return {"type": "object"}


def _find(schema: dict[str, Any], path: str) -> dict[str, Any]:
    for key in path.split("."):
        schema = schema["properties"][key]
    return schema
