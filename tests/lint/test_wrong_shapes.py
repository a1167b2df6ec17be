"""Manifests hold anything anywhere: whatever stands in a field, every policy gives a verdict or cannot tell."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from chartgen.lint.documents import read_manifests
from chartgen.lint.finding import Outcome
from chartgen.lint.manifest import Inputs, Manifest
from chartgen.lint.run import Request, lint
from chartgen.policy.load import load

CAREFUL: Final = sorted((Path(__file__).parent / "labelled" / "silent").glob("*.yaml"))
AMOUNT: Final = re.compile(r"\d[\d.]*[a-zA-Z%]{0,2}")
ODD: Final[tuple[Any, ...]] = (7, -1, True, "x", "", None, [], {}, [7], {"a": 7}, "${NAME}")
HUGE: Final[tuple[Any, ...]] = ("1e999", "-1e999", "9" * 5000, "9" * 310, "\u00b2", 2**63 - 1, 10**30)
"""Amounts beyond 64 bits, beyond Python's longest integer text, and a digit that is none of Kubernetes'."""
SAMPLES: Final = 40
"""For each file; the whole product has been run once, and takes minutes."""


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place below the root of a tree."""
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from places(value, (*path, key))


def judged(objects: list[Any]) -> Outcome:
    """What lint says of objects that stand in one file."""
    text = yaml.safe_dump_all(objects)
    manifests = tuple(one for one in read_manifests(text, "odd.yaml", "odd") if isinstance(one, Manifest))
    return lint(Request(inputs=Inputs(manifests=manifests), policies=load()))


def replaced(objects: list[Any], index: int, path: tuple[Any, ...], value: Any) -> list[Any]:
    """A copy of the objects with another value at one place."""
    changed = copy.deepcopy(objects)
    node = changed[index]
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    return changed


def amounts() -> Iterator[Any]:
    """Every field that holds a number or a quantity somewhere in the careful manifests, once."""
    seen = set()
    for file in CAREFUL:
        objects = [one for one in yaml.safe_load_all(file.read_text(encoding="utf-8")) if one]
        for index, one in enumerate(objects):
            for path in places(one):
                value = one
                for step in path:
                    value = value[step]
                field = ".".join(step for step in path if isinstance(step, str))
                if field not in seen and not isinstance(value, bool) and AMOUNT.fullmatch(str(value)):
                    seen.add(field)
                    yield pytest.param(objects, index, path, id=field)


@pytest.mark.parametrize(("objects", "index", "path"), list(amounts()))
def test_nothing_stumbles_over_huge_amounts(objects: list[Any], index: int, path: tuple[Any, ...]) -> None:
    """No number is too large to be judged."""
    for huge in HUGE:
        outcome = judged(replaced(objects, index, path, huge))
        assert outcome.stumbles == (), (str(huge)[:20], outcome.stumbles)


@pytest.mark.parametrize("text", [*map(str, HUGE), "9" * 400 + "k", "9" * 5000 + "K"], ids=lambda text: text[:6])
def test_nothing_stumbles_over_huge_options(text: str) -> None:
    """No number on the engine's command line is too large to be judged."""
    names = ("max-model-len", "max-num-seqs", "tensor-parallel-size", "pipeline-parallel-size", "compilation-config")
    options = [word for name in (*names, "port", "gpu-memory-utilization") for word in (f"--{name}", text)]
    container = {"name": "vllm", "image": "vllm/vllm-openai:v0.19.0", "args": ["--model=a/b", f"-O{text}", *options]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [container]}}
    outcome = judged([pod])
    assert outcome.stumbles == ()
    assert outcome.findings, "the options were read"


@pytest.mark.parametrize("file", CAREFUL, ids=[file.stem for file in CAREFUL])
def test_nothing_stumbles_over_odd_values(file: Path) -> None:
    """One value is replaced by something that does not belong there, at a sample of all places."""
    objects = [one for one in yaml.safe_load_all(file.read_text(encoding="utf-8")) if one]
    chosen = random.Random(file.stem)  # noqa: S311 - a sample that is the same each time
    everywhere = [(index, path) for index, one in enumerate(objects) for path in places(one)]
    for index, path in chosen.sample(everywhere, min(SAMPLES, len(everywhere))):
        odd = chosen.choice(ODD)
        outcome = judged(replaced(objects, index, path, odd))
        assert outcome.stumbles == (), (path, odd, outcome.stumbles)
