"""A small chart that uses what charts use: values, a schema, helpers, hooks, notes, a subchart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from chartgen.kernel.yaml_source import read

SCHEMA: Final = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "replicas": {"type": "integer", "if": {"minimum": 2}, "else": {"const": "at least 2: a start takes 240 s"}},
    },
}

FILES: Final[Mapping[str, str]] = {
    "Chart.yaml": """\
apiVersion: v2
name: demo
version: 0.1.0
icon: https://example.com/icon.svg
kubeVersion: ">=1.33.0-0 <1.38.0-0"
dependencies:
  - {name: cache, version: 0.1.0, condition: cache.enabled}
""",
    "values.yaml": "replicas: 2\nargs: {max-model-len: 131072, big: 1048576}\ncache: {enabled: true}\n",
    "values.schema.json": json.dumps(SCHEMA),
    "templates/_helpers.tpl": '{{- define "demo.labels" -}}\napp.kubernetes.io/name: {{ .Chart.Name }}\n{{- end -}}\n',
    "templates/config.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-config
  namespace: {{ .Release.Namespace }}
  labels: {{- include "demo.labels" . | nindent 4 }}
data:
  replicas: {{ .Values.replicas | quote }}
  args: {{ .Values.args | toJson | quote }}
  file: {{ .Files.Get "files/note.txt" | quote }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: second}
""",
    "templates/a-service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: demo}\nspec: {ports: [{port: 80}]}\n",
    "templates/nothing.yaml": "{{- if .Values.absent }}\nkind: Pod\n{{- end }}\n# only a comment\n",
    "templates/tests/test.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: test, annotations: {helm.sh/hook: test}}
spec: {restartPolicy: Never, containers: [{name: a, image: b}]}
""",
    "templates/NOTES.txt": "Thank you for installing {{ .Chart.Name }}.\n",
    "files/note.txt": "note\n",
    "charts/cache/Chart.yaml": "apiVersion: v2\nname: cache\nversion: 0.1.0\n",
    "charts/cache/templates/cache.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cache}\n",
}


def parsed(manifests: Mapping[str, str]) -> dict[str, list[Any]]:
    """The objects of each template."""
    return {path: [document.value for document in read(text, path)] for path, text in manifests.items()}


def write(folder: Path, files: Mapping[str, str | bytes] = FILES) -> Path:
    """The chart as a folder."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder
