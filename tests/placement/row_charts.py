"""A row of the placement table as a whole chart, from a profile: rendered by Helm, and held to the row."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from chartgen import api
from chartgen.catalog.clouds import load_cloud
from chartgen.plan.allocation_types import DeviceClaim
from chartgen.profile import load_profile
from chartgen.render.check import Checks, objects_of
from chartgen.validate.helm import engine
from placement.row_profiles import write_profile
from placement.table import Row, claim_words, term_words, toleration_words

MINORS = (33, 34, 35, 36, 37)
"""Every minor whose API is known."""


def minors(row: Row) -> tuple[int, ...]:
    """The minors that a row is for: claims need 1.34."""
    return MINORS[1:] if isinstance(row.request().allocation, DeviceClaim) else MINORS


@cache
def checks() -> Checks:
    """Helm as a library, and the embedded schemas."""
    return Checks(helm=engine(), validator="embedded")


def manifests(row: Row, minor: int, folder: Path) -> Mapping[str, str]:
    """The chart of a row for a Kubernetes, with its node side; Helm and the embedded schemas accept both."""
    made = api.plan(load_profile(write_profile(row, folder, minor)))
    assert made.layout.gpus.value == row.gpus
    chart = api.build(made)
    checks().node_side(chart.name, api.node_files(made), chart.kubernetes)
    return checks().manifests(chart, api.chart_files(chart))


def objects(rendered: Mapping[str, str]) -> list[dict[str, Any]]:
    """The objects of rendered manifests."""
    return [value for _, value in objects_of(rendered)]


def hold_to(row: Row, found: list[dict[str, Any]]) -> None:
    """The pods of a chart ask for exactly what the row says."""
    (workload,) = [one for one in found if one["kind"] == "Deployment"]
    pod = workload["spec"]["template"]["spec"]
    templates = [one for one in found if one["kind"] == "ResourceClaimTemplate"]
    limits = pod["containers"][0]["resources"]["limits"]
    extended = " ".join(f"{count} {name}" for name, count in limits.items() if "/" in name)
    assert (claim_words(templates[0]["spec"]) if templates else extended) == row.devices
    assert toleration_words(pod["tolerations"]) == row.tolerations
    (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    cloud = load_cloud(row.cloud)
    wanted = row.affinity.split(" & ")
    given = [one for one in term["matchExpressions"] if one["key"] != cloud.region_label]
    for words, expression in zip(wanted, given, strict=True):
        if expression["key"] == cloud.shape_label:
            # The table asks for no CPU and no memory: of its types, those remain that hold the pod.
            key, operator, names = words.split()
            assert (expression["key"], expression["operator"]) == (key, operator)
            assert set() < set(expression["values"]) <= set(names.split(","))
        else:
            assert term_words([expression]) == words
