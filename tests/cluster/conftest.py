"""Control planes that the tests of this folder share, and a namespace for each test.

`make cluster-test` runs this folder; the everyday run leaves it out, because its programs take minutes to build.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from textwrap import fill

import pytest

from cluster import clusters, controlplane, definitions, install, kwok
from cluster.controlplane import ControlPlane
from cluster.sandbox import Sandbox
from cluster.storage import Provisioner

_numbers = itertools.count()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep what asks the oldest minor on one worker: each worker starts the control planes that its tests ask for."""
    oldest = controlplane.MINORS[0]
    for item in items:
        parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        if oldest in parameters.values():
            item.add_marker(pytest.mark.xdist_group(oldest))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test of a group that is spread over workers: each of them would start the group's programs."""
    grouped = item.get_closest_marker("xdist_group") and item.config.getoption("loadgroup", default=False)
    if grouped and "@" not in item.nodeid:
        pytest.fail("this pytest-xdist does not keep an xdist_group on one worker under this pytest", pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many tests of each check passed, failed or broke."""
    counts = Counter(
        (Path(report.location[0]).stem.removeprefix("test_"), outcome)
        for outcome in ("passed", "failed", "error")
        for report in terminalreporter.stats.get(outcome, [])
        if report.when == "call" or outcome == "error"
    )
    for check, outcome in sorted(counts):
        terminalreporter.write_line(f"{check}: {counts[check, outcome]} {outcome}")
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in report.user_properties:
                terminalreporter.write_line(f"{report.location[2]}, {name}:")
                for line in str(value).splitlines():
                    terminalreporter.write_line(fill(line, width=120, subsequent_indent="    "))


@pytest.fixture(scope="session")
def planes() -> Iterator[Callable[[str], ControlPlane]]:
    """A control plane for each Kubernetes minor, started when it is first asked for, with KWOK and storage."""
    running: dict[str, ControlPlane] = {}
    with ExitStack() as stack:

        def plane_of(minor: str) -> ControlPlane:
            if minor not in running:
                running[minor] = plane = controlplane.start(stack.enter_context(Sandbox()), minor)
                definitions.install(plane.api)
                kwok.start(plane)
                stack.enter_context(Provisioner(plane.api))
            return running[minor]

        yield plane_of


@pytest.fixture(scope="session")
def plane(planes: Callable[[str], ControlPlane]) -> ControlPlane:
    """The control plane of the newest minor."""
    return planes(controlplane.MINORS[-1])


@pytest.fixture
def namespace(plane: ControlPlane) -> Iterator[str]:
    """A namespace of the newest control plane that no other test uses."""
    name = f"test-{next(_numbers)}"
    install.make_namespace(plane, name)
    yield name
    install.remove_namespace(plane, name)


@pytest.fixture
def cluster_of(plane: ControlPlane) -> Iterator[Callable[[str], clusters.Built]]:
    """Builds a cluster of `clusters/` in the newest control plane, and removes it after the test."""
    built: list[clusters.Built] = []

    def build(name: str) -> clusters.Built:
        built.append(clusters.build(plane.api, clusters.load(name)))
        return built[-1]

    yield build
    for each in built:
        clusters.remove(plane.api, each)
