"""Which nodes a pod may use: labels, taints, zones, and the instance types that can hold it."""

from __future__ import annotations

from chartgen.catalog.assumptions import number, whole
from chartgen.catalog.clouds import Requirement, Shape, Toleration, cloud_names, load_cloud
from chartgen.kernel.decision import Decision, Json, assumed, fact, worked_out
from chartgen.kernel.errors import nearest_name
from chartgen.kernel.units import GIB, MIB, gib
from chartgen.plan import allocation
from chartgen.plan.allocation_types import DeviceClaim
from chartgen.plan.placement_types import PlacementProblem, PlacementRequest

ZONE = "topology.kubernetes.io/zone"
"""The zone of a node: a well-known label."""
HOST = "kubernetes.io/hostname"
"""The node itself: a well-known label."""


LINUX = Requirement(key="kubernetes.io/os", values=("linux",))
"""What every node that runs the engine's image is."""


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
    elif not cloud.shapes and request.gpus > max(gpu.per_node):
        found.append(_too_large_anywhere(request))
    if cloud.zones_begin_with_region and request.region:
        found += [_elsewhere(zone, request.region) for zone in request.zones if not zone.startswith(request.region)]
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


def _elsewhere(zone: str, region: str) -> PlacementProblem:
    return PlacementProblem(
        path=("cluster", "zones"),
        found=f"zone {zone} in region {region}",
        expected=f"zones of {region}, whose names begin with it: no node is in both places",
    )


def _not_sold(request: PlacementRequest) -> PlacementProblem:
    gpu = request.gpu.key
    sellers = [name for name in cloud_names() if load_cloud(name).sells(gpu)]
    elsewhere = f"; {request.gpu.title} is on {', '.join(sellers)}" if sellers else ""
    return PlacementProblem(
        path=("gpu",),
        found=f"{request.gpu.title} on {request.cloud.name}",
        expected=f"one of {', '.join(request.cloud.cards())}{elsewhere}",
    )


def _too_large(request: PlacementRequest) -> PlacementProblem:
    cloud, gpu = request.cloud, request.gpu
    largest = cloud.largest(gpu.key)
    if request.gpus > largest:
        names = ", ".join(cloud.holding(gpu.key, largest))
        return PlacementProblem(
            path=("gpus",),
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


def _too_large_anywhere(request: PlacementRequest) -> PlacementProblem:
    return PlacementProblem(
        path=("gpus",),
        found=f"{request.gpus} x {request.gpu.title} in one pod",
        expected=f"at most {max(request.gpu.per_node)}, which usual nodes have; or several nodes",
    )


def holding(request: PlacementRequest) -> dict[str, Shape]:
    """The instance types that hold one pod with its GPUs, CPUs and memory, smallest first."""
    fitting = request.cloud.holding(request.gpu.key, request.gpus)
    return {name: shape for name, shape in fitting.items() if _holds(shape, request)}


def _holds(shape: Shape, request: PlacementRequest) -> bool:
    if not (shape.on_demand or request.spot):
        return False
    if request.host is None:
        return True
    cpus = shape.cpus - whole("node-cores")
    memory = shape.memory_mib * MIB - number("node-memory") * GIB
    return request.host.cpus <= cpus and request.host.memory <= memory


def affinity(request: PlacementRequest) -> Decision[list[Json]]:
    """The terms that every node must meet: the card, the place, the kind of capacity."""
    cloud = request.cloud
    terms, reasons = _card(request)
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


def _card(request: PlacementRequest) -> tuple[list[Requirement], list[str]]:
    """The labels that pick nodes with the card in the state that the allocation needs, and why those."""
    cloud, gpu = request.cloud, request.gpu
    if isinstance(request.allocation, DeviceClaim):
        # A term without expressions matches no node at all, so there is always one.
        return [LINUX], ["the claim picks the devices, and with them the node"]
    prepared = allocation.labels(request)
    if prepared:
        return list(prepared), ["a node whose cards are cut or shared shows it by these labels"]
    if cloud.shape_label and gpu.key not in cloud.card_labels:
        return [Requirement(key=cloud.shape_label, values=tuple(holding(request)))], [cloud.nodes]
    return list(cloud.card_labels[gpu.key]), [cloud.nodes]


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
    if cloud.extended_resource_toleration and not isinstance(request.allocation, DeviceClaim):
        because += "; the platform adds the first one itself for pods that ask for the resource"
    if isinstance(request.allocation, DeviceClaim):
        because += "; said here in full, since no admission plug-in adds it for a pod that only has a claim"
    return fact([_toleration(toleration) for toleration in needed], because)


def _toleration(toleration: Toleration) -> Json:
    entry: dict[str, Json] = {"key": toleration.key, "operator": toleration.operator}
    if toleration.value is not None:
        entry["value"] = toleration.value
    return {**entry, "effect": toleration.effect}


def spread(request: PlacementRequest) -> Decision[list[Json]]:
    """Soft spreading over zones, and over nodes where one node's loss must not take several replicas."""
    if request.pods > 1:
        return worked_out([], "The pods of a replica want one zone and a node each; spreading would part them")
    if _packs(request):
        return worked_out([], "Replicas share nodes on purpose, so that whole nodes stay free for larger replicas")
    one_zone = len(request.zones) == 1
    keys = (HOST,) if one_zone else (ZONE, HOST)
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
        "of them; ScheduleAnyway, because a hard rule leaves a replica pending while GPUs idle elsewhere; "
        "matchLabelKeys counts only pods of the same revision during an update"
    )
    return worked_out(constraints, because)


def packing(request: PlacementRequest) -> Decision[list[Json]]:
    """A preference for a node that has a replica already."""
    if not _packs(request):
        return worked_out([], "Replicas spread, see topologySpread")
    terms: list[Json] = [{"weight": whole("packing-weight"), "topologyKey": HOST}]
    return assumed(
        terms,
        "Replicas prefer a node that has one already, so that whole nodes stay free for replicas that need all their "
        "GPUs",
    )


def _packs(request: PlacementRequest) -> bool:
    intent = request.intent or ("spread" if request.workload == "interactive" else "pack")
    return intent == "pack"


def fragmentation(request: PlacementRequest) -> str:
    """In words: how replicas cut up nodes, and why idle GPUs may not add up."""
    gpus, shapes = request.gpus, holding(request)
    if gpus == 1 or not shapes:
        return ""
    name, shape = next(iter(shapes.items()))
    fit, left = divmod(shape.gpus, gpus)
    rest = f", and {left} of its GPUs can serve no replica of this chart" if left else ""
    holds = "holds exactly one" if fit == 1 else f"holds {fit}"
    spare = shape.gpus - gpus
    taken = f"took more than {spare} GPU{'s' if spare > 1 else ''}" if spare else "took a single GPU"
    return (
        f"All {gpus} GPUs of a pod must be free on one node at the same time: GPUs that idle on different nodes do not "
        f"add up. The smallest node of {request.cloud.name} that can do it is {name} with {shape.gpus} GPUs; it "
        f"{holds}{rest}. A node where other pods {taken} holds none."
    )


def stranded(request: PlacementRequest) -> str:
    """In words: CPU or memory that runs out before the GPUs of the smallest node do."""
    shapes, need = holding(request), request.host
    if not shapes or need is None:
        return ""
    name, shape = next(iter(shapes.items()))
    by_cpu = (shape.cpus - whole("node-cores")) // need.cpus
    by_memory = int((shape.memory_mib * MIB - number("node-memory") * GIB) // need.memory)
    by_gpu, fit = shape.gpus // request.gpus, min(by_cpu, by_memory)
    if fit >= by_gpu:
        return ""
    short = "CPUs" if by_cpu <= by_memory else "memory"
    idle = (by_gpu - fit) * request.gpus
    return (
        f"{name} has GPUs for {by_gpu} pods and {short} for {fit}: {idle} of its {shape.gpus} GPUs would idle when it "
        "is full. Lower the pod's CPU or memory, or pick a type with more of it."
    )
