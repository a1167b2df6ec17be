"""The committed catalogue is what the wheels say today: releases are read afresh, by syntax tree."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import pytest

from chartgen.catalog import engine_fold
from chartgen.catalog.engines import newest
from engine_reader.main import main

READ_AGAIN: Final = ("0.10.2", "0.18.1", newest())
"""The oldest whose parser runs here, the first with a drain, and the newest."""


@pytest.mark.parametrize("release", READ_AGAIN)
def test_a_fresh_reading_is_what_is_committed(release: str) -> None:
    """Flags, metrics and every other set of the release equal what reading its wheel gives."""
    assert main(["--check", release]) == 0


def test_a_catalogue_that_lost_a_flag_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A flag struck from the oldest file is missed by the check."""
    folder = shutil.copytree(engine_fold.folder(), tmp_path / "engines")
    oldest = folder / "0.6.6.yaml"
    lines = oldest.read_text(encoding="utf-8").splitlines(keepends=True)
    oldest.write_text("".join(line for line in lines if not line.startswith("  --seed:")), encoding="utf-8")
    assert main(["--check", "0.6.6", "--folder", str(folder)]) == 1
    assert "--seed" in capsys.readouterr().out
