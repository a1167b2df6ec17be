"""Topology: the reader learns what joins the GPUs of a pod, and what runs out first on a node."""

from __future__ import annotations

import pytest

from chartgen.kernel.units import GIB, Bytes
from chartgen.plan.placement_types import HostNeed
from chartgen.plan.topology import island
from placement.parts import placed, request


@pytest.mark.parametrize(
    ("cloud", "card", "gpus", "size"),
    [
        ("eks", "h100-sxm-80gb", 8, 8),
        ("gke", "a100-sxm-80gb", 2, 2),
        ("gke", "a100-sxm-40gb", 16, 16),
        ("eks", "l4-24gb", 4, 1),
        ("aks", "a100-pcie-80gb", 2, 1),
        ("on-prem", "h100-nvl-94gb", 2, 2),
        ("on-prem", "h100-sxm-80gb", 8, 8),
        ("on-prem", "l40s-48gb", 2, 1),
        ("on-prem", "mi300x-192gb", 8, 8),
    ],
)
def test_how_far_the_fast_link_reaches(cloud: str, card: str, gpus: int, size: int) -> None:
    """NVLink and xGMI join a whole board, a bridge two cards, PCIe cards nothing."""
    assert island(request(cloud, card, gpus=gpus)) == size


def test_tensor_parallel_beyond_the_island_is_priced() -> None:
    """Four H100 NVL in two bridged pairs cross PCIe, which a note says with the number that is lost."""
    (note,) = [note for note in placed("on-prem", "h100-nvl-94gb", gpus=4).notes if "reaches beyond" in note]
    assert "islands of 2" in note
    assert "600 GB/s" in note


def test_cards_without_a_fast_link_are_said_to_add_memory() -> None:
    """Four L4 work together over PCIe, for memory rather than for speed."""
    assert any("over PCIe at 64 GB/s" in note for note in placed("eks", "l4-24gb", gpus=4).notes)


def test_nothing_is_said_where_nothing_is_lost() -> None:
    """A whole NVLink board, and a single card, need no such note."""
    for found in (placed(gpus=8), placed(gpus=1)):
        assert not any("PCIe" in note for note in found.notes)


def test_cpus_that_run_out_first_are_said() -> None:
    """Four pods of 60 CPUs for two GPUs each: the 192 CPUs of the node hold three of them, two GPUs would idle."""
    host = HostNeed(cpus=60, memory=Bytes(64 * GIB))
    (note,) = [note for note in placed(gpus=2, host=host).notes if "would idle" in note]
    assert note.startswith("p5.48xlarge has GPUs for 4 pods and CPUs for 3: 2 of its 8 GPUs would idle")


def test_the_kubelet_policies_are_advice() -> None:
    """What pins CPUs near GPUs is told, with the command that shows what a node does."""
    (pinning, _) = placed(host=HostNeed(cpus=18, memory=Bytes(64 * GIB))).advice
    assert "18 whole CPUs" in pinning
    assert "configz" in pinning
