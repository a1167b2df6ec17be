"""The labelled set: what breaks is found, what is careful is left alone."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from chartgen.kernel.yaml_source import read
from chartgen.lint.documents import read_manifests
from chartgen.lint.finding import Outcome
from chartgen.lint.manifest import Inputs, Manifest
from chartgen.lint.paths import parse
from chartgen.lint.run import Request, lint
from chartgen.policy.load import load

FOLDER = Path(__file__).parent / "labelled"
CAREFUL = FOLDER / "silent" / "careful-deployment.yaml"
SILENT = sorted((FOLDER / "silent").glob("*.yaml"))
(DOCUMENT,) = read((FOLDER / "changes.yaml").read_text(encoding="utf-8"), "changes.yaml")
CHANGES: list[dict[str, Any]] = DOCUMENT.value
_GONE = object()


def judge(text: str) -> Outcome:
    """Everything that the linter says of a text at its usual level."""
    manifests = tuple(found for found in read_manifests(text, "case.yaml", "case") if isinstance(found, Manifest))
    assert manifests
    return lint(Request(inputs=Inputs(manifests=manifests), policies=load()))


def changed(change: dict[str, Any]) -> str:
    """The careful deployment with entries set or removed, and objects added."""
    objects = [copy.deepcopy(one.value) for one in read(CAREFUL.read_text(encoding="utf-8"), "careful") if one.value]
    for where, value in change.get("set", {}).items():
        kind, _, path = where.partition(":")
        owner = next(one for one in objects if one["kind"] == kind)
        node: Any = owner
        route = parse(path)
        steps: list[Any] = [route.start, *route.steps]
        last = steps.pop()
        for step in steps:
            node = node[step] if isinstance(step, int) else node.setdefault(step, {})
        if value is None:
            node[last] = _GONE
        elif isinstance(node, list) and last == len(node):
            node.append(value)
        else:
            node[last] = value
    objects += [yaml.safe_load(text) for text in change.get("add", ())]
    return yaml.safe_dump_all(map(swept, objects), sort_keys=False)


def swept(node: Any) -> Any:
    """The tree without what was removed."""
    if isinstance(node, dict):
        return {key: swept(value) for key, value in node.items() if value is not _GONE}
    return [swept(value) for value in node if value is not _GONE] if isinstance(node, list) else node


@pytest.mark.parametrize("file", SILENT, ids=[file.stem for file in SILENT])
def test_careful_manifests_are_left_alone(file: Path) -> None:
    """Nothing is said of what careful people write."""
    outcome = judge(file.read_text(encoding="utf-8"))
    assert [f"{found.policy.id}: {found.message}" for found in outcome.findings] == []
    assert outcome.stumbles == ()


@pytest.mark.parametrize("change", CHANGES, ids=[change["name"] for change in CHANGES])
def test_says_exactly_what_is_wrong(change: dict[str, Any]) -> None:
    """Each fault is found, and nothing else is said."""
    outcome = judge(changed(change))
    assert sorted({found.policy.id for found in outcome.findings}) == sorted(change["expect"])
    assert outcome.stumbles == ()


@pytest.mark.parametrize("change", CHANGES, ids=[change["name"] for change in CHANGES])
def test_breaks_are_errors(change: dict[str, Any]) -> None:
    """What is labelled a break has an error among its findings, and what is only a risk has none."""
    severities = {load().get(name).severity for name in change["expect"]}
    assert ("error" in severities) == (change["label"] == "break")


def test_the_set_is_large_enough() -> None:
    """At least sixty inputs, of every label."""
    assert len(CHANGES) + len(SILENT) >= 60
    assert {change["label"] for change in CHANGES} >= {"break", "risk"}
