"""What ties the pods of one replica together when it spans nodes."""

from __future__ import annotations

from chartgen.catalog.engine_spelling import Flags
from chartgen.chart.types import Component
from chartgen.kernel.decision import Decision, Json, fact, worked_out
from chartgen.plan.claim import BETA, STABLE_SINCE
from chartgen.plan.types import Plan


def component(plan: Plan) -> Component | None:
    """The parts of a LeaderWorkerSet beyond its pods; none where one pod is a whole replica."""
    group = plan.group
    if group is None:
        return None
    domain: dict[str, Decision[Json]] = {}
    if group.compute_domain is not None:
        domain["computeDomain"] = group.compute_domain
    return Component(
        name="group",
        templates=("_group.tpl", *(("computedomain.yaml",) if domain else ())),
        values={
            "group": {
                "size": group.size,
                "restartPolicy": group.restart_policy,
                "startupPolicy": group.startup_policy,
                "rolloutStrategy": group.rollout,
                "subdomainPolicy": group.subdomain_policy,
                "annotations": group.annotations,
                "affinity": group.affinity,
                "leaderSelector": group.leader_selector,
                "leaderFlags": group.leader_flags,
                "workerFlags": group.worker_flags,
                "env": group.env,
                "network": group.network,
                "leaderOnlyFlags": _leader_only(plan),
                "workerPreStopSeconds": _worker_pre_stop(plan),
                **domain,
            },
        },
        shape={"compute_domain": bool(domain)},
        needs_kubernetes=STABLE_SINCE if domain else BETA,
        open=("group.env", "group.annotations", "group.network"),
    )


def _leader_only(plan: Plan) -> Decision[list[Json]]:
    spelled = plan.resolved.engine.spell("drain time", plan.drain.drain.value)
    names: list[Json] = [name.removeprefix("--") for name in spelled.flags] if isinstance(spelled, Flags) else []
    return fact(names, "Only the HTTP server drains; a worker that is told to stop leaves at once")


def _worker_pre_stop(plan: Plan) -> Decision[int]:
    sleep, drain = plan.drain.pre_stop.value, plan.drain.drain.value
    return worked_out(
        plan.drain.answers,
        f"A worker computes as long as its leader answers: {sleep} s before the stop signal and {drain} s of drain. "
        "All pods of a group are told to leave together, and without its stage the leader's answers are lost",
    )
