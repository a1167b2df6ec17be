"""What wakes somebody: alerts in the words of the objectives, by the metric names of the planned release."""

from __future__ import annotations

import math
from collections.abc import Iterator

from chartgen.catalog.assumptions import Assumption, assumption, sentence, whole
from chartgen.chart.types import Component
from chartgen.kernel.decision import Decision, Json, Values, assumed, worked_out
from chartgen.plan.types import Plan


def component(plan: Plan) -> Component:
    """A PrometheusRule with one group."""
    return Component(
        name="monitoring",
        templates=("prometheusrule.yaml",),
        values={"alerts": dict(_alerts(plan))},
        open=("alerts",),
    )


def _alerts(plan: Plan) -> Iterator[tuple[str, Values]]:
    metrics = {concept: name.value for concept, name in plan.observability.metrics.items()}
    waiting, running = metrics["requests waiting"], metrics["requests running"]
    if plan.resolved.interactive:
        yield (
            "NoReplicaAnswers",
            _alert(
                f"absent(sum({running}{{SERIES}})) unless on() absent_over_time({running}{{SERIES}}[1d])",
                "No replica is scraped, though one was within a day: nobody is served, or nobody can see it. "
                "A first start is quiet",
                "alert-quick",
                "critical",
                "No replica reports its running requests.",
            ),
        )
        yield from _latencies(plan, metrics)
    threshold = plan.replicas.waiting_threshold
    yield (
        "RequestsQueue",
        _alert(
            f"sum({waiting}{{SERIES}}) > {threshold.value * plan.replicas.maximum.value}",
            f"{threshold.value} wait for each of {plan.replicas.maximum.value} replicas, and no more can be added",
            "alert-slow",
            "warning",
            "More requests wait than the largest number of replicas can take.",
        ),
    )
    if "admission rejections" in metrics and "max-num-queued-reqs" in plan.flags:
        yield (
            "RequestsAreRefused",
            _alert(
                f"sum(rate({metrics['admission rejections']}{{SERIES}}[5m])) > 0",
                "With a queue limit the queue stops growing when it is full, so refusals tell what it no longer can",
                "alert-quick",
                "warning",
                "The queue is full and requests are refused.",
            ),
        )
    if "kv cache usage" in metrics:
        share = assumption("kv-cache-full")
        yield (
            "KvCacheFull",
            _alert(
                f"max({metrics['kv cache usage']}{{SERIES}}) > {share.value:g}",
                sentence(share.because),
                "alert-slow",
                "warning",
                "A replica's KV cache is full: requests are queued or computed twice.",
            ),
        )
    if plan.resolved.autoscales:
        yield "ScalingIsBlind", _blind(plan)


def _blind(plan: Plan) -> dict[str, Decision[Json]]:
    """KEDA reads nothing, for longer than a first start reads nothing."""
    window = whole("alert-window")
    errors = " or ".join(
        f'increase(keda_scaled_object_errors_total{{scaledObject="RELEASE",{label}="NAMESPACE"}}[{window}m])'
        for label in ("namespace", "exported_namespace")
    )
    alert = _alert(
        f"sum({errors}) > 0",
        "KEDA cannot read a trigger's metric and holds its fallback; the counter exists from KEDA 2.15 on, and "
        "its namespace is exported_namespace where the scrape sets one of its own",
        "alert-slow",
        "warning",
        "The autoscaler cannot read its metrics and holds the fallback replicas.",
    )
    failing = plan.replicas.patience.value * plan.replicas.polling.value
    wait = math.ceil(failing / 60) + window
    if wait > whole("alert-slow"):
        because = (
            f"A first start shows no metrics either: KEDA may count errors for {failing} s before it falls back, and "
            f"the query sees the last one for {window} minutes more"
        )
        alert["for"] = worked_out(f"{wait}m", because)
    return alert


def _latencies(plan: Plan, metrics: dict[str, str]) -> Iterator[tuple[str, Values]]:
    wanted = {
        "time to first token": ("FirstTokenIsLate", plan.resolved.first_token),
        "inter-token latency": ("TokensAreSlow", plan.resolved.token_gap),
    }
    for concept, (name, objective) in wanted.items():
        if concept in metrics:
            buckets = f"sum by (le) (rate({metrics[concept]}_bucket{{SERIES}}[5m]))"
            yield (
                name,
                _alert(
                    f"histogram_quantile(0.95, {buckets}) > {objective.value:g}",
                    f"One request in twenty misses the objective of {objective.value:g} s ({objective.because})",
                    "alert-slow",
                    "warning",
                    f"The 95th percentile of the {concept} is above its objective.",
                ),
            )


def _alert(query: str, because: str, wait: str, severity: str, summary: str) -> dict[str, Decision[Json]]:
    patience: Assumption = assumption(wait)
    return {
        "query": worked_out(query, f"{because}; SERIES stands for this release's labels"),
        "for": assumed(f"{int(patience.value)}m", sentence(patience.because)),
        "severity": assumed(severity, "critical wakes somebody, warning waits for the morning"),
        "summary": worked_out(summary, "What the person who is woken reads first"),
    }
