"""A user's own folder of facts: laid out as ours (`models/`, `gpus/`), and free to override it."""

from __future__ import annotations

from pathlib import Path

from chartgen.catalog import gpus, models


def add_folder(path: Path) -> list[str]:
    """Add the facts below `path` to the catalog; return one sentence for each entry they override.

    Raises:
        InputError: an entry is malformed; every problem of that file, each with its place.
    """
    overridden = [("model", key) for key in models.add_folder(path)]
    overridden += [("GPU", key) for key in gpus.add_folder(path)]
    return [f"{path} overrides the catalog's {kind} {key}" for kind, key in overridden]
