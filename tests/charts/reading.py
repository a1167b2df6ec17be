"""A committed chart as its objects, by the real Helm."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import yaml


def run(*command: str | Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program and keep what it says."""
    return subprocess.run([*map(str, command)], input=text, capture_output=True, text=True, check=False)


def floor(chart: Path) -> str:
    """The oldest Kubernetes that a chart says it installs on, as 1.34."""
    about = yaml.safe_load((chart / "Chart.yaml").read_text("utf-8"))
    return str(about["kubeVersion"]).removeprefix(">=").removesuffix(".0-0")


@cache
def rendered(helm: str, chart: Path, *options: str) -> list[dict[str, Any]]:
    """The objects of a chart; most tests look at the same ones."""
    oldest = f"{floor(chart)}.0"
    result = run(helm, "template", chart.name, chart, "--namespace", "llm", "--kube-version", oldest, *options)
    assert result.returncode == 0, result.stderr
    return [document for document in yaml.safe_load_all(result.stdout) if document]


def only(objects: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    """The one object of a kind."""
    (found,) = [one for one in objects if one["kind"] == kind]
    return found


def workload(objects: list[dict[str, Any]]) -> dict[str, Any]:
    """What makes the pods: a Deployment, or a LeaderWorkerSet for a replica over several nodes."""
    (found,) = [one for one in objects if one["kind"] in {"Deployment", "LeaderWorkerSet"}]
    return found


def pods(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The spec of each kind of pod: one, or a leader's and a worker's."""
    spec = workload(objects)["spec"]
    group = spec.get("leaderWorkerTemplate")
    templates = [spec["template"]] if group is None else [group["leaderTemplate"], group["workerTemplate"]]
    return [template["spec"] for template in templates]
