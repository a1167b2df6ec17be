"""What quota and limits of a namespace must allow a release."""

from __future__ import annotations

from pathlib import Path

import pytest

from chartgen import api
from chartgen.profile import load_profile

QWEN = "Qwen/Qwen2.5-14B-Instruct"


def quota(folder: Path, more: str = "", *, model: str = QWEN, gpu: str = "H100") -> dict[str, str]:
    """The amounts that a profile with these lines needs, by the resource's name in a quota."""
    path = folder / "p.yaml"
    path.write_text(f"model: {model}\ngpu: {gpu}\ncontext: 8k\nregion: dc\n{more}", encoding="utf-8")
    need = api.plan(load_profile(path)).namespace
    return {name: decision.value for name, decision in need.quota.items()}


def test_every_amount_is_counted_for_every_pod(tmp_path: Path) -> None:
    """Four replicas at the most and one that ends beside its successor: requests and limits alike."""
    found = quota(tmp_path)
    assert found["pods"] == "5"
    assert found["requests.nvidia.com/gpu"] == "5"
    assert found["requests.cpu"] == found["limits.cpu"] == "30"
    assert found["requests.memory"] == found["limits.memory"] == f"{5 * (28 + 8)}Gi"


@pytest.mark.parametrize(
    ("more", "pods"),
    [
        ("cluster: {spare_gpus: 1}\n", "6"),  # one more starts first, and one ends beside the next
        ("cluster: {spare_gpus: 2}\n", "8"),
        ("cluster: {autoscaler: none}\n", "3"),  # two replicas for good
        ("class: dev\n", "2"),
        ("cluster: {kubernetes: '1.35', allocation: dra}\n", "5"),
    ],
)
def test_pods_that_an_update_has_beside_them_are_counted(tmp_path: Path, more: str, pods: str) -> None:
    """A pod is counted until it is gone, so an update always has at least one more than the replicas."""
    assert quota(tmp_path, more)["pods"] == pods


def test_a_group_has_no_pod_beside_its_successor(tmp_path: Path) -> None:
    """Pods of a group keep their names, so the next one is made when the last one is gone."""
    found = quota(tmp_path, "nodes: 2\n", model="deepseek-ai/DeepSeek-R1")
    assert (found["pods"], found["requests.nvidia.com/gpu"]) == ("8", "64")


def test_a_claim_is_counted_by_its_class(tmp_path: Path) -> None:
    """The alternative with the most devices counts, under the class and under the name that the class may own."""
    more = "weights: {quantization: fp8}\ncluster: {allocation: {by: dra, prefer: [H200]}}\n"
    found = quota(tmp_path, more, model="meta-llama/Llama-3.3-70B-Instruct")
    assert found["gpu.nvidia.com.deviceclass.resource.k8s.io/devices"] == "10"
    assert found["requests.nvidia.com/gpu"] == "10"


def test_a_slice_has_a_name_of_its_own(tmp_path: Path) -> None:
    """A MIG slice is counted under its profile."""
    found = quota(tmp_path, "weights: {quantization: fp8}\ncluster: {allocation: mig}\n", gpu="H200")
    assert found["requests.nvidia.com/mig-1g.35gb"] == "5"
    assert "requests.nvidia.com/gpu" not in found


def test_one_volume_is_shared_and_a_claim_is_there_already(tmp_path: Path) -> None:
    """The shared volume of a chart counts once; weights on a claim of the user's take nothing more."""
    shared = quota(tmp_path, "weights: {storage_class: nfs}\n")
    assert shared["persistentvolumeclaims"] == "1"
    there = quota(tmp_path, "weights: {from: 'pvc:models'}\n")
    assert not {"persistentvolumeclaims", "requests.storage"} & set(there)
