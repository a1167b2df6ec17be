"""Parts of routes that every dialect writes in a place of its own: retries, rewrites, attached policies."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from chartgen.lint.dialects import Written
from chartgen.lint.manifest import Manifest, at, items, mapping, mappings
from chartgen.lint.views.all import Views

_POLICIES: Final = (
    "BackendTrafficPolicy",
    "BackendConfig",
    "GCPBackendPolicy",
    "GCPTrafficDistributionPolicy",
    "HealthCheckPolicy",
    "RoutePolicy",
    "BackendLoadBalancingPolicy",
    "DestinationRule",
    "ProxySettingsPolicy",
    "ClientSettingsPolicy",
    "UpstreamSettingsPolicy",
    "TrafficPolicy",
    "KongUpstreamPolicy",
)
_AFTER_SENDING: Final = re.compile(r"\b(5xx|gateway-error|reset|retriable-4xx|retriable-status-codes|50[0-4]|429)\b")
_NON_IDEMPOTENT: Final = re.compile(r"\bnon_idempotent\b")


def rule_timeouts(route: Manifest) -> tuple[Mapping[str, Any], ...]:
    """The rules[].timeouts of an HTTPRoute that are written."""
    if route.kind != "HTTPRoute":
        return ()
    rules = mappings(at(route.value, ("spec", "rules")))
    return tuple(mapping(rule.get("timeouts")) for rule in rules if mapping(rule.get("timeouts")))


def attached(
    route: Manifest, services: Iterable[Manifest], views: Views
) -> Mapping[str, tuple[Mapping[str, Any], ...]]:
    """The specs of policies that target the route, its Services or its Gateways, by kind."""
    names = {(route.kind, route.name)} | {(service.kind, service.name) for service in services}
    names |= {("Gateway", str(one.get("name"))) for one in mappings(at(route.value, ("spec", "parentRefs")))}
    annotations = " ".join(
        str(value) for one in services for value in mapping(one.metadata.get("annotations")).values()
    )
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for policy in views.bundle.of_kind(*_POLICIES, namespace=route.namespace):
        spec = mapping(policy.value.get("spec"))
        targets = [*mappings(spec.get("targetRefs")), mapping(spec.get("targetRef"))]
        aimed = any((str(one.get("kind")), str(one.get("name"))) in names for one in targets if one)
        host = str(spec.get("host") or "").partition(".")[0]
        by_host = policy.kind == "DestinationRule" and ("Service", host) in names
        by_name = re.search(rf'(^|["\s]){re.escape(policy.name)}($|["\s])', annotations) is not None
        if aimed or by_host or (by_name and not any(targets)):
            found[policy.kind].append(spec)
    return {kind: tuple(specs) for kind, specs in found.items()}


def retries_posts(route: Manifest, annotations: Mapping[str, Any], written: Written, gateway: str | None) -> bool:
    """Whether a request that the engine may have begun is sent again."""
    if any(_NON_IDEMPOTENT.search(str(value)) for value in annotations.values()):
        return True
    for rule in mappings(at(route.value, ("spec", "http"))):
        retries = mapping(rule.get("retries"))
        if retries.get("attempts") != 0 and _AFTER_SENDING.search(str(retries.get("retryOn") or "")):
            return True
    for rule in mappings(at(route.value, ("spec", "rules"))):
        retry = mapping(rule.get("retry"))
        if items(retry.get("codes")) and retry.get("attempts") != 0:
            return True
    for rule in mappings(at(route.value, ("spec", "routes"))):
        policy = mapping(rule.get("retryPolicy"))
        if policy and policy.get("count") != -1:
            return True
    for spec in written.objects.get("BackendTrafficPolicy", ()):
        retry = mapping(spec.get("retry"))
        triggers = " ".join(map(str, items(mapping(retry.get("retryOn")).get("triggers"))))
        codes = items(mapping(retry.get("retryOn")).get("httpStatusCodes"))
        if retry and (codes or not triggers or _AFTER_SENDING.search(triggers)):
            return True
    return gateway == "kong" and "konghq.com/retries" not in written.service


def rewrites_to_root(route: Manifest, annotations: Mapping[str, Any]) -> bool:
    """Whether every path below the route arrives as one and the same path, and that is none of the API's."""
    target = annotations.get("nginx.ingress.kubernetes.io/rewrite-target")
    if target is not None and "$" not in str(target):
        paths = [
            path
            for rule in mappings(at(route.value, ("spec", "rules")))
            for path in mappings(at(rule, ("http", "paths")))
        ]
        # ingress-nginx rewrites nothing where the target is the path itself (template.go, needsRewrite).
        others = [path for path in paths if path.get("pathType") != "Exact" and path.get("path", "/") != target]
        return bool(others) and not _of_api(target)
    for rule in mappings(at(route.value, ("spec", "rules"))):
        for entry in mappings(rule.get("filters")):
            path = mapping(at(entry, ("urlRewrite", "path")))
            if path.get("type") == "ReplaceFullPath" and not _exact(rule) and not _of_api(path.get("replaceFullPath")):
                return True
    return False


def _of_api(path: Any) -> bool:
    """Whether a path is one of the API: who sends everything there means it."""
    return str(path).startswith("/v1/")


def _exact(rule: Mapping[str, Any]) -> bool:
    matches = mappings(rule.get("matches"))
    return bool(matches) and all(at(one, ("path", "type")) == "Exact" for one in matches)
