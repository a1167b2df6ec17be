"""The command-line reader gives what the engine's own parser would make of what people write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from chartgen.catalog.command_line import read
from chartgen.catalog.command_types import CannotTell, CommandLine, NotAnEngine, Reading, Unresolved
from chartgen.catalog.engines import engine, newest

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "spellings.yaml").read_text(encoding="utf-8"))


def reading(case: dict[str, Any]) -> Reading:
    return read(
        command=case.get("command", []),
        args=case.get("args", []),
        env=case.get("env", {}),
        files=case.get("files", {}),
        engine=engine(case.get("release", newest())),
        image_starts_engine=case.get("image", False),
    )


def plain(value: Any) -> Any:
    return {"unresolved": value.text} if isinstance(value, Unresolved) else value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["say"])
def test_spelling(case: dict[str, Any]) -> None:
    """Each spelling gives the model, the flags with typed values, and the kinds of problem that stand beside it."""
    found = reading(case)
    if "cannot" in case:
        assert isinstance(found, CannotTell)
        assert case["cannot"] in found.because
        return
    if "not" in case:
        assert found == NotAnEngine(because=case["not"])
        return
    assert isinstance(found, CommandLine)
    given = {argument.flag: plain(argument.value) for argument in found.arguments if argument.flag != "--config"}
    want = {key: value for key, value in case["want"].items() if key not in {"model", "--config"}}
    assert (plain(found.model), given) == (case["want"]["model"], want)
    assert [problem.kind for problem in found.problems] == case.get("problems", [])
    assert list(found.gaps) == case.get("gaps", [])


def test_there_are_forty_spellings() -> None:
    """The table holds at least the forty spellings that the reader promises."""
    assert len(CASES) >= 40


def test_a_removed_flag_says_what_to_write() -> None:
    """A removed flag names the release it went with and what replaces it."""
    found = reading({"args": ["m", "--task", "embed"], "image": True})
    assert isinstance(found, CommandLine)
    (problem,) = found.problems
    assert "0.13.0" in problem.message
    assert "--runner pooling" in problem.instead


def test_places_point_into_scripts() -> None:
    """A word of a script knows its entry of the list and its line in it."""
    found = reading({"command": ["sh", "-c", "true\nvllm serve m \\\n  --max-num-seqs 4"]})
    assert isinstance(found, CommandLine)
    (argument,) = found.arguments
    assert (argument.place.list, argument.place.index, argument.place.line) == ("command", 2, 2)
