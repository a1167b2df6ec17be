"""Where routes send: the backends of each kind of route, and whether they are there."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import Manifest, at, mapping, mappings
from chartgen.lint.numbers import number
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.lint.views.all import Views


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """One place that a route sends requests to."""

    kind: str
    """Service or InferencePool."""
    name: str
    """Its name."""
    port: str
    """The port as written; empty when none is."""
    found: Maybe[bool]
    """Whether it is among the files."""
    near: str
    """A Service of the bundle with a name very much like it; empty for none."""
    port_found: Maybe[bool]
    """Whether the Service has that port."""
    at: tuple[Step, ...]
    """Where it stands."""


_Found = tuple[str, Any, Any, tuple[Step, ...]]


def backends(route: Manifest, views: Views) -> tuple[tuple[Backend, ...], list[Manifest]]:
    """Every backend of a route, and the Services and pools that were found."""
    result, services = [], []
    for kind, name, port, where in _named(route):
        service = views.relations.find(kind, str(name), route.namespace)
        if service is not None:
            services.append(service)
        result.append(_backend(kind, str(name), port, where, service, route.namespace, views))
    return tuple(result), services


def _backend(
    kind: str, name: str, port: Any, where: tuple[Step, ...], service: Manifest | None, namespace: str, views: Views
) -> Backend:
    candidates = [] if service else [one.name for one in views.bundle.of_kind(kind, namespace=namespace)]
    found: Maybe[bool] = service is not None
    if service is None and not candidates:
        found = Unknown(because=f"{kind} {name} is not among the files", run=f"kubectl get {kind.lower()} {name}")
    near = difflib.get_close_matches(name, candidates, n=1, cutoff=number("alike-targets"))
    return Backend(
        kind=kind,
        name=name,
        port="" if port is None else str(port),
        found=found,
        near=near[0] if near else "",
        port_found=True if service is None else _has_port(service, port),
        at=where,
    )


def _has_port(service: Manifest, port: Any) -> bool:
    if port is None or service.kind != "Service":
        return True
    ports = mappings(at(service.value, ("spec", "ports")))
    return any(port in (one.get("port"), one.get("name")) or str(port) == str(one.get("port")) for one in ports)


def _named(route: Manifest) -> Iterator[_Found]:
    match route.kind:
        case "Ingress":
            yield from _ingress(route)
        case "HTTPRoute" | "GRPCRoute":
            yield from _http_route(route)
        case "VirtualService":
            yield from _virtual_service(route)
        case "HTTPProxy" | "IngressRoute":
            yield from _services(route)
        case "Route":
            to = mapping(at(route.value, ("spec", "to")))
            yield "Service", to.get("name"), None, ("spec", "to", "name")


def _ingress(route: Manifest) -> Iterator[_Found]:
    spec = mapping(route.value.get("spec"))
    default = mapping(mapping(spec.get("defaultBackend")).get("service"))
    if default:
        yield "Service", default.get("name"), _ingress_port(default), ("spec", "defaultBackend", "service")
    for number_, rule in enumerate(mappings(spec.get("rules"))):
        for index, path in enumerate(mappings(at(rule, ("http", "paths")))):
            service = mapping(at(path, ("backend", "service")))
            if service:
                where = ("spec", "rules", number_, "http", "paths", index, "backend", "service")
                yield "Service", service.get("name"), _ingress_port(service), where


def _ingress_port(service: dict[str, Any]) -> Any:
    port = mapping(service.get("port"))
    name = port.get("name")
    # The AWS controller reads actions and redirects from annotations behind this name.
    return None if name == "use-annotation" else port.get("number", name)


def _http_route(route: Manifest) -> Iterator[_Found]:
    for number_, rule in enumerate(mappings(at(route.value, ("spec", "rules")))):
        for index, reference in enumerate(mappings(rule.get("backendRefs"))):
            kind = str(reference.get("kind") or "Service")
            if kind in {"Service", "InferencePool"} and not reference.get("namespace"):
                yield (
                    kind,
                    reference.get("name"),
                    reference.get("port"),
                    ("spec", "rules", number_, "backendRefs", index),
                )


def _virtual_service(route: Manifest) -> Iterator[_Found]:
    for number_, rule in enumerate(mappings(at(route.value, ("spec", "http")))):
        for index, target in enumerate(mappings(rule.get("route"))):
            destination = mapping(target.get("destination"))
            host = str(destination.get("host") or "")
            # A longer host name is one of another namespace, or outside the cluster.
            if host and "." not in host.removesuffix(".svc.cluster.local").removesuffix(".svc"):
                where = ("spec", "http", number_, "route", index, "destination")
                yield "Service", host.partition(".")[0], mapping(destination.get("port")).get("number"), where


def _services(route: Manifest) -> Iterator[_Found]:
    for number_, rule in enumerate(mappings(at(route.value, ("spec", "routes")))):
        for index, service in enumerate(mappings(rule.get("services"))):
            if service.get("kind", "Service") == "Service" and not service.get("namespace"):
                yield (
                    "Service",
                    service.get("name"),
                    service.get("port"),
                    ("spec", "routes", number_, "services", index),
                )
