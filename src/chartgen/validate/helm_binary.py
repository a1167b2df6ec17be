"""Helm as a command: version 3 or 4, in a process of its own that knows no cluster and no user's settings."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

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

TIMEOUT: Final = 60
"""Seconds after which a helm process is given up: a template of a foreign chart may never end."""

_SEVERITIES: Final[Mapping[str, Severity]] = {"INFO": "info", "WARNING": "warning", "ERROR": "error"}
_LINT_LINE: Final = re.compile(r"^\[(INFO|WARNING|ERROR)\] ([^:\n]*): ", re.MULTILINE)
_LINT_END: Final = re.compile(r"^\d+ chart\(s\) linted", re.MULTILINE)
_SOURCE: Final = re.compile(r"^---\n# Source: ([^\n]+)\n", re.MULTILINE)
_ERROR: Final = re.compile(r"^Error: ", re.MULTILINE)
_DEBUG_HINT: Final = "\n\nUse --debug flag to render out invalid YAML"


class Binary(HelmEngine):
    """A `helm` command."""

    def __init__(self, command: Path) -> None:
        self._command = command

    @property
    def version(self) -> str:
        """See HelmEngine."""
        answer = self._run("version", "--template", "{{.Version}}")
        if answer.returncode:
            raise HelmError(answer.stderr.strip())
        return f"{answer.stdout.strip().removeprefix('v')} (helm)"

    def lint(
        self, files: Files, values: Mapping[str, Any] | None = None, *, kubernetes: str | None = None
    ) -> list[HelmMessage]:
        """See HelmEngine."""
        options = ["--strict", "--values=-"]
        if kubernetes is not None:
            options.append(f"--kube-version={full_version(kubernetes)}")
        with archive(files) as path:
            answer = self._run("lint", *options, str(path), values=values)
        text = _LINT_END.split(answer.stdout)[0]
        starts = list(_LINT_LINE.finditer(text))
        if answer.returncode and not starts:
            raise HelmError(f"{answer.stdout}{answer.stderr}".strip())
        ends = [*(start.start() for start in starts[1:]), len(text)]
        return [
            HelmMessage(severity=_SEVERITIES[start[1]], path=start[2], text=text[start.end() : end].strip())
            for start, end in zip(starts, ends, strict=bool(starts))
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
        options = [f"--namespace={namespace}", "--values=-"]
        if kubernetes is not None:
            options.append(f"--kube-version={full_version(kubernetes)}")
        options += [f"--api-versions={version}" for version in api_versions]
        with archive(files) as path:
            answer = self._run("template", *options, "--", release, str(path), values=values)
        if answer.returncode:
            raise HelmError(_ERROR.split(answer.stderr)[-1].strip().removesuffix(_DEBUG_HINT))
        parts = _SOURCE.split(answer.stdout)[1:]  # what stands before the first source is empty
        return manifests(zip(parts[::2], parts[1::2], strict=True))

    def _run(self, *arguments: str, values: Mapping[str, Any] | None = None) -> subprocess.CompletedProcess[str]:
        with TemporaryDirectory() as home:  # no plugin, cache or cluster of the user takes part
            try:
                return subprocess.run(  # noqa: S603 - the caller's own helm; arguments are a list, no shell's text
                    [self._command, *arguments],
                    input=json.dumps(dict(values or {})),
                    env={"PATH": os.defpath, "HOME": home, "KUBECONFIG": os.devnull},
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=TIMEOUT,
                )
            except subprocess.TimeoutExpired as error:
                raise HelmError(f"helm {arguments[0]} gave no answer in {TIMEOUT} s") from error
            except OSError as error:
                raise HelmMissing(f"{self._command} cannot be run: {error}") from error
