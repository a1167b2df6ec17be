"""The control plane starts, fails and ends as it should, whatever happens to it or to the tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cluster import controlplane
from cluster.api import PATIENCE, wait_for
from cluster.controlplane import MINORS, ControlPlane, Ports
from cluster.errors import ClusterError
from cluster.keeper import members
from cluster.sandbox import LOOPBACK, Sandbox, free_ports
from cluster.wire import Manifest
from toolbox.table import SCRIPTS

START = """\
import sys, time
sys.path[:0] = {path!r}
from cluster import controlplane
from cluster.sandbox import Sandbox
with Sandbox() as sandbox:
    controlplane.start(sandbox, "1.37")
    print(sandbox.folder, sandbox.group, flush=True)
    time.sleep(60)
"""


def deployment(**container: object) -> Manifest:
    """A small Deployment whose container has some more fields."""
    labels = {"app": "x"}
    pod = {"containers": [{"name": "c", "image": "x", **container}]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": spec}


@pytest.mark.parametrize("minor", MINORS)
def test_each_minor_answers_as_itself(planes: Callable[[str], ControlPlane], minor: str) -> None:
    """The API server of each minor says its version."""
    assert planes(minor).api.send("GET", "/version").body["gitVersion"].startswith(f"v{minor}.")


@pytest.mark.parametrize("minor", MINORS)
def test_unknown_field_is_named(planes: Callable[[str], ControlPlane], minor: str) -> None:
    """Strict validation refuses an unknown field and names it; a lax request gets it as a warning."""
    api = planes(minor).api
    strict = api.create(deployment(startupProb={}), dry_run=True)
    assert not strict.accepted
    assert 'unknown field "spec.template.spec.containers[0].startupProb"' in strict.message
    lax = api.create(deployment(startupProb={}), dry_run=True, validate="Warn")
    assert lax.accepted
    assert lax.warnings == ('unknown field "spec.template.spec.containers[0].startupProb"',)


def test_dry_run_stores_nothing(plane: ControlPlane, namespace: str) -> None:
    """A dry run is judged as the real request, and leaves no object."""
    assert plane.api.create(deployment(), namespace=namespace, dry_run=True).accepted
    assert plane.api.get("apps/v1", "Deployment", "x", namespace) is None


def test_killed_server_is_told_and_starts_again() -> None:
    """A killed API server is named; started again, it has its objects; after the end nothing is left."""
    with Sandbox() as sandbox:
        plane = controlplane.start(sandbox, MINORS[-1])
        plane.api.must(deployment())
        sandbox.programs["kube-apiserver"].kill()
        with pytest.raises(ClusterError, match=f"{plane.api.address} does not answer"):
            plane.api.get("apps/v1", "Deployment", "x")
        with pytest.raises(ClusterError, match="kube-apiserver ended by signal 9"):
            plane.wait(lambda: None, "nothing")
        controlplane.start_server(plane)
        wait_for(lambda: answers(plane), "the server's return")
        assert plane.api.get("apps/v1", "Deployment", "x")
        assert len(members(sandbox.group)) == 5  # four programs and the keeper
    assert not members(sandbox.group)
    assert not sandbox.folder.exists()


def answers(plane: ControlPlane) -> bool:
    """Whether the API server is ready."""
    try:
        return plane.api.send("GET", "/readyz").accepted
    except ClusterError:
        return False


def test_taken_port_is_told() -> None:
    """A port that something else holds is named with the program that was to have it."""
    with socket.create_server((LOOPBACK, 0)) as taken, Sandbox() as sandbox:
        etcd, peer = free_ports(2)
        port = taken.getsockname()[1]
        with pytest.raises(ClusterError, match=rf"kube-apiserver cannot have port {port} of 127\.0\.0\.1: .*in use"):
            controlplane.start(sandbox, MINORS[-1], ports=Ports(etcd=etcd, peer=peer, server=port))


def test_program_that_dies_is_told() -> None:
    """A program that ends while something is waited for is named, with the end of its log; nothing is left."""
    sandbox = Sandbox()
    with sandbox:
        sandbox.start("etcd", ["sh", "-c", "echo the disk is full >&2; exit 3"])
        with pytest.raises(ClusterError, match=r"^etcd ended with exit code 3:\n  \| the disk is full$"):
            sandbox.wait(lambda: None, "a start", 20)
    assert not members(sandbox.group)
    assert not sandbox.folder.exists()


def test_missing_program_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the built programs the message says which command builds them."""
    monkeypatch.setenv("CHARTGEN_TOOLS", str(tmp_path))
    with Sandbox() as sandbox, pytest.raises(ClusterError) as caught:
        controlplane.start(sandbox, MINORS[-1])
    assert str(caught.value) == (
        f"kubernetes-1.37 1.37.2 is not installed in {tmp_path}; run: scripts/tools install kubernetes-1.37"
    )


@pytest.mark.parametrize("end", ["kill", "terminate"])
def test_killed_tests_leave_nothing(end: str) -> None:
    """When the process that started a control plane is killed, its programs and its folder go too."""
    path = [str(SCRIPTS), str(Path(__file__).parent.parent)]
    command = [sys.executable, "-c", START.format(path=path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as started:
        assert started.stdout is not None
        folder, group = started.stdout.readline().split()
        assert len(members(int(group))) >= 4
        getattr(started, end)()
    deadline = time.monotonic() + PATIENCE
    while (members(int(group)) or Path(folder).exists()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not members(int(group))
    assert not Path(folder).exists()
