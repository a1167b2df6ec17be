"""The scaler view: an HPA or ScaledObject, joined to what it scales, and its signals understood."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import Manifest, at, mapping
from chartgen.lint.numbers import number, whole
from chartgen.lint.relations import minimum_of, target_of
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.lint.views.all import Views
from chartgen.lint.views.engine.view import EngineView
from chartgen.lint.views.signal import Signal, hpa_signals, keda_signals

_SCALABLE: Final = frozenset({"Deployment", "StatefulSet", "ReplicaSet", "LeaderWorkerSet", "ReplicationController"})
_FIXED: Final = frozenset({"DaemonSet", "Pod", "Job", "CronJob", "Service", "InferenceService"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a scaler scales."""

    kind: str
    """Its kind, as the scaler names it."""
    name: str
    """Its name, as the scaler names it."""
    found: Maybe[bool]
    """Whether it is among the files."""
    near: str
    """A workload of the bundle with a name very much like it; empty for none."""
    scalable: bool
    """Whether the kind has a scale subresource."""
    replicas: int | None
    """Replicas written beside the scaler; null when none are, as it should be."""
    engine: Maybe[bool]
    """Whether it runs a model server."""
    gpus: Maybe[int]
    """GPUs of one pod."""
    silent: Maybe[bool]
    """Whether the engine exports no metrics: --disable-log-stats."""
    load: Maybe[float]
    """Seconds that a new replica takes to answer: the likely load of its weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """What KEDA does when a signal cannot be read."""

    replicas: int
    """The replicas it falls back to."""
    behavior: str
    """static, currentReplicas, currentReplicasIfHigher or currentReplicasIfLower."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalerView:
    """An autoscaler."""

    kind: str
    """HorizontalPodAutoscaler or ScaledObject."""
    name: str
    """Its name."""
    target: Target
    """What it scales."""
    minimum: int
    """The fewest replicas; KEDA's default is 0."""
    minimum_written: bool
    """Whether the minimum is written."""
    maximum: int
    """The most replicas; KEDA's default is 100."""
    signals: tuple[Signal, ...]
    """What it looks at."""
    fallback: Fallback | None
    """KEDA's fallback; null for none."""
    window_down: int
    """Seconds that it looks back before it takes replicas away."""
    cooldown: int
    """Seconds of silence before KEDA goes to zero."""
    rivals: int
    """Other scalers of the same target."""
    paused: bool
    """Whether it is paused by annotation."""


def scaler_view(scaler: Manifest, views: Views) -> ScalerView:
    """The view of one autoscaler."""
    spec = mapping(scaler.value.get("spec"))
    keda = scaler.kind == "ScaledObject"
    kind, name = target_of(scaler)
    workload = views.relations.find(kind, name, scaler.namespace)
    engines = views.engines_of(workload) if workload else []
    where: tuple[Step, ...] = ("advanced", "horizontalPodAutoscalerConfig") if keda else ()
    window = at(spec, (*where, "behavior", "scaleDown", "stabilizationWindowSeconds"))
    maximum = spec.get("maxReplicaCount" if keda else "maxReplicas")
    cooldown = spec.get("cooldownPeriod")
    rivals = [one for one in views.relations.scalers_named(kind, name, scaler.namespace) if one is not scaler]
    return ScalerView(
        kind=scaler.kind,
        name=scaler.name,
        target=_target(kind, name, workload, engines, scaler.namespace, views),
        minimum=minimum_of(scaler),
        minimum_written=("minReplicaCount" if keda else "minReplicas") in spec,
        maximum=maximum if isinstance(maximum, int) else whole("keda-maximum"),
        signals=tuple(
            keda_signals(spec, engines, renamed=views.renames_metrics) if keda else hpa_signals(scaler, engines)
        ),
        fallback=_fallback(mapping(spec.get("fallback"))),
        window_down=window if isinstance(window, int) else whole("scale-down-window"),
        cooldown=cooldown if isinstance(cooldown, int) else whole("keda-cooldown"),
        rivals=len(rivals),
        paused=any(key.startswith("autoscaling.keda.sh/paused") for key in mapping(scaler.metadata.get("annotations"))),
    )


def _target(
    kind: str, name: str, workload: Manifest | None, engines: list[EngineView], namespace: str, views: Views
) -> Target:
    unknown = Unknown(
        because=f"{kind} {name} is not among the files", run=f"kubectl get {kind.lower()} {name} -n NAMESPACE -o yaml"
    )
    same_kind = [] if workload else [one.name for one in views.bundle.of_kind(*_SCALABLE, namespace=namespace)]
    found: Maybe[bool] = workload is not None or (False if same_kind else unknown)
    near = difflib.get_close_matches(name, same_kind, n=1, cutoff=number("alike-targets"))
    written = at(workload.value, ("spec", "replicas")) if workload else None
    sites = views.bundle.pods_of.get(id(workload), ()) if workload else ()
    load: Maybe[float] = unknown
    silent: Maybe[bool] = False
    if engines:
        load = engines[0].weights.likely_seconds
        option = engines[0].options["--disable-log-stats"]
        silent = option if isinstance(option, Unknown) else option is True
    return Target(
        kind=kind,
        name=name,
        found=found,
        near=near[0] if near else "",
        scalable=kind not in _FIXED,
        replicas=written if isinstance(written, int) else None,
        engine=bool(engines) if workload else unknown,
        gpus=views.pod(sites[0]).gpus.count if sites else unknown,
        silent=silent,
        load=load,
    )


def _fallback(written: Mapping[str, Any]) -> Fallback | None:
    if not written:
        return None
    replicas = written.get("replicas")
    return Fallback(
        replicas=replicas if isinstance(replicas, int) else 0, behavior=str(written.get("behavior") or "static")
    )
