"""What a user reads when the platform cannot give what is asked: exact texts, each with what would do."""

from __future__ import annotations

from pathlib import Path

import pytest

from chartgen import api
from chartgen.kernel.errors import Infeasible
from told import messages

SMALL = "model: meta-llama/Llama-3.1-8B-Instruct\ncontext: 8k\nregion: dc\n"
LARGE = "model: deepseek-ai/DeepSeek-R1\ncontext: 8k\nregion: us-east-1\ngpu: H100\n"

MISTAKES = {
    "a MIG profile of another card": (
        SMALL + "gpu: H200\ncluster:\n  cloud: on-prem\n  allocation: {by: mig, profile: 3g.70gb}\n",
        "p.yaml:7:34: cluster.allocation.profile: found MIG profile 3g.70gb on NVIDIA H200 SXM 141 GB, expected one of 1g.18gb, 1g.35gb, 2g.35gb, 3g.71gb, 4g.71gb, 7g.141gb; a profile's name means nothing without its card; did you mean 3g.71gb?",
    ),
    "a slice of a card that has none": (
        SMALL + "gpu: L4\ncluster:\n  cloud: on-prem\n  allocation: mig\n",
        "p.yaml:7:15: cluster.allocation: found MIG on NVIDIA L4 24 GB, expected whole cards: this card cannot be sliced",
    ),
    "a strategy that the cloud has not": (
        SMALL.replace("dc", "us-central1")
        + "gpu: H100\ncluster:\n  cloud: gke\n  allocation: {by: mig, strategy: mixed}\n",
        "p.yaml:7:35: cluster.allocation.strategy: found MIG strategy mixed on Google GKE Standard, expected strategy single",
    ),
    "tensor parallel over slices": (
        SMALL + "gpu: H200\ngpus: 2\ncluster:\n  cloud: on-prem\n  allocation: mig\n",
        "p.yaml:8:15: cluster.allocation: found tensor parallel 2 over MIG slices, expected one slice per replica, or whole cards: slices have no path to each other that NCCL can use",
    ),
    "slices over nodes": (
        SMALL + "gpu: H200\nnodes: 2\ncluster:\n  cloud: on-prem\n  allocation: mig\n",
        "p.yaml:5:8: nodes: found 2 nodes for a replica on a part of one card, expected 1 node; or whole cards, which a replica over nodes needs",
    ),
    "a card that the cloud does not sell": (
        SMALL.replace("dc", "eu-west-1") + "gpu: MI300X\ncluster:\n  cloud: eks\n",
        "p.yaml:4:6: gpu: found AMD Instinct MI300X 192 GB on Amazon EKS with managed node groups, expected one of a100-sxm-40gb, a100-sxm-80gb, a10g-24gb, b200-sxm-180gb, b300-sxm-288gb, h100-sxm-80gb, h200-sxm-141gb, l4-24gb, l40s-48gb, rtx-pro-6000-96gb, t4-16gb; AMD Instinct MI300X 192 GB is on aks, aks-nap, oke, on-prem",
    ),
    "a claim on a Kubernetes that serves none": (
        SMALL + 'gpu: H100\ncluster:\n  cloud: on-prem\n  kubernetes: "1.33"\n  allocation: dra\n',
        "p.yaml:7:15: cluster.kubernetes: found a device claim on Kubernetes 1.33, expected 1.34 or newer, which serves resource.k8s.io/v1; or the extended resource (allocation whole)",
    ),
    "four GPUs where a node has two": (
        SMALL.replace("dc", "eastus") + "gpu: H100-NVL\ngpus: 4\ncluster:\n  cloud: aks\n",
        "p.yaml:5:7: gpus: found 4 x NVIDIA H100 NVL 94 GB in one pod on Azure AKS with node pools, expected at most 2 on one node (Standard_NC80adis_H100_v5); lower-precision weights, a larger card, or several nodes",
    ),
    "an image for CUDA on an AMD card": (
        SMALL.replace("dc", "eastus")
        + "gpu: MI300X\ncluster:\n  cloud: aks\nengine:\n  image: vllm/vllm-openai:v0.33.0\n",
        "p.yaml:8:10: engine.image: found 'vllm/vllm-openai:v0.33.0', built for nvidia devices, expected an image for AMD Instinct MI300X 192 GB, such as vllm/vllm-openai-rocm:v0.33.0",
    ),
    "a shared card where somebody waits": (
        SMALL + "gpu: L4\ncluster:\n  cloud: on-prem\n  allocation: {by: mps, clients: 4}\n",
        "p.yaml:7:15: cluster.allocation: found mps for class interactive, expected whole cards, or MIG where the card has it: neighbours on a shared card take each other's memory and time, and one that runs out of memory kills the other; class dev may share",
    ),
    "a shared card without the number of its neighbours": (
        SMALL + "gpu: L4\nclass: dev\ncluster:\n  cloud: on-prem\n  allocation: time-slicing\n",
        "p.yaml:8:15: cluster.allocation: found 'time-slicing', expected a mapping, such as {by: time-slicing, clients: 4}: how many pods share a card limits their memory",
    ),
    "interruptible nodes where somebody waits": (
        SMALL.replace("dc", "us-central1") + "gpu: L4\ncluster:\n  cloud: gke\n  spot: true\n",
        "p.yaml:7:9: cluster.spot: found interruptible capacity for an interactive workload, expected class batch, or no spot: a reclaimed node drops every stream, and a new one has to load first",
    ),
    "a zone of another region": (
        SMALL.replace("dc", "eu-west-1") + "gpu: H100\ncluster:\n  cloud: eks\n  zones: [eu-west-1a, us-east-1a]\n",
        "p.yaml:7:10: cluster.zones: found zone us-east-1a in region eu-west-1, expected zones of eu-west-1, whose names begin with it: no node is in both places",
    ),
    "a way to allocate that nobody knows": (
        SMALL + "gpu: H100\ncluster:\n  allocation: {by: migs}\n",
        'p.yaml:6:20: cluster.allocation.by: found "migs", expected one of whole, mig, dra, time-slicing, mps; did you mean mig?',
    ),
    "cards of two vendors in one claim": (
        SMALL + "gpu: H100\ncluster:\n  cloud: on-prem\n  allocation: {by: dra, prefer: [MI300X]}\n",
        "p.yaml:7:33: cluster.allocation.prefer: found cards of different vendors in one claim, expected cards of one vendor: the engine's image is built for one",
    ),
    "a preferred card that does not carry the model": (
        LARGE.replace("us-east-1", "dc").replace("H100", "B300")
        + "cluster:\n  cloud: on-prem\n  allocation: {by: dra, prefer: [H100]}\n",
        "p.yaml:7:34: cluster.allocation.prefer[0]: found NVIDIA H100 SXM 80 GB, expected a card that carries the model in one node: 13.9 GiB short: weights, activation and buffers exceed the 71.3 GiB of the engine by 13.4 GiB, and one request of 8k tokens needs 0.54 GiB; the weights decide",
    ),
    "a choice of cards over nodes": (
        LARGE + "nodes: 2\ncluster:\n  allocation: {by: dra, prefer: [H200]}\n",
        "p.yaml:7:33: cluster.allocation.prefer: found a list of cards, expected one card for a replica over several nodes: its stages must be alike",
    ),
    "the card itself among the preferred ones": (
        SMALL + "gpu: H100\ncluster:\n  allocation: {by: dra, prefer: [H200, H100]}\n",
        "p.yaml:6:33: cluster.allocation.prefer: found a card that is named twice, expected other cards than NVIDIA H100 SXM 80 GB, each once: gpu comes last",
    ),
    "nodes with a release that spans none": (
        LARGE + "nodes: 2\nengine:\n  release: 0.10.2\n",
        "p.yaml:7:12: engine.release: found vLLM 0.10.2 over 2 nodes, expected 0.11.1 or newer: older releases span nodes with a Ray cluster only, which is not built here",
    ),
    "a compute domain of cards that have none": (
        LARGE + "nodes: {most: 2, compute_domain: true}\n",
        "p.yaml:5:34: nodes.compute_domain: found a compute domain for NVIDIA H100 SXM 80 GB, expected a GB200 or GB300: only their NVLink reaches beyond the node",
    ),
    "a quota on devices by claim": (
        SMALL + "gpu: H100\ncluster:\n  cloud: on-prem\n  allocation: dra\n  queue: {name: search, quota: {}}\n",
        "p.yaml:8:32: cluster.queue.quota: found a quota on devices, expected no quota for a claim: Kueue counts devices by deviceClassMappings of its own configuration",
    ),
}


@pytest.mark.parametrize(("text", "expected"), MISTAKES.values(), ids=MISTAKES)
def test_a_wish_that_cannot_be_met_gives_one_exact_message(tmp_path: Path, text: str, expected: str) -> None:
    """Each is named with its place, what was asked for and what would do."""
    assert messages(tmp_path, text) == [expected]


def test_all_wishes_are_judged_at_once(tmp_path: Path) -> None:
    """Two things that the platform cannot give are told together, in the order of the file."""
    text = SMALL + 'gpu: L4\ncluster:\n  cloud: on-prem\n  spot: true\n  kubernetes: "1.33"\n  allocation: dra\n'
    places = [line.split(":")[1:3] for line in messages(tmp_path, text)]
    assert places == [["7", "9"], ["7", "9"], ["8", "15"]]


def test_a_wish_of_the_command_line_is_blamed_on_it(tmp_path: Path) -> None:
    """A profile of the wrong card that came with --set points at --set."""
    (line,) = messages(tmp_path, SMALL + "gpu: H200\n", "cluster.allocation={by: mig, profile: 9g.1gb}")
    assert line.startswith("--set: cluster.allocation.profile: found MIG profile 9g.1gb")


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        (
            LARGE,
            "gpu: 8 x NVIDIA RTX PRO 6000 Blackwell Server Edition 96 GB; or nodes: 2, for 16 x NVIDIA H100 SXM 80 GB",
        ),
        (SMALL + "gpu: H200\ncluster: {allocation: {by: mig, profile: 1g.18gb}}\n", "the slice 1g.35gb"),
        (
            SMALL.replace("8B", "70B") + "gpu: H100\ncluster: {allocation: mig}\n",
            "allocation: whole, on 4 x NVIDIA H100 SXM 80 GB",
        ),
    ],
)
def test_what_does_not_fit_names_what_would(tmp_path: Path, text: str, nearest: str) -> None:
    """A model larger than a node is told how many nodes hold it; one larger than its slice, which slice or how many cards."""
    path = tmp_path / "p.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Infeasible) as caught:
        api.plan(api.load_profile(path))
    assert caught.value.nearest == nearest
