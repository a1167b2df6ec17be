"""Files to disk, in one step: a kill at any moment leaves the old chart or the new one, never a mixture.

The new folder is written beside the old one and then exchanged with it by one system call where the platform
has it (Linux, macOS); elsewhere the old folder is first moved aside.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Final

from chartgen.kernel.errors import InputError, InputProblem

_AT_FDCWD: Final = -100 if sys.platform.startswith("linux") else -2
_EXCHANGE: Final = 2  # RENAME_EXCHANGE in linux/fs.h, RENAME_SWAP in sys/stdio.h
_MARK: Final = ".chartgen-"


def write_folder(files: Mapping[str, str], target: Path) -> bool:
    """Make `target` hold exactly `files` (relative POSIX path to text); False when it already does.

    Raises:
        InputError: the target is no folder of ours to replace, or cannot be written.
        ValueError: a path leaves the target, which is our fault.
    """
    for name in files:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            msg = f"a file path leaves its folder: {name!r}"
            raise ValueError(msg)
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise InputError([_problem(target, "something that is no folder", "a folder, or nothing")])
    if target.is_dir() and any(target.iterdir()) and not (target / "Chart.yaml").is_file():
        raise InputError([_problem(target, "a folder that holds no chart", "a chart's folder, or nothing")])
    if _holds(target, files):
        return False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target)
        _replace(files, target)
    except OSError as error:
        raise InputError([_problem(target, error.strerror or str(error), "a folder to write to")]) from error
    return True


def _problem(target: Path, found: str, expected: str) -> InputProblem:
    return InputProblem(file=str(target), position=None, path="", found=found, expected=expected)


def _holds(target: Path, files: Mapping[str, str]) -> bool:
    if not target.is_dir():
        return False
    present = {path.relative_to(target).as_posix(): path for path in target.rglob("*") if not path.is_dir()}
    return present.keys() == files.keys() and all(
        present[name].read_bytes() == text.encode() for name, text in files.items()
    )


def _sweep(target: Path) -> None:
    """Remove what a killed run of the same chart left beside it."""
    for left in target.parent.glob(f"{_MARK}{target.name}-*"):
        shutil.rmtree(left, ignore_errors=True)


def _replace(files: Mapping[str, str], target: Path) -> None:
    staged = Path(tempfile.mkdtemp(prefix=f"{_MARK}{target.name}-", dir=target.parent))
    try:
        for name, text in files.items():
            path = staged / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        staged.chmod(0o755)
        if target.exists():
            _exchange(staged, target)
        else:
            staged.rename(target)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _exchange(staged: Path, target: Path) -> None:
    """Swap two folders; `staged` holds the old content afterwards."""
    libc = ctypes.CDLL(None, use_errno=True)
    call = getattr(libc, "renameat2", None) or getattr(libc, "renameatx_np", None)
    if call is not None:
        paths = os.fsencode(staged), os.fsencode(target)
        if call(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _EXCHANGE) == 0:
            return
    aside = Path(f"{staged}-old")
    target.rename(aside)
    try:
        staged.rename(target)
    except OSError:
        with suppress(OSError):
            aside.rename(target)
        raise
    aside.rename(staged)
