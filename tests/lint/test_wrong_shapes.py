"""Manifests hold anything anywhere: whatever stands in a field, every policy gives a verdict or cannot tell."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from chartgen.lint.documents import read_manifests
from chartgen.lint.manifest import Inputs, Manifest
from chartgen.lint.run import Request, lint
from chartgen.policy.load import load

CAREFUL: Final = sorted((Path(__file__).parent / "labelled" / "silent").glob("*.yaml"))
ODD: Final[tuple[Any, ...]] = (7, -1, True, "x", "", None, [], {}, [7], {"a": 7}, "${NAME}")
SAMPLES: Final = 40
"""For each file; the whole product has been run once, and takes minutes."""


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place below the root of a tree."""
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from places(value, (*path, key))


@pytest.mark.parametrize("file", CAREFUL, ids=[file.stem for file in CAREFUL])
def test_nothing_stumbles_over_odd_values(file: Path) -> None:
    """One value is replaced by something that does not belong there, at a sample of all places."""
    objects = [one for one in yaml.safe_load_all(file.read_text(encoding="utf-8")) if one]
    chosen = random.Random(file.stem)  # noqa: S311 - a sample that is the same each time
    everywhere = [(index, path) for index, one in enumerate(objects) for path in places(one)]
    for index, path in chosen.sample(everywhere, min(SAMPLES, len(everywhere))):
        odd, changed = chosen.choice(ODD), copy.deepcopy(objects)
        node = changed[index]
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = odd
        text = yaml.safe_dump_all(changed)
        manifests = tuple(one for one in read_manifests(text, "odd.yaml", "odd") if isinstance(one, Manifest))
        outcome = lint(Request(inputs=Inputs(manifests=manifests), policies=load()))
        assert outcome.stumbles == (), (path, odd, outcome.stumbles)
