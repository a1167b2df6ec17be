"""What a rendered chart says of its engine's container, and which metrics the chart's other objects ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from chartgen import api
from chartgen.render.files import chart_files
from chartgen.validate.helm import engine as helm_engine
from engine_lab import rendered

_METRIC: Final = re.compile(r"(vllm:[a-z0-9_]+)(?:\{([^{}]*)\})?")
_LABEL: Final = re.compile(r"([a-z_]+)\s*(?:=~|!~|!=|=)")
_GROUPED: Final = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")
_OF_THE_TARGET: Final = frozenset({"namespace", "pod", "job", "service", "container", "instance", "endpoint", "node"})
"""Labels that Prometheus adds when it scrapes."""
_OF_A_BUCKET: Final = "le"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A probe as rendered; Kubernetes' own defaults where it is silent."""

    path: str
    delay: float
    period: float
    timeout: float
    failures: int

    @property
    def budget(self) -> float:
        """Seconds from the start until the kubelet gives up."""
        return self.delay + self.period * self.failures


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """The engine's container of one chart."""

    chart: str
    architecture: str
    """The model's class, by which the engine knows how to load it."""
    command: tuple[str, ...]
    args: tuple[str, ...]
    env: Mapping[str, str | None]
    """Environment; None for what comes from a Secret or the cluster."""
    startup: Probe
    readiness: Probe
    liveness: Probe
    pre_stop: Mapping[str, Any]
    """The hook as rendered; empty for none."""
    grace: float
    """Seconds between the stop of the pod and its kill."""
    metrics: Mapping[str, frozenset[str]]
    """Each vllm: series that trigger, monitor, rules or dashboard name, with the engine's labels they use."""


def render(profile: Path, release: str) -> Container:
    """The engine's container of a profile's chart on a release, as Helm renders it."""
    plan = api.plan(api.load_profile(profile, [f"engine.release={release}"]))
    chart = api.build(plan)
    manifests = helm_engine().template(
        chart_files(chart),
        release=chart.name,
        namespace=chart.namespace,
        kubernetes=chart.kubernetes,
    )
    (pod, container), *_ = [
        (pod, container)
        for pod in rendered.pods(manifests.values())
        for container in rendered.engines_of(pod)
        if "startupProbe" in container
    ]
    return Container(
        chart=chart.name,
        architecture=plan.resolved.model.architecture,
        command=tuple(container.get("command", ())),
        args=tuple(container.get("args", ())),
        env={entry["name"]: entry.get("value") for entry in container.get("env", ())},
        startup=_probe(container["startupProbe"]),
        readiness=_probe(container["readinessProbe"]),
        liveness=_probe(container["livenessProbe"]),
        pre_stop=container.get("lifecycle", {}).get("preStop", {}),
        grace=float(pod.get("terminationGracePeriodSeconds", 30)),
        metrics=used_metrics(manifests.values()),
    )


def _probe(probe: Mapping[str, Any]) -> Probe:
    return Probe(
        path=str(probe["httpGet"]["path"]),
        delay=float(probe.get("initialDelaySeconds", 0)),
        period=float(probe.get("periodSeconds", 10)),
        timeout=float(probe.get("timeoutSeconds", 1)),
        failures=int(probe.get("failureThreshold", 3)),
    )


def used_metrics(texts: Iterable[str]) -> dict[str, frozenset[str]]:
    """The vllm: series in queries, with the labels that are the engine's own."""
    used: dict[str, set[str]] = {}
    for text in texts:
        for line in text.splitlines():
            grouped = {name.strip() for match in _GROUPED.finditer(line) for name in match[1].split(",")}
            for match in _METRIC.finditer(line):
                labels = set(_LABEL.findall(match[2] or "")) | grouped
                used.setdefault(match[1], set()).update(labels - _OF_THE_TARGET - {_OF_A_BUCKET, ""})
    return {name: frozenset(labels) for name, labels in used.items()}
