"""The monitor view: what scrapes engines, and the rules and dashboards that read their metrics."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import Manifest, at, items, mapping, mappings
from chartgen.lint.promql import PromQLError, read_query
from chartgen.lint.relations import SCRAPERS
from chartgen.lint.unknown import Maybe, Unknown, known
from chartgen.lint.views.all import Views
from chartgen.lint.views.signal import MissingMetric, engine_names, missing_metrics

_DURATION: Final = re.compile(r"(\d+)(ms|s|m|h)")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_GRAFANA: Final = re.compile(r"\$\{?\w+(:\w+)?\}?")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointView:
    """One endpoint of a monitor."""

    port: str
    """The port's name or number as written."""
    found: Maybe[bool]
    """Whether what the monitor selects has a port of that name."""
    path: str
    """The path it scrapes; /metrics when it is not written."""
    interval: float | None
    """Seconds between scrapes; null for the default."""
    timeout: float | None
    """Seconds a scrape may take; null for the default."""
    at: tuple[Step, ...]
    """Where it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpressionView:
    """One expression of a rule or dashboard."""

    text: str
    """The query."""
    missing: tuple[MissingMetric, ...]
    """The metrics in it that the engine of the bundle does not export under that name."""
    at: tuple[Step, ...]
    """Where it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorView:
    """A ServiceMonitor, PodMonitor, PodMonitoring, PrometheusRule, or a ConfigMap with a dashboard."""

    kind: str
    """The kind."""
    name: str
    """The name."""
    scrapes: bool
    """Whether it scrapes, rather than reads what was scraped."""
    selects: Maybe[int]
    """How many Services or pod templates it selects."""
    engines: int
    """Model servers among them."""
    endpoints: tuple[EndpointView, ...]
    """What it scrapes."""
    expressions: tuple[ExpressionView, ...]
    """What its rules or panels read."""


def monitor_view(manifest: Manifest, views: Views) -> MonitorView:
    """The view of one monitor, rule or dashboard."""
    if manifest.kind in SCRAPERS:
        return _scraper(manifest, views)
    return MonitorView(
        kind=manifest.kind,
        name=manifest.name,
        scrapes=False,
        selects=0,
        engines=0,
        endpoints=(),
        expressions=tuple(_expressions(manifest, views)),
    )


def _scraper(manifest: Manifest, views: Views) -> MonitorView:
    """A monitor, joined to the Services or pods that its selector names."""
    selector = at(manifest.value, ("spec", "selector"))
    elsewhere = at(manifest.value, ("spec", "namespaceSelector"))
    namespace = "" if elsewhere else manifest.namespace
    unknown = Unknown(
        because=f"what {manifest.name} selects is not among the files",
        run=f"kubectl get {manifest.kind} {manifest.name}",
    )
    if manifest.kind == "ServiceMonitor":
        services = views.relations.services_matched(selector, namespace)
        names = {str(port.get("name")) for one in services for port in mappings(at(one.value, ("spec", "ports")))}
        sites = [site for service in services for site in views.relations.selected_by(service)]
        any_service = next(views.bundle.of_kind("Service", namespace=namespace), None)
        selects: Maybe[int] = len(services) if any_service else unknown
    else:
        sites = list(views.bundle.matched(selector, namespace))
        containers = [one for site in sites for one in items(site.spec.get("containers"))]
        ports = [port for one in containers for port in mappings(mapping(one).get("ports"))]
        names = {str(port.get(key)) for port in ports for key in ("name", "containerPort")}
        selects = len(sites) if sites or not views.pods_elsewhere(namespace) else unknown
    endpoints = tuple(_endpoints(manifest, names if known(selects, 0) else None))
    engines = sum(len(views.engines(site)) for site in sites)
    return MonitorView(
        kind=manifest.kind,
        name=manifest.name,
        scrapes=True,
        selects=selects,
        engines=engines,
        endpoints=endpoints,
        expressions=(),
    )


def _endpoints(manifest: Manifest, names: set[str] | None) -> Iterator[EndpointView]:
    key = "podMetricsEndpoints" if manifest.kind == "PodMonitor" else "endpoints"
    for index, endpoint in enumerate(mappings(at(manifest.value, ("spec", key)))):
        port = endpoint.get("port", endpoint.get("portNumber"))
        named = endpoint.get("port") is not None and names is not None
        yield EndpointView(
            port=str(port),
            found=str(port) in names if named and names is not None else True,
            path=str(endpoint.get("path") or "/metrics"),
            interval=seconds(endpoint.get("interval")),
            timeout=seconds(endpoint.get("scrapeTimeout", endpoint.get("timeout"))),
            at=("spec", key, index),
        )


def seconds(value: Any) -> float | None:
    """A duration such as 1m30s in seconds; None when it is none."""
    found = _DURATION.findall(str(value)) if value is not None else []
    return sum(float(number) * _UNITS[unit] for number, unit in found) if found else None


def _expressions(manifest: Manifest, views: Views) -> Iterator[ExpressionView]:
    release = views.release(manifest.namespace)
    if release is None:
        return
    for text, where in _queries(manifest):
        missing = missing_in(text, release, renamed=views.renames_metrics)
        if missing:
            yield ExpressionView(text=text, missing=missing, at=where)


@lru_cache(maxsize=4096)
def missing_in(text: str, release: str, *, renamed: bool) -> tuple[MissingMetric, ...]:
    """The vLLM metrics of a query that a release does not export; nothing when the query is not understood."""
    try:
        query = read_query(_GRAFANA.sub("x", text))
    except PromQLError:
        return ()
    own = engine_names(query.metrics, renamed=renamed)
    # An alternative under another release's name is fine as long as one of them is there.
    missing = missing_metrics(own, release)
    return () if " or " in text and len(missing) < len(own) else missing


def _queries(manifest: Manifest) -> Iterator[tuple[str, tuple[Step, ...]]]:
    if manifest.kind == "PrometheusRule":
        for number, group in enumerate(mappings(at(manifest.value, ("spec", "groups")))):
            for index, rule in enumerate(mappings(group.get("rules"))):
                yield str(rule.get("expr")), ("spec", "groups", number, "rules", index, "expr")
        return
    for key, text in mapping(manifest.value.get("data")).items():
        if isinstance(text, str) and "vllm:" in text and '"expr"' in text:
            for query in _panel_queries(text):
                yield query, ("data", key)


def _panel_queries(text: str) -> Iterator[str]:
    """The expressions of a Grafana dashboard."""
    try:
        content = json.loads(text)
    except ValueError:
        return
    todo: list[Any] = [content]
    while todo:
        node = todo.pop()
        if isinstance(node, Mapping):
            if isinstance(node.get("expr"), str):
                yield node["expr"]
            todo.extend(node.values())
        elif isinstance(node, list):
            todo.extend(node)
