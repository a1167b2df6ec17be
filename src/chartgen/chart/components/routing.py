"""The way in from outside, with the settings that let tokens pass as they come."""

from __future__ import annotations

from chartgen.chart.components.engine import merged
from chartgen.chart.types import Component
from chartgen.kernel.decision import Decision, Json
from chartgen.plan.types import Plan


def component(plan: Plan) -> Component:
    """An Ingress or an HTTPRoute; nothing where the profile names no host."""
    route = plan.route
    if route is None:
        return Component(name="routing", templates=(), values={}, shape={"routed": False, "tls": False})
    values: dict[str, Decision[Json]] = {"host": route.host, "paths": route.paths}
    if route.tls_secret is not None:
        values["tlsSecret"] = route.tls_secret
    if route.class_name is not None:
        values["className"] = route.class_name
        values["annotations"] = merged(route.settings.ingress_annotations, "This controller needs none")
    if route.gateway is not None:
        values["gateway"] = route.gateway
        values["timeouts"] = merged(route.settings.route_timeouts, "This gateway takes its limits from elsewhere")
    return Component(
        name="routing",
        templates=(f"{route.kind}.yaml",),
        values={"routing": values},
        shape={"routed": True, "tls": route.tls_secret is not None},
    )
