"""Where the data folders live: beside the checkout when there is one, inside the wheel otherwise."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final, Literal

Folder = Literal["templates", "profiles", "policies"]

_PACKAGE: Final = Path(__file__).resolve().parent.parent


@cache
def folder(name: Folder) -> Path:
    """The data folder `name`; a checkout's own folder wins over the copy that the wheel carries.

    Raises:
        FileNotFoundError: the installation is broken: neither place has the folder.
    """
    checkout = _PACKAGE.parent.parent
    candidates = [_PACKAGE / "_library" / name]
    if (checkout / "pyproject.toml").is_file():
        candidates.insert(0, checkout / name)
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    msg = f"the {name} folder is missing from {candidates}"
    raise FileNotFoundError(msg)


def catalog_data() -> Path:
    """The catalog's fact files, one folder per kind of fact."""
    return _PACKAGE / "catalog" / "data"
