"""The real programs that judge charts, at the pinned versions; a missing one fails its tests."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
READY = sorted(path.stem for path in (ROOT / "profiles").glob("*.yaml"))


@cache
def tool(name: str) -> str:
    """The path of a pinned program."""
    command = [sys.executable, str(ROOT / "scripts" / "tools"), "path", name]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.fixture(params=["helm3", "helm4"])
def helm(request: pytest.FixtureRequest) -> str:
    """Each Helm in turn."""
    return tool(request.param)


@pytest.fixture
def kubeconform() -> str:
    """The schema checker."""
    return tool("kubeconform")


@pytest.fixture
def promtool() -> str:
    """Prometheus' own checker of rules."""
    return tool("promtool")


@pytest.fixture(params=READY)
def chart(request: pytest.FixtureRequest) -> Path:
    """The committed chart of each ready profile."""
    return ROOT / "out" / str(request.param)
