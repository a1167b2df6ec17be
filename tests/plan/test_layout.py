"""How a model lies on GPUs in each mode, and what follows from it for batch, host, storage and scaling."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chartgen import api
from chartgen.kernel.units import GIB
from chartgen.memory.fit import estimate
from chartgen.memory.layouts import shortage
from chartgen.plan.layout import need_of, plan_layout
from chartgen.plan.types import HubCache, Plan
from chartgen.profile import load_profile
from chartgen.resolve import resolve

BASE = "model: {model}\ngpu: {gpu}\ncontext: {context}\nregion: dc\n{more}"
QWEN = "Qwen/Qwen2.5-14B-Instruct"
LLAMA = "meta-llama/Llama-3.3-70B-Instruct"
PAIR = "weights: {quantization: fp8}\ncluster: {allocation: {by: dra, prefer: [H200]}}\n"


def profile(folder: Path, more: str = "", *, model: str = QWEN, gpu: str = "H200", context: str = "8k") -> Path:
    path = folder / "p.yaml"
    path.write_text(BASE.format(model=model, gpu=gpu, context=context, more=more), encoding="utf-8")
    return path


def planned(folder: Path, more: str = "", **names: str) -> Plan:
    return api.plan(load_profile(profile(folder, more, **names)))


@pytest.mark.parametrize(
    ("context", "precision", "expected"),
    [("8k", "fp8", "1g.35gb"), ("16k", "bf16", "3g.71gb"), ("32k", "bf16", "3g.71gb")],
)
def test_the_smallest_slice_that_carries_it(tmp_path: Path, context: str, precision: str, expected: str) -> None:
    """Weights and four requests of full length decide; the reason says why the one before falls."""
    more = f"weights: {{quantization: {precision}}}\ncluster: {{allocation: mig}}\n"
    made = planned(tmp_path, more, context=context)
    assert made.layout.slice is not None
    assert made.layout.slice.value == expected
    assert "short" in made.layout.slice.because
    assert (made.layout.gpus.value, made.fit.deployment.mig) == (1, expected)
    assert made.placement.accelerators.value == {f"nvidia.com/mig-{expected}": 1}


def test_a_claim_works_out_each_card_by_itself(tmp_path: Path) -> None:
    """One H200, else two H100: no tensor parallel flag, since the start command counts what the pod got."""
    made = planned(tmp_path, PAIR, model=LLAMA, gpu="H100")
    assert [(entry.gpu.key, entry.count) for entry in made.layout.alternatives] == [
        ("h200-sxm-141gb", 1),
        ("h100-sxm-80gb", 2),
    ]
    assert "tensor-parallel-size" not in made.flags
    assert made.host.cpus.value == 2 * 4 + 2  # the larger alternative's host need holds for both


def test_the_batch_fits_every_alternative(tmp_path: Path) -> None:
    """With the limits of the plan, each alternative by itself still holds what is needed."""
    resolved = resolve(load_profile(profile(tmp_path, PAIR, model=LLAMA, gpu="H100", context="16k")))
    made = api.plan(resolved.loaded)
    for fit in plan_layout(resolved).fits:
        limited = replace(
            fit.deployment,
            max_num_seqs=made.batching.sequences.value,
            max_num_batched_tokens=made.batching.batched_tokens.value,
        )
        found = estimate(limited)
        assert shortage(found, need_of(resolved)) is None
        assert found.requests(need_of(resolved).typical) >= made.batching.in_flight.value


def test_counts_that_agree_need_no_counting(tmp_path: Path) -> None:
    """When each card takes one, the flag stays away because it is one, and the command is the plain one."""
    made = planned(tmp_path, "cluster: {allocation: {by: dra, prefer: [H200]}}\n", gpu="H100")
    assert not made.layout.counts_differ
    assert made.placement.claim is not None
    assert made.placement.claim.counts == (1, 1)


def test_a_model_beyond_a_node_takes_two(tmp_path: Path) -> None:
    """DeepSeek-R1 on H100: eight by two, one pod a node, and every pod is sized for its eight GPUs."""
    made = planned(tmp_path, "nodes: 2\n", model="deepseek-ai/DeepSeek-R1", gpu="H100")
    layout = made.layout
    sizes = (layout.tensor_parallel.value, layout.pipeline_parallel.value, layout.nodes.value, layout.gpus.value)
    assert sizes == (8, 2, 2, 16)
    assert made.group is not None
    assert (made.group.size.value, made.placement.accelerators.value) == (2, {"nvidia.com/gpu": 8})
    assert (made.flags["tensor-parallel-size"].value, made.flags["pipeline-parallel-size"].value) == (8, 2)
    assert made.host.cpus.value == 8 * 4 + 2
    assert made.placement.topology_spread.value == []


def test_a_model_that_fits_a_node_stays_there(tmp_path: Path) -> None:
    """`nodes` is a ceiling: nothing spans nodes without need."""
    made = planned(tmp_path, "nodes: {most: 4, fast_network: true}\n")
    assert made.group is None
    assert made.layout.nodes.value == 1


def test_experts_that_cannot_be_split_lie_whole(tmp_path: Path) -> None:
    """Qwen3 235B in fp8 on eight: 1536 wide experts in blocks of 128 do not divide, so they are not split."""
    made = planned(tmp_path, model="Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", gpu="H100", context="100k")
    assert made.layout.tensor_parallel.value == 8
    assert made.flags["enable-expert-parallel"].value is True


def test_development_shares_a_card_and_nothing_scales_it(tmp_path: Path) -> None:
    """Two engines on one L4 count on 45 percent each, and the chart has one replica and no scaler."""
    more = "class: dev\ncluster: {allocation: {by: time-slicing, clients: 2}}\n"
    made = planned(tmp_path, more, model="Qwen/Qwen3-0.6B", gpu="L4")
    assert made.flags["gpu-memory-utilization"].value == 0.45
    assert made.fit.limits.gpu_memory_utilization.value == 0.45
    assert not made.resolved.autoscales
    assert made.replicas.peak.value == 1


def test_weights_are_stored_as_they_come(tmp_path: Path) -> None:
    """fp8 that the engine makes halves the GPU's share, not the volume and not the download."""
    made = planned(tmp_path, "weights: {quantization: fp8, storage_class: nfs}\n")
    assert isinstance(made.storage, HubCache)
    assert made.fit.ranks[0].weights.best < 16 * GIB
    assert made.storage.size.value == "34Gi"  # 27.5 GiB in 16 bits, and a fifth more


@pytest.mark.parametrize("more", ["", "weights: {storage_class: nfs}\n", "weights: {from: 'pvc:w'}\n"])
def test_the_rollout_waits_for_download_probe_and_node(tmp_path: Path, more: str) -> None:
    """The deadline is beyond the first download and all that the start-up probe allows."""
    made = planned(tmp_path, more, model=LLAMA, gpu="H100")
    least = made.start_up.fetch.value + made.start_up.budget
    assert made.placement.progress_deadline_seconds.value > least
    told = made.placement.progress_deadline_seconds.because
    assert f"{made.start_up.budget} s that the startup probe allows" in told
    assert ("for the first download" in told) == (made.start_up.fetch.value > 0)


def test_everything_the_cluster_is_asked_for_reaches_the_pod(tmp_path: Path) -> None:
    """Zones, priority and runtime class, queue and its priority come out where the scheduler and Kueue read them."""
    more = (
        "cluster:\n  cloud: on-prem\n  zones: [hall-1, hall-2]\n  priority_class: serving\n  runtime_class: nvidia\n"
        "  queue: {name: search, priority_class: prod}\n"
    )
    made = planned(tmp_path, more)
    terms: Any = made.placement.node_affinity.value
    zones = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["hall-1", "hall-2"]}
    assert zones in terms
    assert (made.placement.priority_class.value, made.placement.runtime_class.value) == ("serving", "nvidia")
    assert made.queue is not None
    assert made.queue.labels.value == {
        "kueue.x-k8s.io/queue-name": "search",
        "kueue.x-k8s.io/priority-class": "prod",
    }


@pytest.mark.parametrize(
    ("queue", "exclusive", "required"), [("", "example.com/rack", None), ("search", None, "example.com/rack")]
)
def test_one_domain_is_asked_of_whoever_places_pods(
    tmp_path: Path, queue: str, exclusive: str | None, required: str | None
) -> None:
    """Without a queue the LeaderWorkerSet gets a domain for itself; with one, Kueue finds it one."""
    more = "nodes: {most: 2, same_domain: example.com/rack}\n"
    if queue:
        more += f"cluster: {{queue: {queue}}}\n"
    made = planned(tmp_path, more, model="deepseek-ai/DeepSeek-R1", gpu="H100")
    assert made.group is not None
    assert made.group.annotations.value.get("leaderworkerset.sigs.k8s.io/exclusive-topology") == exclusive
    found = made.queue.pod_annotations.value if made.queue else {}
    assert found.get("kueue.x-k8s.io/podset-required-topology") == required
    # Leader and workers are two pod sets, and Kueue places only those of one name together.
    assert ("kueue.x-k8s.io/podset-group-name" in found) == (required is not None)
