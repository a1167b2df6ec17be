"""From a profile and its layout to what placement, groups and queues are asked; refusals get the profile's lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from chartgen.kernel.errors import InputError, InputProblem, Position
from chartgen.kernel.units import Seconds
from chartgen.plan import placement
from chartgen.plan.allocation_types import Allocation, Alternative, DeviceClaim, MigSlice, SharedGpu, WholeGpus
from chartgen.plan.group import Group, GroupRequest, plan_group
from chartgen.plan.kueue import Queue, QueueRequest, plan_queue
from chartgen.plan.placement_types import HostNeed, Misplaced, PlacementRequest
from chartgen.plan.types import Host, Layout, Replicas, StartUp
from chartgen.profile import LoadedProfile
from chartgen.profile.placement import Dra, Mig, Mps, TimeSlicing
from chartgen.resolve import Resolved


@contextmanager
def located(loaded: LoadedProfile) -> Iterator[None]:
    """Turn what the platform refuses into problems of the profile, each at its line and in file order."""
    try:
        yield
    except Misplaced as misplaced:
        problems = [problem.located(loaded) for problem in misplaced.problems]
        raise InputError(sorted(problems, key=_order)) from misplaced


def _order(problem: InputProblem) -> tuple[bool, Position]:
    return problem.position is None, problem.position or Position(line=0, column=0)


def check_platform(resolved: Resolved) -> None:
    """Refuse what no layout could make possible, before one is searched.

    Raises:
        InputError: with every problem.
    """
    with located(resolved.loaded):
        found = placement.problems(_before_layout(resolved))
        if found:
            raise Misplaced(found)


def _before_layout(resolved: Resolved) -> PlacementRequest:
    """What is asked of the platform, with the fewest GPUs that the layout may turn out to take."""
    profile, cluster = resolved.profile, resolved.profile.cluster
    profiles = list(resolved.gpu.mig)
    return PlacementRequest(
        cloud=resolved.cloud.value,
        gpu=resolved.gpu,
        gpus=profile.gpus or 1,
        pods=resolved.nodes.most,
        allocation=_allocation(resolved, profiles[0] if profiles else "", _each_once(resolved)),
        kubernetes=resolved.kubernetes.value,
        workload=profile.class_,
        region=profile.region,
        zones=cluster.zones,
        spot=cluster.spot,
        spare_gpus=cluster.spare_gpus or 0,
        replicas=1,
        load=Seconds(0),
        fetch=Seconds(0),
        start_budget=Seconds(0),
        priority_class=cluster.priority_class,
        runtime_class=cluster.runtime_class,
    )


def _each_once(resolved: Resolved) -> tuple[Alternative, ...]:
    said = resolved.allocation
    if isinstance(said, Dra) and said.profile:
        return (Alternative(gpu=resolved.gpu, count=1, profile=said.profile),)
    return tuple(Alternative(gpu=card, count=1) for card in resolved.preferred)


def request_of(
    resolved: Resolved, layout: Layout, *, replicas: Replicas, start_up: StartUp, host: Host
) -> PlacementRequest:
    """What placement is asked for a layout."""
    return replace(
        _before_layout(resolved),
        gpus=layout.gpus_per_node,
        pods=layout.nodes.value,
        allocation=_allocation(resolved, layout.slice.value if layout.slice else "", layout.alternatives),
        replicas=replicas.least,
        load=Seconds(start_up.replica),
        fetch=Seconds(start_up.fetch.value),
        start_budget=Seconds(start_up.budget),
        host=HostNeed(cpus=host.cpus.value, memory=host.memory_bytes),
    )


def _allocation(resolved: Resolved, worked_out: str, alternatives: tuple[Alternative, ...]) -> Allocation:
    """The profile's words with what the layout found: the slice, and the counts of a claim."""
    said = resolved.allocation
    match said:
        case Mig():
            able = resolved.cloud.value.mig.strategies
            return MigSlice(
                profile=said.profile or worked_out,
                strategy=said.strategy or (able[0] if len(able) == 1 else "mixed"),
            )
        case Dra():
            return DeviceClaim(alternatives=alternatives, same_root=said.same_root, beta=said.beta)
        case TimeSlicing():
            return SharedGpu(by="time-slicing", clients=said.clients, renamed=said.renamed)
        case Mps():
            return SharedGpu(by="mps", clients=said.clients, renamed=said.renamed)
        case _:
            return WholeGpus()


def group_of(resolved: Resolved, request: PlacementRequest) -> Group | None:
    """What ties the pods of a replica together; None when one pod is a whole replica."""
    if request.pods == 1:
        return None
    nodes = resolved.nodes
    return plan_group(
        GroupRequest(
            placement=request,
            engine=resolved.engine,
            same_domain=None if resolved.queue else nodes.same_domain,
            fast_network=nodes.fast_network,
            compute_domain=nodes.compute_domain,
        )
    )


def queue_of(resolved: Resolved, request: PlacementRequest) -> Queue | None:
    """Where pods wait for quota; with a queue, it is Kueue that keeps the pods of a replica in one domain."""
    queue = resolved.queue
    if queue is None:
        return None
    wanted = QueueRequest(
        queue=queue.name, priority_class=queue.priority_class, topology_label=resolved.nodes.same_domain
    )
    return plan_queue(wanted, pods=request.pods)
