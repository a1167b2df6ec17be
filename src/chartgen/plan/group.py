"""Groups: one replica over several nodes, as a LeaderWorkerSet with tensor parallel inside and stages across."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from chartgen.catalog.engines import Engine
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision, Json, asked, assumed, fact, worked_out
from chartgen.plan.claim import STABLE_SINCE
from chartgen.plan.placement_nodes import ZONE, holding
from chartgen.plan.placement_types import Misplaced, PlacementProblem, PlacementRequest

PREFIX: Final = "leaderworkerset.sigs.k8s.io"
"""The domain of LeaderWorkerSet's labels and annotations."""
LEADER: Final[dict[str, Json]] = {f"{PREFIX}/worker-index": "0"}
"""The label that only the pod with the HTTP server has."""
CHANNEL: Final = "compute-domain-channel"
"""The claim of a pod that joins a compute domain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRequest:
    """What decides how the pods of one replica are tied together."""

    placement: PlacementRequest
    """Where each pod can go; its `pods` is the number of nodes of a replica."""
    engine: Engine
    """The release, which must know how to span nodes."""
    same_domain: str | None = None
    """A node label (rack, block) whose domain each group must have for itself."""
    fast_network: bool = False
    """Ask for the node's fast network interfaces: their plugin must run, and the image must have their libraries."""
    compute_domain: bool = False
    """Join the pods' GPUs over NVLink beyond the node (GB200, GB300 NVL72)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The parts of a LeaderWorkerSet that placement decides; JSON-like values, ready for values.yaml."""

    size: Decision[int]
    """Pods of one replica, leader included."""
    restart_policy: Decision[str]
    """What the loss of one pod does to the others."""
    startup_policy: Decision[str]
    """When workers are made."""
    rollout: Decision[dict[str, Json]]
    """spec.rolloutStrategy."""
    subdomain_policy: Decision[str]
    """spec.networkConfig.subdomainPolicy."""
    annotations: Decision[dict[str, Json]]
    """Of the LeaderWorkerSet."""
    affinity: Decision[list[Json]]
    """Preferred pod affinity terms with labelSelector left out, as in Placement.pod_affinity."""
    leader_selector: Decision[dict[str, Json]]
    """Labels that Service and disruption budget add to the chart's own: leaders only."""
    leader_flags: Decision[dict[str, Json]]
    """Engine flags of the leader, beyond those of all pods, without dashes."""
    worker_flags: Decision[dict[str, Json]]
    """Engine flags of workers, beyond those of all pods, without dashes."""
    env: Decision[dict[str, Json]]
    """Environment of all pods of the group."""
    network: Decision[dict[str, Json]]
    """Extended resources of fast network interfaces, for limits and requests; empty for none."""
    compute_domain: Decision[dict[str, Json]] | None
    """spec of a ComputeDomain without the name of its claim template; None: not asked for."""
    notes: tuple[str, ...]
    """What the reader must know or provide."""


def plan_group(request: GroupRequest) -> Group:
    """Tie the pods of a replica together.

    Raises:
        Misplaced: the release cannot span nodes, or the card has no compute domain.
    """
    found = _problems(request)
    if found:
        raise Misplaced(found)
    place, size = request.placement, request.placement.pods
    return Group(
        size=worked_out(
            size,
            f"{size} nodes with {place.gpus} GPUs each: tensor parallel {place.gpus} stays inside a node, and {size} "
            "stages of layers pass activations between nodes once a token",
        ),
        restart_policy=fact(
            "RecreateGroupOnPodRestart",
            "The stages of a replica are one engine: when one pod restarts, the others wait for it for ever",
        ),
        startup_policy=fact(
            "LeaderCreated", "The leader is ready only when all stages answer, so workers must not wait for it"
        ),
        rollout=_rollout(place),
        subdomain_policy=fact("Shared", "One headless Service gives all groups their host names"),
        annotations=_annotations(request),
        affinity=worked_out(
            [{"weight": 100, "topologyKey": ZONE, "matchLabelKeys": [f"{PREFIX}/group-index"]}],
            "The pods of one group prefer one zone: activations cross it with every token",
        ),
        leader_selector=fact(dict(LEADER), "Only the leader has the HTTP server; workers run headless"),
        leader_flags=_flags(request.engine, size, worker=False),
        worker_flags=_flags(request.engine, size, worker=True),
        env=_environment(),
        network=_network(request),
        compute_domain=_compute_domain(request),
        notes=tuple(_notes(request)),
    )


def _problems(request: GroupRequest) -> list[PlacementProblem]:
    problems = []
    if request.engine.flag("--nnodes") is None:
        problems.append(
            PlacementProblem(
                path=("engine", "release"),
                found=f"vLLM {request.engine.release} over {request.placement.pods} nodes",
                expected="0.11.1 or newer: older releases span nodes with a Ray cluster only, which is not built here",
            )
        )
    if request.compute_domain and request.placement.gpu.key not in {"gb200-186gb", "gb300-288gb"}:
        problems.append(
            PlacementProblem(
                path=("nodes", "compute_domain"),
                found=f"a compute domain for {request.placement.gpu.title}",
                expected="a GB200 or GB300: only their NVLink reaches beyond the node",
            )
        )
    if request.compute_domain and request.placement.kubernetes < STABLE_SINCE:
        problems.append(
            PlacementProblem(
                path=("cluster", "kubernetes"),
                found=f"a compute domain on Kubernetes 1.{request.placement.kubernetes}",
                expected=f"1.{STABLE_SINCE} or newer: pods join a domain by claim",
            )
        )
    return problems


def _rollout(place: PlacementRequest) -> Decision[dict[str, Json]]:
    need = place.gpus * place.pods
    surge = min(place.spare_gpus // need, max(place.replicas, 1))
    update: dict[str, Json] = {"maxSurge": surge, "maxUnavailable": 0 if surge else 1}
    because = (
        f"{place.spare_gpus} GPUs stay free and a group takes {need}: {surge} new one(s) load beside the old ones"
        if surge
        else f"A new group needs {need} GPUs and {place.spare_gpus} are promised: one group stops before its successor "
        "starts"
    )
    return worked_out({"type": "RollingUpdate", "rollingUpdateConfiguration": update}, because)


def _annotations(request: GroupRequest) -> Decision[dict[str, Json]]:
    if request.same_domain is None:
        return fact({}, "No topology domain is named, so a group may lie anywhere that its zone preference allows")
    return asked(
        {f"{PREFIX}/exclusive-topology": request.same_domain},
        f"Each group gets a domain of {request.same_domain} for itself: its pods lie together, no other group beside "
        "them",
    )


def _flags(engine: Engine, size: int, *, worker: bool) -> Decision[dict[str, Json]]:
    flags: dict[str, Json] = {
        "nnodes": size,
        "node-rank": "$(LWS_WORKER_INDEX)" if worker else 0,
        "master-addr": "$(LWS_LEADER_ADDRESS)",
        "master-port": _master_port(engine),
    }
    if worker:
        flags["headless"] = True
        return fact(flags, "A worker runs its stage without an HTTP server; LeaderWorkerSet puts its rank into its pod")
    return fact(flags, "The leader is rank 0 and serves HTTP; LeaderWorkerSet puts the leader's address into every pod")


def _master_port(engine: Engine) -> Json:
    """The release's own default for the port at which the pods of a replica find each other."""
    flag = engine.flag("--master-port")
    return None if flag is None else flag.default


def _environment() -> Decision[dict[str, Json]]:
    return assumed(
        {"NCCL_SOCKET_IFNAME": "eth0", "GLOO_SOCKET_IFNAME": "eth0", "NCCL_DEBUG": "WARN"},
        "NCCL and Gloo find each other over eth0, the pod's interface under most network plugins (ip link in a pod "
        "tells)",
    )


def _network(request: GroupRequest) -> Decision[dict[str, Json]]:
    place = request.placement
    shapes = holding(place)
    offers = [shape.network for shape in shapes.values() if shape.network and shape.gpus == place.gpus]
    if not request.fast_network or not offers:
        return fact({}, "Stages talk over the pod network; a pipeline moves little, one activation for each token")
    least = {name: min(offer[name] for offer in offers) for name in offers[0] if all(name in o for o in offers)}
    return asked(dict(least), f"All fast interfaces of {', '.join(shapes)}, since the pod takes all of its GPUs")


def _compute_domain(request: GroupRequest) -> Decision[dict[str, Json]] | None:
    if not request.compute_domain:
        return None
    return asked(
        {"numNodes": 0, "channel": {}},
        "The pods' GPUs share memory over NVLink beyond the node; 0 nodes lets the domain follow the pods that join it",
    )


def _notes(request: GroupRequest) -> Iterator[str]:
    place = request.placement
    yield (
        "A replica spans nodes: the LeaderWorkerSet controller must run in the cluster, and all nodes of a group must "
        "reach the weights."
    )
    if request.same_domain:
        yield (
            f"Each group takes a domain of {request.same_domain} for itself: a replica more than there are domains "
            f"with {place.pods} free nodes waits."
        )
    yield f"Losing one of {place.pods} pods stops a replica until all have loaded again, about {place.load:.0f} s."
    if request.fast_network:
        yield (
            "Fast network interfaces are asked for: their device plugin must run, and the engine's image needs the "
            "libraries that NCCL uses for them, which the upstream image does not have for every network."
        )
