"""What a user is told of a bad profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from chartgen import api
from chartgen.kernel.errors import InputError
from chartgen.report.problems import input_error


def messages(folder: Path, text: str, *sets: str) -> list[str]:
    """The lines a user reads for a profile called p.yaml, with the folder cut off."""
    path = folder / "p.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        api.plan(api.load_profile(path, sets))
    return input_error(caught.value).replace(f"{folder}/", "").splitlines()
