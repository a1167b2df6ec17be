"""The claim by which pods ask a DRA driver for devices."""

from __future__ import annotations

from chartgen.chart.types import Component
from chartgen.kernel.decision import fact
from chartgen.plan.claim import BETA, STABLE_SINCE
from chartgen.plan.types import Plan


def component(plan: Plan) -> Component | None:
    """A ResourceClaimTemplate; none where accelerators are an extended resource."""
    claim = plan.placement.claim
    if claim is None:
        return None
    return Component(
        name="claim",
        templates=("resourceclaimtemplate.yaml",),
        values={
            "claim": {
                "name": fact(claim.name, "The claim's name inside the pod, and the end of its template's name"),
                "apiVersion": claim.api_version,
                "template": claim.spec,
            },
        },
        needs_kubernetes=STABLE_SINCE if claim.api_version.value.endswith("/v1") else BETA,
    )
