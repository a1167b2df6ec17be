"""Which components a plan needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from chartgen.chart.components import (
    access,
    alerts,
    autoscaling,
    claim,
    disruption,
    engine,
    frame,
    group,
    monitoring,
    queue,
    routing,
    weights,
)
from chartgen.chart.types import Chart
from chartgen.plan.types import Plan

COMPONENTS: Final = (
    engine.component,
    claim.component,
    group.component,
    queue.component,
    weights.component,
    autoscaling.component,
    routing.component,
    access.component,
    disruption.component,
    monitoring.component,
    alerts.component,
    frame.common,
    frame.tests,
)
"""Every concern, in the order of values.yaml."""


def compose(plan: Plan) -> Chart:
    """The chart of a plan."""
    resolved = plan.resolved
    made = (build(plan) for build in COMPONENTS)
    return Chart(
        name=resolved.loaded.name,
        app_version=resolved.engine.release,
        description=_description(plan),
        kubernetes=f"1.{resolved.kubernetes.value}",
        namespace=resolved.profile.cluster.namespace or resolved.loaded.name,
        notes=plan.notes,
        components=tuple(component for component in made if component is not None),
        decisions=_decisions(plan),
    )


def _description(plan: Plan) -> str:
    resolved = plan.resolved
    where = f"{plan.layout.gpus.value} x {resolved.gpu.title}"
    return f"{resolved.model.id} on {where} with vLLM {resolved.engine.release}"


def _decisions(plan: Plan) -> tuple[tuple[str, Any], ...]:
    """What explains the chart without being a value of it."""
    titles: Mapping[str, Any] = {
        "Precision of the weights": plan.layout.precision,
        "Tensor parallel size": plan.layout.tensor_parallel,
        "GPUs of a replica": plan.layout.gpus,
        "Requests in flight that the KV cache holds": plan.batching.in_flight,
        "Requests in flight inside the objectives": plan.carries.in_flight,
        "Requests a second of a replica": plan.carries.requests_per_second,
        "Replicas at the stated peak": plan.replicas.peak,
        "Load time": plan.start_up.load,
        "First download": plan.start_up.fetch,
        "Instance types": plan.placement.shapes,
    }
    return tuple(titles.items())
