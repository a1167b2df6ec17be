"""What a vLLM release shows on /metrics: the recorded names, types and labels, with values that a test sets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

WAITING: Final = "vllm:num_requests_waiting"
RUNNING: Final = "vllm:num_requests_running"
_RECORDED: Final = Path(__file__).resolve().parent.parent / "engines" / "metrics"


def recorded(release: str) -> dict[str, Any]:
    """What a real engine of that release was seen to show (see `scripts/engine_live`), by metric."""
    found: dict[str, Any] = json.loads((_RECORDED / f"{release}.json").read_text(encoding="utf-8"))
    return found


def exposition(release: str, model: str, values: Mapping[str, float]) -> str:
    """The text of /metrics in Prometheus' format; what has no value set is 0.

    Raises:
        KeyError: a value is set for a metric that the release was not seen to show.
    """
    shown = recorded(release)
    for name in values:
        shown[name]
    return "\n".join(line for name in shown for line in _lines(name, shown[name], model, values.get(name, 0))) + "\n"


def _lines(name: str, metric: Mapping[str, Any], model: str, value: float) -> Iterator[str]:
    known = {"model_name": model, "engine": "0"}
    labels = {label: known.get(label, "any") for label in metric["labels"]}
    yield f"# TYPE {name} {metric['type']}"
    if metric["type"] == "histogram":
        yield _sample(f"{name}_bucket", {**labels, "le": "+Inf"}, value)
        yield _sample(f"{name}_sum", labels, value)
        yield _sample(f"{name}_count", labels, value)
    else:
        yield _sample(name, labels, value)


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    inner = ",".join(f"{label}={json.dumps(text)}" for label, text in labels.items())
    return f"{name}{{{inner}}} {value:g}"
