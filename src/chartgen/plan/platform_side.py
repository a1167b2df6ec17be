"""What the platform team must have for a chart to schedule: nodes, and the quota of its queue where asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chartgen.kernel.decision import Decision, Json
from chartgen.kernel.errors import InputError
from chartgen.plan.group import Group
from chartgen.plan.kueue import Quota, quota_objects
from chartgen.plan.node_pool import NodeSide, node_side
from chartgen.plan.placement_types import Placement, PlacementRequest
from chartgen.plan.types import Replicas
from chartgen.resolve import Resolved


def plan_platform_side(
    resolved: Resolved, request: PlacementRequest, placement: Placement, replicas: Replicas, group: Group | None
) -> NodeSide:
    """Nodes for the most replicas, and the objects of a quota.

    Raises:
        InputError: a quota is asked for devices that come by claim.
    """
    side = node_side(request, maximum=replicas.maximum.value, name=resolved.loaded.name)
    return replace(side, objects=(*side.objects, *_quota(resolved, request, placement, replicas, group)))


def _quota(
    resolved: Resolved, request: PlacementRequest, placement: Placement, replicas: Replicas, group: Group | None
) -> Iterator[Decision[dict[str, Json]]]:
    queue, host = resolved.queue, request.host
    if queue is None or queue.quota is None or host is None:
        return
    if placement.claim is not None:
        expected = "no quota for a claim: Kueue counts devices by deviceClassMappings of its own configuration"
        raise InputError(
            [resolved.loaded.problem(("cluster", "queue", "quota"), found="a quota on devices", expected=expected)]
        )
    quota = Quota(
        queue=queue.name,
        namespace=resolved.profile.cluster.namespace or resolved.loaded.name,
        replicas=queue.quota.replicas or replicas.maximum.value,
        borrow=queue.quota.borrow,
        cohort=queue.quota.cohort,
        topology_label=resolved.nodes.same_domain if request.pods > 1 else None,
    )
    network = group.network.value if group else None
    yield from quota_objects(quota, placement, host, pods=request.pods, network=network)
