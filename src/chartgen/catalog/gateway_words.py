"""Spelling: what a token stream needs, in the words of one gateway. Plain data, ready for values.yaml."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from chartgen.catalog.assumptions import whole
from chartgen.catalog.gateway_dialect import (
    AnySpelling,
    ByDefault,
    Cannot,
    Controller,
    Gateway,
    IngressAnnotation,
    Object,
    Reference,
    RouteTimeout,
    ServiceAnnotation,
)
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision, Json, fact, worked_out
from chartgen.kernel.units import MIB, Bytes, Seconds

_PLACE: Final = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamIntent:
    """What the plan asks of the way between client and engine."""

    idle: Seconds
    """The longest silence to bear: queue wait and prefill of the longest prompt, with room."""
    total: Seconds
    """The longest answer, from request to last token."""
    body: Bytes
    """The largest request."""
    drain: Seconds
    """How long running streams may still take when a pod ends."""
    health_path: str
    """The path that tells a load balancer that a pod can serve."""
    port: int
    """The engine's port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraObject:
    """An object of the gateway's own kind that the chart must bring."""

    api_version: str
    """Its apiVersion."""
    kind: str
    """Its kind, which picks the template; the template knows what the object points at."""
    reference: Reference | None
    """The annotation that names it, where no targetRef does."""
    spec: Decision[dict[str, Json]]
    """Its spec without the target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSettings:
    """All settings of one gateway for one stream intent."""

    ingress_annotations: Mapping[str, Decision[str]] = field(default_factory=dict)
    """For the Ingress."""
    service_annotations: Mapping[str, Decision[str]] = field(default_factory=dict)
    """For the Service."""
    route_timeouts: Mapping[str, Decision[str]] = field(default_factory=dict)
    """For HTTPRoute's rules[].timeouts."""
    objects: tuple[ExtraObject, ...] = ()
    """Objects of the gateway's own kinds."""
    engine_keep_alive: Decision[int]
    """Seconds that the engine keeps an idle connection."""
    notes: tuple[str, ...] = ()
    """For NOTES.txt: settings of the whole controller, limits that were met, what the product cannot do."""


def spell(gateway: Gateway, intent: StreamIntent) -> StreamSettings:
    """Say the intent in the gateway's words; every value with its reason, and nothing dropped in silence."""
    words = _words(intent)
    ingress: dict[str, Decision[str]] = {}
    service: dict[str, Decision[str]] = {}
    timeouts: dict[str, Decision[str]] = {}
    objects: dict[tuple[str, str], list[Object]] = {}
    notes = [f"{gateway.name} is retired: {gateway.retired}"] if gateway.retired else []
    for name, spelling in _spellings(gateway):
        notes += _clipped(gateway, spelling, words)
        match spelling:
            case IngressAnnotation():
                _join(ingress, spelling, words)
            case ServiceAnnotation():
                _join(service, spelling, words)
            case RouteTimeout():
                timeouts[spelling.field] = fact(_filled(spelling.value, words), spelling.because)
            case Object():
                objects.setdefault((spelling.api_version, spelling.kind), []).append(spelling)
            case Controller():
                notes.append(_filled(spelling.say, words))
            case Cannot():
                notes.append(f"{gateway.name} and {name}: {spelling.because}")
            case ByDefault():
                pass
    return StreamSettings(
        ingress_annotations=ingress,
        service_annotations=service,
        route_timeouts=timeouts,
        objects=tuple(_object(parts, words) for parts in objects.values()),
        engine_keep_alive=_keep_alive(gateway, words),
        notes=(*notes, *gateway.notes),
    )


def _spellings(gateway: Gateway) -> Iterator[tuple[str, AnySpelling]]:
    for name, spellings in gateway.says.items():
        for spelling in spellings:
            yield name, spelling


def _words(intent: StreamIntent) -> dict[str, int | str]:
    return {
        "idle": math.ceil(intent.idle),
        "idle_ms": math.ceil(intent.idle * 1000),
        "total": math.ceil(intent.total),
        "drain": math.ceil(intent.drain),
        "body_mib": math.ceil(intent.body / MIB),
        "body_bytes": int(intent.body),
        "health_path": intent.health_path,
        "port": intent.port,
    }


def _most(spelling: AnySpelling) -> int | None:
    return spelling.most if isinstance(spelling, IngressAnnotation | ServiceAnnotation | Object) else None


def _bounded(spelling: AnySpelling, words: Mapping[str, int | str]) -> Mapping[str, int | str]:
    most = _most(spelling)
    if most is None:
        return words
    return {name: min(word, most) if isinstance(word, int) else word for name, word in words.items()}


def _clipped(gateway: Gateway, spelling: AnySpelling, words: Mapping[str, int | str]) -> list[str]:
    most = _most(spelling)
    if most is None:
        return []
    text = str(spelling.spec) if isinstance(spelling, Object) else getattr(spelling, "value", "")
    asked = [word for name in _PLACE.findall(text) if isinstance(word := words[name], int)]
    return [
        f"{gateway.name} takes at most {most} where {number} would be right: {spelling.because}"
        for number in asked
        if number > most
    ]


def _filled(text: str, words: Mapping[str, int | str]) -> str:
    return _PLACE.sub(lambda match: str(words[match[1]]), text)


def _join(
    into: dict[str, Decision[str]],
    spelling: IngressAnnotation | ServiceAnnotation,
    words: Mapping[str, int | str],
) -> None:
    """Add an annotation; what several intents share is a comma-separated list, as an ALB's attributes are."""
    value = _filled(spelling.value, _bounded(spelling, words))
    before = into.get(spelling.key)
    if before is None:
        into[spelling.key] = fact(value, spelling.because)
    else:
        into[spelling.key] = fact(f"{before.value},{value}", f"{before.because}; {spelling.because}")


def _object(parts: list[Object], words: Mapping[str, int | str]) -> ExtraObject:
    spec: dict[str, Any] = {}
    for part in parts:
        _lay(spec, _tree(dict(part.spec), _bounded(part, words)))
    first = parts[0]
    references = [part.reference for part in parts if part.reference]
    return ExtraObject(
        api_version=first.api_version,
        kind=first.kind,
        reference=references[0] if references else None,
        spec=fact(spec, "; ".join(dict.fromkeys(part.because for part in parts))),
    )


def _tree(node: Any, words: Mapping[str, int | str]) -> Any:
    if isinstance(node, dict):
        return {key: _tree(value, words) for key, value in node.items()}
    if isinstance(node, list):
        return [_tree(value, words) for value in node]
    if isinstance(node, str):
        whole = _PLACE.fullmatch(node)
        return words[whole[1]] if whole else _filled(node, words)
    return node


def _lay(into: dict[str, Any], part: dict[str, Any]) -> None:
    for key, value in part.items():
        if isinstance(value, dict):
            _lay(into.setdefault(key, {}), value)
        else:
            into[key] = value


def _keep_alive(gateway: Gateway, words: Mapping[str, int | str]) -> Decision[int]:
    limit = gateway.upstream_idle.seconds
    if limit == "idle timeout":
        # The product's bound on its own idle timeout bounds this too.
        bounds = [most for name, entry in _spellings(gateway) if name == "idle timeout" and (most := _most(entry))]
        limit = min([int(words["idle"]), *bounds])
    margin = whole("keep-alive-margin")
    return worked_out(
        int(limit) + margin,
        f"{gateway.name} keeps an idle connection to the engine for {limit} s; the engine keeps it {margin} "
        "s longer, else "
        f"a request meets a closing connection and fails. {gateway.upstream_idle.because}",
    )
