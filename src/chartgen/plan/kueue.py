"""Queues: who waits for GPUs when there are not enough, by Kueue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision, Json, asked, fact, worked_out
from chartgen.kernel.units import GIB
from chartgen.plan.placement_types import HostNeed, Placement

GROUP: Final = "kueue.x-k8s.io"
"""Kueue's API group, and the domain of its labels."""
VERSION: Final = f"{GROUP}/v1beta2"
"""v1beta1 is no longer served from Kueue 0.20 on; v1beta2 exists from 0.15 on."""


_GROUPS: Final = (
    "Kueue admits each group as a whole, and fixes what its pods ask for: an upgrade that changes their size, "
    "resources, affinity or tolerations is refused until the LeaderWorkerSet is deleted."
)
_ONE_BY_ONE: Final = (
    "Kueue admits the pods of a Deployment one by one: an update may wait between two pods when quota is short."
)
_EVERY_NODE: Final[Mapping[str, Json]] = {"kubernetes.io/os": "linux"}
"""A label of every node: Kueue wants at least one on a flavor that has a topology."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRequest:
    """What a profile says about queueing."""

    queue: str
    """The LocalQueue in the release's namespace."""
    priority_class: str | None = None
    """A WorkloadPriorityClass that exists."""
    topology_label: str | None = None
    """Pods of one group must lie in one domain of this label (groups only)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """What the workload carries."""

    labels: Decision[dict[str, Json]]
    """On the Deployment's or the LeaderWorkerSet's metadata; Kueue copies what pods need."""
    pod_annotations: Decision[dict[str, Json]]
    """On the pod template."""
    notes: tuple[str, ...]
    """What the reader must know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How many GPUs a queue may use."""

    queue: str
    """The LocalQueue, whose name its ClusterQueue gets too."""
    namespace: str
    """Where the LocalQueue lives."""
    replicas: int
    """Replicas whose GPUs are the queue's own."""
    borrow: int = 0
    """Replicas more that may be borrowed from idle quota of others."""
    cohort: str | None = None
    """Whose idle quota can be borrowed."""
    topology_label: str | None = None
    """The label in one of whose domains the pods of a group must lie."""


def plan_queue(request: QueueRequest, *, pods: int) -> Queue:
    """The labels by which Kueue admits the workload."""
    labels: dict[str, Json] = {f"{GROUP}/queue-name": request.queue}
    because = f"Pods wait in the queue {request.queue} until its quota has room"
    if request.priority_class:
        labels[f"{GROUP}/priority-class"] = request.priority_class
        because += f", with the priority {request.priority_class}"
    annotations: dict[str, Json] = {}
    if request.topology_label and pods > 1:
        annotations[f"{GROUP}/podset-required-topology"] = request.topology_label
        # Leader and workers are two pod sets to Kueue: only pod sets of one name are placed together.
        annotations[f"{GROUP}/podset-group-name"] = "group"
    return Queue(
        labels=asked(labels, because),
        pod_annotations=asked(annotations, f"All pods of a group lie in one domain of {request.topology_label}")
        if annotations
        else fact({}, "No domain is asked for"),
        notes=tuple(_notes(request, pods)),
    )


def _notes(request: QueueRequest, pods: int) -> Iterator[str]:
    kind, framework = (
        ("LeaderWorkerSets", "leaderworkerset.x-k8s.io/leaderworkerset") if pods > 1 else ("Deployments", "deployment")
    )
    yield (
        f"Kueue must manage {kind}: the integrations of its configuration list pod and {framework}, as they are "
        "shipped from 0.16 on. Where they do not, pods start at once and outside the quota."
    )
    must = f"The LocalQueue {request.queue}"
    if request.priority_class:
        must += f" and the WorkloadPriorityClass {request.priority_class}"
    yield (
        f"{must} must exist: until then, and where quota is short, pods wait behind the scheduling gate "
        f"{GROUP}/admission. kubectl get workloads -o yaml says what is missing"
        + (", and finds none while the priority class is missing." if request.priority_class else ".")
    )
    yield _GROUPS if pods > 1 else _ONE_BY_ONE


def quota_objects(
    quota: Quota, placement: Placement, host: HostNeed, *, pods: int, network: Mapping[str, Json] | None = None
) -> tuple[Decision[dict[str, Json]], ...]:
    """Topology, ResourceFlavor, ClusterQueue and LocalQueue: for the platform team to apply, not for the chart.

    CPU, memory and network interfaces are covered too: Kueue admits no pod that asks for a resource its queue does
    not cover.

    Raises:
        ValueError: the placement asks for devices by claim, which quota counts by device class mappings of its own.
    """
    if not placement.accelerators.value:
        raise ValueError("a claim has no extended resource to put a quota on")
    flavor = f"{quota.queue}-gpu"
    spec: dict[str, Json] = {"tolerations": placement.tolerations.value}
    labels = _single(placement)
    if quota.topology_label:
        spec["topologyName"] = flavor
        labels = labels or dict(_EVERY_NODE)
    if labels:
        spec["nodeLabels"] = labels
    devices = {**placement.accelerators.value, **(network or {})}
    counts = {name: count for name, count in devices.items() if isinstance(count, int)}
    each = {"cpu": host.cpus, "memory": host.memory // GIB, **counts}
    resources = [_share(name, count * pods, quota) for name, count in each.items()]
    cluster: dict[str, Json] = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": quota.namespace}},
        "resourceGroups": [
            {
                "coveredResources": list(each),
                "flavors": [{"name": flavor, "resources": resources}],
            }
        ],
    }
    if quota.cohort:
        cluster["cohortName"] = quota.cohort
    return (
        *_topology(quota, flavor),
        fact(_object("ResourceFlavor", flavor, spec), "The nodes that the quota is of, and the taints on them"),
        worked_out(
            _object("ClusterQueue", quota.queue, cluster),
            f"GPUs of {quota.replicas} replicas are {quota.queue}'s own"
            + (f", and {quota.borrow} more may be borrowed from {quota.cohort}" if quota.cohort else ""),
        ),
        fact(
            _object("LocalQueue", quota.queue, {"clusterQueue": quota.queue}, namespace=quota.namespace),
            f"The name by which workloads in {quota.namespace} find the quota",
        ),
    )


def _topology(quota: Quota, name: str) -> Iterator[Decision[dict[str, Json]]]:
    if quota.topology_label:
        levels: list[Json] = [{"nodeLabel": quota.topology_label}, {"nodeLabel": "kubernetes.io/hostname"}]
        because = f"How Kueue sees which nodes share a domain of {quota.topology_label}, and which have room"
        yield fact(_object("Topology", name, {"levels": levels}), because)


def _share(name: str, each: int, quota: Quota) -> Json:
    unit = "Gi" if name == "memory" else ""
    entry: dict[str, Json] = {"name": name, "nominalQuota": f"{each * quota.replicas}{unit}"}
    if quota.cohort:
        entry["borrowingLimit"] = f"{each * quota.borrow}{unit}"
    return entry


def _single(placement: Placement) -> dict[str, Json]:
    """Labels with exactly one value: a flavor's nodeLabels cannot say 'one of several'."""
    labels: dict[str, Json] = {}
    for term in placement.node_affinity.value:
        if isinstance(term, dict) and term.get("operator") == "In":
            values = term.get("values")
            if isinstance(values, list) and len(values) == 1:
                labels[str(term["key"])] = values[0]
    return labels


def _object(kind: str, name: str, spec: dict[str, Json], *, namespace: str | None = None) -> dict[str, Json]:
    metadata: dict[str, Json] = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": VERSION, "kind": kind, "metadata": metadata, "spec": spec}
