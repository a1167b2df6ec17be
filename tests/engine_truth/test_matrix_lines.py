"""The matrix's command lines before the parsers: charts that nobody chose by hand, each on its own release."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import Final

import pytest

from breadth.axes import profile
from breadth.judging import empty
from chartgen.catalog.engines import engine, newest
from engine_lab import environment, truth

RELEASES: Final = (*truth.RELEASES, newest())
ROWS: Final = 400
"""The first rows of the matrix: those that hold the most pairs that no row before them held."""
RELEASE_AT: Final = 6
"""Where a row names its release."""


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """Profiles of the first rows, by release."""
    folder = tmp_path_factory.mktemp("matrix")
    found: dict[str, list[Path]] = defaultdict(list)
    for number, row in enumerate(islice(empty(folder).covering.rows(), ROWS)):
        path = folder / f"row-{number}.yaml"
        path.write_text(json.dumps(profile(row)), encoding="utf-8")
        found[row[RELEASE_AT]].append(path)
    return found


@pytest.mark.parametrize("release", RELEASES)
def test_the_release_takes_the_lines_of_its_rows(
    release: str, profiles: dict[str, list[Path]], capsys: pytest.CaptureFixture[str]
) -> None:
    """The release's own parser takes the command line of every chart of the matrix that runs it."""
    base = environment.build(truth.BASE, engine=False, more=truth.MORE)
    lines = list(truth.from_charts(profiles[release], engine(release)))
    assert "not rendered" not in capsys.readouterr().out
    verdicts = truth.ask(base, release, lines, level=1)["verdicts"]
    wrong = [(line.words, said) for line, said in zip(lines, verdicts, strict=True) if said != "ok"]
    assert wrong == []
    assert len(lines) >= 10
