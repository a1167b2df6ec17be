"""Placement: from cloud, card and parallel size to what the scheduler needs to put a replica on real GPUs."""

from __future__ import annotations

from typing import Final

from chartgen.catalog.gpus import Vendor
from chartgen.kernel.decision import Decision, Json, Values, asked, fact, worked_out
from chartgen.plan import placement_nodes as nodes
from chartgen.plan import placement_rollout as rollout
from chartgen.plan.placement_types import Misplaced, Placement, PlacementRequest

RESOURCES: Final[dict[Vendor, str]] = {
    "nvidia": "nvidia.com/gpu",
    "amd": "amd.com/gpu",
    "intel": "gpu.intel.com/xe",
}
"""The name under which each vendor's device plugin announces whole cards."""


def place(request: PlacementRequest) -> Placement:
    """Where the pods of one replica can go.

    Raises:
        Misplaced: the platform cannot run what was asked for; every problem at once.
    """
    problems = nodes.problems(request)
    if problems:
        raise Misplaced(problems)
    resource = RESOURCES[request.gpu.vendor]
    return Placement(
        accelerators=worked_out(
            {resource: request.gpus},
            f"{request.gpus} x {request.gpu.title} as {resource}, the resource of the vendor's device "
            "plugin; an "
            "extended resource takes no overcommit, so request and limit are equal",
        ),
        node_affinity=nodes.affinity(request),
        tolerations=nodes.tolerations(request, resource),
        topology_spread=nodes.spread(request),
        pod_affinity=nodes.packing(request),
        priority_class=_named(
            request.priority_class, "PriorityClass", "pods have the cluster's default priority"
        ),
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
        notes=_notes(request),
    )


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


def _notes(request: PlacementRequest) -> tuple[str, ...]:
    notes = [nodes.fragmentation(request), nodes.unlabelled(request)]
    strategy = rollout.strategy(request)
    if strategy.value["type"] == "Recreate":
        notes.append(f"Updates interrupt service. {strategy.because}.")
    if request.region and request.cloud.scaler == "none":
        notes.append(
            f"Nodes of own hardware often have no region label, so {request.region} does not select nodes; "
            "name zones "
            "in the profile if yours carry topology.kubernetes.io/zone."
        )
    return tuple(note for note in notes if note)


def as_values(placement: Placement) -> Values:
    """The placement as the `placement` group of values.yaml."""
    return {
        "accelerators": placement.accelerators,
        "nodeAffinity": placement.node_affinity,
        "tolerations": placement.tolerations,
        "topologySpread": placement.topology_spread,
        "podAffinity": placement.pod_affinity,
        "priorityClassName": placement.priority_class,
        "runtimeClassName": placement.runtime_class,
        "strategy": placement.strategy,
        "minReadySeconds": placement.min_ready_seconds,
        "progressDeadlineSeconds": placement.progress_deadline_seconds,
        "podAnnotations": placement.pod_annotations,
    }
