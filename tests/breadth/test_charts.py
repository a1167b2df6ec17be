"""Charts of the matrix without a server: each choice of an axis is one that profiles can make."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest

from breadth.axes import axes, profile
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
    """The first rows are planned, rendered by Helm and hold a workload; every refusal on the way was clear."""
    report = empty(tmp_path)
    for row in islice(report.covering.rows(), 15):
        text = report.maker.manifests(row)
        assert "kind: Deployment" in text or "kind: LeaderWorkerSet" in text
    assert report.maker.unclear == {}


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
