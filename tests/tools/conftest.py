"""The workshop as a fixture."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.workshop import FAKE_GO, Workshop


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A workshop whose fake Go is the only Go on PATH."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "go").write_text(FAKE_GO)
    (tmp_path / "bin" / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("FAKE_GO_COUNT", str(tmp_path / "count"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    return Workshop(tmp_path)
