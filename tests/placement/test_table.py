"""The placement table, row by row: names, tolerations, affinity, claims; and every row is valid Kubernetes."""

from __future__ import annotations

import pytest

from chartgen.catalog.clouds import cloud_names
from chartgen.plan.allocation_types import DeviceClaim
from chartgen.plan.placement import place
from chartgen.plan.placement_types import Misplaced
from chartgen.validate.embedded import check_objects
from placement.parts import manifests
from placement.table import Row, affinity_of, devices_of, rows, tolerations_of

TABLE = rows()
PLACED = [row for row in TABLE if not row.refusal]
MINORS = (33, 34, 35, 36, 37)


def test_the_table_covers_what_it_claims() -> None:
    """At least 150 different rows, every cloud among them, and some of each kind for a real scheduler."""
    assert len({row.name for row in TABLE}) == len(TABLE) >= 150
    assert {row.cloud for row in TABLE} == set(cloud_names())
    kinds = {row.mode.partition(":")[0] for row in TABLE if row.scheduler}
    assert kinds == {"whole", "spot", "mixed", "single", "claim", "claim-slice", "prefer", "shared"}


@pytest.mark.parametrize("row", PLACED, ids=lambda row: row.name)
def test_a_row_is_placed_as_expected(row: Row) -> None:
    """Devices, tolerations and node affinity are exactly those of the row."""
    placement = place(row.request())
    assert devices_of(placement) == row.devices
    assert tolerations_of(placement) == row.tolerations
    assert affinity_of(placement) == row.affinity


@pytest.mark.parametrize("row", PLACED, ids=lambda row: row.name)
def test_a_row_is_valid_kubernetes(row: Row) -> None:
    """What a row becomes passes the strict schema of the oldest and the newest Kubernetes that it is for."""
    allocation = row.request().allocation
    served = MINORS[1:] if isinstance(allocation, DeviceClaim) else MINORS
    for minor in (served[0], served[-1]):
        found = manifests(place(row.request(minor)))
        assert check_objects([(row.name, manifest) for manifest in found], f"1.{minor}") == []


@pytest.mark.parametrize("row", [row for row in TABLE if row.refusal], ids=lambda row: row.name)
def test_a_row_is_refused_as_expected(row: Row) -> None:
    """The first problem says what would do, in the words of the row."""
    with pytest.raises(Misplaced) as caught:
        place(row.request())
    assert caught.value.problems[0].expected.startswith(row.refusal)
