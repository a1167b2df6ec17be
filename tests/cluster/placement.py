"""Where the scheduler put pods, which devices it gave them, and why the others wait."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cluster.api import PATIENCE, Api
from cluster.errors import ClusterError
from cluster.wire import Manifest

_QUIET_SECONDS: Final = 2.0
"""So long nothing may change until the scheduler's word counts as its last."""
_STUCK_SECONDS: Final = 8.0
"""The same where a pod is missing or not ready: more may still come, late on a busy machine."""
_WORKLOADS: Final = (("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"), ("apps/v1", "ReplicaSet"))


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Placement:
    """What became of one pod."""

    pod: str
    """Its name."""
    node: str
    """The node it was bound to; empty while it waits."""
    devices: tuple[str, ...]
    """What its claims were given, each as pool/device."""
    waits: str
    """The scheduler's reason why it is not bound; empty for a bound pod."""
    ready: bool
    """Whether it is ready."""


def placements(api: Api, namespace: str, *, seconds: float = PATIENCE) -> list[Placement]:
    """Every pod of a namespace that is to stay, once the scheduler has spoken on each and nothing changes.

    Raises:
        ClusterError: a workload has fewer pods than it wants (a quota or an admission refused them; the text
            holds its reason), or things still change when the time is over.
    """
    deadline, before, since = time.monotonic() + seconds, None, time.monotonic()
    while time.monotonic() < deadline:
        pods = api.list("v1", "Pod", namespace)
        staying = (pod for pod in pods if "deletionTimestamp" not in pod["metadata"])
        now = sorted(_placement(api, pod) for pod in staying)
        if now != before:
            before, since = now, time.monotonic()
        elif time.monotonic() - since >= _QUIET_SECONDS and all(pod.node or pod.waits for pod in now):
            missing, stuck = list(_missing(api, namespace)), time.monotonic() - since >= _STUCK_SECONDS
            if not missing and (stuck or all(pod.ready or pod.waits for pod in now)):
                return now
            if missing and stuck:
                raise ClusterError("; ".join(missing))
        time.sleep(0.1)
    raise ClusterError(f"the pods of {namespace} are not settled after {seconds:.0f} s: {before}")


def _placement(api: Api, pod: Manifest) -> Placement:
    conditions = {item["type"]: item for item in pod.get("status", {}).get("conditions", [])}
    scheduled = conditions.get("PodScheduled", {})
    node = pod["spec"].get("nodeName", "")
    return Placement(
        pod=pod["metadata"]["name"],
        node=node,
        devices=tuple(_devices(api, pod)),
        waits="" if node else scheduled.get("message", ""),
        ready=conditions.get("Ready", {}).get("status") == "True",
    )


def _devices(api: Api, pod: Manifest) -> Iterator[str]:
    status = pod.get("status", {})
    names = [item.get("resourceClaimName") for item in status.get("resourceClaimStatuses", [])]
    names += [item.get("resourceClaimName") for item in pod["spec"].get("resourceClaims", [])]
    names.append(status.get("extendedResourceClaimStatus", {}).get("resourceClaimName"))
    for name in filter(None, names):
        claim = api.get("resource.k8s.io/v1", "ResourceClaim", name, pod["metadata"]["namespace"]) or {}
        allocation = claim.get("status", {}).get("allocation", {})
        for result in allocation.get("devices", {}).get("results", []):
            yield f"{result['pool']}/{result['device']}"


def _missing(api: Api, namespace: str) -> Iterator[str]:
    """The workloads that could not make their pods, with the reason."""
    for version, kind in _WORKLOADS:
        for item in api.list(version, kind, namespace):
            wanted, status = item["spec"].get("replicas", 1), item.get("status", {})
            if status.get("replicas", 0) < wanted:
                conditions = status.get("conditions", [])
                reasons = [found.get("message", "") for found in conditions if found["status"] != "False"]
                name, made = item["metadata"]["name"], status.get("replicas", 0)
                yield f"{kind}/{name} has {made} of {wanted} pods: {' '.join(filter(None, reasons))}"
