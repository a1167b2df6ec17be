"""Paths of routes that reach an engine as they are, and that no engine answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import Manifest, at, mapping, mappings
from chartgen.lint.unknown import known
from chartgen.lint.views.all import Views
from chartgen.lint.views.backends import Backend
from chartgen.lint.views.engine.probes import resolve_port
from chartgen.lint.views.engine.view import EngineView

_CHANGES_PATHS: Final = re.compile(r"rewrite|strip|middleware|snippet|plugin|transform|actions\.|override|lua|app-root")
"""Annotations that may take a prefix away, in any controller's words."""
_EXTENSIONS: Final = ("EnvoyExtensionPolicy", "EnvoyPatchPolicy", "EnvoyFilter", "WasmPlugin", "SnippetsFilter")
"""Kinds that may change a path outside the route."""
_LEAVES_PATHS: Final = frozenset({"RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror", "CORS"})
"""Filters of an HTTPRoute that leave the path as it is (Gateway API v1, HTTPRouteFilterType)."""
_LITERAL: Final = re.compile(r"(/[A-Za-z0-9._~-]+)+/?\*?")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredPath:
    """A path that the engine gets with a prefix it does not know."""

    path: str
    """As the route has it."""
    at: tuple[Step, ...]
    """Where it stands."""


def unanswered_paths(
    route: Manifest, found: Iterable[Backend], gateway: str | None, views: Views
) -> Iterator[UnansweredPath]:
    """The paths that go to vLLM as they are, below nothing that it answers; none where anything may change them."""
    annotations = " ".join(map(str, mapping(route.metadata.get("annotations"))))
    if _CHANGES_PATHS.search(annotations) or any(True for _ in views.bundle.of_kind(*_EXTENSIONS)):
        return
    if route.kind == "Ingress" and gateway is None:
        return
    for backend in found:
        engines = list(_engines(backend, route, views))
        for path, where in _paths(route, backend.at) if engines else ():
            prefix = path.rstrip("*").rstrip("/")
            if _LITERAL.fullmatch(path) and not any(_answers(engine, prefix) for engine in engines):
                yield UnansweredPath(path=prefix, at=where)


def _engines(backend: Backend, route: Manifest, views: Views) -> Iterator[EngineView]:
    """The vLLM servers that listen where a backend's requests arrive, with nothing between."""
    service = views.relations.find(backend.kind, backend.name, route.namespace)
    sites = views.relations.selected_by(service) if service is not None and service.kind == "Service" else ()
    ports = mappings(at(service.value, ("spec", "ports"))) if service is not None else []
    targets = [port.get("targetPort", port.get("port")) for port in ports if _named(port, backend.port)]
    for site in sites:
        for container, view in views.engines(site) if not site.shape.operated else ():
            arrives = any(resolve_port(container.value, target) == known(view.port, 0) for target in targets)
            if view.server == "vllm" and arrives:
                yield view


def _named(port: Mapping[str, Any], wanted: str) -> bool:
    return wanted in ("", str(port.get("port")), str(port.get("name")))


def _answers(engine: EngineView, path: str) -> bool:
    """Whether an engine may answer at or below a path: by its routes, or by what its options add to them."""
    if engine.options["--root-path"] is not None or engine.options["--middleware"] is not None:
        return True
    first = path.split("/")[1]
    return any(first == one.split("/")[1] for one in (*engine.paths, "/openapi.json", "/redoc", "/static"))


def _paths(route: Manifest, backend: tuple[Step, ...]) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """The paths that lead to the backend at that place, as long as their rule leaves them as they are."""
    if route.kind == "Ingress":
        where = backend[:6]
        entry = mapping(at(route.value, where))
        if len(where) == len(("spec", "rules", 0, "http", "paths", 0)):
            yield str(entry.get("path") or "/"), (*where, "path")
    elif route.kind == "HTTPRoute":
        rule = mapping(at(route.value, backend[:3]))
        filters = [*mappings(rule.get("filters")), *mappings(mapping(at(route.value, backend)).get("filters"))]
        if all(one.get("type") in _LEAVES_PATHS for one in filters):
            for index, match in enumerate(mappings(rule.get("matches"))):
                path = mapping(match.get("path"))
                if path.get("type", "PathPrefix") in {"PathPrefix", "Exact"}:
                    yield str(path.get("value") or "/"), (*backend[:3], "matches", index, "path")
    elif route.kind == "VirtualService":
        rule = mapping(at(route.value, backend[:3]))
        for index, match in enumerate(mappings(rule.get("match")) if "rewrite" not in rule else []):
            uri = mapping(match.get("uri"))
            yield str(uri.get("prefix", uri.get("exact", "/"))), (*backend[:3], "match", index, "uri")
