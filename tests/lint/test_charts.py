"""Charts: rendered as installed, findings traced to the template and the value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chartgen.kernel.errors import InputError
from chartgen.lint.chart_input import ChartReader
from chartgen.lint.finding import Outcome
from chartgen.lint.helm_values import GivenValues, given_values
from chartgen.lint.inputs import FolderReader, is_chart, read_inputs
from chartgen.lint.run import Request, lint
from chartgen.lint.select import Selection
from chartgen.policy.load import load
from chartgen.validate.chart_files import pack
from chartgen.validate.helm import engine

CHART = {
    "Chart.yaml": "apiVersion: v2\nname: demo\nversion: 0.1.0\n",
    "values.yaml": """\
image:
  tag: v0.18.1
engine:
  args: [Qwen/Qwen3-8B, --swap-space=4]
  securityContext:
    privileged: true
replicas: 2
""",
    "templates/_pod.tpl": """\
{{- define "demo.pod" -}}
containers:
  - name: vllm
    image: "vllm/vllm-openai:{{ .Values.image.tag }}"
    args:
      {{- toYaml .Values.engine.args | nindent 6 }}
    securityContext:
      {{- toYaml .Values.engine.securityContext | nindent 6 }}
{{- end }}
""",
    "templates/deployment.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: demo}}
  template:
    metadata: {labels: {app: demo}}
    spec:
      {{- include "demo.pod" . | nindent 6 }}
""",
}


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    folder = tmp_path / "demo"
    for name, text in CHART.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def judge(path: Path, values: Mapping[str, Any] | None = None, *names: str) -> Outcome:
    reader = ChartReader(engine=engine, values=GivenValues(merged=values or {}))
    return lint(
        Request(
            inputs=read_inputs([str(path)], [FolderReader(knows=is_chart, read=reader.read)]),
            policies=load(),
            selection=Selection(
                select=names or ("removed-engine-flag", "privileged-container", "unpinned-engine-image")
            ),
        )
    )


def places(outcome: Outcome, chart: Path) -> dict[str, tuple[str, int, str]]:
    return {
        found.policy.id: (
            str(Path(found.place.file).relative_to(chart)),
            found.place.position.line,
            found.place.note.replace(str(chart), "demo"),
        )
        for found in outcome.findings
    }


def test_findings_point_at_template_and_value(chart: Path) -> None:
    """A finding stands at the line of the template that made it, and names the value that fed it."""
    outcome = judge(chart)
    assert places(outcome, chart) == {
        "removed-engine-flag": ("templates/_pod.tpl", 5, "value engine.args[1], demo/values.yaml:4"),
        "privileged-container": (
            "templates/_pod.tpl",
            7,
            "value engine.securityContext.privileged, demo/values.yaml:6",
        ),
    }
    assert any("was rendered by Helm" in note for note in outcome.notes)


def test_a_literal_line_with_a_value(chart: Path) -> None:
    """A line that mixes text and a value is found by its text."""
    outcome = judge(chart, {"image": {"tag": "latest"}}, "unpinned-engine-image")
    assert places(outcome, chart) == {
        "unpinned-engine-image": ("templates/_pod.tpl", 4, "value image.tag, demo/values.yaml:2")
    }


def test_a_chart_that_does_not_render(chart: Path) -> None:
    """Helm's own words are told, and nothing else stops."""
    (chart / "templates" / "bad.yaml").write_text("{{ .Values.missing.key }}")
    outcome = judge(chart)
    assert outcome.counts.failed == 1
    assert "missing" in outcome.unread[0].problem.found


def test_an_archive(tmp_path: Path) -> None:
    """A packed chart is read like its folder."""
    archive = tmp_path / "demo-0.1.0.tgz"
    archive.write_bytes(pack(CHART))
    assert [found.policy.id for found in judge(archive).findings] == ["removed-engine-flag", "privileged-container"]


def test_values_as_helm_reads_them(tmp_path: Path) -> None:
    """Files merge in order, settings come last and keep Helm's spelling."""
    (tmp_path / "a.yaml").write_text("x: {k: 1, z: 2}\n")
    (tmp_path / "b.yaml").write_text("x: {z: 3}\n")
    found = given_values([tmp_path / "a.yaml", tmp_path / "b.yaml"], ["x.k=off,l[1].n=v\\,w", r"a\.b=1e3"])
    assert found.merged == {"x": {"k": False, "z": 3}, "l": [None, {"n": "v,w"}], "a.b": 1000.0}


def test_a_setting_is_not_the_files(tmp_path: Path) -> None:
    """What --set gives stands in no file's document, though both are merged: a finding is told where it was written."""
    (tmp_path / "a.yaml").write_text("x: {k: 1}\n")
    found = given_values([tmp_path / "a.yaml"], ["x.z=2"])
    assert found.merged == {"x": {"k": 1, "z": 2}}
    assert [document.value for _, document in found.documents] == [{"x": {"k": 1}}, {"x": {"z": 2}}]


@pytest.mark.parametrize("setting", ["novalue", "=x", "[0]=x"])
def test_a_setting_that_is_none(setting: str) -> None:
    """A wrong --set is an input problem."""
    with pytest.raises(InputError):
        given_values([], [setting])
