"""Whose Kubernetes a manifest is written for, where its own words tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from chartgen.kernel.errors import UnknownName
from chartgen.kernel.structure import one_of
from chartgen.lint.bundle import Bundle
from chartgen.lint.manifest import at, mapping, mappings
from chartgen.lint.workloads import PodSite, selector_terms

_SIGNS: Final = (
    (re.compile(r"(^|\.)cloud\.google\.com/|^networking\.gke\.io/|\bgke\b"), "gke"),
    (re.compile(r"^eks\.amazonaws\.com/|^karpenter\.k8s\.aws/|^alb\.ingress\.|^k8s\.amazonaws\.com/"), "eks"),
    (re.compile(r"^kubernetes\.azure\.com/|^karpenter\.azure\.com/|^agentpool$"), "aks"),
    (re.compile(r"^gpu\.nvidia\.com/(class|model)$"), "coreweave"),
)
CLOUDS: Final = tuple(cloud for _, cloud in _SIGNS)
"""Whose Kubernetes policies know."""


def unknown_cloud(name: str) -> UnknownName:
    """The fault of a cloud that is none of them."""
    return UnknownName(f"cloud, {one_of(CLOUDS)}", name, CLOUDS)


def cloud_of(site: PodSite) -> str | None:
    """The cloud that a pod's selectors, affinity, tolerations or annotations speak of."""
    return _first(_pod_words(site))


def cloud_of_bundle(bundle: Bundle) -> str | None:
    """The cloud that any pod, ingress, class or account of a bundle speaks of; None when two are spoken of."""
    found = {cloud for site in bundle.pods if (cloud := cloud_of(site))}
    for manifest in bundle.of_kind("Ingress", "Service", "ServiceAccount", "Gateway"):
        words = [*mapping(manifest.metadata.get("annotations"))]
        words += [str(at(manifest.value, ("spec", key))) for key in ("ingressClassName", "gatewayClassName")]
        cloud = _first(iter(words))
        if cloud:
            found.add(cloud)
    return next(iter(found)) if len(found) == 1 else None


def cloud_of_key(key: str) -> str | None:
    """The cloud that a label, annotation or class name belongs to."""
    return next((cloud for pattern, cloud in _SIGNS if pattern.search(key)), None)


def _first(words: Iterator[str]) -> str | None:
    return next((cloud for word in words if (cloud := cloud_of_key(word))), None)


def _pod_words(site: PodSite) -> Iterator[str]:
    for term in selector_terms(site.spec):
        yield str(term.get("key"))
    for toleration in mappings(site.spec.get("tolerations")):
        yield str(toleration.get("key"))
    yield from map(str, site.annotations)
