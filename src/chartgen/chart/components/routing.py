"""The way in from outside, with the settings that let tokens pass as they come."""

from __future__ import annotations

from chartgen.catalog.gateway_words import ExtraObject, StreamSettings
from chartgen.chart.components import accepted
from chartgen.chart.components.engine import merged
from chartgen.chart.types import Component
from chartgen.kernel.decision import Decision, Json, Values, asked, fact
from chartgen.plan.types import Plan


def component(plan: Plan) -> Component:
    """An Ingress or an HTTPRoute; nothing where the profile names no host."""
    route = plan.route
    if route is None:
        shape: dict[str, bool | str] = {"routed": False, "tls": False, "ingress_class": False, "named_policy": False}
        return Component(name="routing", templates=(), values={}, shape=shape)
    values: dict[str, Decision[Json] | Values] = {"host": route.host, "paths": route.paths}
    if route.tls_secret is not None:
        values["tlsSecret"] = route.tls_secret
    if route.class_name is not None:
        values["className"] = route.class_name
    if route.kind == "ingress":
        values["annotations"] = _annotations(plan, route.settings)
    if route.gateway is not None:
        values["gateway"] = route.gateway
        values["timeouts"] = merged(route.settings.route_timeouts, "This gateway takes its limits from elsewhere")
    extras = route.settings.objects
    if extras:
        values["policies"] = {extra.kind: _policy(extra) for extra in extras}
    return Component(
        name="routing",
        templates=(f"{route.kind}.yaml", *(f"{extra.kind.lower()}.yaml" for extra in extras)),
        values={"routing": values},
        shape={
            "routed": True,
            "tls": route.tls_secret is not None,
            "ingress_class": route.class_name is not None,
            "named_policy": any(extra.reference for extra in extras),
        },
    )


def _annotations(plan: Plan, settings: StreamSettings) -> Decision[Json]:
    """What the controller reads, and what the linter reads."""
    gateway = plan.resolved.gateway
    allowed = accepted.of_ingress(plan, gateway, settings.engine_keep_alive.value) if gateway else {}
    because = "the profile asks for it, so the linter need not tell of it"
    told = {key: asked(reason, because) for key, reason in allowed.items()}
    return merged({**settings.ingress_annotations, **told}, "This controller needs none")


def _policy(extra: ExtraObject) -> Values:
    """An object of the gateway's own kind; its template knows what it has to point at."""
    version = fact(extra.api_version, f"The API version of {extra.kind} that was read")
    if extra.reference is None:
        return {"apiVersion": version, "spec": extra.spec}
    named = fact(
        {"key": extra.reference.key, "value": extra.reference.value},
        f"The annotation by which the Service names its {extra.kind}; the object's name is filled in",
    )
    return {"apiVersion": version, "reference": named, "spec": extra.spec}
