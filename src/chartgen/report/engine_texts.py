"""Engine releases as text and as data: what one knows, what changes between two, what one makes of a command."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from chartgen.catalog.command_types import CommandLine, Unresolved
from chartgen.catalog.engine_check import Remark
from chartgen.catalog.engine_diff import Change, EngineDiff
from chartgen.catalog.engines import Engine
from chartgen.kernel.structure import to_plain


def release_data(engine: Engine) -> dict[str, Any]:
    """The whole truth of a release."""
    sets = ("architectures", "quantizations", "kv_dtypes", "tool_parsers", "reasoning_parsers")
    return {
        "release": engine.release,
        "source": engine.source,
        "read": engine.read,
        "flags": {name: _without(to_plain(flag), "name") for name, flag in engine.flags.items()},
        "removed": {name: to_plain(removal) for name, removal in engine.removed.items()},
        "metrics": {name: _without(to_plain(metric), "name") for name, metric in engine.metrics.items()},
        "endpoints": {path: _without(to_plain(endpoint), "path") for path, endpoint in engine.endpoints.items()},
        "environment": dict(engine.env),
        "features": sorted(engine.features),
        "behaviour": to_plain(engine.behaviour),
        **{name: sorted(getattr(engine, name)) for name in sets},
    }


def _without(data: Any, key: str) -> Any:
    return {name: value for name, value in data.items() if name != key}


def release(engine: Engine, form: str) -> str:
    """One release: everything as JSON, or a page of text."""
    if form == "json":
        return json.dumps(release_data(engine), indent=2, ensure_ascii=False)
    return "\n".join(_release_lines(engine))


def _release_lines(engine: Engine) -> Iterator[str]:
    yield f"vLLM {engine.release}, read from {engine.source} on {engine.read}"
    yield ""
    yield "Behaviour where no flag is given"
    yield f"  utilization: {engine.utilization}"
    for field in fields(engine.behaviour):
        if field.name != "batching":
            yield f"  {field.name.replace('_', ' ')}: {getattr(engine.behaviour, field.name)}"
    yield ""
    yield "Features"
    yield from (f"  {feature}" for feature in sorted(engine.features))
    yield ""
    yield f"Flags ({len(engine.flags)})"
    width = max(map(len, engine.flags))
    for flag in engine.flags.values():
        default = "" if flag.default is None else f" = {json.dumps(flag.default)}"
        aliases = f" ({', '.join(flag.aliases)})" if flag.aliases else ""
        yield f"  {flag.name.ljust(width)}  {flag.type}{default}{aliases}{' deprecated' if flag.deprecated else ''}"
    yield ""
    yield f"Gone flags ({len(engine.removed)})"
    for name, removal in engine.removed.items():
        yield f"  {name}: since {removal.since}; instead: {removal.instead}"
    yield ""
    yield f"Metrics ({len(engine.metrics)})"
    for metric in engine.metrics.values():
        status = "" if metric.status == "active" else f" {metric.status}"
        when = f" with {metric.when}" if metric.when else ""
        yield f"  {metric.name} {metric.type} {{{', '.join(metric.labels)}}}{status}{when}"
    yield ""
    yield f"Endpoints ({len(engine.endpoints)})"
    for endpoint in engine.endpoints.values():
        yield f"  {' '.join(endpoint.methods)} {endpoint.path}{f' with {endpoint.when}' if endpoint.when else ''}"


def differences(diff: EngineDiff, values: Sequence[Change], form: str) -> str:
    """What changes between two releases, and which values of a profile with it."""
    if form == "json":
        return json.dumps({**to_plain(diff), "values": to_plain(list(values))}, indent=2, ensure_ascii=False)
    parts = [f"vLLM {diff.old} to {diff.new}"]
    for title, changes in (
        ("Values of this profile", values),
        ("What dashboards, alerts and triggers ask for", diff.concepts),
        ("Defaults and memory", diff.behaviour),
        ("Flags", diff.flags),
        ("Metrics", diff.metrics),
        ("Endpoints", diff.endpoints),
        ("Environment variables", diff.environment),
    ):
        if changes:
            parts += ["", f"{title} ({len(changes)})", *_change_lines(changes)]
    return "\n".join(parts)


def _change_lines(changes: Iterable[Change]) -> Iterator[str]:
    for change in changes:
        if change.before == "none":
            said = f"+ {change.name}: {change.after}"
        elif change.after == "none":
            said = f"- {change.name}"
        else:
            said = f"~ {change.name}: {change.before} -> {change.after}"
        yield f"  {said}{f'  [{change.note}]' if change.note else ''}"


def checked(line: CommandLine, remarks: Sequence[Remark], engine: Engine, form: str) -> str:
    """What a release makes of a command line."""
    if form == "json":
        return json.dumps(
            {
                "release": engine.release,
                "model": _value(line.model),
                "arguments": {argument.flag: _value(argument.value) for argument in line.arguments},
                "gaps": list(line.gaps),
                "remarks": [to_plain(remark) for remark in remarks],
            },
            indent=2,
            ensure_ascii=False,
        )
    lines = [f"vLLM {engine.release}: {len(line.arguments)} flags, {len(remarks)} remarks"]
    for remark in remarks:
        lines.append(f"  {remark.outcome}: {remark.message}")
        if remark.instead:
            lines.append(f"    instead: {remark.instead}")
    lines += [f"  cannot tell: what {gap} holds" for gap in line.gaps]
    return "\n".join(lines)


def _value(value: Any) -> Any:
    return {"cannot tell": value.text} if isinstance(value, Unresolved) else value
