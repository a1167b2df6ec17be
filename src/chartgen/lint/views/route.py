"""The route view: an ingress or route of any dialect, joined through its Services to the engines behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from chartgen.catalog.gateways import load_gateway
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.scalars import whole_number
from chartgen.kernel.yaml_source import Step
from chartgen.lint import dialects
from chartgen.lint.dialects import Defaults, Written
from chartgen.lint.manifest import Manifest, at, mapping, mappings
from chartgen.lint.numbers import number
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.lint.views.alb import UnreachableService, unreachable_services
from chartgen.lint.views.all import Views
from chartgen.lint.views.backends import Backend, backends
from chartgen.lint.views.engine.view import EngineView
from chartgen.lint.views.monitor import seconds as duration
from chartgen.lint.views.route_paths import UnansweredPath, unanswered_paths
from chartgen.lint.views.route_settings import attached, retries_posts, rewrites_to_root, rule_timeouts

_RATE: Final = re.compile(r"(limit-rps|limit-rpm|limit-req-rate|rate-limit-requests|limit-connections)$")
_NO_DELAY: Final = "http-no-delay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """A setting that the gateway does not understand, so that its default counts."""

    key: str
    """The annotation or field."""
    text: str
    """As written."""
    at: tuple[Step, ...]
    """Where it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteView:
    """A way from clients to engines."""

    kind: str
    """Ingress, HTTPRoute, VirtualService, HTTPProxy, IngressRoute or Route."""
    name: str
    """Its name."""
    gateway: Maybe[str]
    """The product behind it, by its name."""
    by: str
    """Who does what the settings say: the product, or the route itself where no file tells the product."""
    retired: str
    """What a user must know when the product gets no more fixes; empty otherwise."""
    engines: int
    """Model servers behind it."""
    replicas: int
    """The fewest replicas behind it."""
    idle: Maybe[float | None]
    """Seconds of silence after which a request is ended; null for no limit."""
    total: Maybe[float | None]
    """Seconds after which a request is ended, tokens or not; null for no limit."""
    body: Maybe[int | None]
    """Bytes of the largest request; null for no limit."""
    ignored: tuple[Ignored, ...]
    """Settings that the gateway does not understand."""
    holds_tokens: bool
    """Whether the gateway holds small answers back."""
    round_robin: bool
    """Whether requests go to replicas in turn, however busy they are."""
    retries_posts: bool
    """Whether a request that was sent may be sent again: a prompt is then computed twice."""
    rewrites_to_root: bool
    """Whether every path is rewritten to one, so that no API path arrives."""
    unanswered: tuple[UnansweredPath, ...]
    """Paths that reach an engine as they are, below nothing that it answers."""
    unreachable: tuple[UnreachableService, ...]
    """Services that the load balancer cannot send to."""
    rate: float | None
    """Requests a second that one client may send; null for no limit."""
    health_path: str | None
    """The path that the gateway's own health check asks; null when it has none."""
    health_answered: bool
    """Whether every engine behind it answers that path."""
    upstream_idle: float | None
    """Seconds that the gateway keeps an idle connection to the engine; null when not known."""
    engine_idle: float
    """Seconds that the engine keeps one: VLLM_HTTP_TIMEOUT_KEEP_ALIVE."""
    backends: tuple[Backend, ...]
    """Where it sends."""


def route_view(route: Manifest, views: Views) -> RouteView:
    """The view of one ingress or route."""
    found, services = backends(route, views)
    sites = [site for service in services for site in views.relations.selected_by(service)]
    engines = [view for site in sites for _, view in views.engines(site)]
    key = _gateway(route, views)
    gateway = load_gateway(key) if key else None
    facts = dialects.defaults()[key] if key else None
    annotations = mapping(route.metadata.get("annotations"))
    written = Written(
        ingress=annotations,
        service={name: value for one in services for name, value in mapping(one.metadata.get("annotations")).items()},
        timeouts=rule_timeouts(route),
        objects=attached(route, services, views),
    )
    limits, ignored = _limits(route, key, facts, written)
    health = _health(key, facts, written, sites)
    return RouteView(
        kind=route.kind,
        name=route.name,
        gateway=gateway.name if gateway else _which(route),
        by=gateway.name if gateway else "the route",
        retired=(gateway.retired or "") if gateway else "",
        engines=len(engines),
        replicas=sum(views.pod(site).least for site in sites),
        idle=limits["idle"],
        total=limits["total"],
        body=_body(route, key, facts, written),
        ignored=ignored,
        holds_tokens=bool(facts and facts.holds_tokens) and _NO_DELAY not in " ".join(map(str, annotations.values())),
        round_robin=bool(facts and facts.round_robin) and not _balanced(key, written),
        retries_posts=retries_posts(route, annotations, written, key),
        rewrites_to_root=rewrites_to_root(route, annotations),
        unanswered=tuple(unanswered_paths(route, found, key, views)),
        unreachable=tuple(unreachable_services(route, found, views)) if key == "alb" else (),
        rate=_rate(annotations),
        health_path=health,
        health_answered=health is None or all(health in engine.paths for engine in engines),
        upstream_idle=_upstream_idle(key, limits["idle"]),
        engine_idle=min(map(_keep_alive, engines), default=number("engine-keep-alive")),
        backends=found,
    )


def _gateway(route: Manifest, views: Views) -> str | None:
    spec = mapping(route.value.get("spec"))
    annotations = mapping(route.metadata.get("annotations"))
    match route.kind:
        case "Ingress":
            name = spec.get("ingressClassName") or annotations.get("kubernetes.io/ingress.class")
            known = views.relations.find("IngressClass", str(name), "")
            controller = at(known.value, ("spec", "controller")) if known else None
            return dialects.gateway_of_ingress(str(name) if name else None, controller, annotations)
        case "HTTPRoute":
            for parent in mappings(spec.get("parentRefs")):
                gateway = views.relations.find("Gateway", str(parent.get("name")), str(parent.get("namespace") or ""))
                if gateway is not None:
                    return dialects.gateway_of_class(str(at(gateway.value, ("spec", "gatewayClassName"))))
            return None
        case kind:
            return {"VirtualService": "istio", "HTTPProxy": "contour", "IngressRoute": "traefik"}.get(kind)


def _which(route: Manifest) -> Unknown:
    what = (
        "no class says which controller serves it" if route.kind == "Ingress" else "its Gateway is not among the files"
    )
    return Unknown(because=what, run="kubectl get ingressclasses,gateways,gatewayclasses")


def _limits(
    route: Manifest, key: str | None, facts: Defaults | None, written: Written
) -> tuple[dict[str, Maybe[float | None]], tuple[Ignored, ...]]:
    """The idle and the total limit, and the settings that are not understood."""
    limits: dict[str, Maybe[float | None]] = {}
    ignored = []
    for name in ("idle", "total"):
        limits[name] = _which(route) if facts is None else getattr(facts, name)
        for setting in dialects.settings(load_gateway(key), f"{name} timeout", written) if key else ():  # type: ignore[arg-type]
            understood, value = dialects.seconds(setting)
            if understood:
                limits[name] = value
                break
            ignored.append(Ignored(key=setting.key, text=setting.text, at=_at(route, setting.key)))
    own = _own_total(route)
    if own is not None:
        limits["total"] = own or None
    if route.kind == "Route" and facts is None:
        timeout = duration(mapping(route.metadata.get("annotations")).get("haproxy.router.openshift.io/timeout"))
        limits = {"idle": timeout or number("openshift-route-timeout"), "total": None}
    return limits, tuple(ignored)


def _own_total(route: Manifest) -> float | None:
    """The total limit in a kind's own fields: seconds, 0 for none, None for not written."""
    found: list[float] = []
    if route.kind == "VirtualService":
        found = [
            duration(rule.get("timeout")) or 0
            for rule in mappings(at(route.value, ("spec", "http")))
            if "timeout" in rule
        ]
    elif route.kind == "HTTPProxy":
        texts = [at(rule, ("timeoutPolicy", "response")) for rule in mappings(at(route.value, ("spec", "routes")))]
        found = [0 if text == "infinity" else duration(text) or 0 for text in texts if text is not None]
    elif route.kind == "HTTPRoute":
        texts = [timeouts.get("request") for timeouts in rule_timeouts(route)]
        found = [duration(text) or 0 for text in texts if text is not None]
        found += filter(None, (duration(timeouts.get("backendRequest")) for timeouts in rule_timeouts(route)))
    limited = [value for value in found if value]
    return min(limited) if limited else (0 if found else None)


def _body(route: Manifest, key: str | None, facts: Defaults | None, written: Written) -> Maybe[int | None]:
    if key is None or facts is None:
        return _which(route)
    for setting in dialects.settings(load_gateway(key), "body size", written):
        if "buffer" not in setting.key:
            return dialects.size(setting)
    return facts.body


def _balanced(key: str | None, written: Written) -> bool:
    return key is not None and any(True for _ in dialects.settings(load_gateway(key), "least request", written))


def _rate(annotations: Mapping[str, Any]) -> float | None:
    for key, value in annotations.items():
        match = _RATE.search(str(key))
        rate = whole_number(str(value))
        if match and rate is not None:
            return rate / (60 if match[1] == "limit-rpm" else 1)
    return None


def _health(key: str | None, facts: Defaults | None, written: Written, sites: list[Any]) -> str | None:
    """The path of the gateway's own health check, where it has one that does not follow the pod's probes."""
    if key is None or facts is None or facts.health_path is None or not sites:
        return None
    if facts.health_annotation:
        found = written.ingress.get(facts.health_annotation, written.service.get(facts.health_annotation))
        return str(found) if found else facts.health_path
    for spec in written.objects.get("HealthCheckPolicy", ()):
        path = at(dict(spec), ("default", "config", "httpHealthCheck", "requestPath"))
        if path:
            return str(path)
    return facts.health_path


def _upstream_idle(key: str | None, idle: Maybe[float | None]) -> float | None:
    if key is None:
        return None
    limit = load_gateway(key).upstream_idle.seconds
    if isinstance(limit, int):
        return float(limit)
    return idle if isinstance(idle, int | float) else None


def _keep_alive(engine: EngineView) -> float:
    written = engine.env.get("VLLM_HTTP_TIMEOUT_KEEP_ALIVE")
    seconds = whole_number(written or "")
    return float(seconds) if seconds is not None else number("engine-keep-alive")


def _at(route: Manifest, key: str) -> tuple[Step, ...]:
    annotations = mapping(route.metadata.get("annotations"))
    return ("metadata", "annotations", key) if key in annotations else ("spec",)
