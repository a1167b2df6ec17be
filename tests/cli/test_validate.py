"""`chartgen validate` as a user runs it: what it says of files that hold nothing, or no text, or a fault."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHARTGEN = Path(sys.executable).with_name("chartgen")
POD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n"


def validate(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [CHARTGEN, "validate", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "found nothing: it holds no objects, expected at least one Kubernetes object"),
        (b"# a comment\n---\n", "found nothing: it holds no objects, expected at least one Kubernetes object"),
        (POD.encode("utf-16"), "1:1: found UTF-16, expected text in UTF-8"),
        (POD.encode().replace(b"b}", b"\xe9}"), "4:11: found the byte 0xe9, which is no UTF-8, expected text in UTF-8"),
        (b"\x89PNG\r\n\x1a\n", "1:1: found the byte 0x89, which is no UTF-8"),
        (b"a: b\x00c\n", "1:5: found the character U+0000, which YAML does not allow"),
        (b"a: \xc3\xa9\x07\n", "1:5: found the character U+0007, which YAML does not allow"),
        (b"a: [1\n", "2:1: found no ',' or ']', expected valid YAML"),
    ],
)
def test_what_cannot_be_checked_is_never_called_valid(tmp_path: Path, content: bytes, said: str) -> None:
    """Exit 2 and one line with the place, for a file without an object or without text."""
    (tmp_path / "a.yaml").write_bytes(content)
    run = validate(tmp_path, "a.yaml")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("a.yaml:")
    assert said in run.stderr
    assert len(run.stderr.splitlines()) == 1


def test_a_chart_that_renders_nothing_is_never_called_valid(tmp_path: Path) -> None:
    """Exit 2 for a folder that is no chart, and for a chart without an object."""
    (tmp_path / "empty").mkdir()
    chart = tmp_path / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: chart\nversion: 0.1.0\n", encoding="utf-8")
    (chart / "templates" / "a.yaml").write_text("{{ if false }}a: b{{ end }}\n", encoding="utf-8")
    for name in ("empty", "chart"):
        run = validate(tmp_path, name)
        assert (run.returncode, run.stdout) == (2, ""), name


def test_a_refused_manifest_is_called_not_valid(tmp_path: Path) -> None:
    """Exit 1, and no word of writing: validate writes nothing anyway."""
    (tmp_path / "a.yaml").write_text(POD + "nonsense: 1\n", encoding="utf-8")
    run = validate(tmp_path, "a.yaml", "--validator", "embedded")
    assert run.returncode == 1
    assert run.stderr.startswith("a.yaml: not valid, as a check refuses it\n")
    assert "written" not in run.stderr


@pytest.mark.parametrize("command", ["validate", "render"])
def test_a_missing_kubeconform_is_one_line(tmp_path: Path, command: str) -> None:
    """Exit 2 and how to get it, where kubeconform is asked for and is not there."""
    (tmp_path / "validate.yaml").write_text(POD, encoding="utf-8")
    profile = "model: Qwen/Qwen3-8B\ngpu: H100\ncontext: 8k\nregion: lab\n"
    (tmp_path / "render.yaml").write_text(profile, encoding="utf-8")
    run = subprocess.run(
        [CHARTGEN, command, f"{command}.yaml", "--validator", "kubeconform"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(tmp_path)},
    )
    assert run.returncode == 2
    assert run.stderr.splitlines()[-1] == "kubeconform is not on PATH: scripts/tools install kubeconform"
    assert "Traceback" not in run.stderr
