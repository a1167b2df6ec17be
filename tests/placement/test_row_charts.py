"""Rows of the placement table through the front door: a profile in, a chart or a located refusal out.

Here the rows that a real scheduler places, and all refused ones; `tests/matrix` takes every row.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from chartgen import api
from chartgen.kernel.errors import InputError
from chartgen.profile import load_profile
from placement.row_charts import hold_to, manifests, minors, objects
from placement.row_profiles import write_profile
from placement.table import Row, rows

MARKED = [row for row in rows() if row.scheduler]
REFUSED = [row for row in rows() if row.refusal]


@pytest.mark.parametrize("row", MARKED, ids=lambda row: row.name)
def test_a_row_becomes_a_chart(row: Row, tmp_path: Path) -> None:
    """On the oldest and the newest Kubernetes, the whole chart is accepted and its pods ask for what the row says."""
    for minor in (minors(row)[0], minors(row)[-1]):
        hold_to(row, objects(manifests(row, minor, tmp_path)))


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row.name)
def test_a_refused_row_is_a_problem_of_the_profile(row: Row, tmp_path: Path) -> None:
    """The first problem stands at a line of the profile and says what would do, in the words of the row."""
    loaded = load_profile(write_profile(row, tmp_path, 34))
    with pytest.raises(InputError) as caught:
        api.plan(loaded)
    problem = caught.value.problems[0]
    assert problem.position is not None
    assert problem.expected.startswith(row.refusal)
