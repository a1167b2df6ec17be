"""The only door to Helm. Two engines behind it, which the tests hold to the same answers.

The library runs Helm's own code inside this process (the package helm-python-sdk, by the extra
`chartgen[helm]`): about twenty times the speed of a process for each chart. The binary is any `helm` of version
3 or 4. Neither is touched before it is needed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError
from chartgen.kernel.yaml_source import read
from chartgen.validate.chart_files import pack
from chartgen.validate.fault import Node
from chartgen.validate.helm_binary import Binary
from chartgen.validate.helm_engine import (
    Files,
    HelmEngine,
    HelmError,
    HelmMessage,
    HelmMissing,
    Severity,
    archive,
    full_version,
    manifests,
)

__all__ = ["Binary", "Choice", "HelmEngine", "HelmError", "HelmMessage", "HelmMissing", "Library", "engine"]

Choice = Literal["auto", "library", "binary"]

_SEVERITIES: Final[Mapping[int, Severity]] = {1: "info", 2: "warning", 3: "error"}
"""The library's numbers for them."""


def engine(choice: Choice = "auto", binary: Path | None = None) -> HelmEngine:
    """The Helm engine to use.

    Args:
        choice: `auto` takes the library where it is installed, else the binary.
        binary: the helm command; None looks on PATH.

    Raises:
        HelmMissing: there is none.
    """
    command = binary or _on_path()
    if choice != "binary" and find_spec("helm_python") is not None:
        return Library(binary=Binary(command) if command and choice == "auto" else None)
    if choice == "library":
        raise HelmMissing("the Helm library is not installed: pip install 'chartgen[helm]'")
    if command is None:
        raise HelmMissing("there is no Helm: pip install 'chartgen[helm]', or scripts/tools install helm4")
    return Binary(command)


def _on_path() -> Path | None:
    found = shutil.which("helm")
    return Path(found) if found else None


class Library(HelmEngine):
    """Helm 4 inside this process."""

    def __init__(self, *, binary: Binary | None = None) -> None:
        self._binary = binary
        """Who is asked when a chart wants to know the cluster's version, which the library cannot be told."""

    @property
    def version(self) -> str:
        """See HelmEngine."""
        import helm_python  # noqa: PLC0415 - 70 MB, loaded only where it is used

        return f"{helm_python.helm_sdk_version().removeprefix('v')} (library)"

    def lint(
        self, files: Files, values: Mapping[str, Any] | None = None, *, kubernetes: str | None = None
    ) -> list[HelmMessage]:
        """See HelmEngine."""
        import helm_python  # noqa: PLC0415

        version = None if kubernetes is None else full_version(kubernetes)
        with archive(files) as path:
            try:
                report = helm_python.lint(path, dict(values or {}), strict=True, kube_version=version)
            except helm_python.HelmError as error:
                raise HelmError(str(error).strip()) from error
        if not report["messages"] and report["errors"]:  # the chart could not be read
            raise HelmError("\n".join(report["errors"]).strip())
        return [
            HelmMessage(
                severity=_SEVERITIES.get(message["severity"], "error"),
                path=message["path"],
                text=message["error"].strip(),
            )
            for message in report["messages"]
        ]

    def template(
        self,
        files: Files,
        *,
        release: str,
        namespace: str,
        values: Mapping[str, Any] | None = None,
        kubernetes: str | None = None,
        api_versions: Iterable[str] = (),
    ) -> dict[str, str]:
        """See HelmEngine."""
        if _looks_at_the_cluster(files):
            if self._binary is None:
                raise HelmMissing(
                    "this chart looks at .Capabilities, which only the helm command can be told: "
                    "scripts/tools install helm4, or put helm on PATH"
                )
            return self._binary.template(
                files,
                release=release,
                namespace=namespace,
                values=values,
                kubernetes=kubernetes,
                api_versions=api_versions,
            )
        _refuse_as_helm_does(files, release, kubernetes)
        return manifests(_render(files, dict(values or {}), release, namespace).items())


def _render(files: Files, values: dict[str, Any], release: str, namespace: str) -> dict[str, str]:
    import helm_python  # noqa: PLC0415

    try:
        with helm_python.Chart.load_archive(pack(files)) as chart:
            return chart.render(
                values, name=release, namespace=namespace, revision=1, is_install=True, is_upgrade=False
            )
    except helm_python.HelmError as error:
        raise HelmError(str(error).strip()) from error


def _refuse_as_helm_does(files: Files, release: str, kubernetes: str | None) -> None:
    """What the helm command checks before it renders, and the library does not.

    Raises:
        HelmError: the release's name is none, a subchart is missing, or the chart is not for this Kubernetes.
    """
    import helm_python  # noqa: PLC0415

    try:
        helm_python.validate_release_name(release)
    except helm_python.HelmError as error:
        raise HelmError(f"release name {release!r}: {error}") from error
    chart = _chart_yaml(files)
    there = {path.split("/")[1] for path in files if path.startswith("charts/")}
    missing = [
        name
        for name in chart.dependencies
        if not any(entry == name or (entry.startswith(f"{name}-") and entry.endswith(".tgz")) for entry in there)
    ]
    if missing:
        raise HelmError(f"found in Chart.yaml, but missing in charts/ directory: {', '.join(missing)}")
    if chart.kubernetes and kubernetes and not _satisfies(full_version(kubernetes), chart.kubernetes):
        message = f"chart requires kubeVersion: {chart.kubernetes} which is incompatible with Kubernetes"
        raise HelmError(f"{message} {full_version(kubernetes)}")


@dataclass(frozen=True, slots=True)
class _ChartYaml:
    dependencies: tuple[str, ...]
    kubernetes: str


def _chart_yaml(files: Files) -> _ChartYaml:
    """The part of Chart.yaml that is checked here; nothing when it is malformed, which Helm itself refuses."""
    content = files.get("Chart.yaml", "")
    text = content if isinstance(content, str) else content.decode(errors="replace")
    try:
        (document,) = read(text, "Chart.yaml")
    except (InputError, ValueError):
        return _ChartYaml((), "")
    node = Node(document.value)
    names = (entry["name"].text() for entry in node["dependencies"].entries())
    return _ChartYaml(tuple(name for name in names if name), node["kubeVersion"].text() or "")


@cache
def _satisfies(version: str, constraint: str) -> bool:
    """Whether a version is inside a constraint: asked of Helm's own library, by a chart made for it."""
    files = {
        "Chart.yaml": "apiVersion: v2\nname: compare\nversion: 0.0.0\n",
        "templates/compare.yaml": "{{ semverCompare .Values.constraint .Values.version }}",
    }
    rendered = _render(files, {"constraint": constraint, "version": version}, "compare", "default")
    return rendered["compare/templates/compare.yaml"].strip() == "true"


def _looks_at_the_cluster(files: Files) -> bool:
    """Whether a template names `.Capabilities`; a packed subchart may, so it counts as one that does."""
    return any(
        path.endswith(".tgz")
        or (".Capabilities" in content if isinstance(content, str) else b".Capabilities" in content)
        for path, content in files.items()
        if "templates/" in path or path.endswith(".tgz")
    )
