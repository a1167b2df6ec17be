"""What adds and removes replicas."""

from __future__ import annotations

from chartgen.chart.guards import scaling_guards
from chartgen.chart.types import Component
from chartgen.kernel.decision import Decision, Json, Values, asked, worked_out
from chartgen.plan.types import Plan, Replicas


def component(plan: Plan) -> Component:
    """A KEDA ScaledObject, or a fixed count where nothing scales."""
    if not plan.resolved.autoscales:
        return Component(
            name="autoscaling",
            templates=(),
            values={"replicas": plan.replicas.peak},
            shape={"autoscaler": "none", "rests": False},
            guards=tuple(scaling_guards(plan)),
        )
    replicas = plan.replicas
    return Component(
        name="autoscaling",
        templates=("scaledobject.yaml",),
        values={
            "autoscaling": {
                "minReplicas": replicas.minimum,
                "maxReplicas": replicas.maximum,
                **(_rest(replicas) if replicas.rests else {}),
                "prometheus": plan.prometheus,
                "fallback": replicas.fallback,
                "behavior": replicas.behavior,
                "triggers": _triggers(plan),
            },
        },
        shape={"autoscaler": "keda", "rests": replicas.rests},
        guards=tuple(scaling_guards(plan)),
        open=("autoscaling.triggers",),
    )


def _rest(replicas: Replicas) -> Values:
    """When the last replica goes and comes. KEDA itself only wakes and rests; between, the HPA has its own pace."""
    return {
        "pollingInterval": replicas.polling,
        "cooldownPeriod": replicas.cooldown,
        "initialCooldownPeriod": Decision(
            value=replicas.cooldown.value,
            because="The first replica is given time to load before anything may take it away: "
            + replicas.cooldown.because,
            origin=replicas.cooldown.origin,
        ),
    }


def _triggers(plan: Plan) -> Values:
    metrics, replicas = plan.observability.metrics, plan.replicas
    waiting, running = metrics["requests waiting"].value, metrics["requests running"].value
    idle, why = ("", "")
    if replicas.rests:
        idle, why = (
            " or vector(0)",
            "; no series means no replica, and that is idle, since pending work is asked for apart",
        )
    triggers: dict[str, Values] = {
        "waiting": {
            "query": _query(
                f"sum({waiting}{{SERIES}}){idle}",
                f"Requests that wait for a place, summed to one series over pods and ranks{why}",
            ),
            "threshold": replicas.waiting_threshold,
        },
        "in-flight": {
            "query": _query(
                f"(sum({running}{{SERIES}}) + sum({waiting}{{SERIES}})){idle}",
                f"Requests that run or wait: keeps replicas while they are busy, when the queue alone is empty{why}",
            ),
            "threshold": replicas.in_flight_threshold,
        },
    }
    pending = plan.resolved.profile.traffic.pending_query
    if pending is not None:
        triggers["pending"] = {
            "query": asked(
                pending,
                "The profile's query for work that waits outside the engine: it wakes the first replica",
            ),
            "threshold": replicas.in_flight_threshold,
        }
    return triggers


def _query(text: str, because: str) -> Decision[Json]:
    return worked_out(text, f"{because}; SERIES stands for this release's labels")
