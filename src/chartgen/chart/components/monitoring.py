"""How Prometheus finds the pods, and what a dashboard shows of them."""

from __future__ import annotations

from chartgen.chart.types import Component
from chartgen.kernel.decision import Json, asked, fact
from chartgen.plan.types import Plan


def component(plan: Plan) -> Component:
    """A PodMonitor: each pod is scraped by itself, whatever Services stand before it."""
    labels = plan.resolved.profile.cluster.monitor_labels
    metrics = plan.observability.metrics
    named: dict[str, Json] = dict(labels or {})
    return Component(
        name="monitoring",
        templates=("podmonitor.yaml", "configmap.yaml"),
        files=("dashboard.json",),
        shape={concept.replace(" ", "_").replace("-", "_"): name.value for concept, name in metrics.items()},
        values={
            "monitoring": {
                "interval": plan.observability.interval,
                "scrapeTimeout": plan.observability.timeout,
                "labels": asked(named, "The labels by which this Prometheus picks its monitors")
                if named
                else fact({}, "None is named; many Prometheus installations pick monitors by a label `release`"),
            },
        },
    )
