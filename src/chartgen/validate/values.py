"""What no schema says: rules between the fields of one object, by kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from chartgen.validate import objects, workloads
from chartgen.validate.fault import Fault, Node

Check = Callable[[Node, int], Iterator[Fault]]
"""Takes the whole object and the minor of Kubernetes 1."""

_CHECKS: Final[Mapping[tuple[str, str], tuple[Check, ...]]] = {
    ("", "Pod"): (workloads.pod,),
    ("", "PodTemplate"): (workloads.pod_template,),
    ("", "PersistentVolumeClaim"): (objects.claim,),
    ("", "Service"): (objects.service,),
    ("apps", "DaemonSet"): (workloads.workload, workloads.always_restarts),
    ("apps", "Deployment"): (workloads.workload, workloads.always_restarts, workloads.deployment_strategy),
    ("apps", "ReplicaSet"): (workloads.workload, workloads.always_restarts),
    ("apps", "StatefulSet"): (workloads.stateful_set, workloads.always_restarts),
    ("autoscaling", "HorizontalPodAutoscaler"): (objects.autoscaler,),
    ("batch", "CronJob"): (workloads.cron_job,),
    ("batch", "Job"): (workloads.job,),
    ("gateway.networking.k8s.io", "HTTPRoute"): (objects.http_route,),
    ("jobset.x-k8s.io", "JobSet"): (workloads.job_set,),
    ("keda.sh", "ScaledObject"): (objects.scaled_object,),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (workloads.leader_worker_set,),
    ("networking.k8s.io", "Ingress"): (objects.ingress,),
    ("policy", "PodDisruptionBudget"): (objects.budget,),
    ("ray.io", "RayCluster"): (workloads.ray_cluster,),
    ("ray.io", "RayService"): (workloads.ray_service,),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): (objects.cluster_role_binding,),
    ("resource.k8s.io", "ResourceClaim"): (objects.resource_claim,),
    ("resource.k8s.io", "ResourceClaimTemplate"): (objects.resource_claim_template,),
}
"""By group and kind, whatever the version."""


def value_faults(content: Mapping[str, Any], *, minor: int) -> Iterator[Fault]:
    """Every fault of an object that its schema cannot see.

    Args:
        content: the object; it may be malformed anywhere, for its schema is checked beside this.
        minor: the minor of Kubernetes 1.
    """
    node = Node(content)
    if "name" not in node["metadata"] and "generateName" not in node["metadata"]:
        message = "the object has no name"
        yield node["metadata"].fault("missing", message, found="nothing", expected="metadata.name")
    api_version, kind = node["apiVersion"].text() or "", node["kind"].text() or ""
    for check in _CHECKS.get((api_version.rpartition("/")[0], kind), ()):
        yield from check(node, minor)
