"""The page of a profile's keys: every key stands there, and every key that the ready profiles use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from chartgen.profile.page import profile_page

PROFILES = sorted((Path(__file__).resolve().parents[2] / "profiles").glob("*.yaml"))
FREE = {"monitor_labels", "overrides"}
"""Mappings whose keys are the user's own."""


def keys(value: Any) -> set[str]:
    """Every key of a profile, at any depth."""
    if not isinstance(value, dict):
        return set()
    return set(value).union(*(keys(inner) for key, inner in value.items() if key not in FREE))


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_every_key_of_a_ready_profile_is_told(path: Path) -> None:
    """A key that a user meets in a ready profile has its row."""
    page = profile_page()
    used = keys(yaml.safe_load(path.read_text("utf-8"))) - {"by"}
    assert [key for key in sorted(used) if f"| `{key}` | " not in page] == []


def test_variants_of_a_mapping_have_a_section_each() -> None:
    """The ways to get GPUs are told apart by their word."""
    page = profile_page()
    for word in ("whole", "mig", "dra", "time-slicing", "mps"):
        assert f"\n## `cluster.allocation: {{by: {word}}}`\n" in page
    assert "\n\n\n" not in page
