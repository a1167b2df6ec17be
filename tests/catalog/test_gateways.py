"""Gateways: every dialect answers every intent, and the settings have the units their products read."""

from __future__ import annotations

from typing import Any

import pytest

from chartgen.catalog.gateway_dialect import INTENTS
from chartgen.catalog.gateways import (
    Gateway,
    StreamIntent,
    StreamSettings,
    gateway_names,
    load_gateway,
    spell,
)
from chartgen.kernel.errors import UnknownName
from chartgen.kernel.units import MIB, Bytes, Seconds

MUST_ANSWER = set(INTENTS) - {"drain", "reach pods"}
INTENT = StreamIntent(
    idle=Seconds(600),
    total=Seconds(1800),
    body=Bytes(64 * MIB),
    drain=Seconds(300),
    health_path="/health",
    port=8000,
)


def settings(name: str, intent: StreamIntent = INTENT) -> StreamSettings:
    return spell(load_gateway(name), intent)


@pytest.fixture(params=gateway_names())
def gateway(request: pytest.FixtureRequest) -> Gateway:
    return load_gateway(request.param)


def test_every_intent_is_answered(gateway: Gateway) -> None:
    """A dialect says of every intent where it is kept, that it holds by default, or that it cannot be had."""
    assert set(gateway.says) >= MUST_ANSWER
    assert all(gateway.says.values())


def test_nothing_stays_unfilled(gateway: Gateway) -> None:
    """No {placeholder} is left in any value, and a route's settings never land on an Ingress."""
    spelled = spell(gateway, INTENT)
    values = [*spelled.ingress_annotations.values(), *spelled.service_annotations.values()]
    texts = [decision.value for decision in values] + list(spelled.notes)
    texts += [str(extra.spec.value) for extra in spelled.objects]
    assert not [text for text in texts if "{idle" in text or "{total" in text or "{body" in text]
    if gateway.carries == "route":
        assert not spelled.ingress_annotations
    else:
        assert not spelled.route_timeouts


def test_the_engine_outlives_the_proxy(gateway: Gateway) -> None:
    """The engine keeps idle connections longer than the proxy does, or requests meet closing connections."""
    limit = gateway.upstream_idle.seconds
    proxy = 600 if limit == "idle timeout" else limit
    assert settings(gateway.key).engine_keep_alive.value > proxy


def test_longer_silence_never_gives_a_smaller_setting(gateway: Gateway) -> None:
    """Asking for twice the silence changes numbers only upwards."""
    longer = StreamIntent(
        idle=Seconds(1200),
        total=Seconds(3600),
        body=Bytes(128 * MIB),
        drain=Seconds(600),
        health_path="/health",
        port=8000,
    )
    for before, after in zip(_numbers(settings(gateway.key)), _numbers(settings(gateway.key, longer)), strict=True):
        assert after >= before


def _numbers(spelled: StreamSettings) -> list[int]:
    decisions = [*spelled.ingress_annotations.values(), *spelled.service_annotations.values()]
    text = " ".join([decision.value for decision in decisions] + [str(o.spec.value) for o in spelled.objects])
    return [int(digits) for digits in "".join(c if c.isdigit() else " " for c in text).split()]


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("nginx", "nginx.ingress.kubernetes.io/proxy-read-timeout", "600"),
        ("nginx", "nginx.ingress.kubernetes.io/proxy-body-size", "64m"),
        ("nginx-inc", "nginx.org/proxy-read-timeout", "600s"),
        ("nginx-inc", "nginx.org/max-fails", "0"),
        ("alb", "alb.ingress.kubernetes.io/load-balancer-attributes", "idle_timeout.timeout_seconds=600"),
        ("haproxy", "haproxy.org/timeout-server", "600s"),
        ("haproxy-ingress", "haproxy-ingress.github.io/balance-algorithm", "leastconn"),
        ("contour", "projectcontour.io/response-timeout", "infinity"),
        ("agic", "appgw.ingress.kubernetes.io/request-timeout", "1800"),
        ("kong", "konghq.com/read-timeout", "600000"),
        ("gke-ingress", "kubernetes.io/ingress.class", "gce-internal"),
    ],
)
def test_annotations_have_the_unit_of_the_product(name: str, key: str, value: str) -> None:
    """Seconds, seconds with a unit, or milliseconds: each product gets its own."""
    spelled = settings(name)
    assert {**spelled.ingress_annotations, **spelled.service_annotations}[key].value == value


@pytest.mark.parametrize(
    ("name", "kind", "path", "value"),
    [
        ("envoy-gateway", "BackendTrafficPolicy", ["timeout", "http", "requestTimeout"], "0s"),
        ("envoy-gateway", "BackendTrafficPolicy", ["timeout", "http", "streamIdleTimeout"], "600s"),
        ("gke-gateway", "GCPBackendPolicy", ["default", "timeoutSec"], 1800),
        ("gke-gateway", "HealthCheckPolicy", ["default", "config", "httpHealthCheck", "port"], 8000),
        ("gke-ingress", "BackendConfig", ["timeoutSec"], 1800),
        ("azure-agc", "RoutePolicy", ["default", "timeouts", "routeTimeout"], "1800s"),
        ("istio", "DestinationRule", ["trafficPolicy", "loadBalancer", "simple"], "LEAST_REQUEST"),
        ("kong", "KongUpstreamPolicy", ["algorithm"], "least-connections"),
        ("nginx-gateway-fabric", "ProxySettingsPolicy", ["timeout", "read"], "600s"),
    ],
)
def test_objects_hold_every_part(name: str, kind: str, path: list[str], value: Any) -> None:
    """Parts of one kind become one object, with numbers as numbers and durations as text."""
    (extra,) = (extra for extra in settings(name).objects if extra.kind == kind)
    node: Any = extra.spec.value
    for step in path:
        node = node[step]
    assert node == value


def test_attributes_of_one_annotation_are_joined() -> None:
    """Balancing and draining of an ALB share one annotation, as a list with commas."""
    found = settings("alb").ingress_annotations["alb.ingress.kubernetes.io/target-group-attributes"].value
    assert found == (
        "load_balancing.algorithm.type=least_outstanding_requests,deregistration_delay.timeout_seconds=300"
    )


def test_a_limit_of_the_product_is_kept_and_said() -> None:
    """An ALB takes at most 4000 s of silence: the setting stays there, the keep-alive follows, and a note says so."""
    long = StreamIntent(
        idle=Seconds(7200),
        total=Seconds(7200),
        body=Bytes(MIB),
        drain=Seconds(60),
        health_path="/health",
        port=8000,
    )
    spelled = settings("alb", long)
    attribute = spelled.ingress_annotations["alb.ingress.kubernetes.io/load-balancer-attributes"].value
    assert attribute == "idle_timeout.timeout_seconds=4000"
    assert spelled.engine_keep_alive.value == 4015
    assert any("at most 4000 where 7200" in note for note in spelled.notes)


def test_a_retired_product_is_said_to_be() -> None:
    """The first note of ingress-nginx says that it gets no more fixes."""
    assert "March 2026" in settings("nginx").notes[0]


def test_the_standard_lifts_the_limit_on_a_whole_request() -> None:
    """An HTTPRoute gets 0s for both time-outs, or Envoy Gateway would cut it after 15 s."""
    timeouts = settings("gateway-api").route_timeouts
    assert {name: decision.value for name, decision in timeouts.items()} == {
        "request": "0s",
        "backendRequest": "0s",
    }


def test_unknown_gateway_names_the_nearest() -> None:
    """A misspelt gateway is refused with the nearest name."""
    with pytest.raises(UnknownName) as caught:
        load_gateway("envoy-gatewy")
    assert caught.value.nearest == "envoy-gateway"
