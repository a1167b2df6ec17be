"""`chartgen render` as a user runs it: exit codes, streams, and nothing half-written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHARTGEN = Path(sys.executable).with_name("chartgen")
GOOD = "model: meta-llama/Llama-3.1-8B-Instruct\ngpu: H100\ncontext: 8k\nregion: lab\n"


def chartgen(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [CHARTGEN, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one good profile, one with a mistake, and one that fits nowhere."""
    (tmp_path / "good.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "bad.yaml").write_text(GOOD.replace("gpu", "gpux"), encoding="utf-8")
    (tmp_path / "huge.yaml").write_text(
        GOOD.replace("Llama-3.1-8B", "Llama-3.3-70B").replace("H100", "L4") + "gpus: 1\n",
        encoding="utf-8",
    )
    return tmp_path


def test_a_good_profile_becomes_a_chart(folder: Path) -> None:
    """Exit 0, the chart in out/NAME, words on stderr and nothing on stdout."""
    run = chartgen("render", "good.yaml", cwd=folder)
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr == "[1/1] good.yaml -> out/good\n"
    assert (folder / "out" / "good" / "Chart.yaml").is_file()


def test_rendering_twice_gives_the_same_bytes(folder: Path) -> None:
    """The second run finds every byte as it would write it."""
    chartgen("render", "good.yaml", cwd=folder)
    assert chartgen("render", "good.yaml", cwd=folder).stderr.endswith("(unchanged)\n")


def test_one_bad_profile_does_not_stop_the_others(folder: Path) -> None:
    """The good one is written, the bad ones are told, and the exit code is the worst of all."""
    run = chartgen("render", "bad.yaml", "huge.yaml", "good.yaml", cwd=folder)
    assert run.returncode == 3
    assert "bad.yaml:2:1: gpux: found the unknown key 'gpux'" in run.stderr
    assert [path.name for path in (folder / "out").iterdir()] == ["good"]


def test_what_fits_nowhere_is_told_in_gib(folder: Path) -> None:
    """A 70B on L4 cards: exit 3, the missing GiB, and what was tried."""
    run = chartgen("render", "huge.yaml", cwd=folder)
    assert run.returncode == 3
    assert "GiB" in run.stderr
    assert not (folder / "out").exists()


def test_manifests_can_be_printed_instead(folder: Path) -> None:
    """--stdout manifests prints what Helm renders and writes nothing."""
    run = chartgen("render", "good.yaml", "--stdout", "manifests", cwd=folder)
    assert run.returncode == 0
    assert run.stdout.startswith("---\n# Source: good/templates/")
    assert not (folder / "out").exists()


def test_a_profile_key_can_be_set_from_the_command_line(folder: Path) -> None:
    """--set lies over the file, --kube-version is short for one key."""
    run = chartgen("render", "good.yaml", "--set", "name=other", "--kube-version", "1.36", cwd=folder)
    assert run.returncode == 0, run.stderr
    assert "checked against 1.36" in (folder / "out" / "other" / "README.md").read_text("utf-8")


def test_the_plan_tells_why(folder: Path) -> None:
    """`plan --why` prints one value with its whole reason."""
    run = chartgen("plan", "good.yaml", "--why", "autoscaling.minReplicas", cwd=folder)
    assert run.returncode == 0
    assert run.stdout.startswith("  autoscaling.minReplicas: 2\n")


def test_an_override_keeps_the_plan_in_sight(folder: Path) -> None:
    """The asked value is rendered, and the reason names what the plan alone would give."""
    (folder / "good.yaml").write_text(GOOD + "overrides:\n  autoscaling.maxReplicas: 9\n", encoding="utf-8")
    assert chartgen("render", "good.yaml", cwd=folder).returncode == 0
    values = (folder / "out" / "good" / "values.yaml").read_text("utf-8")
    assert "Set in good.yaml. The plan alone gives 4:" in " ".join(values.replace("#", "").split())
    assert "maxReplicas: 9" in values


def test_text_of_a_profile_is_never_read_as_anything_else(folder: Path) -> None:
    """Template braces, YAML and shell in free text come out of Helm as the same text."""
    nasty = '{{ .Release.Name }} $(id) `id` "x": [y] # z'
    (folder / "good.yaml").write_text(GOOD + f"owner:\n  on_call: '{nasty}'\n", encoding="utf-8")
    run = chartgen("render", "good.yaml", "--stdout", "manifests", cwd=folder)
    assert run.returncode == 0, run.stderr
    assert nasty in run.stdout.replace("''", "'")


def test_the_version_and_the_help_need_no_heavy_import(folder: Path) -> None:
    """--version and --help load neither Jinja nor Helm nor the validators."""
    script = (
        "import sys; from chartgen.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'jinja2', 'helm_python', 'jsonschema_rs', 'yaml', 'msgspec'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_two_profiles_of_one_name_do_not_overwrite_each_other(folder: Path) -> None:
    """The second profile that wants the same chart is refused, and the first chart stays."""
    (folder / "more").mkdir()
    (folder / "more" / "good.yaml").write_text(GOOD.replace("H100", "H200"), encoding="utf-8")
    run = chartgen("render", "good.yaml", "more/good.yaml", cwd=folder)
    assert run.returncode == 2
    assert "found the chart name 'good', which good.yaml has taken" in run.stderr
    assert "H100" in (folder / "out" / "good" / "Chart.yaml").read_text("utf-8")
