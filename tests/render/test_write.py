"""Writing a chart: all or nothing, inside its folder, and only over a chart."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chartgen.kernel.errors import InputError
from chartgen.render.write import write_folder

OLD = {"Chart.yaml": "name: old\n", "templates/a.yaml": "old\n" * 200, "values.yaml": "x: old\n"}
NEW = {"Chart.yaml": "name: new\n", "templates/b.yaml": "new\n" * 200, "values.yaml": "x: new\n"}

WRITER = """
import sys, pathlib
from chartgen.render.write import write_folder
sys.path.insert(0, sys.argv[2])
from test_write import OLD, NEW
print("ready", flush=True)
while True:
    write_folder(NEW, pathlib.Path(sys.argv[1]))
    write_folder(OLD, pathlib.Path(sys.argv[1]))
"""


def content(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}


def test_a_folder_holds_exactly_the_new_files(tmp_path: Path) -> None:
    """Files of the old chart that the new one lacks are gone."""
    target = tmp_path / "chart"
    assert write_folder(OLD, target)
    assert write_folder(NEW, target)
    assert content(target) == NEW
    assert [path.name for path in tmp_path.iterdir()] == ["chart"]


def test_the_same_chart_is_not_written_again(tmp_path: Path) -> None:
    """Rendering twice leaves the folder untouched, and says so."""
    target = tmp_path / "chart"
    write_folder(OLD, target)
    before = target.stat().st_ino
    assert not write_folder(OLD, target)
    assert target.stat().st_ino == before


def test_a_kill_at_any_moment_leaves_one_of_the_two_charts(tmp_path: Path) -> None:
    """Fifteen kills at random moments: the folder is the old chart or the new one, and the next run cleans up."""
    target, dice = tmp_path / "chart", random.Random(7)  # noqa: S311 - a fixed seed, no secret
    write_folder(OLD, target)
    for _ in range(15):
        command = [sys.executable, "-c", WRITER, str(target), str(Path(__file__).parent)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(dice.random() / 100)
            process.send_signal(signal.SIGKILL)
        assert content(target) in (OLD, NEW)
    write_folder({"Chart.yaml": "name: last\n"}, target)
    assert [path.name for path in tmp_path.iterdir()] == ["chart"]


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "."])
def test_a_path_that_leaves_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    """Nothing is written outside the chart's folder."""
    with pytest.raises(ValueError, match="leaves its folder"):
        write_folder({name: ""}, tmp_path / "chart")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    """A folder without a Chart.yaml is somebody's work and is not replaced."""
    (tmp_path / "precious.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError):
        write_folder(NEW, tmp_path)
    assert content(tmp_path) == {"precious.txt": "mine"}


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """A symbolic link in place of the folder is refused, and its target stays as it was."""
    elsewhere = tmp_path / "elsewhere"
    write_folder(OLD, elsewhere)
    link = tmp_path / "chart"
    link.symlink_to(elsewhere)
    with pytest.raises(InputError):
        write_folder(NEW, link)
    assert content(elsewhere) == OLD
