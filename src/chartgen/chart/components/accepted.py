"""What a chart does on purpose although the linter warns of it: said on the object, with the reason.

Each entry holds exactly when the linter would find it, or it would warn that the allowance is of no use.
"""

from __future__ import annotations

from chartgen.catalog.gateway_dialect import Cannot, Controller, Gateway
from chartgen.plan.types import Plan

_PREFIX = "allow.chartgen/"


def of_workload(plan: Plan) -> dict[str, str]:
    """Annotations of the Deployment or LeaderWorkerSet."""
    profile, least = plan.resolved.profile, plan.least
    rolling = plan.placement.strategy.value.get("rollingUpdate")
    allowed = {
        "serving-on-spot-nodes": "batch work may wait for a new load, as its profile says"
        if profile.cluster.spot
        else "",
        "single-replica": _alone(plan) if least == 1 else "",
        "rollout-needs-spare-gpu": f"{profile.cluster.spare_gpus} GPUs stay free for it, as the profile says"
        if plan.group is None and least and isinstance(rolling, dict) and not rolling["maxUnavailable"]
        else "",
        "replicas-on-one-node": "replicas share nodes on purpose, so that whole nodes stay free for larger ones"
        if plan.group is None and least > 1 and plan.placement.pod_affinity.value
        else "",
        "tight-memory": "the profile's card and context leave no more: try it before it is relied upon"
        if plan.fit.verdict == "tight" and _shows_card(plan)
        else "",
    }
    return _annotations(allowed)


def of_ingress(plan: Plan, gateway: Gateway, keep_alive: int) -> dict[str, str]:
    """Annotations of the Ingress; which product serves an HTTPRoute is not told by the chart.

    Args:
        plan: the plan of the chart.
        gateway: the product that serves the Ingress.
        keep_alive: seconds that the engine should keep an idle connection.
    """
    blind = [one.because for one in gateway.says["least request"] if isinstance(one, Cannot | Controller)]
    engine = plan.resolved.engine
    allowed = {
        "retired-gateway": f"the profile asks for {gateway.name}" if gateway.retired else "",
        "blind-balancing": "; ".join(blind) if plan.least > 1 else "",
        "engine-closes-idle-connections-first": f"vLLM {engine.release} cannot be told to keep them for {keep_alive} s"
        if gateway.upstream_idle.seconds != 0 and not engine.has("keep-alive")
        else "",
    }
    return _annotations(allowed)


def _alone(plan: Plan) -> str:
    if plan.resolved.profile.class_ == "dev":
        return "one person tries something, and a restart disturbs nobody else"
    return "batch work may wait for a new load" if plan.resolved.profile.class_ == "batch" else ""


def _shows_card(plan: Plan) -> bool:
    """Whether the manifests tell what memory the engine has: a claim does not, a slice by name or label does."""
    asked = str((plan.placement.accelerators.value, plan.placement.node_affinity.value))
    return plan.placement.claim is None and (plan.layout.slice is None or plan.layout.slice.value in asked)


def _annotations(allowed: dict[str, str]) -> dict[str, str]:
    return {f"{_PREFIX}{policy}": reason for policy, reason in allowed.items() if reason}
