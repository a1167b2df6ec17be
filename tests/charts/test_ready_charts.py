"""The committed charts, judged by the real programs that will meet them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from chartgen.validate.library import FOLDER

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program and keep what it says."""
    return subprocess.run([*map(str, command)], input=text, capture_output=True, text=True, check=False)


def rendered(helm: str, chart: Path, *options: str) -> list[dict[str, Any]]:
    """The objects of a chart."""
    result = run(helm, "template", chart.name, chart, "--namespace", "llm", *options)
    assert result.returncode == 0, result.stderr
    return [document for document in yaml.safe_load_all(result.stdout) if document]


def only(objects: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    """The one object of a kind."""
    (found,) = [one for one in objects if one["kind"] == kind]
    return found


def test_helm_lints_each_chart_strictly(helm: str, chart: Path) -> None:
    """Neither Helm has an error or a warning."""
    result = run(helm, "lint", "--strict", chart)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("minor", ["1.33", "1.34", "1.37"])
def test_kubeconform_accepts_every_object(helm: str, kubeconform: str, chart: Path, minor: str) -> None:
    """On the oldest and the newest Kubernetes, no object is invalid and none is skipped."""
    manifests = run(helm, "template", chart.name, chart, "--kube-version", f"{minor}.0").stdout
    name = "{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"
    locations = [f"{FOLDER}/{{{{.NormalizedKubernetesVersion}}}}/{name}", f"{FOLDER}/custom/{name}"]
    options = [option for location in locations for option in ("-schema-location", location)]
    result = run(
        kubeconform,
        "-strict",
        "-summary",
        "-output",
        "json",
        "-kubernetes-version",
        f"{minor}.0",
        *options,
        text=manifests,
    )
    summary = json.loads(result.stdout)["summary"]
    assert (summary["invalid"], summary["errors"], summary["skipped"]) == (0, 0, 0), result.stdout
    assert summary["valid"] >= 5


def test_prometheus_accepts_the_alerts(helm: str, promtool: str, chart: Path, tmp_path: Path) -> None:
    """Every alert parses, and its query with the labels filled in is PromQL."""
    rule = only(rendered(helm, chart), "PrometheusRule")
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump(rule["spec"]), encoding="utf-8")
    result = run(promtool, "check", "rules", path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "SERIES" not in path.read_text("utf-8")


def test_a_deployment_has_no_replicas_beside_an_autoscaler(helm: str, chart: Path) -> None:
    """A count would be set back to it by every upgrade."""
    objects = rendered(helm, chart)
    assert only(objects, "ScaledObject")
    assert "replicas" not in only(objects, "Deployment")["spec"]


def test_every_pod_is_guaranteed_and_says_its_gpus(helm: str, chart: Path) -> None:
    """Requests equal limits in every container, and the engine asks for whole GPUs."""
    pod = only(rendered(helm, chart), "Deployment")["spec"]["template"]["spec"]
    containers = [*pod["containers"], *pod.get("initContainers", [])]
    assert all(one["resources"]["requests"] == one["resources"]["limits"] for one in containers)
    assert pod["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] >= 1


def test_the_stop_adds_up(helm: str, chart: Path) -> None:
    """Sleep before the stop, plus the engine's drain, is less than the grace period."""
    pod = only(rendered(helm, chart), "Deployment")["spec"]["template"]["spec"]
    engine = pod["containers"][0]
    drain = int(engine["args"][engine["args"].index("--shutdown-timeout") + 1])
    assert engine["lifecycle"]["preStop"]["sleep"]["seconds"] + drain < pod["terminationGracePeriodSeconds"]


def test_no_secret_value_is_rendered(helm: str, chart: Path) -> None:
    """A chart names Secrets and makes none."""
    assert [one["kind"] for one in rendered(helm, chart)].count("Secret") == 0


def test_the_interactive_chart_refuses_zero_replicas_with_its_reason(helm: str) -> None:
    """`--set autoscaling.minReplicas=0` is refused by Helm itself, and the message says why."""
    result = run(helm, "template", ROOT / "out" / "chat-70b", "--set", "autoscaling.minReplicas=0")
    assert result.returncode != 0
    assert "at least 2: an interactive model that loses its only replica is away for a start of" in result.stderr


def test_a_mistyped_value_is_refused(helm: str) -> None:
    """A key that nobody reads is an error and not silence."""
    result = run(helm, "template", ROOT / "out" / "chat-70b", "--set", "autoscaling.minReplica=3")
    assert result.returncode != 0
    assert "minReplica" in result.stderr


def test_the_chat_scales_as_planned(helm: str) -> None:
    """The ScaledObject of chat-70b: two at least, calm on the way down, loud when metrics are missing."""
    spec = only(rendered(helm, ROOT / "out" / "chat-70b"), "ScaledObject")["spec"]
    assert spec["minReplicaCount"] == 2
    assert spec["cooldownPeriod"] >= 600
    assert spec["fallback"]["behavior"] == "currentReplicasIfHigher"
    waiting = spec["triggers"][-1]["metadata"]
    assert waiting["query"] == 'sum(vllm:num_requests_waiting{model_name="chat-70b",namespace="llm"})'
    assert waiting["ignoreNullValues"] == "false"


def test_batch_work_may_rest_at_zero(helm: str) -> None:
    """The ScaledObject of batch-8b goes to zero, and a query from outside wakes it."""
    spec = only(rendered(helm, ROOT / "out" / "batch-8b"), "ScaledObject")["spec"]
    assert spec["minReplicaCount"] == 0
    assert any("rabbitmq" in trigger["metadata"]["query"] for trigger in spec["triggers"])


def test_each_chart_passes_its_own_lint(chart: Path) -> None:
    """The witness, who has never seen the plan, finds nothing at the strictest level."""
    result = run(Path(sys.executable).with_name("chartgen"), "lint", chart, "--level", "strict", "--fail-on", "advice")
    assert result.returncode == 0, result.stdout + result.stderr
