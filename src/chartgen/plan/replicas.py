"""How many replicas, when one more, when one fewer."""

from __future__ import annotations

import math

from chartgen.catalog.assumptions import assumption, house, number, sentence, whole
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision, Json, assumed, worked_out
from chartgen.kernel.units import Seconds
from chartgen.plan.placement_types import Workload
from chartgen.plan.types import Carries, Replicas, StartUp
from chartgen.resolve import Resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What the replicas have to carry."""

    workload: Workload
    """Who waits for the answer."""
    wakes: bool
    """A signal from outside can wake it from zero replicas."""
    rate: float | None
    """Requests each second at peak, bursts included; None when not stated."""
    in_flight: int
    """Requests in flight that one replica carries: inside its memory, and its objectives where it has any."""
    served: float
    """Requests each second that one replica carries; 0 when no estimate can be made."""
    ground: str
    """What `served` stands on, as the end of a sentence."""
    ready_after: Seconds
    """From asking for a replica to its first token, on a node that is there."""
    scaled: bool = True
    """Whether anything adds and removes replicas."""


def load_of(resolved: Resolved, carries: Carries, start_up: StartUp) -> Load:
    """The load that a profile states, on replicas that carry so much."""
    traffic = resolved.profile.traffic
    rate = traffic.requests_per_second
    return Load(
        workload=resolved.profile.class_,
        wakes=traffic.pending_query is not None,
        rate=None if rate is None else rate * (traffic.burst or 1),
        in_flight=carries.in_flight.value,
        served=carries.requests_per_second.value,
        ground=carries.requests_per_second.because,
        ready_after=Seconds(start_up.replica),
        scaled=resolved.autoscales,
    )


def plan_replicas(load: Load) -> Replicas:
    """Work out counts, thresholds and windows."""
    minimum = _minimum(load)
    peak = _peak(load, minimum)
    maximum = _maximum(load, minimum, peak)
    window = max(whole("cooldown-floor"), math.ceil(load.ready_after))
    calm = (
        f"{window} s: at least {whole('cooldown-floor')} s and at least one start of {load.ready_after:.0f} s; "
        f"{assumption('cooldown-floor').because}"
    )
    patience = _patience(load)
    return Replicas(
        minimum=minimum,
        maximum=maximum,
        peak=peak,
        scaled=load.scaled,
        waiting_threshold=_share(load, "waiting-share", "waiting"),
        in_flight_threshold=_share(load, "busy-share", "in flight"),
        polling=house("polling-interval"),
        cooldown=worked_out(window, sentence(calm)),
        behavior=_behavior(window, calm),
        patience=patience,
        fallback=_fallback(load, minimum, peak, patience),
    )


def _minimum(load: Load) -> Decision[int]:
    if load.workload == "interactive":
        return house("replicas-interactive")
    if load.workload == "dev":
        return house("replicas-dev")
    if load.wakes:
        return worked_out(0, "Batch work may wait for a start, and the query for pending work can wake it from zero")
    return house("replicas-batch")


def _peak(load: Load, minimum: Decision[int]) -> Decision[int]:
    floor = max(minimum.value, 1)
    if load.rate is None:
        return assumed(floor, "No traffic is stated, so the peak is taken to be what the minimum carries")
    if load.served <= 0:
        return assumed(floor, f"Nothing is known of the speed of a replica ({load.ground}), so the minimum is taken")
    share = number("busy-share")
    need = math.ceil(load.rate / (load.served * share))
    because = (
        f"{load.rate:g} requests/s at peak on replicas that are planned {share:.0%} full and carry {load.served:.2g} "
        f"requests/s each: {load.ground}"
    )
    return worked_out(max(need, floor), because + (f"; at least {floor}" if need < floor else ""))


def _maximum(load: Load, minimum: Decision[int], peak: Decision[int]) -> Decision[int]:
    factor = whole("growth-without-traffic")
    if load.rate is None:
        value = max(minimum.value, 1) * factor
        return assumed(value, sentence(assumption("growth-without-traffic").because))
    return worked_out(
        max(peak.value + 1, minimum.value + 1),
        f"The stated peak needs {peak.value}, and one more covers a replica that restarts meanwhile",
    )


def _share(load: Load, name: str, what: str) -> Decision[int]:
    share = number(name)
    value = max(1, math.floor(load.in_flight * share))
    return worked_out(
        value,
        f"One more replica for every {value} requests {what}: {share:.0%} of the {load.in_flight} that one carries, as "
        f"{assumption(name).because}",
    )


def _behavior(window: int, calm: str) -> Decision[dict[str, Json]]:
    up = whole("scale-up-window")
    value: dict[str, Json] = {
        "scaleUp": {
            "stabilizationWindowSeconds": up,
            "policies": [
                {"type": "Percent", "value": 100, "periodSeconds": 60},
                {"type": "Pods", "value": 2, "periodSeconds": 60},
            ],
            "selectPolicy": "Max",
        },
        "scaleDown": {
            "stabilizationWindowSeconds": window,
            "policies": [{"type": "Pods", "value": 1, "periodSeconds": 120}],
        },
    }
    because = (
        f"Up within {up} s ({assumption('scale-up-window').because}), at most doubling each minute; down one "
        f"replica at a time after {calm}"
    )
    return worked_out(value, because)


def _patience(load: Load) -> Decision[int]:
    polls = math.ceil(load.ready_after / whole("polling-interval"))
    return worked_out(
        polls + whole("fallback-failures"),
        f"A first start shows no metrics for {load.ready_after:.0f} s, which is {polls} polls; "
        f"{whole('fallback-failures')} more, as {assumption('fallback-failures').because}",
    )


def _fallback(
    load: Load, minimum: Decision[int], peak: Decision[int], patience: Decision[int]
) -> Decision[dict[str, Json]]:
    replicas = peak.value if load.workload == "interactive" else max(minimum.value, 1)
    value: dict[str, Json] = {
        "failureThreshold": patience.value,
        "replicas": replicas,
        "behavior": "currentReplicasIfHigher",
    }
    because = (
        f"When metrics are missing for {patience.value} polls, go to {replicas} replica{'s' if replicas > 1 else ''} "
        "or stay where there are more: a silent Prometheus must not take replicas away under load. Until then nothing "
        f"changes: a first start shows no metrics for {load.ready_after:.0f} s either. Needs KEDA 2.17"
    )
    return worked_out(value, because)
