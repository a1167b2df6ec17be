"""The way in from outside, and what it must let pass."""

from __future__ import annotations

from chartgen.catalog.assumptions import number
from chartgen.catalog.gateway_words import StreamIntent, StreamSettings, spell
from chartgen.kernel.decision import Decision, Json, asked, fact
from chartgen.kernel.units import MIB, Bytes, Seconds
from chartgen.plan.types import Drain, Route
from chartgen.resolve import Resolved

PATHS: list[Json] = ["/v1"]
"""What is open to the outside: metrics, health and tokenizer stay inside, as no API key guards them."""


def plan_route(resolved: Resolved, drain: Drain) -> Route | None:
    """The route of the profile's host; None when it names none."""
    gateway, cluster = resolved.gateway, resolved.profile.cluster
    if gateway is None or cluster.host is None:
        return None
    idle = Seconds(number("stream-idle"))
    intent = StreamIntent(
        idle=idle,
        total=idle,
        body=Bytes(int(number("request-body") * MIB)),
        drain=Seconds(drain.answers),
        health_path="/health",
        port=8000,
    )
    settings = spell(gateway, intent)
    return Route(
        kind="ingress" if gateway.carries == "ingress" else "httproute",
        host=asked(cluster.host, "The host name that the profile states"),
        class_name=_class(resolved),
        gateway=_gateway(cluster.gateway) if gateway.carries == "route" else None,
        tls_secret=asked(cluster.tls_secret, "The certificate that the profile names") if cluster.tls_secret else None,
        paths=fact(PATHS, "Only the API is open to the outside: /metrics and others ask for no key"),
        settings=settings,
    )


def _class(resolved: Resolved) -> Decision[str] | None:
    gateway, named = resolved.gateway, resolved.profile.cluster.ingress_class
    if gateway is None or gateway.carries != "ingress":
        return None
    if named is not None:
        return asked(named, "The IngressClass that the profile names")
    if gateway.class_ is None:
        return None
    return fact(gateway.class_, f"The usual IngressClass of {gateway.name}")


def _gateway(text: str | None) -> Decision[dict[str, Json]]:
    namespace, _, name = (text or "").rpartition("/")
    return asked({"name": name, "namespace": namespace}, "The Gateway that the profile attaches to")


def keep_alive(settings: StreamSettings | None) -> Decision[int] | None:
    """How long the engine keeps an idle connection; None when no proxy stands before it."""
    return settings.engine_keep_alive if settings else None
