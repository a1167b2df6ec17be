"""Gateways read backwards: which one an ingress or route is for, and what its settings say in seconds and bytes.

The catalogue's dialects state how a chart spells an intent for each gateway. The same templates read what
somebody else spelled: `{idle}s` is a number of seconds with its unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from chartgen.catalog.gateway_dialect import Gateway, IngressAnnotation, Intent, Object, RouteTimeout, ServiceAnnotation
from chartgen.catalog.store import document
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build
from chartgen.kernel.units import MIB

_PLACE: Final = re.compile(r"\{[a-z_]+\}")
_AMOUNT: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|k|K|g|G|M|Mi|Ki|Gi|)")
_TIMES: Final = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZES: Final = {
    "": 1,
    "k": 1024,
    "K": 1024,
    "Ki": 1024,
    "m": MIB,
    "M": MIB,
    "Mi": MIB,
    "g": 1024**3,
    "G": 1024**3,
    "Gi": 1024**3,
}
_ENDLESS: Final = frozenset({"infinity", "infinite", "0", "0s", "0ms", "none"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """How a gateway is known, and what it does where nothing is written."""

    classes: tuple[str, ...] = ()
    """Patterns of IngressClass names."""
    controllers: tuple[str, ...] = ()
    """Patterns of an IngressClass's controller."""
    gateway_classes: tuple[str, ...] = ()
    """Patterns of GatewayClass names."""
    prefixes: tuple[str, ...] = ()
    """What its annotations start with."""
    idle: float | None = None
    """Seconds of silence after which it ends a request; None for no limit."""
    total: float | None = None
    """Seconds after which it ends a request, tokens or not; None for no limit."""
    body: int | None = None
    """Bytes of the largest request; None for no limit."""
    round_robin: bool = False
    """Whether it sends requests to replicas in turn, however busy they are."""
    holds_tokens: bool = False
    """Whether it holds small answers back for a while."""
    health_path: str | None = None
    """The path of its own health check; None when it has none, or takes the pod's."""
    health_annotation: str | None = None
    """The annotation that sets that path."""
    source: str
    """Where that stands."""


@cache
def defaults() -> Mapping[str, Defaults]:
    """Every gateway's defaults, by its key."""
    return build(document(catalog_data() / "route_defaults.yaml").value, dict[str, Defaults])


def gateway_of_ingress(class_name: str | None, controller: str | None, annotations: Mapping[str, Any]) -> str | None:
    """The key of the gateway that an Ingress is for; None when nothing tells."""
    known = defaults()
    by_annotation = [
        key
        for key, facts in known.items()
        if any(name.startswith(facts.prefixes) for name in annotations if facts.prefixes)
    ]
    if controller:
        for key, facts in known.items():
            if _matches(facts.controllers, controller):
                return key
    by_class = [key for key, facts in known.items() if class_name and _matches(facts.classes, class_name)]
    # The class nginx (or haproxy) belongs to two products; the annotations say which one is meant.
    for key in by_annotation:
        if not by_class or key in by_class or key.partition("-")[0] in {one.partition("-")[0] for one in by_class}:
            return key
    return by_class[0] if by_class else None


def gateway_of_class(gateway_class: str | None) -> str | None:
    """The key of the gateway behind a GatewayClass; None when nothing tells."""
    if not gateway_class:
        return None
    return next((key for key, facts in defaults().items() if _matches(facts.gateway_classes, gateway_class)), None)


def _matches(patterns: tuple[str, ...], text: str) -> bool:
    return any(re.fullmatch(pattern, text) for pattern in patterns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Everything that settings of one route are written in."""

    ingress: Mapping[str, Any]
    """Annotations of the Ingress or route."""
    service: Mapping[str, Any]
    """Annotations of the Services behind it."""
    timeouts: tuple[Mapping[str, Any], ...]
    """The rules[].timeouts of an HTTPRoute."""
    objects: Mapping[str, tuple[Mapping[str, Any], ...]]
    """The specs of objects attached to the route or its Services, by kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting as written."""

    text: str
    """As written."""
    template: str
    """How the dialect spells it."""
    key: str
    """The annotation, field or kind that holds it."""


def settings(gateway: Gateway, intent: Intent, written: Written) -> Iterator[Setting]:
    """What is written for an intent, in the dialect's order."""
    for spelling in gateway.says.get(intent, ()):
        match spelling:
            case IngressAnnotation() | ServiceAnnotation():
                held = written.ingress if isinstance(spelling, IngressAnnotation) else written.service
                if spelling.key in held:
                    yield Setting(text=str(held[spelling.key]), template=spelling.value, key=spelling.key)
            case RouteTimeout():
                for timeouts in written.timeouts:
                    if spelling.field in timeouts:
                        yield Setting(text=str(timeouts[spelling.field]), template="{total}s", key=spelling.field)
            case Object():
                for spec in written.objects.get(spelling.kind, ()):
                    for template, value in _leaves(spelling.spec, spec):
                        yield Setting(text=str(value), template=template, key=spelling.kind)
            case _:
                pass


def _leaves(template: Mapping[str, Any], spec: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of a template that the spec has too, each with what stands there."""
    for key, inner in template.items():
        value = spec.get(key) if isinstance(spec, Mapping) else None
        if value is None:
            continue
        if isinstance(inner, Mapping):
            yield from _leaves(inner, value)
        else:
            yield str(inner), value


def seconds(setting: Setting) -> tuple[bool, float | None]:
    """Whether the gateway understands the setting, and its seconds; None for no limit."""
    text = _inner(setting)
    if text is None:
        return False, None
    if text.lower() in _ENDLESS:
        return True, None
    bare = _PLACE.fullmatch(setting.template) is not None or "={" in setting.template
    amount = _AMOUNT.fullmatch(text)
    if amount is None or amount[2] not in _TIMES or (bare and amount[2]):
        return False, None
    unit = 0.001 if "_ms}" in setting.template and not amount[2] else _TIMES[amount[2]]
    return True, float(amount[1]) * unit


def size(setting: Setting) -> int | None:
    """Bytes of a size setting; None for no limit or for what is not understood."""
    amount = _AMOUNT.fullmatch(setting.text.strip())
    if amount is None or amount[2] not in _SIZES:
        return None
    return int(float(amount[1]) * _SIZES[amount[2]]) or None


def _inner(setting: Setting) -> str | None:
    """The amount inside a longer setting, such as one of several attributes with commas."""
    text = setting.text.strip()
    if "={" not in setting.template:
        return text
    name = setting.template.partition("={")[0]
    found = re.search(rf"(?:^|,)\s*{re.escape(name)}=([^,\s]+)", text)
    return found[1] if found else None
