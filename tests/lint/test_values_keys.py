"""Values keys that a chart does not read: told with their place, and never of a chart that may read them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from chartgen.cli.main import main
from chartgen.kernel.yaml_source import read
from chartgen.lint.chart_keys import known_keys

VALUES = """\
replicaCount: 1
image: {repository: vllm/vllm-openai, tag: v0.18.1}
engine: {args: [], replicas: 2, shared: {size: 8Gi}}
podAnnotations: {}
nodeSelector: {}
models:
  - {name: qwen, gpus: 1}
"""
DEPLOYMENT = """\
{{- /* {{ .Values.onlyInAComment }} */ -}}
replicas: {{ .Values.replicaCount }}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
args: {{- toYaml .Values.engine.args | nindent 2 }}
{{- with .Values.engine.shared }}
size: {{ .size }}
{{- end }}
{{- with .Values.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if and .Values.probes (hasKey .Values.probes "startup") }}
probe: {{ index .Values "probes" "startup" }}
{{- end }}
{{- range $index, $model := .Values.models }}
model: {{ $model.name }}
{{ include "demo.gpus" $model }}
{{- end }}
{{- define "demo.gpus" -}}
gpus: {{ .gpus }}
{{- end }}
{{- define "demo.nobody" -}}
{{ .Values.neverCalled }}
{{- end }}
"""
CHART = {
    "Chart.yaml": "name: demo\nversion: 0.1.0\ndependencies: [{name: redis, alias: cache, version: 1.0.0}]\n",
    "values.yaml": VALUES,
    "templates/deployment.yaml": DEPLOYMENT,
}


def ignored(values: str, **changed: str) -> dict[str, str]:
    files: Mapping[str, str] = {**CHART, **{name.replace("__", "/") + ".yaml": text for name, text in changed.items()}}
    (document,) = read(values, "mine.yaml")
    known = known_keys({name: text.encode() for name, text in files.items()})
    return {one.key: one.near for one in known.ignored(document)}


@pytest.mark.parametrize(
    ("values", "key", "near"),
    [
        ("replicaCont: 2", "replicaCont", "replicaCount"),
        ("image: {tga: v1}", "image.tga", "image.tag"),
        ("shared: {size: 1Gi}", "shared", "engine.shared"),
        ("engine: {shared: {sise: 1Gi}}", "engine.shared.sise", "engine.shared.size"),
        ("models: [{name: a}, {name: b, gpu: 2}]", "models[].gpu", "models[].gpus"),
        ("probes: {liveness: {}}", "probes.liveness", ""),
        ("onlyInAComment: 1", "onlyInAComment", ""),
        ("neverCalled: 1", "neverCalled", ""),
    ],
)
def test_a_key_that_nobody_reads(values: str, key: str, near: str) -> None:
    """A misspelled key, one at the wrong level and one of a comment are told, with the key that was meant."""
    assert ignored(values) == {key: near}


@pytest.mark.parametrize(
    "values",
    [
        "podAnnotations: {any.thing/at-all: x}",
        "nodeSelector: {kubernetes.io/arch: amd64}",
        "engine: {args: [--seed=0]}",
        "probes: {startup: {periodSeconds: 10}}",
        "cache: {anything: 1}",
        "global: {anything: 1}",
        "tags: {front: true}",
        "replicaCont: null",
        'engine: {args: ["{{ .Values.mine }}"]}\nmine: 1',
    ],
)
def test_a_key_that_may_be_read(values: str) -> None:
    """What is passed on as a whole, given to a subchart, kept by Helm or read by another value is left alone."""
    assert ignored(values) == {}


@pytest.mark.parametrize(
    "template",
    [
        "{{ toYaml .Values }}",
        "{{ range $name, $value := .Values }}{{ $value }}{{ end }}",
        "{{ $all := .Values }}{{ tpl (toYaml $all) . }}",
        '{{ include "other" .Values }}',
    ],
)
def test_a_chart_that_passes_all_on(template: str) -> None:
    """Nothing is said of a chart that passes all of its values on."""
    assert ignored("replicaCont: 2", templates__all=template) == {}


def test_through_the_command(tmp_path: Path) -> None:
    """The finding stands at the line of the user's own file, and a setting on the command line is told as such."""
    for name, text in {**CHART, "Chart.yaml": "apiVersion: v2\nname: demo\nversion: 0.1.0\n"}.items():
        (tmp_path / "demo" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "demo" / name).write_text(text)
    (tmp_path / "demo" / "templates" / "deployment.yaml").write_text(
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: demo}\ndata: {replicas: "{{ .Values.replicaCount }}"}\n'
    )
    mine = tmp_path / "mine.yaml"
    mine.write_text("image: {tag: v1}\nreplicaCont: 2\n")
    arguments = ["lint", str(tmp_path / "demo"), "-f", str(mine), "--set", "imag.tag=v2", "--format", "json"]
    result = CliRunner().invoke(main, [*arguments, "--select", "ignored-values-key"])
    said = {(one["file"], one["line"], one["path"]) for one in json.loads(result.output)["findings"]}
    assert said == {(str(mine), 2, "replicaCont"), ("--set", 1, "imag")}
    assert result.exit_code == 0
