"""Which slow checks have passed on this machine, by the digest of everything they looked at."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from toolbox.cache import place

_BETWEEN: Final = "--"
_USAGE: Final = "usage: scripts/when_changed PATH… -- COMMAND…"
_MISUSED: Final = 2
_MADE_BY_PYTHON: Final = "__pycache__"


def main(arguments: Sequence[str] | None = None, environment: Mapping[str, str] = os.environ) -> int:
    """Run the command unless it passed with these inputs: its status, or 2 for a call that cannot be understood."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    at = words.index(_BETWEEN) if _BETWEEN in words else len(words)
    paths, command = words[:at], words[at + 1 :]
    missing = [path for path in paths if not Path(path).exists()]
    if not paths or not command or missing:
        print(f"no such input: {', '.join(missing)}" if missing else _USAGE, file=sys.stderr)
        return _MISUSED
    stamp = place(environment) / "passed" / digest(paths, command)
    if stamp.exists():
        print(f"{' '.join(command)}: passed here before with the same {', '.join(paths)}")
        return 0
    status = subprocess.run(command, check=False).returncode
    if status == 0:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
    return status


def digest(paths: Iterable[str], command: Iterable[str]) -> str:
    """The digest of a command and of every file under the paths, name and content."""
    whole = hashlib.sha256("\0".join(command).encode())
    for path in sorted(set(_files(paths))):
        whole.update(f"\0{path}\0".encode())
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def _files(paths: Iterable[str]) -> Iterable[Path]:
    for path in map(Path, paths):
        found = [path] if path.is_file() else path.rglob("*")
        yield from (file for file in found if file.is_file() and _MADE_BY_PYTHON not in file.parts)
