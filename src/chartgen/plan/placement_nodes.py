"""Which nodes a pod may use: labels, taints, zones, and the instance types that can hold it."""

from __future__ import annotations

from chartgen.catalog.clouds import Cloud, Requirement, Shape, Toleration, cloud_names, load_cloud
from chartgen.catalog.placement import placement_figures
from chartgen.kernel.decision import Decision, Json, assumed, fact, worked_out
from chartgen.kernel.errors import nearest_name
from chartgen.kernel.units import MIB, gib
from chartgen.plan.placement_types import PlacementProblem, PlacementRequest

SPREAD_KEYS = ("topology.kubernetes.io/zone", "kubernetes.io/hostname")
"""Zones first, then nodes: well-known labels."""


def problems(request: PlacementRequest) -> list[PlacementProblem]:
    """What the platform cannot give: an unknown region, a card it does not sell, a node too small."""
    found = []
    cloud, gpu = request.cloud, request.gpu
    if cloud.regions and request.region and request.region not in cloud.regions:
        found.append(
            PlacementProblem(
                path=("region",),
                found=request.region,
                expected=f"a region of {cloud.name}",
                nearest=nearest_name(request.region, cloud.regions),
            )
        )
    if not cloud.sells(gpu.key):
        found.append(_not_sold(request))
    elif cloud.largest(gpu.key) and not holding(request):
        found.append(_too_large(request))
    if request.spot and request.workload == "interactive":
        found.append(
            PlacementProblem(
                path=("cluster", "spot"),
                found="interruptible capacity for an interactive workload",
                expected="class batch, or no spot: a reclaimed node drops every stream, and a new one has to "
                "load first",
            )
        )
    if request.spot and cloud.spot is None:
        found.append(
            PlacementProblem(
                path=("cluster", "spot"),
                found=f"interruptible capacity on {cloud.name}",
                expected="no spot: no label of such nodes is known here",
            )
        )
    return found


def _not_sold(request: PlacementRequest) -> PlacementProblem:
    gpu = request.gpu.key
    sellers = [name for name in cloud_names() if load_cloud(name).sells(gpu)]
    elsewhere = f"; {request.gpu.title} is on {', '.join(sellers)}" if sellers else ""
    return PlacementProblem(
        path=("gpu",),
        found=f"{request.gpu.title} on {request.cloud.name}",
        expected=f"one of {', '.join(request.cloud.cards())}{elsewhere}",
        nearest=nearest_name(gpu, request.cloud.cards()),
    )


def _too_large(request: PlacementRequest) -> PlacementProblem:
    cloud, gpu = request.cloud, request.gpu
    largest = cloud.largest(gpu.key)
    if request.gpus > largest:
        names = ", ".join(cloud.holding(gpu.key, largest))
        return PlacementProblem(
            path=("gpu",),
            found=f"{request.gpus} x {gpu.title} in one pod on {cloud.name}",
            expected=f"at most {largest} on one node ({names}); lower-precision weights, a larger card, or "
            "several nodes",
        )
    need = request.host
    host = f"{need.cpus} CPUs and {gib(need.memory)}" if need else ""
    return PlacementProblem(
        path=("gpu",),
        found=f"{request.gpus} x {gpu.title} with {host} on {cloud.name}",
        expected=f"a host need that fits {', '.join(cloud.holding(gpu.key, request.gpus))}",
    )


def holding(request: PlacementRequest) -> dict[str, Shape]:
    """The instance types that hold one pod with its GPUs, CPUs and memory, smallest first."""
    fitting = request.cloud.holding(request.gpu.key, request.gpus)
    return {name: shape for name, shape in fitting.items() if _holds(shape, request)}


def _holds(shape: Shape, request: PlacementRequest) -> bool:
    if request.host is None:
        return True
    figures = placement_figures()
    cpus = shape.cpus - figures.node_cores.value
    memory = (shape.memory_mib - figures.node_memory_mib.value) * MIB
    return request.host.cpus <= cpus and request.host.memory <= memory


def affinity(request: PlacementRequest) -> Decision[list[Json]]:
    """The terms that every node must meet: the card, the place, the kind of capacity."""
    cloud, gpu = request.cloud, request.gpu
    terms: list[Requirement] = list(cloud.card_labels.get(gpu.key, ()))
    if not terms and cloud.shape_label:
        terms = [Requirement(key=cloud.shape_label, values=tuple(holding(request)))]
    reasons = [cloud.nodes]
    if not terms:
        terms = list(cloud.vendor_labels.get(gpu.vendor, ()))
        reasons = [f"no product label of {gpu.title} is known, so any node with a GPU of its vendor will do"]
    if request.region and cloud.scaler != "none":
        terms.append(Requirement(key=cloud.region_label, values=(request.region,)))
        reasons.append(f"region {request.region} as the profile says")
    if request.zones:
        terms.append(Requirement(key=cloud.zone_label, values=request.zones))
        reasons.append(f"zones {', '.join(request.zones)} as the profile says")
    if cloud.spot and request.spot:
        terms.append(cloud.spot.want)
        reasons.append("interruptible capacity as the profile says")
    elif cloud.spot and cloud.spot.avoid:
        terms.append(cloud.spot.avoid)
        reasons.append("no interruptible node, which would drop running streams when it is reclaimed")
    return fact([_expression(term) for term in terms], "; ".join(reasons))


def _expression(term: Requirement) -> Json:
    expression: dict[str, Json] = {"key": term.key, "operator": term.operator}
    if term.values:
        expression["values"] = list(term.values)
    return expression


def tolerations(request: PlacementRequest, resource: str) -> Decision[list[Json]]:
    """The taint named like the resource, and what the platform adds."""
    own = Toleration(
        key=resource,
        because=f"GPU nodes are usually tainted with the name of their resource, {resource}, to keep other pods away",
    )
    cloud = request.cloud
    needed = [own, *cloud.tolerations]
    if request.spot and cloud.spot:
        needed += cloud.spot.tolerations
    because = "; ".join(toleration.because for toleration in needed)
    if cloud.extended_resource_toleration:
        because += "; the platform adds the first one itself for pods that ask for the resource"
    return fact([_toleration(toleration) for toleration in needed], because)


def _toleration(toleration: Toleration) -> Json:
    entry: dict[str, Json] = {"key": toleration.key, "operator": toleration.operator}
    if toleration.value is not None:
        entry["value"] = toleration.value
    return {**entry, "effect": toleration.effect}


def spread(request: PlacementRequest) -> Decision[list[Json]]:
    """Soft spreading over zones, and over nodes where one node's loss must not take several replicas."""
    if _packs(request):
        return worked_out(
            [], "Replicas share nodes on purpose, so that whole nodes stay free for larger replicas"
        )
    one_zone = len(request.zones) == 1
    keys = SPREAD_KEYS[1:] if one_zone else SPREAD_KEYS
    constraints: list[Json] = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "ScheduleAnyway",
            "matchLabelKeys": ["pod-template-hash"],
        }
        for key in keys
    ]
    because = (
        "Replicas spread over nodes" + ("" if one_zone else " and zones") + " so that one failure costs one "
        "of them; "
        "ScheduleAnyway, because a hard rule leaves a replica pending while GPUs idle elsewhere; "
        "matchLabelKeys counts "
        "only pods of the same revision during an update"
    )
    return worked_out(constraints, because)


def packing(request: PlacementRequest) -> Decision[list[Json]]:
    """A preference for a node that has a replica already."""
    if not _packs(request):
        return worked_out([], "Replicas spread, see topologySpread")
    weight = placement_figures().packing_weight
    terms: list[Json] = [{"weight": weight.value, "topologyKey": SPREAD_KEYS[1]}]
    return assumed(
        terms,
        "Replicas prefer a node that has one already, so that whole nodes stay free for replicas that need "
        "all their GPUs",
    )


def _packs(request: PlacementRequest) -> bool:
    intent = request.intent or ("spread" if request.workload == "interactive" else "pack")
    return intent == "pack"


def unlabelled(request: PlacementRequest) -> str:
    """In words: the card has no known label here, so the platform team must pick its nodes."""
    cloud = request.cloud
    if request.gpu.key in cloud.card_labels or cloud.shape_label:
        return ""
    return (
        f"No product label of {request.gpu.title} is known, so pods may land on any node with a GPU of its vendor. "
        "See the labels of your nodes (kubectl get nodes --show-labels) and set placement.nodeAffinity."
    )


def fragmentation(request: PlacementRequest) -> str:
    """In words: how replicas cut up nodes, and why idle GPUs may not add up."""
    gpus = request.gpus
    shapes = holding(request)
    if gpus == 1 or not shapes:
        return ""
    cloud: Cloud = request.cloud
    name, shape = next(iter(shapes.items()))
    fit, left = divmod(shape.gpus, gpus)
    rest = f", and {left} of its GPUs can serve no replica of this chart" if left else ""
    holds = "holds exactly one" if fit == 1 else f"holds {fit}"
    return (
        f"All {gpus} GPUs of a pod must be free on one node at the same time: GPUs that idle on different "
        "nodes do not "
        f"add up. The smallest node of {cloud.name} that can do it is {name} with {shape.gpus} GPUs; it "
        f"{holds}{rest}. "
        f"A node where other pods took more than {shape.gpus - gpus} GPUs holds none."
    )
