"""A slow check runs again when, and only when, something that it looks at has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolbox import passed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one input, the working folder of the test."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text("1")
    return tmp_path


def _run(folder: Path, command: str = "echo ran >> log") -> int:
    environment = {**os.environ, "CHARTGEN_TOOLS": str(folder / "cache")}
    return passed.main(["in", "--", "sh", "-c", command], environment)


def _runs(folder: Path) -> int:
    return (folder / "log").read_text().count("ran")


def test_the_same_inputs_run_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run with the same inputs says that they passed, and starts nothing."""
    assert (_run(folder), _run(folder)) == (0, 0)
    assert _runs(folder) == 1
    assert "passed here before with the same in" in capsys.readouterr().out


@pytest.mark.parametrize("change", ["content", "name", "more", "command"])
def test_a_change_runs_again(folder: Path, change: str) -> None:
    """Another content, another name, one file more and another command each run again."""
    assert _run(folder) == 0
    match change:
        case "content":
            (folder / "in" / "a").write_text("2")
        case "name":
            (folder / "in" / "a").rename(folder / "in" / "b")
        case "more":
            (folder / "in" / "empty").touch()
    assert _run(folder, "echo ran >> log" + ";" * (change == "command")) == 0
    assert _runs(folder) == 2


def test_a_failure_is_not_kept(folder: Path) -> None:
    """A check that failed gives its own status and is run again."""
    assert [_run(folder, "echo ran >> log; exit 3") for _ in range(2)] == [3, 3]
    assert _runs(folder) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [(["in"], "usage"), (["--", "true"], "usage"), (["nothing", "--", "true"], "no such input: nothing")],
)
def test_a_call_without_sense_runs_nothing(
    folder: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without inputs, without a command or with an input that is not there, one line says so."""
    assert passed.main(words, {"CHARTGEN_TOOLS": str(folder)}) == 2
    assert said in capsys.readouterr().err
