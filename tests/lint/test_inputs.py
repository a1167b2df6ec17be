"""What is read of what the user names, and what is said of the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chartgen.cli.lint import command
from chartgen.kernel.errors import InputError, excerpt
from chartgen.policy.load import load

CHARTGEN = Path(sys.executable).with_name("chartgen")
POD = "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: x, image: 1}]}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one manifest in a folder of its own."""
    (tmp_path / "d" / "sub").mkdir(parents=True)
    (tmp_path / "d" / "sub" / "a.yaml").write_text(POD, encoding="utf-8")
    return tmp_path / "d"


def run(*words: str | Path, text: str | bytes | None = None) -> Result:
    return CliRunner().invoke(command, [*map(str, words), "--select", "wrong-type"], input=text)


def test_what_is_no_file_is_skipped_and_said(folder: Path) -> None:
    """A pipe without a writer does not hold the run up; it and a linked folder are counted."""
    os.mkfifo(folder / "pipe.yaml")
    os.mkfifo(folder / "pipe.tgz")
    (folder / "link").symlink_to("sub")
    words = [str(CHARTGEN), "lint", str(folder), "--select", "wrong-type"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    for name in ("pipe.yaml", "pipe.tgz"):
        assert f"skipped: {folder / name}: found a pipe, a socket or a device" in done.stdout
    assert f"skipped: {folder / 'link'}: found a link to a folder" in done.stdout
    assert "1 error; 1 object in 4 files judged by 1 policy; 3 skipped" in done.stdout


def test_a_pipe_that_is_named_is_read(folder: Path) -> None:
    """The output of a command is judged where the shell gives it as a file."""
    words = f"{CHARTGEN} lint --select wrong-type <(cat {folder}/sub/a.yaml)"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=False)
    assert (done.returncode, "1 error; 1 object in 1 file" in done.stdout) == (1, True)


def test_a_pipe_among_own_policies_is_left(tmp_path: Path) -> None:
    """A folder of policies with a pipe in it is read without waiting for a writer."""
    os.mkfifo(tmp_path / "a.yaml")
    with pytest.raises(InputError) as error:
        load([tmp_path])
    assert error.value.problems[0].found == "no .yaml or .yml file in it"


def test_a_folder_that_must_not_be_read_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told as unread under its own name, and the rest is judged."""
    shut, entries = folder / "shut", Path.iterdir
    shut.mkdir()

    def listed(path: Path) -> Iterator[Path]:
        if path == shut:
            raise PermissionError(13, "Permission denied", str(path))
        return entries(path)

    monkeypatch.setattr(Path, "iterdir", listed)
    result = run(folder)
    assert f"failed: {shut}: found Permission denied, expected a folder that can be read" in result.stdout
    assert (result.exit_code, "1 error; 1 object in 2 files" in result.stdout) == (2, True)


@pytest.mark.parametrize("text", ["", " \n\n"])
def test_empty_standard_input_is_no_clean_bill(text: str) -> None:
    """A command that failed in front of the pipe is not taken for manifests without a fault."""
    result = run("-", text=text)
    assert (result.exit_code, "failed: <stdin>: found no input" in result.stdout) == (2, True)
    assert "nothing to judge; 0 objects" in result.stdout


def test_nothing_to_judge_is_said(tmp_path: Path) -> None:
    """An empty folder, an empty file and comments alone are no fault, and are not called clean either."""
    (tmp_path / "a.yaml").write_text("# nothing yet\n", encoding="utf-8")
    (tmp_path / "d").mkdir()
    result = run(tmp_path / "a.yaml", tmp_path / "d")
    assert result.exit_code == 0
    for path in ("a.yaml", "d"):
        assert f"note: {tmp_path / path} holds nothing to judge" in result.stdout
    assert "nothing to judge; 0 objects in 0 files judged by 1 policy\n" in result.stdout


def test_an_empty_name_is_no_folder() -> None:
    """An unset variable in a script does not judge the current folder."""
    assert run("").exit_code == 2


@pytest.mark.parametrize(("mark", "name"), [("utf-32", "UTF-32"), ("utf-16", "UTF-16")])
def test_other_encodings_are_named(mark: str, name: str) -> None:
    """The encoding that an editor wrote is called by its name."""
    assert f"found {name}, expected text in UTF-8" in run("-", text=POD.encode(mark)).stdout


def test_an_object_without_a_name_is_called_so() -> None:
    """No kind with an empty name behind a slash."""
    assert "Pod without a name" in run("-", text=POD).stdout


def test_values_without_a_chart_are_told(folder: Path) -> None:
    """Values that go nowhere are most likely a wrong path."""
    assert "note: no chart among the paths" in run(folder, "--set", "a=1").stdout
    assert "note: no chart" not in run(folder).stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("xx", ":1:1: found no JSON (Expecting value)"),
        ("[]", ": found JSON without a list of findings"),
        ("{}", ": found JSON without a list of findings"),
        ('{"findings": [{"a": 1}]}', ": found no fingerprint in findings[0]"),
        ('{"findings": [3]}', ": found no fingerprint in findings[0]"),
    ],
)
def test_a_baseline_that_is_none(text: str, said: str, folder: Path) -> None:
    """What stands there instead of a baseline is told in words, not in names of Python's."""
    file = folder.parent / "b.json"
    file.write_text(text, encoding="utf-8")
    result = run(folder, "--baseline", file)
    assert (result.exit_code, result.stderr) == (2, f"{file}{said}, expected what --write-baseline writes\n")


def test_what_a_baseline_holds_is_counted(folder: Path) -> None:
    """Silence has a number, for people and for programs."""
    file = folder.parent / "b.json"
    run(folder, "--write-baseline", file)
    assert (
        "nothing found; 1 object in 1 file judged by 1 policy; 1 in the baseline"
        in run(folder, "--baseline", file).stdout
    )
    assert json.loads(run(folder, "--baseline", file, "--format", "json").stdout)["counts"]["known"] == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "ignore:\n  - plain-tokn",
            ":2:5: ignore.0: found plain-tokn, expected a policy or stage; did you mean plain-token?",
        ),
        ("select: [ssecurity]", ":1:10: select.0: found ssecurity, expected a policy or stage; did you mean security?"),
        ("ignore: plain-token", ':1:9: ignore: found "plain-token", expected a list, such as ["plain-token"]'),
        ("parameters:\n  x: {a: 1}", ":2:3: parameters.x: found x, expected a policy that has parameters"),
        (
            "cloud: gkee",
            ":1:1: cloud: found gkee, expected a cloud, one of gke, eks, aks, coreweave; did you mean gke?",
        ),
    ],
)
def test_a_wrong_name_in_the_configuration_is_told_at_its_place(text: str, said: str, folder: Path) -> None:
    """Not as an option that nobody gave."""
    file = folder.parent / "c.yaml"
    file.write_text(text, encoding="utf-8")
    result = run(folder, "--config", file)
    assert (result.exit_code, result.stderr) == (2, f"{file}{said}\n")


def test_a_cloud_that_nobody_knows_is_refused(folder: Path) -> None:
    """A slip of the pen does not switch policies off."""
    result = run(folder, "--cloud", "gkee")
    assert (result.exit_code, "did you mean gke?" in result.stderr) == (2, True)


def test_words_of_another_program_are_bounded() -> None:
    """Of very long ones the beginning and the end are kept."""
    text = excerpt(f"first {'x' * 90_000} last")
    assert (text.startswith("first "), text.endswith(" last"), len(text) < 2_100) == (True, True, True)
    assert excerpt("short") == "short"
