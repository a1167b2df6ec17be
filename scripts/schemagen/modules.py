"""Go modules as the source of schemas: fetched by the `go` command, named by path and version."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_LICENCES: Final = {
    "Apache-2.0": ("Apache License", "Version 2.0"),
    "MIT": ("Permission is hereby granted, free of charge", "WITHOUT WARRANTY OF ANY KIND"),
}
"""Phrases that tell a licence text; a module whose text has none of these sets is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A Go module, unpacked and read-only."""

    path: str
    """The module path: k8s.io/kubernetes."""
    version: str
    """The version, with its v: v1.37.2."""
    licence: str
    """The SPDX name of its licence, told from the text of its LICENSE file."""
    folder: Path
    """Where it lies unpacked."""

    def text(self, path: str) -> str:
        """The text of one file of the module."""
        return (self.folder / path).read_text(encoding="utf-8")


def download(path: str, version: str) -> Module:
    """Fetch a module through the Go command's own cache.

    Raises:
        SystemExit: the command failed, with its own words.
    """
    environment = {**os.environ, "GOWORK": "off", "GOFLAGS": "-mod=mod"}
    with tempfile.TemporaryDirectory() as outside:  # outside of any module, so that no go.mod is read or written
        answer = subprocess.run(
            ["go", "mod", "download", "-json", f"{path}@{version}"],
            cwd=outside,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if answer.returncode:
        raise SystemExit(f"go mod download {path}@{version} failed:\n{answer.stdout}{answer.stderr}")
    folder = Path(json.loads(answer.stdout)["Dir"])
    return Module(path=path, version=version, licence=_licence(folder), folder=folder)


def _licence(folder: Path) -> str:
    for name in ("LICENSE", "LICENSE.md", "COPYING"):
        if (folder / name).is_file():
            text = (folder / name).read_text(encoding="utf-8")
            for licence, phrases in _LICENCES.items():
                if all(phrase in text for phrase in phrases):
                    return licence
    raise SystemExit(f"{folder}: no licence known to this script")
