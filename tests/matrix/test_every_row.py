"""Every row of the placement table as a whole chart, for every Kubernetes: minutes, so not in everyday runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import witness
from chartgen.validate.library import FOLDER
from placement.row_charts import MINORS, hold_to, manifests, minors, objects
from placement.table import rows

ROOT = Path(__file__).resolve().parents[2]
PLACED = [row for row in rows() if not row.refusal]


@pytest.fixture(scope="module")
def kubeconform() -> str:
    """The second schema checker, at its pinned version."""
    command = [sys.executable, str(ROOT / "scripts" / "tools"), "path", "kubeconform"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("minor", MINORS)
def test_every_row_becomes_a_valid_chart(minor: int, tmp_path: Path, kubeconform: str) -> None:
    """Helm, embedded schemas, kubeconform and the linter accept every chart; its pods ask for what the row says."""
    texts = list[str]()
    for row in PLACED:
        if minor in minors(row):
            rendered = manifests(row, minor, tmp_path)
            hold_to(row, objects(rendered))
            assert witness.said("\n---\n".join(rendered.values()), f"1.{minor}") == [], row
            texts += rendered.values()
    answer = _judged(kubeconform, "\n---\n".join(texts), minor)
    assert [f"{one['kind']}/{one['name']}: {one['msg']}" for one in answer["resources"] or []] == []
    assert (answer["summary"]["invalid"], answer["summary"]["errors"], answer["summary"]["skipped"]) == (0, 0, 0)
    assert answer["summary"]["valid"] >= len(texts)


def _judged(kubeconform: str, text: str, minor: int) -> dict[str, Any]:
    name = "{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"
    places = [f"{FOLDER}/{{{{.NormalizedKubernetesVersion}}}}/{name}", f"{FOLDER}/custom/{name}"]
    options = [option for place in places for option in ("-schema-location", place)]
    command = [kubeconform, "-strict", "-summary", "-output", "json", "-kubernetes-version", f"1.{minor}.0", *options]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def test_the_table_is_large() -> None:
    """At least 150 rows are placed on every Kubernetes, and all of them where claims are served."""
    counts = {minor: sum(minor in minors(row) for row in PLACED) for minor in MINORS}
    assert min(counts.values()) >= 150
    assert counts[34] == len(PLACED)
