"""The truth check itself: a wrong line fails it, and so does a catalogue that says something else.

`make engine-truth` runs this folder after the check; the everyday run leaves it out, as the engine's own parser
takes a minute to import.
"""

from __future__ import annotations

import dataclasses

import pytest

from chartgen.catalog.engines import Engine, engine, newest
from engine_lab import environment, truth


def test_a_wrong_line_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """A line with a flag that the newest release does not know makes the check fail and is named."""
    assert truth.main([newest(), "--level-2", "none", "--line", "m --swap-space 16"]) == 1
    shown = capsys.readouterr().out
    assert "FAILED" in shown
    assert "unrecognized arguments: --swap-space 16" in shown


def test_a_wrong_catalogue_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A catalogue with an invented flag, or without a real one, disagrees with the parser."""
    real = engine(newest())
    flags = dict(real.flags)
    invented = dataclasses.replace(flags.pop("--seed"), name="--invented")

    def bent(release: str) -> Engine:
        del release
        return dataclasses.replace(real, flags={**flags, "--invented": invented})

    monkeypatch.setattr(truth, "engine", bent)
    assert truth.main([newest(), "--level-2", "none"]) == 1
    shown = capsys.readouterr().out
    assert "the catalogue has --invented, the parser has not" in shown
    assert "the parser has --seed, the catalogue has not" in shown


def test_level_2_refuses_what_level_1_takes(capsys: pytest.CaptureFixture[str]) -> None:
    """Configuring refuses a share of memory above one, which parsing takes: the levels differ."""
    base = environment.build(truth.BASE, engine=False, more=truth.MORE)
    (line, *_) = truth.from_charts(sorted((truth.ROOT / "profiles").glob("*.yaml")), engine(newest()))
    wrong = dataclasses.replace(line, words=(*line.words, "--gpu-memory-utilization", "1.7"))
    verdicts = [truth.ask(base, newest(), [wrong], level=level)["verdicts"][0] for level in (1, 2)]
    assert verdicts[0] == "ok"
    assert verdicts[1] != "ok"
    capsys.readouterr()
