"""What a Helm engine is: the interface that the library and the binary share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, Protocol

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import excerpt
from chartgen.validate.chart_files import pack, read

Files = Mapping[str, str | bytes]
"""A chart: path inside the chart to content."""
Severity = Literal["info", "warning", "error"]

_SAYS_NOTHING: Final = re.compile(r"\s*(#.*|---\s*)?")


class HelmError(Exception):
    """Helm refused, in Helm's own words: a template that does not render, values that a schema forbids."""

    def __init__(self, text: str) -> None:
        super().__init__(excerpt(text))


class HelmMissing(HelmError):  # noqa: N818 - it says what is missing
    """There is no Helm to ask, or not the one that was asked for; the text says what to install."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmMessage:
    """One message of `helm lint`."""

    severity: Severity
    """How grave Helm thinks it is; under `--strict` a warning fails as an error does."""
    path: str
    """The file or folder of the chart that it is about."""
    text: str
    """Helm's own words."""

    @property
    def fails(self) -> bool:
        """Whether `helm lint --strict` fails for it."""
        return self.severity != "info"


class HelmEngine(Protocol):
    """Something that can lint and render a chart held in memory."""

    @property
    def version(self) -> str:
        """Helm's version, and which engine it is: 4.2.3 (library)."""

    def lint(
        self, files: Files, values: Mapping[str, Any] | None = None, *, kubernetes: str | None = None
    ) -> list[HelmMessage]:
        """Everything that `helm lint --strict` says about the chart.

        Args:
            files: the chart.
            values: what stands over the chart's own values.
            kubernetes: the version whose deprecations count; None for Helm's own.

        Raises:
            HelmError: Helm could not even read it.
        """

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
        """Render the chart as an install would.

        Args:
            files: the chart.
            release: the release's name.
            namespace: the release's namespace.
            values: what stands over the chart's own values.
            kubernetes: the version that templates see as `.Capabilities.KubeVersion`; None for Helm's own.
            api_versions: more API versions that templates see as `.Capabilities.APIVersions`.

        Returns:
            Template path (`<chart>/templates/service.yaml`) to manifest text, which may hold several
            documents; hooks and tests included, NOTES.txt and what renders to nothing left out.

        Raises:
            HelmError: Helm refused, or the engine cannot do what is asked.
        """

    def template_path(
        self,
        path: Path,
        *,
        release: str,
        namespace: str,
        values: Mapping[str, Any] | None = None,
        kubernetes: str | None = None,
        api_versions: Iterable[str] = (),
    ) -> dict[str, str]:
        """Render a chart that lies on disk, a folder or an archive; see `template`.

        Raises:
            InputError: it is no chart, holds more than a chart may, or reaches outside of itself.
            HelmError: Helm refused.
        """
        return self.template(
            read(path),
            release=release,
            namespace=namespace,
            values=values,
            kubernetes=kubernetes,
            api_versions=api_versions,
        )


def full_version(kubernetes: str) -> str:
    """A version of Kubernetes as Helm compares it: 1.34 is v1.34.0."""
    parts = kubernetes.removeprefix("v").split(".")
    return f"v{'.'.join([*parts, '0'][:3])}"


@contextmanager
def archive(files: Files) -> Iterator[Path]:
    """The chart as an archive on disk, for as long as Helm reads it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "chart.tgz"
        path.write_bytes(pack(files))
        yield path


def manifests(rendered: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Put the parts of one template together again; leave out notes and what rendered to nothing."""
    result: dict[str, str] = {}
    for path, text in rendered:
        empty = all(_SAYS_NOTHING.fullmatch(line) for line in text.splitlines())
        if not empty and not path.endswith("NOTES.txt"):
            result[path] = f"{result[path].rstrip()}\n---\n{text}" if path in result else text
    return dict(sorted(result.items()))
