"""Who may call the server."""

from __future__ import annotations

from chartgen.chart.guards import secret_guards
from chartgen.chart.types import Component
from chartgen.kernel.decision import asked
from chartgen.plan.types import Plan


def component(plan: Plan) -> Component | None:
    """The Secret that callers must know; its value never passes through the chart."""
    secret = plan.resolved.profile.access.api_key_secret
    if secret is None:
        return None
    because = "The Secret whose key `api-key` callers send; it guards /v1 only, which is all that a route leads to"
    return Component(
        name="access",
        templates=(),
        values={"access": {"apiKeySecret": asked(secret, because)}},
        guards=tuple(secret_guards("access.apiKeySecret")),
    )
