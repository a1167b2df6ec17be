"""What `chartgen lint` writes: edits, reports, a baseline. A write that fails costs nothing that was there."""

from __future__ import annotations

import codecs
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chartgen.cli.lint import command
from chartgen.cli.policy import command as policy_command

CHARTGEN = Path(sys.executable).with_name("chartgen")
BAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {hostIPC: 1, containers: [{name: x, image: 1}]}\n"
MENDED = BAD.replace("image: 1", 'image: "1"')


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A manifest with one fault that --fix mends, and one that it does not."""
    path = tmp_path / "a.yaml"
    path.write_text(BAD, encoding="utf-8")
    return path


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(command, [str(word) for word in (*words, "--select", "wrong-type")])


def test_a_full_disk_costs_no_manifest(file: Path) -> None:
    """A fix that cannot be written leaves every file as it was, names it, and the report still comes."""
    limited = f"ulimit -f 0; exec {CHARTGEN} lint --fix --select wrong-type a.yaml"
    done = subprocess.run(["sh", "-c", limited], cwd=file.parent, capture_output=True, text=True, check=False)
    assert file.read_text(encoding="utf-8") == BAD
    assert (done.returncode, done.stderr) == (2, "a.yaml: found File too large, expected a file that can be written\n")
    assert "error[wrong-type] 1 is not text" in done.stdout
    assert "note: --fix changed no file" in done.stdout


def test_what_is_left_after_fixes_is_told(file: Path) -> None:
    """The report, the counts and the exit code are those of the files as they are then."""
    result = run(file, "--fix")
    assert file.read_text(encoding="utf-8") == MENDED
    assert "image" not in "".join(line for line in result.stdout.splitlines() if "is not text" in line)
    assert "note: --fix mended 1 finding in 1 file; this is what is left" in result.stdout
    assert (result.exit_code, "1 error; 1 object in 1 file" in result.stdout) == (1, True)
    file.write_text(BAD.replace("hostIPC: 1, ", ""), encoding="utf-8")
    assert run(file, "--fix").exit_code == 0


def test_a_fix_keeps_the_byte_order_mark(file: Path) -> None:
    """What stands in front of the text is no part of an edit."""
    file.write_bytes(codecs.BOM_UTF8 + BAD.encode())
    run(file, "--fix")
    assert file.read_bytes() == codecs.BOM_UTF8 + MENDED.encode()


def test_a_chart_is_not_edited_and_says_why(tmp_path: Path) -> None:
    """What Helm made has no line to edit: the note says so, and no file changes."""
    template = tmp_path / "c" / "templates" / "a.yaml"
    template.parent.mkdir(parents=True)
    (tmp_path / "c" / "Chart.yaml").write_text("{apiVersion: v2, name: c, version: 1.0.0}", encoding="utf-8")
    template.write_text(BAD, encoding="utf-8")
    result = run(tmp_path / "c", "--fix")
    assert "findings with a known edit stand in what Helm or kustomize made: edit by hand" in result.stdout
    assert "note: --fix changed no file" in result.stdout
    assert template.read_text(encoding="utf-8") == BAD


def test_fix_and_diff_together_are_refused(file: Path) -> None:
    """One of them makes the edits and one makes none: nobody can want both."""
    result = run(file, "--fix", "--diff")
    assert (result.exit_code, "give one of the two" in result.stderr) == (2, True)
    assert file.read_text(encoding="utf-8") == BAD


@pytest.mark.parametrize("place", ["nosuch/x.json", "/proc/x.json", "/dev/full", "."])
@pytest.mark.parametrize("option", ["--format=json=", "--write-baseline="])
def test_a_place_that_cannot_be_written_is_named(place: str, option: str, file: Path) -> None:
    """One line with the file, exit 2; what can be told before costs no manifest."""
    words = [str(CHARTGEN), "lint", "a.yaml", "--fix", "--select", "wrong-type", f"{option}{place}"]
    done = subprocess.run(words, cwd=file.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{place}: found ")
    assert done.stderr.count("\n") == 1
    assert file.read_text(encoding="utf-8") == (MENDED if place == "/dev/full" else BAD)


def test_two_reports_in_one_file_are_refused(file: Path) -> None:
    """The second would replace the first without a word."""
    place = file.with_name("x")
    assert run(file, "--format", f"json={place}", "--format", f"sarif={place}").exit_code == 2
    assert not place.exists()


def test_pages_in_a_place_that_cannot_be_written() -> None:
    """`policy docs` names the folder that it cannot make."""
    result = CliRunner().invoke(policy_command, ["docs", "-o", "/proc/x"])
    assert (result.exit_code, result.stderr.startswith("/proc/x")) == (2, True)
