"""What real engines showed on /metrics equals what the catalogue says of their releases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from chartgen.catalog.engines import engine

RECORDED: Final = sorted((Path(__file__).parent / "metrics").glob("*.json"))
OPEN: Final = "…"
"""Stands in the catalogue for labels that only running tells."""


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recorded_metrics_are_catalogued(path: Path) -> None:
    """Every metric that a release showed is catalogued with its type and labels."""
    shown: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    known = engine(path.stem).metrics
    for name, entry in shown.items():
        assert name in known, name
        assert known[name].type == entry["type"], name
        labels = set(known[name].labels)
        assert labels - {OPEN} <= set(entry["labels"]), name
        if OPEN not in labels:
            assert labels == set(entry["labels"]), name


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_catalogued_metrics_were_shown(path: Path) -> None:
    """Every metric that the catalogue says is always there was shown."""
    shown = json.loads(path.read_text(encoding="utf-8"))
    always = {
        name for name, metric in engine(path.stem).metrics.items() if not metric.when and metric.status != "hidden"
    }
    assert always - shown.keys() == set()


def test_two_releases_are_recorded() -> None:
    """At least two releases were run and recorded."""
    assert len(RECORDED) >= 2
