"""What happens to workloads after they are installed: scaled, rolled out, drained."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from cluster.api import PATIENCE, Api, wait_for
from cluster.wire import Manifest, Verdict

DEPLOYMENT: Final = ("apps/v1", "Deployment")
_SCALED: Final = (("keda.sh/v1alpha1", "ScaledObject"),)


def deployment(api: Api, namespace: str, name: str) -> Manifest:
    """A Deployment that is there."""
    return wait_for(lambda: api.get("apps/v1", "Deployment", name, namespace), f"Deployment {name}")


def scale(api: Api, namespace: str, name: str, replicas: int, *, of: tuple[str, str] = DEPLOYMENT) -> None:
    """Set the replicas of a Deployment, or of another kind that can scale, as an autoscaler does."""
    item = wait_for(lambda: api.get(*of, name, namespace), f"{of[1]} {name}")
    api.merge({**item, "apiVersion": of[0], "kind": of[1]}, {"spec": {"replicas": replicas}}, part="scale")


def scale_to_minimum(api: Api, namespace: str) -> dict[str, int]:
    """Do what KEDA does first: bring each workload that a ScaledObject has to its minimum.

    HorizontalPodAutoscalers need no help: the control plane's own controller serves them.
    """
    scaled = {}
    for version, kind in _SCALED:
        for item in api.list(version, kind, namespace) if api.serves(version, kind) else []:
            target, least = item["spec"]["scaleTargetRef"], item["spec"].get("minReplicaCount", 0)
            kind_of = target.get("apiVersion", DEPLOYMENT[0]), target.get("kind", DEPLOYMENT[1])
            scale(api, namespace, target["name"], least, of=kind_of)
            scaled[target["name"]] = least
    return scaled


def rolled_out(api: Api, namespace: str, name: str) -> bool:
    """Whether every pod of a Deployment is of its newest form and ready."""
    item = deployment(api, namespace, name)
    status, wanted = item["status"], item["spec"].get("replicas", 1)
    current = status.get("observedGeneration", 0) >= item["metadata"]["generation"]
    counts = [status.get(key, 0) for key in ("replicas", "updatedReplicas", "readyReplicas")]
    return current and counts == [wanted] * 3


def fewest_ready(api: Api, namespace: str, name: str, until: Callable[[], bool], seconds: float = PATIENCE) -> int:
    """The fewest ready replicas that a Deployment had until something came true."""
    fewest: int = deployment(api, namespace, name)["status"].get("readyReplicas", 0)

    def watched() -> bool:
        nonlocal fewest
        fewest = min(fewest, deployment(api, namespace, name)["status"].get("readyReplicas", 0))
        return until()

    wait_for(watched, f"{name}: the change that is watched", seconds)
    return fewest


def drain(api: Api, node: str, namespace: str, *, seconds: float = PATIENCE) -> list[Verdict]:
    """Drain a node as kubectl does: close it, then ask for each pod's eviction until all are gone.

    Returns the refusals: a disruption budget made the drain wait so often.
    """
    made = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}}
    api.merge(made, {"spec": {"unschedulable": True}})
    refused, deadline = [], time.monotonic() + seconds
    while time.monotonic() < deadline:
        pods = api.list("v1", "Pod", namespace, fields=f"spec.nodeName={node}")
        if not pods:
            break
        staying = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        refused += [verdict for verdict in map(api.evict, staying) if not verdict.accepted]
        time.sleep(0.2)
    return refused
