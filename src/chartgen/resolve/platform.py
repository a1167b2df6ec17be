"""Which cloud, which gateway, which Kubernetes."""

from __future__ import annotations

import re

from chartgen.catalog.assumptions import assumption, sentence
from chartgen.catalog.clouds import Cloud, cloud_names, load_cloud
from chartgen.catalog.gateways import Gateway, load_gateway
from chartgen.kernel.decision import Decision, asked, assumed, worked_out
from chartgen.kernel.errors import nearest_name
from chartgen.resolve.resolver import Resolver

_REGIONS = {
    "eks": re.compile(r"(us|eu|ap|sa|ca|me|af|il|mx)(-gov|-iso[a-z]?)?-[a-z]+-\d"),
    "gke": re.compile(r"(us|europe|asia|australia|southamerica|northamerica|me|africa)-[a-z]+\d+"),
}
"""How the two providers that number their regions write them."""


def resolve_cloud(resolver: Resolver) -> Decision[Cloud] | None:
    """The cloud that is named, or the one whose regions are written like the profile's."""
    asked_for, region = resolver.loaded.profile.cluster.cloud, resolver.loaded.profile.region
    if asked_for is not None:
        cloud = resolver.look_up(["cluster", "cloud"], asked_for, load_cloud, "cloud")
        if cloud is None:
            return None
        if cloud.regions and region not in cloud.regions:
            near = nearest_name(region, cloud.regions)
            resolver.report(["region"], repr(region), f"a region of {cloud.name}", near)
        return asked(cloud, f"The profile runs on {cloud.name}")
    for name in cloud_names():
        if region in load_cloud(name).regions:
            return worked_out(load_cloud(name), f"{region} is a region of {load_cloud(name).name}")
    for name, pattern in _REGIONS.items():
        if pattern.fullmatch(region):
            cloud = load_cloud(name)
            return worked_out(cloud, f"{region} is written as regions of {cloud.name} are")
    cloud = load_cloud("on-prem")
    return assumed(cloud, f"No cloud is named and {region} is none of a known provider: {cloud.name}")


def resolve_gateway(resolver: Resolver, cloud: Decision[Cloud] | None) -> Gateway | None:
    """What carries requests in; None where the profile names no host."""
    cluster = resolver.loaded.profile.cluster
    name = cluster.ingress or (cloud.value.gateway if cloud and cluster.host else None)
    if name is None:
        return None
    gateway = resolver.look_up(["cluster", "ingress"], name, load_gateway, "ingress controller or gateway")
    if gateway is None:
        return None
    if cluster.host is None:
        expected = "cluster.host beside it: the host name that clients use"
        resolver.report(["cluster", "ingress"], repr(name), expected)
    if gateway.carries != "route" and cluster.gateway is not None:
        expected = "no gateway beside it: an Ingress attaches to a class, which cluster.ingress_class names"
        resolver.report(["cluster", "gateway"], repr(cluster.gateway), expected)
    if gateway.carries == "route" and cluster.gateway is None:
        expected = "cluster.gateway beside it: the Gateway that the route attaches to, as namespace/name"
        resolver.report(["cluster", "ingress"], repr(name), expected)
    return gateway


KUBERNETES = range(33, 38)
"""The minors whose API the charts are checked against."""


def resolve_kubernetes(resolver: Resolver) -> Decision[int]:
    """The minor of Kubernetes, within those whose API is known."""
    text = resolver.loaded.profile.cluster.kubernetes
    if text is None:
        found = assumption("kubernetes-minor")
        return assumed(int(found.value), sentence(found.because))
    minor = int(text.removeprefix("1."))
    if minor not in KUBERNETES:
        known = ", ".join(f"1.{one}" for one in KUBERNETES)
        resolver.report(["cluster", "kubernetes"], repr(text), f"one of {known}")
    return asked(minor, f"The profile's cluster runs Kubernetes {text}")
