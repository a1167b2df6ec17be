"""How pods are replaced: by the GPUs that are there, the time a load takes, and what autoscalers may move."""

from __future__ import annotations

import math

from chartgen.catalog.assumptions import assumption, sentence, whole
from chartgen.kernel.decision import Decision, Json, assumed, worked_out
from chartgen.plan.placement_types import PlacementRequest

SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"


def strategy(request: PlacementRequest) -> Decision[dict[str, Json]]:
    """Surge only where spare GPUs are; one replica fewer otherwise; Recreate for a single one."""
    need = request.gpus * request.pods
    load = round(request.load)
    if request.single_node_volume:
        return worked_out(
            {"type": "Recreate"},
            "All replicas mount one ReadWriteOnce volume, which a pod on another node cannot attach: an update stops "
            f"all of them first, and nothing answers for about {load} s",
        )
    if request.spare_gpus >= need:
        surge = request.spare_gpus // need
        surge = min(surge, max(request.replicas, 1))
        return worked_out(
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": 0}},
            f"{request.spare_gpus} GPUs stay free and a replica takes {need}: {surge} new one(s) load beside the old "
            "ones",
        )
    if request.replicas > 1:
        left = request.replicas - 1
        return worked_out(
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
            f"A surge pod needs {need} free GPU(s) and {request.spare_gpus} are promised, so it could wait for ever: "
            f"one replica stops before its successor starts, {left} of {request.replicas} answer for about {load} s "
            "each time",
        )
    return worked_out(
        {"type": "Recreate"},
        f"One replica, and no room is promised for the {need} GPU(s) of a second: an update stops it first, and "
        f"nothing answers for about {load} s",
    )


def min_ready_seconds() -> Decision[int]:
    """How long a new pod must stay ready before the next one is touched."""
    return assumed(whole("min-ready"), sentence(assumption("min-ready").because))


def progress_deadline(request: PlacementRequest) -> Decision[int]:
    """Beyond the first download and what the startup probe allows, or a slow start is reported as a failed rollout."""
    arrival = 0 if request.cloud.scaler == "none" else whole("node-seconds") + whole("image-pull-seconds")
    fetch, budget = math.ceil(request.fetch), math.ceil(request.start_budget)
    ready, least = whole("min-ready"), whole("progress-deadline-floor")
    value = max(least, fetch + budget + arrival + ready)
    parts = f"{budget} s that the startup probe allows + {ready} s ready"
    if fetch:
        parts = f"{fetch} s for the first download + {parts}"
    if arrival:
        parts += f" + {arrival} s for a node and the image to arrive"
    return worked_out(value, f"{parts}, and at least {least} s, Kubernetes' own default")


def pod_annotations(request: PlacementRequest) -> Decision[dict[str, Json]]:
    """What keeps node autoscalers from moving a pod that is expensive to move."""
    load = round(request.load)
    if request.workload == "dev":
        return worked_out({}, "A development pod may be moved at any time")
    match request.cloud.scaler:
        case "karpenter":
            return worked_out(
                {DO_NOT_DISRUPT: "true"},
                f"Moving a replica costs about {load} s of loading: Karpenter must not consolidate its node away; node "
                "expiry and forceful interruption go on",
            )
        case "cluster-autoscaler" | "provider":
            return worked_out(
                {SAFE_TO_EVICT: "false"},
                f"Moving a replica costs about {load} s of loading: its node must not be removed to save one",
            )
        case "none":
            return worked_out({}, "Nothing removes nodes here, so there is nothing to tell it")
