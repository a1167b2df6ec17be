"""The queue in which pods wait for quota."""

from __future__ import annotations

from chartgen.chart.types import Component
from chartgen.plan.types import Plan


def component(plan: Plan) -> Component | None:
    """Kueue's labels; none where nothing queues."""
    queue = plan.queue
    if queue is None:
        return None
    return Component(
        name="queue",
        templates=(),
        values={"queue": {"labels": queue.labels, "podAnnotations": queue.pod_annotations}},
    )
