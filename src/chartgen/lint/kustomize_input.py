"""Kustomizations as input: built by kubectl or kustomize where one of them is on PATH."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from chartgen.kernel.errors import excerpt
from chartgen.kernel.yaml_source import refusal
from chartgen.lint.inputs import KUSTOMIZATIONS, FolderReader, Read, read_bytes
from chartgen.lint.manifest import Unread

_SECONDS: Final = 60


def folder_reader() -> FolderReader:
    """The reader as part of the inputs."""
    return FolderReader(knows=is_kustomization, read=read)


def is_kustomization(path: Path) -> bool:
    """Whether a folder is a kustomization that can be built here."""
    # Not pathlib's, which raise where a folder must not be read.
    there = os.path.isdir(path) and any(os.path.isfile(path / name) for name in KUSTOMIZATIONS)  # noqa: PTH112, PTH113
    return there and _command(path) is not None


def _command(path: Path) -> list[str] | None:
    import shutil  # noqa: PLC0415 - only where there is a kustomization

    for name, words in (("kubectl", ["kustomize"]), ("kustomize", ["build"])):
        found = shutil.which(name)
        if found:
            return [found, *words, str(path)]
    return None


def read(path: Path) -> Iterator[Read]:
    """The objects that a kustomization builds; one that does not build is told as such."""
    import subprocess  # noqa: PLC0415 - only where there is a kustomization

    command = _command(path) or []
    try:
        # The command is one of two programs with a folder that the user named; nothing of it passes a shell.
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603
        failure = done.stderr.decode("utf-8", "replace").strip() if done.returncode else None
    except (OSError, subprocess.TimeoutExpired) as error:
        failure, done = str(error), None
    if failure is not None or done is None:
        (problem,) = refusal(
            str(path), None, f"kustomize's error: {excerpt(str(failure))}", "a kustomization that builds"
        ).problems
        yield Unread(fate="failed", problem=problem)
        return
    yield from read_bytes(done.stdout, f"{path} (built)", str(path))
    yield f"{path} was built by {Path(command[0]).name} {command[1]}: lines are those of its output"
