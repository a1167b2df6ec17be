"""The embedded check says what a real API server says, object by object."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cluster import install
from cluster.controlplane import MINORS, ControlPlane
from validate.samples import bad, good


@pytest.fixture(params=MINORS)
def server(request: pytest.FixtureRequest, planes: Callable[[str], ControlPlane]) -> tuple[str, ControlPlane]:
    """Each control plane in turn, with the namespace that the samples name."""
    plane = planes(request.param)
    if plane.api.get("v1", "Namespace", "serving") is None:
        install.make_namespace(plane, "serving")
    return request.param, plane


def test_the_server_takes_the_good_objects(server: tuple[str, ControlPlane]) -> None:
    """Every good object whose kind the server serves is taken, created or applied as Helm 4 does."""
    minor, plane = server
    asked = [sample for sample in good() if minor in sample.minors and _served(plane, sample.object)]
    assert len(asked) > len(good()) / 2
    for sample in asked:
        for verdict in (plane.api.create(sample.object, dry_run=True), plane.api.apply(sample.object, dry_run=True)):
            assert verdict.message == "", sample.name


def test_the_server_refuses_the_bad_objects(server: tuple[str, ControlPlane]) -> None:
    """Every broken object is refused when it is applied, but for those that are marked as let pass."""
    minor, plane = server
    asked = [
        sample
        for sample in bad()
        if minor in sample.minors and "name" in sample.object.get("metadata", {}) and _served(plane, sample.object)
    ]
    assert len(asked) > len(bad()) / 2
    taken = {sample.about for sample in asked if plane.api.apply(sample.object, dry_run=True).accepted}
    assert taken == {sample.about for sample in asked if sample.server_takes_it}


def _served(plane: ControlPlane, content: dict[str, object]) -> bool:
    return plane.api.serves(str(content["apiVersion"]), str(content["kind"]))
