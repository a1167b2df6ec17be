"""Charts of the matrix without a server: each choice of an axis is one that profiles can make."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
import yaml

import witness
from breadth.axes import axes, profile, text_of
from breadth.charts import Maker
from breadth.judging import empty
from breadth.pairs import Axis, Row
from chartgen.profile import load_profile


def easiest(**chosen: str) -> Row:
    """The row of the easiest values, but for those that are named."""
    return tuple(chosen.get(axis.name, axis.easy[0]) for axis in axes())


@pytest.mark.parametrize("axis", axes(), ids=lambda axis: axis.name)
def test_every_value_is_one_of_a_profile(axis: Axis, tmp_path: Path) -> None:
    """Each value of an axis makes a profile that can be read, whatever the planner says of it then."""
    for value in axis.values:
        path = tmp_path / "row.yaml"
        path.write_text(json.dumps(profile(easiest(**{axis.name: value}))), encoding="utf-8")
        assert load_profile(path).name == "row"


def test_the_first_rows_become_charts(tmp_path: Path) -> None:
    """The first rows are planned, rendered by Helm, hold a workload and lint clean; every refusal was clear."""
    report = empty(tmp_path)
    for row in islice(report.covering.rows(), 15):
        text = report.maker.manifests(row)
        assert "kind: Deployment" in text or "kind: LeaderWorkerSet" in text
        assert witness.said(text, row[0]) == [], text_of(row)
    assert report.maker.unclear == {}


@pytest.mark.parametrize(
    "chosen",
    [
        {"class": "dev", "wish": "load", "cloud": "eks-karpenter", "card": "a10g-24gb"},  # several fixed replicas
        {"class": "batch", "wish": "unscaled", "cloud": "oke", "allocation": "spot"},  # spare GPUs, interruptible nodes
        {"exposure": "contour", "release": "0.8.5.post1"},  # neither drain, nor keep-alive, nor least request
        {"exposure": "gke-ingress", "cloud": "gke"},  # no least request
        {"exposure": "nginx", "class": "batch"},  # a retired gateway
        {"exposure": "agic", "model": "deepseek-ai/DeepSeek-R1", "card": "gh200-144gb", "allocation": "nodes"},
        {"allocation": "claim-prefer", "card": "mi325x-256gb"},
        {
            "allocation": "mig-single",
            "card": "b200-sxm-180gb",
            "model": "microsoft/Phi-3.5-MoE-instruct",
        },
        {"wish": "nothing", "card": "rtx-pro-6000-workstation-96gb", "allocation": "mig-single"},
    ],
    ids=lambda chosen: " ".join(chosen.values()),
)
def test_what_the_profile_asks_for_is_not_held_against_its_chart(chosen: dict[str, str], tmp_path: Path) -> None:
    """What the linter warns of is mended, or allowed with a reason, and no allowance is of no use."""
    row = easiest(**chosen)
    assert witness.said(Maker(tmp_path).manifests(row), row[0]) == []


def test_fixed_replicas_are_replaced_one_by_one(tmp_path: Path) -> None:
    """What updates and drains may take is worked out from the replicas that run, not from a minimum that none asks."""
    text = Maker(tmp_path).manifests(easiest(**{"class": "dev", "wish": "load", "cloud": "eks", "card": "a10g-24gb"}))
    found = {one["kind"]: one["spec"] for one in yaml.safe_load_all(text) if "spec" in one}
    assert found["Deployment"]["replicas"] > 1
    assert found["Deployment"]["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    assert found["PodDisruptionBudget"]["maxUnavailable"] == 1


def test_an_unclear_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planner that falls over is neither a chart nor a refusal: the report shows it with the profile."""

    def fall(*_: object) -> None:
        raise KeyError("layers")

    monkeypatch.setattr("chartgen.api.plan", fall)
    report = empty(tmp_path)
    assert report.maker.refusal(easiest()) == "KeyError('layers')"
    assert report.faults().startswith("KeyError('layers')\nas in the chart of\nmodel: Qwen/")


def test_a_refusal_is_counted_by_its_key(tmp_path: Path) -> None:
    """A card that a cloud does not have is refused at `gpu`, with what the cloud has."""
    maker = Maker(tmp_path)
    said = maker.refusal(easiest(card="rtx-3090-24gb", cloud="eks"))
    assert said is not None
    assert said.startswith("gpu: NVIDIA GeForce RTX 3090 24 GB on Amazon EKS")
    assert maker.refusals == {"gpu": 1}
