"""What an autoscaler looks at: each metric or trigger, with its query understood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from chartgen.catalog import engine_fold
from chartgen.catalog.engines import engine
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import Manifest, at, mapping, mappings
from chartgen.lint.promql import PromQLError, Query, read_query
from chartgen.lint.servers import servers
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.lint.views.engine.view import EngineView

_SUFFIXES: Final = ("_bucket", "_sum", "_count", "_created")
_LATENCY: Final = re.compile(r"(seconds|latency|_ms|milliseconds)(_bucket|_sum|_count)?$")
_GPU_BUSY: Final = re.compile(
    r"GPU_UTIL|gpu_utilization|duty_cycle|GR_ENGINE_ACTIVE|gpu_usage|DCGM_FI_PROF_", re.IGNORECASE
)
_GPU_MEMORY: Final = re.compile(r"FB_USED|FB_FREE|gpu_memory|memory_used_bytes|FB_RESERVED|gpu_mem", re.IGNORECASE)
_PER_POD: Final = frozenset({"pod", "instance", "engine", "pod_name", "kubernetes_pod_name", "container", "endpoint"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingMetric:
    """A metric that the target's engine does not export."""

    name: str
    """As the query writes it."""
    instead: str
    """What the release calls it; empty when nobody can say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One metric or trigger."""

    type: str
    """cpu, memory, prometheus, cron, another KEDA scaler, or an HPA's Pods, Object or External."""
    query: str | None
    """The PromQL query, or the metric's name in an HPA; null for other signals."""
    readable: Maybe[bool]
    """True when the query is understood."""
    metrics: tuple[str, ...]
    """The metrics that it reads."""
    missing: Maybe[tuple[MissingMetric, ...]]
    """Those that the target's engine does not export under that name."""
    engine_own: bool
    """Whether only the scaled pods export them, so that at zero replicas there is nothing to read."""
    single: bool
    """Whether the query gives one series however many pods run."""
    counter: bool
    """Whether it compares a counter that only ever grows."""
    average: bool
    """Whether the query itself is an average over pods or requests already."""
    latency: bool
    """Whether it measures time."""
    ratio: bool
    """Whether it is a share between 0 and 1, or one thing divided by another."""
    gpu_busy: bool
    """Whether it is the GPU's utilization."""
    gpu_memory: bool
    """Whether it is the GPU's memory, which an engine fills by design."""
    filled: bool
    """Whether missing data is written as zero: or vector(0)."""
    target_type: str
    """AverageValue (divided by the replicas), Value or Utilization."""
    threshold: Maybe[float | None]
    """What it is compared with; null when it is not written."""
    nulls_ignored: bool
    """Whether KEDA takes missing data for zero: ignoreNullValues, true by default."""
    address: bool
    """Whether the trigger says where to ask."""
    at: tuple[Step, ...]
    """Where it stands."""


def keda_signals(spec: Mapping[str, Any], engines: Sequence[EngineView], *, renamed: bool) -> Iterator[Signal]:
    """The triggers of a ScaledObject; `renamed` says that something gives the engine's metrics other names."""
    for index, trigger in enumerate(mappings(spec.get("triggers"))):
        metadata = mapping(trigger.get("metadata"))
        kind = str(trigger.get("type"))
        prometheus = kind == "prometheus"
        query = metadata.get("query") if prometheus else None
        text = "" if query is None else str(query)
        yield _signal(
            kind,
            text if prometheus else None,
            engines,
            target_type=str(
                trigger.get("metricType") or ("Utilization" if kind in {"cpu", "memory"} else "AverageValue")
            ),
            threshold=_number(metadata.get("threshold", metadata.get("value"))),
            nulls_ignored=prometheus and str(metadata.get("ignoreNullValues", "true")).lower() == "true",
            address=not prometheus or bool(metadata.get("serverAddress")),
            renamed=renamed or not prometheus,
            where=("spec", "triggers", index),
        )


def hpa_signals(scaler: Manifest, engines: Sequence[EngineView]) -> Iterator[Signal]:
    """The metrics of an HPA; none written means CPU at 80 percent."""
    metrics = mappings(at(scaler.value, ("spec", "metrics")))
    if not metrics:
        yield _signal("cpu", None, engines, target_type="Utilization", threshold=None, where=("spec",))
    for index, metric in enumerate(metrics):
        kind = str(metric.get("type"))
        body = mapping(metric.get(kind[:1].lower() + kind[1:]))
        name = mapping(body.get("metric")).get("name")
        target = mapping(body.get("target"))
        amount = target.get("averageValue", target.get("value", target.get("averageUtilization")))
        kind = str(body.get("name")) if kind in {"Resource", "ContainerResource"} else kind
        yield _signal(
            kind,
            str(name) if name else None,
            engines,
            target_type=str(target.get("type") or "AverageValue"),
            threshold=_number(amount),
            where=("spec", "metrics", index),
        )


def _signal(
    kind: str,
    query: str | None,
    engines: Sequence[EngineView],
    *,
    target_type: str,
    threshold: Maybe[float | None],
    where: tuple[Step, ...],
    nulls_ignored: bool = False,
    address: bool = True,
    renamed: bool = True,
) -> Signal:
    read, readable = _read(query, adapted=kind in {"Pods", "Object", "External"})
    metrics = read.metrics
    text = query or ""
    return Signal(
        type=kind,
        query=query,
        readable=readable,
        metrics=metrics,
        missing=_missing(metrics, engines, renamed=renamed),
        engine_own=bool(metrics) and all(is_engine_metric(name) for name in metrics),
        single=kind != "prometheus" or not (read.labels is None or read.labels & _PER_POD) or _recorded(metrics),
        counter=any(is_counter(name) for name in read.raw) and kind == "prometheus",
        average=_is_average(read),
        latency=bool(metrics) and all(_LATENCY.search(name) for name in metrics),
        ratio=read.ratio or any(name.endswith(("_perc", "_ratio", "usage_percent")) for name in metrics),
        gpu_busy=bool(_GPU_BUSY.search(text)),
        gpu_memory=bool(_GPU_MEMORY.search(text)),
        filled=read.filled,
        target_type=target_type,
        threshold=threshold,
        nulls_ignored=nulls_ignored,
        address=address,
        at=where,
    )


def _is_average(read: Query) -> bool:
    return read.outer == "avg" or (read.ratio and any("count(" in name or name == "up" for name in read.metrics))


def _read(query: str | None, *, adapted: bool) -> tuple[Query, Maybe[bool]]:
    """A query; the metric of an HPA is a name that an adapter may have made."""
    if query is None:
        return Query(), True
    if adapted:
        return Query(metrics=(query,), raw=(query,)), True
    try:
        return read_query(query), True
    except PromQLError as error:
        return Query(), Unknown(because=f"the query is not understood: {error}", run="promtool promql format QUERY")


def _recorded(metrics: Sequence[str]) -> bool:
    """Whether the query reads recording rules, whose series nobody here can count."""
    return bool(metrics) and all(":" in name and not is_engine_metric(name) for name in metrics)


def is_engine_metric(name: str) -> bool:
    """Whether a metric is one that a model server exports itself."""
    return any(server.prefix and name.startswith(server.prefix) for server in servers().values())


def base_name(name: str) -> str:
    """A metric's name as the catalogue has it: a histogram without its suffix."""
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def is_counter(name: str) -> bool:
    """Whether a metric only ever grows."""
    return name.endswith(("_total", "_bucket", "_sum", "_count")) and "vector" not in name


def engine_names(metrics: Sequence[str], *, renamed: bool) -> tuple[str, ...]:
    """The names to hold against vLLM's own: with a colon, or with underscores where nothing renames metrics.

    A query that asks for both spellings is content with either.
    """
    own = dict.fromkeys(name for name in metrics if name.startswith("vllm:"))
    if not renamed:
        own |= dict.fromkeys(name for name in metrics if _with_colon(name) and _with_colon(name) not in own)
    return tuple(own)


def _with_colon(name: str) -> str:
    """The metric that a name with underscores is taken from: vllm_num_requests_waiting; empty for any other name."""
    spelled = f"vllm:{name.removeprefix('vllm_')}"
    return spelled if name.startswith("vllm_") and base_name(spelled) in _ever() else ""


def _missing(
    metrics: Sequence[str], engines: Sequence[EngineView], *, renamed: bool
) -> Maybe[tuple[MissingMetric, ...]]:
    """The vLLM metrics that the target's release does not export; names of adapters are left alone."""
    own = engine_names(metrics, renamed=renamed)
    if not own:
        return ()
    if not engines:
        return Unknown(because="the engine that exports the metrics is not among the files", run="curl ENGINE/metrics")
    view = engines[0]
    if view.server != "vllm":
        return tuple(MissingMetric(name=name, instead="") for name in own)
    if isinstance(view.release.version, Unknown):
        return view.release.version if all(base_name(name) in _ever() for name in own) else _never(own)
    return missing_metrics(own, view.release.version)


def _never(names: Sequence[str]) -> tuple[MissingMetric, ...]:
    return tuple(
        MissingMetric(name=name, instead=_with_colon(name)) for name in names if base_name(name) not in _ever()
    )


@cache
def missing_metrics(names: tuple[str, ...], release: str) -> tuple[MissingMetric, ...]:
    """The metrics among `names` that a release does not export, with what it calls them."""
    known = engine(release)
    found = []
    for name in names:
        metric = known.metrics.get(name) or known.metrics.get(base_name(name))
        if metric is None or metric.status == "hidden":
            found.append(MissingMetric(name=name, instead=_renamed(base_name(_with_colon(name) or name), release)))
    return tuple(found)


@cache
def _ever() -> frozenset[str]:
    """Every metric that any release has exported."""
    return frozenset(engine_fold.committed()["metrics"])


def _renamed(name: str, release: str) -> str:
    """What a release calls the metric that another release called `name`."""
    from chartgen.catalog.engine_metrics import concept_of  # noqa: PLC0415 - needed for a finding only

    concept = concept_of(name)
    metric = engine(release).metric(concept) if concept else None
    return metric.name if metric else ""


def _number(value: Any) -> Maybe[float | None]:
    if value is None:
        return None
    try:
        return float(str(value))
    except ValueError:
        from chartgen.lint.functions import is_quantity, quantity  # noqa: PLC0415 - HPA targets are quantities

        text = str(value)
        return (
            quantity(text) if is_quantity(text) else Unknown(because=f"the threshold is {text}", run="render it first")
        )
