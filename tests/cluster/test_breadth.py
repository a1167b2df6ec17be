"""The matrix of `tests/breadth` before real API servers: a tenth each time, all by `make cluster-matrix`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from breadth.axes import text_of
from breadth.judging import Judge, Report, empty, judge_of, ready, run
from cluster.controlplane import MINORS, ControlPlane

TENTH = 390
"""So many charts, always the same."""


def hold(report: Report, record: Callable[[str, object], None]) -> None:
    """Tell the counts, and hold that nothing was found fault with."""
    record("counts", "\n".join(report.lines()))
    assert not report.faults(), report.faults()


@pytest.mark.xdist_group(MINORS[0])
def test_a_tenth_of_the_matrix_is_accepted(
    planes: Callable[[str], ControlPlane], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """The servers accept every object of the first charts without a warning; each refused profile is told why."""
    report = run(planes, tmp_path, TENTH)
    hold(report, record_property)
    assert len(report.charts) == TENTH


@pytest.mark.whole
def test_the_whole_matrix_is_accepted(
    planes: Callable[[str], ControlPlane], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """The same for all charts, which hold every pair of values that can stand in one chart."""
    report = run(planes, tmp_path)
    hold(report, record_property)
    assert not report.covering.open
    assert 9 * TENTH < len(report.charts) < 11 * TENTH


@pytest.fixture
def judge(planes: Callable[[str], ControlPlane], tmp_path: Path) -> Iterator[Judge]:
    """Judges single charts."""
    made = judge_of({minor: ready(planes(minor)) for minor in MINORS}, tmp_path)
    yield made
    for api in made.servers.values():
        api.disconnect()


@pytest.mark.xdist_group(MINORS[0])
@pytest.mark.parametrize(
    ("gateway", "before", "after", "says"),
    [
        ("none", "revisionHistoryLimit", "revisionHistorySize", 'unknown field "spec.revisionHistorySize"'),
        (
            "gateway-api",
            "backendRequest: 0s\n        request: 0s",
            "backendRequest: 20s\n        request: 10s",
            "backendRequest timeout cannot be longer than request timeout",
        ),
    ],
)
def test_a_fault_in_a_chart_of_the_matrix_is_caught(
    gateway: str, before: str, after: str, says: str, judge: Judge, tmp_path: Path
) -> None:
    """A field that does not exist, or a broken rule of a definition, is told with the profile of its chart."""
    report = empty(tmp_path)
    row = next(row for row in report.covering.rows() if gateway in row)
    text = judge.maker.manifests(row)
    assert before in text
    assert judge.outcome(row, text).faults == ()
    report.charts.append(judge.outcome(row, text.replace(before, after)))
    assert says in report.faults()
    assert text_of(row) in report.faults()
