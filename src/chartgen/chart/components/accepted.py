"""What a chart does on purpose although the linter warns of it: said on the object, with the reason.

Each entry holds exactly when the linter would find it, or it would warn that the allowance is of no use.
"""

from __future__ import annotations

from collections.abc import Iterator

from chartgen.catalog.gateway_dialect import Cannot, Controller, Gateway
from chartgen.plan.types import Plan

_PREFIX = "allow.chartgen/"


def of_workload(plan: Plan) -> dict[str, str]:
    """Annotations of the Deployment or LeaderWorkerSet."""
    return {f"{_PREFIX}{policy}": reason for policy, reason in _workload(plan)}


def of_ingress(plan: Plan, gateway: Gateway, keep_alive: int) -> dict[str, str]:
    """Annotations of the Ingress; which product serves an HTTPRoute is not told by the chart.

    Args:
        plan: the plan of the chart.
        gateway: the product that serves the Ingress.
        keep_alive: seconds that the engine should keep an idle connection.
    """
    return {f"{_PREFIX}{policy}": reason for policy, reason in _ingress(plan, gateway, keep_alive)}


def _workload(plan: Plan) -> Iterator[tuple[str, str]]:
    profile, least = plan.resolved.profile, plan.replicas.least
    if profile.cluster.spot:
        yield "serving-on-spot-nodes", "batch work may wait for a new load, as its profile says"
    if least == 1 and profile.class_ == "dev":
        yield "single-replica", "one person tries something, and a restart disturbs nobody else"
    elif least == 1 and profile.class_ == "batch":
        yield "single-replica", "batch work may wait for a new load"
    if plan.group is None:
        rolling = plan.placement.strategy.value.get("rollingUpdate")
        if least and isinstance(rolling, dict) and not rolling["maxUnavailable"]:
            yield "rollout-needs-spare-gpu", f"{profile.cluster.spare_gpus} GPUs stay free for it, as the profile says"
        if least > 1 and plan.placement.pod_affinity.value:
            yield (
                "replicas-on-one-node",
                "replicas share nodes on purpose, so that whole nodes stay free for larger ones",
            )
    if plan.fit.verdict == "tight" and _shows_card(plan):
        yield "tight-memory", "the profile's card and context leave no more: try it before it is relied upon"


def _ingress(plan: Plan, gateway: Gateway, keep_alive: int) -> Iterator[tuple[str, str]]:
    engine = plan.resolved.engine
    if gateway.retired:
        yield "retired-gateway", f"the profile asks for {gateway.name}"
    blind = [one.because for one in gateway.says["least request"] if isinstance(one, Cannot | Controller)]
    if blind and plan.replicas.least > 1:
        yield "blind-balancing", "; ".join(blind)
    if gateway.upstream_idle.seconds != 0 and not engine.has("keep-alive"):
        unable = f"vLLM {engine.release} cannot be told to keep them for {keep_alive} s"
        yield "engine-closes-idle-connections-first", unable


def _shows_card(plan: Plan) -> bool:
    """Whether the manifests tell what memory the engine has: a claim does not, a slice by name or label does."""
    asked = str((plan.placement.accelerators.value, plan.placement.node_affinity.value))
    return plan.placement.claim is None and (plan.layout.slice is None or plan.layout.slice.value in asked)
