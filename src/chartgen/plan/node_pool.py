"""Node side: what the platform team must have for the chart to schedule, as objects and commands of their cloud."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chartgen.catalog.assumptions import assumption, whole
from chartgen.catalog.devices import devices
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision, Json, worked_out
from chartgen.plan import allocation
from chartgen.plan.allocation_types import MigSlice
from chartgen.plan.placement_nodes import holding
from chartgen.plan.placement_types import PlacementRequest

MIG_CONFIG = "nvidia.com/mig.config"
"""The node label by which the GPU operator's MIG manager is told how to cut cards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSide:
    """What stands outside the chart: never applied by it, printed or written beside it."""

    objects: tuple[Decision[dict[str, Json]], ...]
    """Kubernetes objects (and eksctl's ClusterConfig), ready for YAML."""
    commands: tuple[str, ...]
    """Shell commands with words in capitals to fill in."""
    notes: tuple[str, ...]
    """What to know before applying them."""


def node_side(request: PlacementRequest, *, maximum: int, name: str) -> NodeSide:
    """The nodes for at most `maximum` replicas of a chart called `name`."""
    cloud = request.cloud
    if cloud.node_class:
        return NodeSide(
            objects=(_karpenter(request, maximum, name),), commands=(), notes=tuple(_karpenter_notes(request))
        )
    match cloud.key:
        case "eks":
            return NodeSide(objects=(_eksctl(request, maximum, name),), commands=_mig_commands(request), notes=())
        case "gke":
            return NodeSide(objects=(), commands=(_gcloud(request, maximum, name),), notes=())
        case "gke-autopilot":
            return NodeSide(objects=(), commands=(), notes=("Autopilot makes the nodes from the pods themselves.",))
        case "aks":
            return NodeSide(objects=(), commands=(_az(request, maximum, name), *_mig_commands(request)), notes=())
        case _:
            return NodeSide(objects=(), commands=(*_taint(request), *_mig_commands(request)), notes=_own_notes(request))


def nodes_needed(request: PlacementRequest, maximum: int) -> int:
    """Nodes of the smallest fitting type that `maximum` replicas fill."""
    shapes = holding(request)
    each = next(iter(shapes.values())).gpus // request.gpus if shapes else 1
    return -(-maximum * request.pods // each)


def _karpenter(request: PlacementRequest, maximum: int, name: str) -> Decision[dict[str, Json]]:
    """A NodePool of karpenter.sh/v1 that refers to a node class the platform team owns."""
    cloud = request.cloud
    resource = devices(request.gpu.vendor).resource
    idle = whole("node-idle")
    template: dict[str, Json] = {
        "spec": {
            "requirements": list(_requirements(request)),
            "nodeClassRef": dict(cloud.node_class),
            "taints": [{"key": resource, "value": "present", "effect": "NoSchedule"}],
        }
    }
    labels = {term.key: term.values[0] for term in allocation.labels(request) or () if term.values}
    if labels:
        template["metadata"] = {"labels": dict(labels)}
    gpus = nodes_needed(request, maximum) * _largest(request)
    pool: dict[str, Json] = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {
            "template": template,
            "disruption": {
                "consolidationPolicy": "WhenEmpty",
                "consolidateAfter": f"{idle}s",
                "budgets": [{"nodes": "1"}],
            },
            "limits": {resource: str(gpus)},
        },
    }
    return worked_out(
        pool,
        f"Nodes for {maximum} replicas, {gpus} GPUs at most; only empty nodes go, after {idle} s "
        f"({assumption('node-idle').because}); the taint keeps other pods away",
    )


def _requirements(request: PlacementRequest) -> Iterator[Json]:
    cloud = request.cloud
    terms = list(cloud.card_labels.get(request.gpu.key, ()))
    for term in terms:
        yield {"key": term.key, "operator": term.operator, "values": list(term.values)}
    if not terms:
        yield {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": list(holding(request))}
    kind = ["spot"] if request.spot else ["on-demand"]
    yield {"key": "karpenter.sh/capacity-type", "operator": "In", "values": list(kind)}
    if request.zones:
        yield {"key": cloud.zone_label, "operator": "In", "values": list(request.zones)}


def _largest(request: PlacementRequest) -> int:
    return next((shape.gpus for shape in holding(request).values()), request.gpus)


def _karpenter_notes(request: PlacementRequest) -> Iterator[str]:
    kind, named = request.cloud.node_class["kind"], request.cloud.node_class["name"]
    yield f"The NodePool refers to the {kind} {named}, which holds images, subnets and disks: it must exist."
    yield (
        "Karpenter replaces nodes that are older than expireAfter (720h unless the NodePool says otherwise), whatever "
        "the pods' annotations say: a replica loads again then."
    )
    if isinstance(request.allocation, MigSlice):
        yield (
            f"The cards must be cut before pods can run: the node class or the GPU operator's label {MIG_CONFIG} has "
            "to say how, and the NodePool's label tells Karpenter what such nodes will offer."
        )


def _eksctl(request: PlacementRequest, maximum: int, name: str) -> Decision[dict[str, Json]]:
    """A managed node group as eksctl's ClusterConfig."""
    resource = devices(request.gpu.vendor).resource
    smallest = next(iter(holding(request)))
    group: dict[str, Json] = {
        "name": name,
        "instanceType": smallest,
        "minSize": nodes_needed(request, request.replicas),
        "maxSize": nodes_needed(request, maximum),
        "spot": request.spot,
        "taints": [{"key": resource, "value": "present", "effect": "NoSchedule"}],
    }
    if request.zones:
        group["availabilityZones"] = list(request.zones)
    config: dict[str, Json] = {
        "apiVersion": "eksctl.io/v1alpha5",
        "kind": "ClusterConfig",
        "metadata": {"name": "CLUSTER", "region": request.region or "REGION"},
        "managedNodeGroups": [group],
    }
    return worked_out(config, f"{smallest} is the smallest type that holds a pod; at most {group['maxSize']} of them")


def _gcloud(request: PlacementRequest, maximum: int, name: str) -> str:
    # T4 cards are attached to machines of any size: none is listed, and the reader picks one.
    machine, shape = next(iter(holding(request).items()), ("MACHINE", None))
    (term,) = request.cloud.card_labels[request.gpu.key]
    count = shape.gpus if shape else request.gpus
    accelerator = f"type={term.values[0]},count={count},gpu-driver-version=latest"
    if isinstance(request.allocation, MigSlice):
        accelerator += f",gpu-partition-size={request.allocation.profile}"
    words = {
        "cluster": "CLUSTER",
        "location": request.region or "LOCATION",
        "machine-type": machine,
        "accelerator": accelerator,
        "num-nodes": "0",
        "min-nodes": "0",
        "max-nodes": str(nodes_needed(request, maximum)),
        "node-taints": f"{devices(request.gpu.vendor).resource}=present:NoSchedule",
    }
    if request.zones:
        words["node-locations"] = ",".join(request.zones)
    flags = ["--enable-autoscaling", *(["--spot"] if request.spot else [])]
    return _command(f"gcloud container node-pools create {name}", words, flags)


def _az(request: PlacementRequest, maximum: int, name: str) -> str:
    words = {
        "resource-group": "GROUP",
        "cluster-name": "CLUSTER",
        "name": "".join(character for character in name if character.isalnum())[:12],
        "node-vm-size": next(iter(holding(request))),
        "node-count": "1",
        "min-count": "0",
        "max-count": str(nodes_needed(request, maximum)),
        "node-taints": "sku=gpu:NoSchedule",
    }
    if isinstance(request.allocation, MigSlice):
        words["gpu-instance-profile"] = f"MIG{request.allocation.profile.partition('.')[0]}"
    flags = ["--enable-cluster-autoscaler"]
    if request.spot:
        words["priority"] = "Spot"
    return _command("az aks nodepool add", words, flags)


def _command(verb: str, words: Mapping[str, str], flags: list[str]) -> str:
    parts = [verb, *(f"--{key} {value}" for key, value in words.items()), *flags]
    return " \\\n  ".join(parts)


def _taint(request: PlacementRequest) -> tuple[str, ...]:
    return (f"kubectl taint node NODE {devices(request.gpu.vendor).resource}=present:NoSchedule",)


def _mig_commands(request: PlacementRequest) -> tuple[str, ...]:
    if not isinstance(request.allocation, MigSlice) or request.cloud.key == "aks":
        return ()
    return (f"kubectl label node NODE {MIG_CONFIG}=all-{request.allocation.profile} --overwrite",)


def _own_notes(request: PlacementRequest) -> tuple[str, ...]:
    needed = nodes_needed(request, request.replicas)
    return (f"{needed} node(s) with {request.gpus} free {request.gpu.title} are needed at the quietest time.",)
