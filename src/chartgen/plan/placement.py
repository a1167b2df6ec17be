"""Placement: from cloud, card and parallel size to what the scheduler needs to put a replica on real GPUs."""

from __future__ import annotations

from chartgen.catalog.devices import devices
from chartgen.kernel.decision import Decision, Json, asked, fact
from chartgen.plan import allocation, claim, topology
from chartgen.plan import placement_nodes as nodes
from chartgen.plan import placement_rollout as rollout
from chartgen.plan.allocation_types import DeviceClaim
from chartgen.plan.placement_types import Misplaced, Placement, PlacementProblem, PlacementRequest


def place(request: PlacementRequest) -> Placement:
    """Where the pods of one replica can go.

    Raises:
        Misplaced: the platform cannot run what was asked for; every problem at once.
    """
    found = problems(request)
    if found:
        raise Misplaced(found)
    wanted = request.allocation if isinstance(request.allocation, DeviceClaim) else None
    return Placement(
        accelerators=allocation.accelerators(request),
        node_affinity=nodes.affinity(request),
        tolerations=nodes.tolerations(request, devices(request.gpu.vendor).resource),
        topology_spread=nodes.spread(request),
        pod_affinity=nodes.packing(request),
        priority_class=_named(request.priority_class, "PriorityClass", "pods have the cluster's default priority"),
        runtime_class=_named(
            request.runtime_class,
            "RuntimeClass",
            "the GPU operator and the clouds make their runtime the node's default; K3s and RKE2 need nvidia here",
        ),
        strategy=rollout.strategy(request),
        min_ready_seconds=rollout.min_ready_seconds(),
        progress_deadline_seconds=rollout.progress_deadline(request),
        pod_annotations=rollout.pod_annotations(request),
        shapes=_shapes(request),
        claim=claim.device_request(request, wanted) if wanted else None,
        advice=topology.advice(request),
        notes=_notes(request, wanted),
    )


def problems(request: PlacementRequest) -> list[PlacementProblem]:
    """Everything asked for that the platform cannot give."""
    found = [*nodes.problems(request), *allocation.problems(request)]
    if isinstance(request.allocation, DeviceClaim):
        found += claim.problems(request, request.allocation)
    return found


def _named(name: str | None, kind: str, otherwise: str) -> Decision[str]:
    if name:
        return asked(name, f"The {kind} that the profile names")
    return fact("", f"No {kind} is named: {otherwise}")


def _shapes(request: PlacementRequest) -> Decision[list[Json]]:
    shapes = nodes.holding(request)
    if not shapes:
        return fact([], f"No instance types are listed for {request.cloud.name}")
    names: list[Json] = list(shapes)
    counts = ", ".join(f"{name} ({shape.gpus})" for name, shape in shapes.items())
    return fact(names, f"Instance types with at least {request.gpus} x {request.gpu.title}: {counts}")


def _notes(request: PlacementRequest, wanted: DeviceClaim | None) -> tuple[str, ...]:
    notes = [nodes.fragmentation(request), nodes.stranded(request)]
    notes.append(topology.link(request))
    strategy = rollout.strategy(request)
    if strategy.value["type"] == "Recreate":
        notes.append(f"Updates interrupt service. {strategy.because}.")
    if request.region and request.cloud.scaler == "none":
        notes.append(
            f"Nodes of own hardware often have no region label, so {request.region} does not select nodes; name zones "
            "in the profile if yours carry topology.kubernetes.io/zone."
        )
    notes += allocation.notes(request)
    if wanted:
        notes += claim.notes(request, wanted)
    return tuple(note for note in notes if note)
