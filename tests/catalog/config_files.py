"""Config files for tests: published ones, changed copies, and what the reader says of them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from chartgen.catalog.model_config import read_model
from chartgen.catalog.models import Model
from chartgen.kernel.errors import InputError

PUBLISHED: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "published_configs.yaml").read_text(encoding="utf-8")
)
"""By the id of the catalog's entry that holds the same facts."""
LLAMA = PUBLISHED["meta-llama/Llama-3.1-8B-Instruct"]
DELETE = object()


def changed(config: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A copy of a config with keys set, or deleted; a key with __ steps into a nested object."""
    result = copy.deepcopy(config)
    for key, value in changes.items():
        *path, last = key.split("__")
        target = result
        for step in path:
            target = target[step]
        if value is DELETE:
            del target[last]
        else:
            target[last] = value
    return result


def written(folder: Path, config: object) -> Path:
    """The config as a file, indented as the hub has it."""
    path = folder / "config.json"
    path.write_text(json.dumps(config, indent=2), encoding="utf-8")
    return path


def read(folder: Path, config: object, weights: Path | None = None) -> Model:
    """The model of a config."""
    return read_model(written(folder, config), weights)


def refused(folder: Path, config: object) -> list[str]:
    """What the reader says of a bad config: line, path, what was found, what would do, nearest name."""
    with pytest.raises(InputError) as caught:
        read(folder, config)
    return [
        f"{problem.position.line if problem.position else '-'} {problem.path}: "
        f"{problem.found} | {problem.expected}" + (f" | {problem.nearest}" if problem.nearest else "")
        for problem in caught.value.problems
    ]
