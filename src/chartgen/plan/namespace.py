"""What a namespace must allow: the amounts of a ResourceQuota and the limits of a LimitRange."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from chartgen.catalog.devices import devices
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision, worked_out
from chartgen.kernel.units import GIB
from chartgen.plan.group import Group
from chartgen.plan.placement_types import Placement
from chartgen.plan.types import Host, HubCache, NamespaceNeed, Replicas, Storage
from chartgen.resolve import Resolved

EXTENDED_CLAIMS_SINCE = 36
"""The minor from which a quota on an extended resource counts the claims of the class that owns its name too.

kubernetes/kubernetes, pkg/quota/v1/evaluator/core/resource_claims.go: behind DRAExtendedResource, on by default then.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pods:
    """The most pods that are counted at once."""

    count: int
    because: str


def plan_namespace(
    resolved: Resolved,
    replicas: Replicas,
    host: Host,
    placement: Placement,
    group: Group | None,
    storage: Storage,
    *,
    step: float,
    grace: float,
) -> NamespaceNeed:
    """Count the pods at the largest scale, with those that an update has beside them.

    Args:
        resolved: what was asked.
        replicas: how many at the most.
        host: CPU and memory of a pod.
        placement: its devices, and how it is replaced.
        group: what makes several pods a replica.
        storage: where the weights lie.
        step: seconds from one replica's replacement to the next: a start, and what it must stay ready.
        grace: seconds that a pod may take to end.
    """
    pods = _pods(replicas, placement, group, together=math.ceil(grace / step))
    network = group.network.value if group else {}
    each = {
        name: count for name, count in {**placement.accelerators.value, **network}.items() if isinstance(count, int)
    }
    counted = {"pods": worked_out(str(pods.count), pods.because)}
    for prefix in ("requests", "limits"):
        counted[f"{prefix}.cpu"] = _amount(pods, host.cpus.value)
        counted[f"{prefix}.memory"] = _amount(pods, host.memory_bytes // GIB, "Gi")
    counted |= {f"requests.{name}": _amount(pods, count) for name, count in each.items()}
    if placement.claim is not None:
        counted |= _claimed(resolved, placement.claim.spec.value, pods)
    if isinstance(storage, HubCache):
        counted |= _stored(storage, pods)
    return NamespaceNeed(quota=counted, notes=tuple(_notes(host, claims=placement.claim is not None)))


def _pods(replicas: Replicas, placement: Placement, group: Group | None, *, together: int) -> _Pods:
    """`together` is how many steps of an update fall into the end of one pod."""
    most = replicas.most
    size = group.size.value if group else 1
    rollout: Any = (group.rollout.value if group else placement.strategy.value) or {}
    surge = (rollout.get("rollingUpdateConfiguration") or rollout.get("rollingUpdate") or {}).get("maxSurge", 0)
    because = f"{most} replica{'s' * (most != 1)} at the most" + f" of {size} pods each" * (size > 1)
    if surge:
        because += f", {surge} more that an update starts first"
    # A StatefulSet, of which groups are made, waits for a pod's end before it makes the next one of its name.
    leaving = 0 if group else min(max(surge, 1) * together, most)
    if leaving:
        because += f", and {leaving} that may still end beside successors: a pod is counted until it is gone"
    return _Pods(count=(most + surge + leaving) * size, because=because)


def _amount(pods: _Pods, each: int, unit: str = "") -> Decision[str]:
    return worked_out(f"{each * pods.count}{unit}", f"{each}{unit} for each of {pods.count} pods")


def _claimed(resolved: Resolved, spec: Any, pods: _Pods) -> dict[str, Decision[str]]:
    """By device class: where a claim has alternatives, the one with the most devices of a class is counted."""
    counted: dict[str, Decision[str]] = {}
    (request,) = spec["spec"]["devices"]["requests"]
    choices = request.get("firstAvailable") or [request["exactly"]]
    names = devices(resolved.gpu.vendor)
    for device_class in dict.fromkeys(choice["deviceClassName"] for choice in choices):
        most = max(choice["count"] for choice in choices if choice["deviceClassName"] == device_class)
        amount = _amount(pods, most)
        of_several = ", the most that an alternative of the claim takes" * (len(choices) > 1)
        counted[f"{device_class}.deviceclass.resource.k8s.io/devices"] = worked_out(
            amount.value, f"{amount.because}{of_several}"
        )
        if device_class == names.device_class:
            counted[f"requests.{names.resource}"] = worked_out(
                amount.value,
                f"The same devices: Kubernetes 1.{EXTENDED_CLAIMS_SINCE} and newer count them here too where the class "
                f"{device_class} owns this name",
            )
    return counted


def _stored(storage: HubCache, pods: _Pods) -> dict[str, Decision[str]]:
    if storage.shared:
        volumes, because = 1, "One volume that all replicas read"
    else:
        volumes, because = pods.count, f"One volume for each of {pods.count} pods"
    size = int(storage.size.value.removesuffix("Gi"))
    return {
        "persistentvolumeclaims": worked_out(str(volumes), because),
        "requests.storage": worked_out(f"{volumes * size}Gi", f"{because}, {storage.size.value} each"),
    }


def _notes(host: Host, *, claims: bool) -> Iterator[str]:
    size = f"{host.cpus.value} CPUs and {host.memory.value} of memory"
    yield (
        f"A LimitRange must allow a container, and a pod, of {size}, with requests equal to limits. Every container "
        "states both, so its defaults change nothing."
    )
    yield (
        "Beyond a quota or a limit the install is accepted and pods are missing: kubectl get events "
        "--field-selector reason=FailedCreate says which amount was short."
    )
    if claims:
        yield (
            "Beyond a quota on devices pods are made and stay pending, as their claims are refused: kubectl get events "
            "--field-selector reason=FailedResourceClaimCreation."
        )
    yield "Beside these amounts, `helm test` runs one small pod until it has its answer."
