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
from chartgen.profile.placement import Mps, TimeSlicing

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
        advice=plan.placement.advice,
        quota=plan.namespace.quota,
        limits=plan.namespace.notes,
        components=tuple(component for component in made if component is not None),
        decisions=_decisions(plan),
    )


def _description(plan: Plan) -> str:
    resolved = plan.resolved
    return f"{resolved.model.id} on {_where(plan)} with vLLM {resolved.engine.release}"


def _where(plan: Plan) -> str:
    layout, card, allocation = plan.layout, plan.resolved.gpu, plan.resolved.allocation
    if len(layout.alternatives) > 1:
        return " or ".join(f"{entry.count} x {entry.gpu.title}" for entry in layout.alternatives)
    if layout.slice:
        return f"a {layout.slice.value} slice of {card.title}"
    if isinstance(allocation, TimeSlicing | Mps):
        return f"one of {allocation.clients} shares of {card.title}"
    where = f"{layout.gpus.value} x {card.title}"
    return where if layout.nodes.value == 1 else f"{where} over {layout.nodes.value} nodes"


def _decisions(plan: Plan) -> tuple[tuple[str, Any], ...]:
    """What explains the chart without being a value of it."""
    titles: Mapping[str, Any] = {
        "Precision of the weights": plan.layout.precision,
        "Tensor parallel size": plan.layout.tensor_parallel,
        "GPUs of a replica": plan.layout.gpus,
        **({"MIG profile": plan.layout.slice} if plan.layout.slice else {}),
        **({"Nodes of a replica": plan.layout.nodes} if plan.group else {}),
        "Requests in flight that the KV cache holds": plan.batching.in_flight,
        "Requests in flight inside the objectives": plan.carries.in_flight,
        "Requests a second of a replica": plan.carries.requests_per_second,
        "Replicas at the stated peak": plan.replicas.peak,
        "Load time": plan.start_up.load,
        "First download": plan.start_up.fetch,
        "Instance types": plan.placement.shapes,
    }
    return tuple(titles.items())
