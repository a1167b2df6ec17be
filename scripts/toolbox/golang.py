"""What Go a module needs, and what Go there is."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path


def needed_by(module: Path) -> tuple[int, ...]:
    """The Go version that a go.mod asks for."""
    line = re.search(r"^go ([0-9.]+)$", module.read_text(encoding="utf-8"), re.MULTILINE)
    if line is None:
        raise ValueError(module)
    return tuple(map(int, line[1].split(".")))


def version_of(go: str) -> tuple[int, ...]:
    """The version of a Go command; nothing, which is older than any, when it does not say."""
    local = {**os.environ, "GOTOOLCHAIN": "local"}
    command = [go, "env", "GOVERSION"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, env=local, cwd="/", check=False)
    except OSError:
        return ()
    numbers = re.match(r"go([0-9]+(?:\.[0-9]+)*)", answer.stdout)
    return tuple(map(int, numbers[1].split("."))) if numbers else ()
