"""What is measured, by the names that the planned release gives it."""

from __future__ import annotations

from typing import Final

from chartgen.catalog.assumptions import assumption, sentence, whole
from chartgen.catalog.engines import Engine
from chartgen.kernel.decision import Decision, assumed, fact
from chartgen.plan.types import Observability
from chartgen.resolve.engine import NEEDED

CONCEPTS: Final = (*NEEDED, "admission rejections")
"""What triggers, alerts and dashboards ask for; the last where the release has it."""


def plan_observability(engine: Engine) -> Observability:
    """Name the metrics; a concept that the release does not export is left out, and never guessed."""
    metrics: dict[str, Decision[str]] = {}
    for concept in CONCEPTS:
        metric = engine.metric(concept)
        if metric is not None:
            metrics[concept] = fact(metric.name, f"The name of {concept} in vLLM {engine.release}")
    return Observability(
        metrics=metrics,
        interval=_duration("scrape-interval"),
        timeout=_duration("scrape-timeout"),
    )


def _duration(name: str) -> Decision[str]:
    return assumed(f"{whole(name)}s", sentence(assumption(name).because))
