"""Whole charts behind every gateway: rendered by Helm, every object valid, nothing of the dialect dropped."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from chartgen import api
from chartgen.catalog.gateways import gateway_names, load_gateway
from chartgen.chart.compose import compose
from chartgen.plan.route import plan_route
from chartgen.plan.types import Plan
from chartgen.profile import load_profile
from chartgen.render.check import Checks
from chartgen.render.files import chart_files
from chartgen.validate.helm import engine as helm_engine

PROFILE = Path(__file__).resolve().parents[2] / "profiles" / "chat-70b.yaml"
FRONT = ("cluster.host=chat.example.com", "cluster.gateway=infra/public")


@cache
def plan() -> Plan:
    return api.plan(load_profile(PROFILE, [*FRONT, "cluster.ingress=gateway-api"]))


def behind(name: str) -> Plan:
    """chat-70b behind one gateway."""
    resolved = replace(plan().resolved, gateway=load_gateway(name))
    return replace(plan(), resolved=resolved, route=plan_route(resolved, plan().drain))


@cache
def objects(name: str) -> dict[str, Any]:
    """The chart's objects by kind, all of them accepted by Helm and by the schemas."""
    chart = compose(behind(name))
    manifests = Checks(helm=helm_engine(), validator="embedded").manifests(chart, chart_files(chart))
    found = [document for text in manifests.values() for document in yaml.safe_load_all(text) if document]
    return {document["kind"]: document for document in found}


@pytest.mark.parametrize("name", gateway_names())
def test_every_setting_of_the_dialect_reaches_the_chart(name: str) -> None:
    """Annotations, time-outs and objects of the settings all stand in the rendered manifests."""
    made = behind(name)
    assert made.route is not None
    settings, found = made.route.settings, objects(name)
    service = found["Service"]["metadata"].get("annotations", {})
    assert {key: one.value for key, one in settings.service_annotations.items()}.items() <= service.items()
    if load_gateway(name).carries == "ingress":
        ingress = found["Ingress"]["metadata"]["annotations"]
        assert {key: one.value for key, one in settings.ingress_annotations.items()}.items() <= ingress.items()
    else:
        (rule,) = found["HTTPRoute"]["spec"]["rules"]
        assert rule.get("timeouts", {}) == {key: one.value for key, one in settings.route_timeouts.items()}
    for extra in settings.objects:
        assert extra.spec.value.items() <= found[extra.kind]["spec"].items()
        if extra.reference:
            assert found[extra.kind]["metadata"]["name"] in service[extra.reference.key]


@pytest.mark.parametrize(
    ("name", "kind", "target"),
    [
        ("envoy-gateway", "BackendTrafficPolicy", "HTTPRoute"),
        ("gke-gateway", "GCPBackendPolicy", "Service"),
        ("gke-gateway", "GCPTrafficDistributionPolicy", "Service"),
        ("gke-gateway", "HealthCheckPolicy", "Service"),
        ("azure-agc", "RoutePolicy", "HTTPRoute"),
        ("nginx-gateway-fabric", "UpstreamSettingsPolicy", "Service"),
    ],
)
def test_a_policy_points_at_what_the_chart_made(name: str, kind: str, target: str) -> None:
    """Its target is the HTTPRoute or the Service of this release, by name."""
    found = objects(name)
    spec = found[kind]["spec"]
    (reference,) = spec.get("targetRefs", [spec.get("targetRef")])
    assert (reference["kind"], reference["name"]) == (target, found[target]["metadata"]["name"])


def test_gke_reads_its_class_from_the_annotation_alone() -> None:
    """The API server refuses an Ingress that has both the annotation and the field."""
    ingress = objects("gke-ingress")["Ingress"]
    assert "ingressClassName" not in ingress["spec"]
    assert ingress["metadata"]["annotations"]["kubernetes.io/ingress.class"] == "gce-internal"
