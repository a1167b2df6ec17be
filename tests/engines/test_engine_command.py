"""`chartgen engine` shows a release, says what an upgrade changes, and names what a release does not know."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from chartgen.catalog.engines import engine, newest
from chartgen.cli.main import main

PROFILE = Path(__file__).parent.parent.parent / "profiles" / "chat-70b.yaml"


def run(*words: str, given: str | None = None) -> Result:
    return CliRunner().invoke(main, ["engine", *words], input=given)


def data(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*words, "--format", "json").stdout)
    return found


def test_show_gives_the_whole_truth() -> None:
    """JSON of a release holds flags, gone flags, metrics, endpoints and features, each as the catalogue has it."""
    found = data("show", "0.18.1")
    release = engine("0.18.1")
    assert found["flags"].keys() == release.flags.keys()
    assert found["flags"]["--tensor-parallel-size"] == {
        **found["flags"]["--tensor-parallel-size"],
        "type": "integer",
        "default": 1,
        "aliases": ["-tp"],
    }
    assert found["removed"]["--swap-space"]["since"] == "0.18.0"
    assert found["metrics"]["vllm:kv_cache_usage_perc"]["labels"] == ["model_name", "engine"]
    assert found["endpoints"]["/health"]["methods"] == ["GET"]
    assert "drain" in found["features"]


def test_show_of_every_part_as_text() -> None:
    """The page of text names the wheel, behaviour, flags, gone flags, metrics and endpoints."""
    page = run("show", newest()).stdout
    for part in ("read from vllm-0.33.0", "counts cuda graphs: yes", "--shutdown-timeout", "Gone flags", "GET /health"):
        assert part in page


def test_an_unknown_release_is_an_input_error() -> None:
    """A release that is not catalogued exits with 2 and names the nearest."""
    result = run("show", "0.18.9")
    assert result.exit_code == 2
    assert "did you mean" in result.stderr


def test_diff_names_what_an_upgrade_changes() -> None:
    """From 0.10.2 to 0.33.0: the default share of memory, drain, a gone flag with its replacement, a new metric."""
    found = data("diff", "0.10.2", "0.33.0")
    shares = {change["name"]: (change["before"], change["after"]) for change in found["behaviour"]}
    assert shares["share of memory by default"] == ("0.9", "0.92")
    assert shares["drain"] == ("none", "on request")
    flags = {change["name"]: change for change in found["flags"]}
    assert flags["--task"]["after"] == "none"
    assert "--runner" in flags["--task"]["note"]
    assert flags["--shutdown-timeout"]["before"] == "none"


def test_diff_of_a_release_with_itself_is_empty() -> None:
    """A release compared with itself changes nothing."""
    found = data("diff", newest(), newest())
    assert {key: value for key, value in found.items() if value and key not in {"old", "new"}} == {}


def test_diff_names_renamed_metrics() -> None:
    """From 0.9.1 to 0.33.0 a dashboard asks for KV cache usage under another name."""
    found = data("diff", "0.9.1", "0.33.0")
    renamed = {change["name"]: (change["before"], change["after"]) for change in found["concepts"]}
    assert renamed["kv cache usage"] == ("vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc")


def test_diff_of_a_profile_names_changed_values() -> None:
    """With a profile, the values of its chart that change are named: here the drain that 0.10.2 cannot do."""
    found = data("diff", "0.10.2", "0.33.0", "--profile", str(PROFILE))
    values = {change["name"]: (change["before"], change["after"]) for change in found["values"]}
    assert values["engine.flags.shutdown-timeout"][0] == "none"


def test_check_refuses_and_says_what_to_write() -> None:
    """A command line with gone flags exits with 1 and names the replacement of each."""
    result = run("check", "--", "vllm", "serve", "m", "--swap-space", "16", "--task", "embed")
    assert result.exit_code == 1
    assert "instead: nothing; the engine recomputes" in result.stdout
    assert "instead: nothing to generate; --runner pooling" in result.stdout


def test_check_names_what_fails_after_parsing() -> None:
    """An unknown parser, KV cache type or missing tool parser is named though the argument parser takes it."""
    found = data("check", "vllm serve m --tool-call-parser hermess --kv-cache-dtype fp9 --enable-auto-tool-choice")
    said = {remark["written"]: remark["outcome"] for remark in found["remarks"]}
    assert said == {"hermess": "fails at start", "fp9": "fails at start"}
    found = data("check", "vllm serve m --enable-auto-tool-choice")
    assert found["remarks"][0]["outcome"] == "refused"


def test_check_names_ignored_variables() -> None:
    """A variable that the release does not read is named with what replaced it, and is no failure."""
    result = run("check", "--env", "VLLM_ATTENTION_BACKEND=FLASHINFER", "vllm serve m")
    assert result.exit_code == 0
    assert "not read since vLLM 0.15.0" in result.stdout
    assert "instead: --attention-backend" in result.stdout


def test_check_takes_a_script_from_standard_input() -> None:
    """A start script is read from standard input."""
    result = run("check", "--release", "0.10.2", "-", given="exec vllm serve m \\\n  --shutdown-timeout 60\n")
    assert result.exit_code == 1
    assert "came after vLLM 0.10.2" in result.stdout


def test_check_says_what_switches_metrics_off() -> None:
    """--disable-log-stats is named: it takes every metric with it."""
    found = data("check", "vllm serve m --disable-log-stats")
    assert [remark["outcome"] for remark in found["remarks"]] == ["blinds"]


def test_published_commands_are_checked() -> None:
    """Flags of published commands that the newest release does not know are named, each with what to write."""
    rows = csv.DictReader((Path(__file__).parent / "published_flags.csv").read_text(encoding="utf-8").splitlines())
    for row in rows:
        found = data("check", f"vllm serve m {row['words']}")
        outcomes = {remark["outcome"] for remark in found["remarks"]}
        assert row["outcome"] in outcomes, row
        assert all(remark["instead"] for remark in found["remarks"] if remark["outcome"] == "refused"), row
