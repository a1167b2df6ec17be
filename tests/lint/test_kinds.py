"""Every kind that holds pods, and every known server: a fault in it is found, at its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chartgen.kernel.yaml_source import read
from chartgen.lint.documents import read_manifests
from chartgen.lint.manifest import Inputs, Manifest
from chartgen.lint.paths import spelled
from chartgen.lint.run import Request, lint
from chartgen.lint.workloads import SHAPES
from chartgen.policy.load import load
from chartgen.validate import library

FILE = Path(__file__).parent / "labelled" / "kinds.yaml"
(DOCUMENT,) = read(FILE.read_text(encoding="utf-8"), FILE.name)
KINDS: list[dict[str, Any]] = DOCUMENT.value


@pytest.mark.parametrize("kind", KINDS, ids=[kind["name"] for kind in KINDS])
def test_errors_are_found_in_place(kind: dict[str, Any]) -> None:
    """Exactly the errors that the manifest has are said, each with its path in the file."""
    manifests = tuple(read_manifests(kind["given"], "case.yaml", "case"))
    outcome = lint(
        Request(inputs=Inputs(manifests=tuple(m for m in manifests if isinstance(m, Manifest))), policies=load())
    )
    errors = [found for found in outcome.findings if found.policy.severity == "error"]
    said = {f"{found.policy.id} {spelled(found.manifest.whole(found.path))}" for found in errors}
    assert said == set(kind["expect"])
    assert outcome.stumbles == ()


def test_kinds_with_pods_are_held_against_schemas() -> None:
    """Every kind in which a user writes pods has a schema, but for KAITO's, whose definitions no Go module serves."""
    newest = list(library.index().releases.values())[-1]
    known = {kind for _, kind in (*newest.kinds, *library.index().custom)}
    assert set(SHAPES) - known == {"InferenceSet", "Workspace"}


@pytest.mark.parametrize(
    ("given", "notes"),
    [
        ("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", ()),
        ("{apiVersion: v1, kind: NoSuchKind, metadata: {name: a}}", ()),  # a finding, not a note
        ("servingEngineSpec: {modelSpec: []}", ()),  # a values file is no object
        (
            "{apiVersion: kubeai.org/v1, kind: Model, metadata: {name: a}}",
            ("no schema is known for 1 Model of kubeai.org/v1: only what policies know was judged",),
        ),
        (
            "{apiVersion: ray.io/v1, kind: RayService, metadata: {name: a}, spec: {serveConfigV2: 'llm_configs: []'}}",
            (
                "RayService/a starts engines by its serveConfigV2, which is not read: their models, contexts and "
                "parallel sizes were not judged",
            ),
        ),
        (
            "{apiVersion: ray.io/v1, kind: RayService, metadata: {name: a}, spec: {serveConfigV2: 'applications: []'}}",
            (),
        ),
    ],
)
def test_what_is_not_judged_is_told(given: str, notes: tuple[str, ...]) -> None:
    """Nothing is left out in silence: a kind without a schema and engines in a text are named."""
    (manifest,) = read_manifests(given, "case.yaml", "case")
    assert isinstance(manifest, Manifest)
    outcome = lint(Request(inputs=Inputs(manifests=(manifest,)), policies=load()))
    assert outcome.notes == notes
