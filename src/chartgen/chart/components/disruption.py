"""What node drains may take at a time."""

from __future__ import annotations

from chartgen.chart.types import Component
from chartgen.kernel.decision import worked_out
from chartgen.plan.types import Plan

_OF_A_GROUP = "; pods of all nodes count, as the loss of any of them stops a replica"


def component(plan: Plan) -> Component | None:
    """A disruption budget from two replicas on; for one, it would only block node drains for ever."""
    least = plan.replicas.least
    if least < 2:  # noqa: PLR2004 - one replica has no other to stand in
        return None
    return Component(
        name="disruption",
        templates=("poddisruptionbudget.yaml",),
        values={
            "disruption": {
                "maxUnavailable": worked_out(
                    1,
                    f"One of at least {least} replicas at a time; one that is still loading never blocks a drain"
                    + _OF_A_GROUP * (plan.group is not None),
                ),
            },
        },
    )
