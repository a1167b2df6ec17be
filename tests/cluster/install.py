"""Charts and manifests into a cluster: by Helm, as users do, or object by object, for a verdict on each."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from chartgen import api as chartgen
from chartgen.kernel import yaml_source
from cluster.api import Api, wait_for
from cluster.controlplane import ControlPlane, program
from cluster.errors import ClusterError
from cluster.wire import Manifest, Verdict

Helm = Literal["helm3", "helm4"]
"""Which Helm: 3 sends what a client-side merge gives, 4 applies on the server's side."""

_HELM_SECONDS: Final = 300
_HELM_WARNING: Final = re.compile(r'warnings\.go:\d+\] (?:"Warning: )?(.+?)"?$|level=WARN msg="?(.+?)"?$')
_SEPARATOR: Final = re.compile(r"^---.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a Helm command said."""

    accepted: bool
    """Whether it ended well."""
    output: str
    """Everything it printed."""
    warnings: tuple[str, ...]
    """What the server warned of, as Helm passes it on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One object and the server's verdict on it."""

    manifest: Manifest
    verdict: Verdict

    def __str__(self) -> str:
        name = self.manifest["metadata"].get("name")
        return f"{self.manifest['kind']}/{name}: {self.verdict.message or ', '.join(self.verdict.warnings)}"


def make_namespace(plane: ControlPlane, name: str) -> None:
    """Make a namespace and wait until pods can be made in it."""
    plane.api.must({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    wait_for(lambda: plane.api.get("v1", "ServiceAccount", "default", name), f"the service account of {name}")


def remove_namespace(plane: ControlPlane, name: str) -> None:
    """Remove a namespace, and its pods at once: those that wait would take the nodes of the next test's cluster."""

    def empty() -> bool:
        pods = plane.api.list("v1", "Pod", name)
        for pod in pods:
            plane.api.delete(pod, grace=0)
        return not pods

    plane.api.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    wait_for(empty, f"the end of the pods in {name}")


def helm(plane: ControlPlane, which: Helm, *arguments: str | Path) -> Answer:
    """Run Helm on the cluster, with nothing of the user's own Helm settings."""
    home = plane.sandbox.folder / which
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "KUBECONFIG": str(plane.kubeconfig),
        "HELM_CACHE_HOME": str(home / "cache"),
        "HELM_CONFIG_HOME": str(home / "config"),
        "HELM_DATA_HOME": str(home / "data"),
    }
    command = [str(program(which)), *map(str, arguments)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=_HELM_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise ClusterError(f"{' '.join(command)} took longer than {_HELM_SECONDS} s") from error
    said = (_HELM_WARNING.search(line) for line in done.stderr.splitlines())
    warnings = tuple((found[1] or found[2]).replace('\\"', '"') for found in said if found)
    return Answer(accepted=done.returncode == 0, output=done.stdout + done.stderr, warnings=warnings)


def install_chart(
    plane: ControlPlane, chart: Path, *, namespace: str, release: str | None = None, which: Helm = "helm4",
    options: Sequence[str] = (),
) -> Answer:  # fmt: skip
    """`helm install` of a chart folder into a namespace that is there; the release has the folder's name."""
    return helm(plane, which, "install", release or chart.name, chart, "--namespace", namespace, *options)


def rendered(
    plane: ControlPlane, chart: Path, *, namespace: str, which: Helm = "helm4", options: Sequence[str] = ()
) -> str:
    """What `helm template` makes of a chart for this cluster's Kubernetes."""
    version = ["--kube-version", plane.minor, "--namespace", namespace]
    answer = helm(plane, which, "template", chart.name, chart, *version, *options)
    if not answer.accepted:
        raise ClusterError(f"helm template {chart} failed:\n{answer.output}")
    return answer.output


def judge(plane: ControlPlane, text: str, *, namespace: str, dry_run: bool = True) -> list[Judged]:
    """The server's verdict on each object of a YAML text, read by the server itself, with strict fields.

    Objects are sent one by one in the text's order; a dry run stores nothing.
    """
    return [
        Judged(manifest=manifest, verdict=send(plane.api, manifest, raw, namespace=namespace, dry_run=dry_run))
        for manifest, raw in documents(text)
    ]


def judge_folder(plane: ControlPlane, folder: Path, *, namespace: str, dry_run: bool = True) -> list[Judged]:
    """The same for a folder of manifests, files in order of their names."""
    files = sorted(file for file in folder.rglob("*") if file.suffix in {".yaml", ".yml", ".json"})
    return [
        judged
        for file in files
        for judged in judge(plane, file.read_text(encoding="utf-8"), namespace=namespace, dry_run=dry_run)
    ]


def documents(text: str) -> Iterator[tuple[Manifest, str]]:
    """Each object as data, to know its kind, and as text, to send it unread."""
    for raw in _SEPARATOR.split(text):
        for document in yaml_source.read(raw, "manifest"):
            if document.value:
                yield document.value, raw


def send(api: Api, manifest: Manifest, raw: str, *, namespace: str, dry_run: bool) -> Verdict:
    """Create an object as its text says it, with strict fields."""
    where = manifest["metadata"].get("namespace", namespace)
    path = api.path(manifest["apiVersion"], manifest["kind"], where)
    query = {"fieldValidation": "Strict", **({"dryRun": "All"} if dry_run else {})}
    return api.send("POST", path, raw, query=query, content="application/yaml")


def chart_of(profile: Path, folder: Path) -> Path:
    """The chart of a profile, with what the platform team has to have in its `nodes/`, as a folder in another."""
    plan = chartgen.plan(chartgen.load_profile(profile))
    chart = folder / profile.stem
    for name, text in {**chartgen.chart_files(chartgen.build(plan)), **chartgen.node_files(plan)}.items():
        (chart / name).parent.mkdir(parents=True, exist_ok=True)
        (chart / name).write_text(text, encoding="utf-8")
    return chart
