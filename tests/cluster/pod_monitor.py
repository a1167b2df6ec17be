"""A PodMonitor as a Prometheus scrape configuration, as the Prometheus operator translates it.

Source: prometheus-operator/prometheus-operator v0.85.0, pkg/prometheus/promcfg.go, generatePodMonitorConfig.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from cluster.errors import ClusterError
from cluster.wire import Manifest

Config = dict[str, Any]

_SPEC: Final = {"selector", "podMetricsEndpoints"}
_SELECTOR: Final = {"matchLabels"}
_ENDPOINT: Final = {"port", "path", "interval", "scrapeTimeout"}


def scrape_configs(monitor: Manifest, kubeconfig: Path) -> Iterator[Config]:
    """A scrape configuration for each endpoint of a monitor.

    Raises:
        ClusterError: the monitor has a field that is not translated here.
    """
    spec = monitor["spec"]
    _only(_SPEC, spec)
    _only(_SELECTOR, spec["selector"])
    namespace, name = monitor["metadata"]["namespace"], monitor["metadata"]["name"]
    for number, endpoint in enumerate(spec["podMetricsEndpoints"]):
        _only(_ENDPOINT, endpoint)
        yield {
            "job_name": f"podMonitor/{namespace}/{name}/{number}",
            "kubernetes_sd_configs": [
                {"role": "pod", "kubeconfig_file": str(kubeconfig), "namespaces": {"names": [namespace]}}
            ],
            "scrape_interval": endpoint["interval"],
            "scrape_timeout": endpoint["scrapeTimeout"],
            "metrics_path": endpoint["path"],
            "relabel_configs": [
                {"source_labels": ["job"], "target_label": "__tmp_prometheus_job_name"},
                {"action": "drop", "source_labels": [_meta("phase")], "regex": "(Failed|Succeeded)"},
                *(_keeps(key, value) for key, value in sorted(spec["selector"]["matchLabels"].items())),
                {"action": "keep", "source_labels": [_meta("container_port_name")], "regex": endpoint["port"]},
                {"source_labels": ["__meta_kubernetes_namespace"], "target_label": "namespace"},
                {"source_labels": [_meta("container_name")], "target_label": "container"},
                {"source_labels": [_meta("name")], "target_label": "pod"},
                {"target_label": "job", "replacement": f"{namespace}/{name}"},
                {"target_label": "endpoint", "replacement": endpoint["port"]},
            ],
        }


def _meta(what: str) -> str:
    return f"__meta_kubernetes_pod_{what}"


def _keeps(key: str, value: str) -> Config:
    label = re.sub(r"[^a-zA-Z0-9_]", "_", key)
    present = [_meta(f"label_{label}"), _meta(f"labelpresent_{label}")]
    return {"action": "keep", "source_labels": present, "regex": f"({value});true"}


def _only(known: set[str], found: Manifest) -> None:
    if found.keys() - known:
        raise ClusterError(f"a PodMonitor's {sorted(found.keys() - known)} are not translated yet")
