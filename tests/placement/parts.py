"""What the placement tests share: a request with defaults, and manifests made of what placement says."""

from __future__ import annotations

from typing import Any

import pytest

from chartgen.catalog.clouds import load_cloud
from chartgen.catalog.gpus import gpu
from chartgen.kernel.units import Seconds
from chartgen.plan.placement import place
from chartgen.plan.placement_types import Misplaced, Placement, PlacementProblem, PlacementRequest

BASE: dict[str, Any] = {
    "gpus": 4,
    "kubernetes": 34,
    "workload": "interactive",
    "region": "us-east-1",
    "replicas": 2,
    "load": Seconds(240),
    "fetch": Seconds(0),
    "start_budget": Seconds(900),
}


def request(cloud: str = "eks", card: str = "h100-sxm-80gb", **changes: Any) -> PlacementRequest:
    """Two interactive replicas of 4 x H100 on EKS, but for what is said."""
    return PlacementRequest(cloud=load_cloud(cloud), gpu=gpu(card), **{**BASE, **changes})


def placed(cloud: str = "eks", card: str = "h100-sxm-80gb", **changes: Any) -> Placement:
    """The placement of `request`."""
    return place(request(cloud, card, **changes))


def refused(cloud: str = "eks", card: str = "h100-sxm-80gb", **changes: Any) -> tuple[PlacementProblem, ...]:
    """The problems of `request`, which must have some."""
    with pytest.raises(Misplaced) as caught:
        placed(cloud, card, **changes)
    return caught.value.problems


def terms(placement: Placement) -> dict[str, Any]:
    """Affinity as key -> operator and values."""
    found: list[Any] = placement.node_affinity.value
    return {term["key"]: (term["operator"], *term.get("values", [])) for term in found}


def pod_spec(placement: Placement, labels: dict[str, str]) -> dict[str, Any]:
    """A pod spec as a template would write it."""
    selector = {"labelSelector": {"matchLabels": labels}}
    pod_affinity: list[Any] = placement.pod_affinity.value
    preferred = [
        {"weight": term["weight"], "podAffinityTerm": {"topologyKey": term["topologyKey"], **selector}}
        for term in pod_affinity
    ]
    constraints: list[Any] = placement.topology_spread.value
    container: dict[str, Any] = {"name": "engine", "image": "registry.example/engine:1"}
    pod: dict[str, Any] = {
        "affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}},
        "tolerations": placement.tolerations.value,
        "topologySpreadConstraints": [{**constraint, **selector} for constraint in constraints],
        "containers": [container],
    }
    if placement.node_affinity.value:
        node = {"nodeSelectorTerms": [{"matchExpressions": placement.node_affinity.value}]}
        pod["affinity"]["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": node}
    if placement.claim:
        pod["resourceClaims"] = [{"name": placement.claim.name, "resourceClaimTemplateName": "chat-gpus"}]
        container["resources"] = {"claims": [{"name": placement.claim.name}]}
    else:
        accelerators = dict(placement.accelerators.value)
        container["resources"] = {"limits": accelerators, "requests": accelerators}
    return pod


def manifests(placement: Placement) -> list[dict[str, Any]]:
    """A Deployment, and the claim template it needs if any."""
    labels = {"app": "chat"}
    template = {
        "metadata": {"labels": labels, "annotations": placement.pod_annotations.value},
        "spec": pod_spec(placement, labels),
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "chat"},
        "spec": {
            "selector": {"matchLabels": labels},
            "strategy": placement.strategy.value,
            "minReadySeconds": placement.min_ready_seconds.value,
            "progressDeadlineSeconds": placement.progress_deadline_seconds.value,
            "template": template,
        },
    }
    if placement.claim is None:
        return [deployment]
    claim = {
        "apiVersion": placement.claim.api_version.value,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "chat-gpus"},
        "spec": placement.claim.spec.value,
    }
    return [deployment, claim]
