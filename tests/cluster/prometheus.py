"""A real Prometheus on loopback that scrapes what the PodMonitors of some namespaces select."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

import yaml

from cluster.controlplane import ControlPlane, program
from cluster.pod_monitor import scrape_configs
from cluster.sandbox import LOOPBACK, free_ports

_MONITORING: Final = "monitoring.coreos.com/v1"
_SECONDS: Final = 10


class Prometheus:
    """One Prometheus: it can be stopped and started again, and keeps its address and its data."""

    def __init__(self, plane: ControlPlane, name: str, others: Mapping[str, int]) -> None:
        """Start a Prometheus.

        Args:
            plane: the control plane whose pods it finds.
            name: its name among the programs of the sandbox.
            others: loopback ports that it scrapes besides the pods, by job.
        """
        self._plane, self._name, self._others = plane, name, others
        (self._port,) = free_ports(1)
        self._namespaces: set[str] = set()
        self._lock = threading.Lock()
        self._folder = plane.sandbox.folder / name
        self._folder.mkdir()
        self._configure()
        self.start()

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://{LOOPBACK}:{self._port}"

    def start(self) -> None:
        """Start it, the first time or after a stop, and wait until it answers."""
        self._plane.sandbox.start(
            self._name,
            [
                program("prometheus"),
                f"--config.file={self._folder}/prometheus.yaml",
                f"--storage.tsdb.path={self._folder}/data",
                f"--web.listen-address={LOOPBACK}:{self._port}",
                "--web.enable-lifecycle",
                "--log.level=warn",
            ],
        )
        self._plane.wait(self._ready, self._name, 60)

    def stop(self) -> None:
        """End it at once, as a lost node does."""
        self._plane.sandbox.stop(self._name)

    def follow(self, namespace: str) -> None:
        """Scrape what the monitors of one more namespace select, and evaluate its rules."""
        with self._lock:
            self._namespaces.add(namespace)
            self._configure()
            self._send("/-/reload", b"")

    def count(self, query: str) -> int:
        """How many series a query gives now."""
        data = json.loads(self._send("/api/v1/query", urlencode({"query": query}).encode()))["data"]
        return len(data["result"])

    def firing(self, namespace: str) -> set[str]:
        """The alerts of a namespace's rules that fire now."""
        groups = json.loads(self._send("/api/v1/rules?type=alert", None))["data"]["groups"]
        rules = (rule for group in groups if group["name"].startswith(f"{namespace}/") for rule in group["rules"])
        return {rule["name"] for rule in rules if rule["state"] == "firing"}

    def _ready(self) -> bool:
        try:
            self._send("/-/ready", None)
        except OSError:
            return False
        return True

    def _send(self, path: str, body: bytes | None) -> bytes:
        with urllib.request.urlopen(self.address + path, body, timeout=_SECONDS) as answer:  # noqa: S310 - loopback
            found: bytes = answer.read()
        return found

    def _configure(self) -> None:
        api = self._plane.api
        monitors = [item for name in sorted(self._namespaces) for item in api.list(_MONITORING, "PodMonitor", name)]
        rules = [item for name in sorted(self._namespaces) for item in api.list(_MONITORING, "PrometheusRule", name)]
        groups = [
            {**group, "name": f"{item['metadata']['namespace']}/{group['name']}"}
            for item in rules
            for group in item["spec"]["groups"]
        ]
        static = [
            {"job_name": job, "static_configs": [{"targets": [f"{LOOPBACK}:{port}"]}]}
            for job, port in self._others.items()
        ]
        config: dict[str, Any] = {
            "global": {"scrape_interval": "3s", "scrape_timeout": "3s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yaml"],
            "scrape_configs": [
                *static,
                *(one for monitor in monitors for one in scrape_configs(monitor, self._plane.kubeconfig)),
            ],
        }
        (self._folder / "rules.yaml").write_text(yaml.safe_dump({"groups": groups}), encoding="utf-8")
        (self._folder / "prometheus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
