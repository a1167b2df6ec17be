"""The custom resource definitions that charts may need, as their projects publish them."""

from __future__ import annotations

import re
from http import HTTPStatus
from pathlib import Path
from typing import Final

from cluster.api import Api, wait_for
from cluster.controlplane import program
from cluster.errors import ClusterError

SETS: Final = (
    "gateway-api-crds",
    "inference-extension-crds",
    "keda-crds",
    "prometheus-operator-crds",
    "lws-crds",
    "kueue-crds",
    "envoy-gateway-crds",
    "istio-crds",
    "traefik-crds",
    "contour-crds",
    "kyverno-crds",
)
"""Rows of scripts/tools.toml that are folders of definitions."""
USUAL: Final = SETS[:5]
"""What most charts need; a test that needs more installs it."""
_LEFT_OUT: Final = re.compile(
    r"(alertmanager|alertmanagerconfig|prometheuse|prometheusagent|scrapeconfig|thanosruler|probe)s\.monitoring"
    r"|(grpc|tcp|tls|udp)routes\.gateway|scaledjobs\.keda|envoyproxies\.gateway"
)
"""Large definitions that no chart for model serving makes objects of; each costs the server time."""


def read(folder: Path) -> dict[str, str]:
    """The definitions in a folder as YAML, by name; the template lines that a chart wraps around them left out."""
    found = {}
    for file in sorted(folder.glob("*.y*ml")):
        for document in re.split(r"^---.*$", file.read_text(encoding="utf-8"), flags=re.MULTILINE):
            plain = "".join(line for line in document.splitlines(keepends=True) if not line.startswith("{{"))
            if re.search(r"^kind: CustomResourceDefinition$", plain, re.MULTILINE):
                plural, group = (_word(plain, key) for key in ("plural", "group"))
                found[f"{plural}.{group}"] = plain
    return found


def install(api: Api, *sets: str, whole: bool = False) -> int:
    """Install sets of definitions, unless they are there, and wait until the server serves them.

    The server reads the YAML itself: some definitions hold texts that no Python reader takes. Unless `whole`, the
    large ones are left out that no chart makes objects of (a controller may want them). Returns how many
    definitions the sets have.
    """
    definitions: dict[str, str] = {}
    for name in sets or USUAL:
        definitions |= read(program(name))
    definitions = {name: text for name, text in definitions.items() if whole or not _LEFT_OUT.match(name)}
    path = api.path("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    for name, text in definitions.items():
        verdict = api.send("POST", path, text, content="application/yaml")
        if not verdict.accepted and verdict.status != HTTPStatus.CONFLICT:
            raise ClusterError(f"{name}: {verdict.message}")
    wait_for(lambda: _established(api) >= set(definitions), "the definitions")
    return len(definitions)


def _word(text: str, key: str) -> str:
    found = re.search(rf"^ +{key}: (\S+)$", text, re.MULTILINE)
    if found is None:
        raise ClusterError(f"a definition without {key}: {text[:200]}")
    return found[1]


def _established(api: Api) -> set[str]:
    return {
        str(item["metadata"]["name"])
        for item in api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        for condition in item.get("status", {}).get("conditions") or []
        if condition["type"] == "Established" and condition["status"] == "True"
    }
