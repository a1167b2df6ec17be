"""Output that cannot be written: a reader that has gone, a disk that is full. For every command, in one place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHARTGEN = Path(sys.executable).with_name("chartgen")
TALKERS = [
    ["fit", "8B", "--gpu", "H100"],
    ["policy", "list"],
    ["schema", "profile"],
    ["--help"],
]


@pytest.mark.parametrize("words", TALKERS, ids=" ".join)
def test_a_full_disk_is_one_line(words: list[str]) -> None:
    """Exit 2 and one line on stderr, no traceback, and nothing more when the process ends."""
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run([CHARTGEN, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (run.returncode, run.stderr) == (2, "standard output: No space left on device\n")


@pytest.mark.parametrize("words", TALKERS, ids=" ".join)
@pytest.mark.parametrize("errors_too", [False, True])
def test_a_reader_that_goes_ends_it_quietly(words: list[str], *, errors_too: bool) -> None:
    """Nothing is said on stderr when nobody reads stdout any more, and no exit code of a finding or an input."""
    into = subprocess.STDOUT if errors_too else subprocess.PIPE
    with subprocess.Popen([CHARTGEN, *words], stdout=subprocess.PIPE, stderr=into, text=True) as run:
        assert run.stdout is not None
        run.stdout.close()
        said = "" if run.stderr is None else run.stderr.read()
        assert said == ""
        assert run.wait() == 141


def test_an_error_without_a_reader_ends_quietly(tmp_path: Path) -> None:
    """A closed stderr turns an error message into no traceback either."""
    (tmp_path / "p.yaml").write_text("model: [", encoding="utf-8")
    for command in (["plan"], ["render"], ["validate"]):
        with subprocess.Popen([CHARTGEN, *command, "p.yaml"], cwd=tmp_path, stderr=subprocess.PIPE) as run:
            assert run.stderr is not None
            run.stderr.close()
            assert run.wait() in {2, 141}


def test_a_full_disk_stops_a_validation_in_the_middle(tmp_path: Path) -> None:
    """What is said outside the checks themselves is held to the same rule."""
    pod = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    (tmp_path / "a.yaml").write_text(pod, encoding="utf-8")
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(
            [CHARTGEN, "validate", "a.yaml", "a.yaml"],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (run.returncode, run.stderr) == (2, "standard output: No space left on device\n")


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """A report to a place that is a folder is the caller's fault: one line that names it."""
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", encoding="utf-8")
    run = subprocess.run(
        [CHARTGEN, "lint", "a.yaml", "--format", "json=."], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (2, ".: found Is a directory, expected a file that can be written\n")
