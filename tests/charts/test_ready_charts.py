"""The committed charts, judged by the real programs that will meet them."""

from __future__ import annotations

import json
import os
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from chartgen.validate.library import FOLDER
from charts.reading import floor, only, pods, rendered, run, workload

ROOT = Path(__file__).resolve().parents[2]


def test_helm_lints_each_chart_strictly(helm: str, chart: Path) -> None:
    """Neither Helm has an error or a warning."""
    result = run(helm, "lint", "--strict", chart)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("minor", ["1.33", "1.34", "1.37"])
def test_kubeconform_accepts_every_object(helm: str, kubeconform: str, chart: Path, minor: str) -> None:
    """From oldest to newest Kubernetes nothing is invalid or skipped; below its floor Helm refuses a chart."""
    template = run(helm, "template", chart.name, chart, "--kube-version", f"{minor}.0")
    if minor < floor(chart):
        assert template.returncode != 0
        assert "incompatible with Kubernetes" in template.stderr
        return
    manifests = template.stdout
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


def test_a_workload_has_no_replicas_beside_an_autoscaler(helm: str, chart: Path) -> None:
    """A count would be set back to it by every upgrade; only a development chart is scaled by nobody."""
    objects = rendered(helm, chart)
    scalers = [one["spec"]["scaleTargetRef"]["kind"] for one in objects if one["kind"] == "ScaledObject"]
    found = workload(objects)
    assert scalers == ([] if chart.name == "dev-4b" else [found["kind"]])
    assert ("replicas" in found["spec"]) == (chart.name == "dev-4b")


DEVICES = {
    "amd-70b": {"amd.com/gpu": 1},
    "assistant-14b": {"nvidia.com/gpu": 1},
    "batch-8b": {"nvidia.com/gpu": 1},
    "chat-70b": {"nvidia.com/gpu": 4},
    "dev-4b": {"nvidia.com/gpu": 1},
    "dra-70b": {},
    "kueue-32b": {"nvidia.com/gpu": 1},
    "lws-r1": {"nvidia.com/gpu": 8},
    "mig-14b": {"nvidia.com/mig-1g.35gb": 1},
}
"""The extended resources of a pod of each ready chart; empty where its devices come by claim."""


def test_every_pod_is_guaranteed_and_says_its_devices(helm: str, chart: Path) -> None:
    """Requests equal limits in every container; the engine asks for its devices by resource or by claim, never both."""
    objects = rendered(helm, chart)
    templates = {one["metadata"]["name"] for one in objects if one["kind"] == "ResourceClaimTemplate"}
    for pod in pods(objects):
        containers = [*pod["containers"], *pod.get("initContainers", [])]
        assert all(one["resources"]["requests"] == one["resources"]["limits"] for one in containers)
        resources = pod["containers"][0]["resources"]
        devices = {name: count for name, count in resources["limits"].items() if "/" in name}
        assert devices == DEVICES[chart.name]
        named = {claim["name"]: claim["resourceClaimTemplateName"] for claim in pod.get("resourceClaims", [])}
        assert {claim["name"] for claim in resources.get("claims", [])} == set(named)
        assert set(named.values()) == templates
        assert bool(named) == (not devices)


def test_the_stop_adds_up(helm: str, chart: Path) -> None:
    """Sleep before the stop, plus the engine's drain, is less than the grace period; workers outlast their leader's."""
    leader, *workers = pods(rendered(helm, chart))
    engine = leader["containers"][0]
    stop = engine["lifecycle"]["preStop"]["sleep"]["seconds"]
    stop += int(engine["args"][engine["args"].index("--shutdown-timeout") + 1])
    assert stop < leader["terminationGracePeriodSeconds"]
    for pod in workers:
        engine = pod["containers"][0]
        assert "--shutdown-timeout" not in engine["args"]
        assert stop <= engine["lifecycle"]["preStop"]["sleep"]["seconds"] < pod["terminationGracePeriodSeconds"]


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
    """The ScaledObject of chat-70b: two at least, calm on the way down, loud when metrics are missing.

    It says nothing of rest at zero: KEDA's webhook warns that it ignores that where replicas always run.
    """
    spec = only(rendered(helm, ROOT / "out" / "chat-70b"), "ScaledObject")["spec"]
    assert spec["minReplicaCount"] == 2
    behavior = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    assert behavior["scaleDown"]["stabilizationWindowSeconds"] >= 600
    assert not spec.keys() & {"pollingInterval", "cooldownPeriod", "initialCooldownPeriod"}
    assert spec["fallback"]["behavior"] == "currentReplicasIfHigher"
    waiting = spec["triggers"][-1]["metadata"]
    assert waiting["query"] == 'sum(vllm:num_requests_waiting{model_name="chat-70b",namespace="llm"})'
    assert waiting["ignoreNullValues"] == "false"


def test_batch_work_may_rest_at_zero(helm: str) -> None:
    """The ScaledObject of batch-8b goes to zero, and a query from outside wakes it."""
    spec = only(rendered(helm, ROOT / "out" / "batch-8b"), "ScaledObject")["spec"]
    assert spec["minReplicaCount"] == 0
    assert spec["cooldownPeriod"] >= 600
    assert any("rabbitmq" in trigger["metadata"]["query"] for trigger in spec["triggers"])


def test_each_chart_passes_its_own_lint(chart: Path) -> None:
    """The witness, who has never seen the plan, finds nothing at the strictest level."""
    result = run(Path(sys.executable).with_name("chartgen"), "lint", chart, "--level", "strict", "--fail-on", "advice")
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_claim_prefers_and_the_engine_counts(helm: str, tmp_path: Path) -> None:
    """dra-70b takes one H200, else two H100, and sets tensor parallel to what the pod got."""
    objects = rendered(helm, ROOT / "out" / "dra-70b")
    (asked,) = only(objects, "ResourceClaimTemplate")["spec"]["spec"]["devices"]["requests"]
    assert [(choice["deviceClassName"], choice["count"]) for choice in asked["firstAvailable"]] == [
        ("gpu.nvidia.com", 1),
        ("gpu.nvidia.com", 2),
    ]
    (pod,) = pods(objects)
    shell, _, script, name = pod["containers"][0]["command"]
    assert (shell, name) == ("sh", "vllm")
    for program, text in {"vllm": 'printf "%s|" "$@"', "python3": "echo 2"}.items():
        (tmp_path / program).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (tmp_path / program).chmod(0o755)
    started = run("env", f"PATH={tmp_path}:{os.environ['PATH']}", "sh", "-c", script, name, "a model", "--flag")
    assert started.stdout == "serve|a model|--flag|--tensor-parallel-size|2|"
    assert "--tensor-parallel-size" not in pod["containers"][0]["args"]


def test_a_group_is_eight_by_two(helm: str) -> None:
    """lws-r1 is one engine over two nodes: tensor parallel inside, stages across, requests to leaders only."""
    objects = rendered(helm, ROOT / "out" / "lws-r1")
    assert workload(objects)["spec"]["leaderWorkerTemplate"]["size"] == 2
    leader, worker = (pod["containers"][0]["args"] for pod in pods(objects))
    for args in (leader, worker):
        flags = dict(pairwise(args))
        names = ("--tensor-parallel-size", "--pipeline-parallel-size", "--nnodes")
        assert [flags[name] for name in names] == ["8", "2", "2"]
    assert "--headless" in worker
    assert only(objects, "Service")["spec"]["selector"]["leaderworkerset.sigs.k8s.io/worker-index"] == "0"


@pytest.mark.parametrize("release", ["lws-r1", "a" * 53])
def test_a_group_leaves_its_name_to_the_headless_service(helm: str, release: str) -> None:
    """LeaderWorkerSet makes a headless Service of its own name, unless one is there; its labels hold 52 characters."""
    result = run(helm, "template", release, ROOT / "out" / "lws-r1", "--kube-version", "1.35.0")
    objects = [document for document in yaml.safe_load_all(result.stdout) if document]
    name = workload(objects)["metadata"]["name"]
    assert name != only(objects, "Service")["metadata"]["name"]
    assert only(objects, "ScaledObject")["spec"]["scaleTargetRef"]["name"] == name
    assert len(f"{name}-99") <= 52


def test_only_what_scales_needs_keda() -> None:
    """dev-4b has a fixed number of replicas, and its README asks for no autoscaler."""
    told = {name: (ROOT / "out" / name / "README.md").read_text("utf-8") for name in ("dev-4b", "chat-70b")}
    assert ["KEDA" in told[name] for name in ("dev-4b", "chat-70b")] == [False, True]


def test_pods_of_the_queue_say_so(helm: str) -> None:
    """kueue-32b waits in its queue, on interruptible nodes, as its profile says."""
    objects = rendered(helm, ROOT / "out" / "kueue-32b")
    labels = workload(objects)["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/queue-name"] == "labelling"
    assert labels["kueue.x-k8s.io/priority-class"] == "nightly"
    (pod,) = pods(objects)
    (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    spot = {"key": "cloud.google.com/gke-spot", "operator": "In", "values": ["true"]}
    assert spot in term["matchExpressions"]


def test_the_image_is_built_for_the_card(helm: str) -> None:
    """amd-70b runs vLLM's image for ROCm."""
    (pod,) = pods(rendered(helm, ROOT / "out" / "amd-70b"))
    assert pod["containers"][0]["image"] == "vllm/vllm-openai-rocm:v0.33.0"


def test_a_share_of_a_card_is_a_share_of_its_memory(helm: str) -> None:
    """dev-4b and its neighbour take at most nine tenths of the card together."""
    (pod,) = pods(rendered(helm, ROOT / "out" / "dev-4b"))
    args = pod["containers"][0]["args"]
    assert 2 * float(args[args.index("--gpu-memory-utilization") + 1]) <= 0.9
