"""Every file that a user names is read alike: what is no UTF-8 is told with file, line and column."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from chartgen.cli.main import main

CHART = Path(__file__).parent.parent.parent / "out" / "chat-70b"


@pytest.mark.parametrize(
    "words",
    [
        ["plan", "{file}"],
        ["render", "{file}"],
        ["fit", "{file}", "--gpu", "H100", "--context", "8k"],
        ["lint", "{file}"],
        ["lint", "{good}", "--config", "{file}"],
        ["lint", "{good}", "--baseline", "{file}"],
        ["lint", str(CHART), "--values", "{file}"],
        ["lint", "{good}", "--policies", "{folder}"],
        ["policy", "test", "--policies", "{folder}"],
        ["validate", "{file}"],
    ],
    ids=lambda words: " ".join(word for word in words if "/" not in word),
)
def test_what_cannot_be_read_is_told(words: list[str], tmp_path: Path) -> None:
    """The file is named with the place of the first byte that is no UTF-8."""
    folder = tmp_path / "given"
    folder.mkdir()
    file = folder / ("a.json" if words[0] == "fit" else "a.yaml")
    file.write_bytes(b"a: 1\nb: caf\xe9\n")
    good = tmp_path / "good.yaml"
    good.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", encoding="utf-8")
    places = {"{file}": str(file), "{good}": str(good), "{folder}": str(folder)}
    result = CliRunner().invoke(main, [places.get(word, word) for word in words])
    shown = result.output
    assert "a.yaml:2:7" in shown or "a.json:2:7" in shown, shown
    assert "0xe9" in shown
    assert result.exit_code in {1, 2}
