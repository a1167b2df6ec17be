"""The command: exit codes, several reports at once, and every example end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chartgen.cli.lint import command
from chartgen.cli.policy import command as policy_command
from chartgen.policy.load import ours
from chartgen.policy.types import Case, Policy

POLICIES = tuple(ours(cases=True).values())
CASES = [(policy, case) for policy in POLICIES for case in policy.cases]
GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
BAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: x, image: 1}]}\n"


def run(*words: str | Path, text: str | None = None) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words], input=text)


@pytest.mark.parametrize(("policy", "case"), CASES, ids=[f"{policy.id}: {case.name}" for policy, case in CASES])
def test_every_example_end_to_end(policy: Policy, case: Case, tmp_path: Path) -> None:
    """Through the command too, each example finds exactly what it says."""
    for name, text in (case.files or {"case.yaml": case.given}).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    around = [word for minor in case.kubernetes for word in ("--kubernetes", minor)]
    around += ["--cloud", case.cloud] if case.cloud else []
    result = run(tmp_path, "--select", policy.id, "--format", "json", "--fail-on", "advice", *around)
    paths = sorted(found["path"] for found in json.loads(result.output)["findings"])
    expected = [] if case.fail is None else sorted([case.fail] if isinstance(case.fail, str) else case.fail)
    assert paths == expected
    assert result.exit_code == (1 if expected else 0)


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        (GOOD, (), 0),
        (BAD, (), 1),
        (BAD, ("--fail-on", "never"), 0),
        (BAD, ("--ignore", "wrong-type", "--ignore", "no-memory-limit"), 0),
        (f"{BAD}---\na: [\n", (), 2),
        (GOOD, ("--select", "nothing-of-that-name"), 2),
        (GOOD, ("--format", "pdf"), 2),
        (GOOD, ("--kubernetes", "1.7"), 2),
        (GOOD, ("--policies", "/nowhere"), 2),
        (GOOD, ("--config", "/nowhere"), 2),
        (GOOD, ("--baseline", "/nowhere"), 2),
        (GOOD, ("--set", "x"), 2),
        (GOOD, ("--set", "a[65537]=1"), 2),
        (GOOD, ("--set", f"a[{'9' * 5000}]=1"), 2),
    ],
)
def test_exit_codes(text: str, words: tuple[str, ...], code: int) -> None:
    """0 nothing, 1 findings at or above the chosen severity, 2 the input's fault."""
    assert run("-", *words, text=text).exit_code == code


def test_several_reports_at_once(tmp_path: Path) -> None:
    """Each format goes to its file, one to the screen."""
    result = run("-", "--format", "text", "--format", f"sarif={tmp_path / 'a.sarif'}", text=BAD)
    assert "error[wrong-type]" in result.output
    assert json.loads((tmp_path / "a.sarif").read_text())["version"] == "2.1.0"


def test_fix_and_diff(tmp_path: Path) -> None:
    """--diff shows the edits and writes nothing, --fix writes them."""
    file = tmp_path / "a.yaml"
    file.write_text(BAD)
    shown = run(file, "--diff", "--select", "wrong-type")
    assert '+spec: {containers: [{name: x, image: "1"}]}' in shown.output
    assert file.read_text() == BAD
    run(file, "--fix", "--select", "wrong-type")
    assert file.read_text() == BAD.replace("image: 1", 'image: "1"')


def test_baseline_round_trip(tmp_path: Path) -> None:
    """What a baseline was written of is not said again."""
    file, known = tmp_path / "a.yaml", tmp_path / "known.json"
    file.write_text(BAD)
    assert run(file, "--write-baseline", known).exit_code == 1
    assert run(file, "--baseline", known).exit_code == 0


def test_configuration_file(tmp_path: Path) -> None:
    """A configuration allows, selects and names folders; an unknown key is an input problem."""
    file, config = tmp_path / "a.yaml", tmp_path / "c.yaml"
    file.write_text(BAD)
    config.write_text("allow: [{policy: wrong-type, kind: Pod, reason: a demo}]\nlevel: minimum\n")
    assert run(file, "--config", config).exit_code == 0
    config.write_text("levle: minimum\n")
    result = run(file, "--config", config)
    assert result.exit_code == 2
    assert "did you mean level?" in result.stderr


OWN = """\
id: our-own
title: Every Pod is called b
stage: ownership
severity: error
scope: object
kinds: [Pod]
require: object.metadata.name == "b"
message: '"called " + object.metadata.name'
at: object.metadata.name
why: Because this is a test of policies that users write themselves.
fix: Call it b.
cases:
  - {name: a, fail: metadata.name, given: "{apiVersion: v1, kind: Pod, metadata: {name: a}}"}
  - {name: b, pass: true, given: "{apiVersion: v1, kind: Pod, metadata: {name: b}}"}
"""


def test_policies_of_the_user(tmp_path: Path) -> None:
    """A folder of one's own policies is judged, tested and told apart when it overrides ours."""
    (tmp_path / "our-own.yaml").write_text(OWN)
    result = run("-", "--policies", tmp_path, "--select", "our-own", text=BAD)
    assert "error[our-own] called a" in result.output
    tested = CliRunner().invoke(policy_command, ["test", "our-own", "--policies", str(tmp_path)])
    assert (tested.exit_code, "2 examples of 1 policy, 0 disagree" in tested.stderr) == (0, True)
    (tmp_path / "wrong-type.yaml").write_text(OWN.replace("id: our-own", "id: wrong-type"))
    assert "overrides the policy wrong-type" in run("-", "--policies", tmp_path, text=GOOD).output


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("id: our-own", "id: other", "found other, expected 'our-own'"),
        ("severity: error", "severity: fatal", 'found "fatal", expected one of advice, error, warning'),
        ("pass: true, ", "", "found no verdict, expected one of pass, fail and unknown"),
        ("why:", "wy:", "did you mean why?"),
    ],
)
def test_mistakes_in_a_policy_are_located(old: str, new: str, said: str, tmp_path: Path) -> None:
    """A policy file that is none is an input problem with its place."""
    (tmp_path / "our-own.yaml").write_text(OWN.replace(old, new))
    result = run("-", "--policies", tmp_path, text=GOOD)
    assert result.exit_code == 2
    assert said in result.stderr


def test_an_expression_that_does_not_compile(tmp_path: Path) -> None:
    """A policy whose expression is wrong is an input problem, with the engine's own words."""
    (tmp_path / "our-own.yaml").write_text(OWN.replace('require: object.metadata.name == "b"', "require: object.("))
    result = run("-", "--policies", tmp_path, text=BAD)
    assert result.exit_code == 2
    assert "our-own" in result.stderr
    assert "Syntax error" in result.stderr


def test_policy_commands() -> None:
    """list, show, export and docs --check answer."""
    runner = CliRunner()
    listed = json.loads(runner.invoke(policy_command, ["list", "--format", "json"]).stdout)
    assert len(listed) == len(POLICIES) >= 90
    shown = runner.invoke(policy_command, ["show", "plain-token"])
    assert "## Fix" in shown.output
    assert runner.invoke(policy_command, ["show", "plain-tokn"]).exit_code == 2
    exported = runner.invoke(policy_command, ["export", "plain-token", "--action", "Deny"])
    assert '"ValidatingAdmissionPolicyBinding"' in exported.output
    assert runner.invoke(policy_command, ["export", "missing-shared-memory"]).exit_code == 1


def test_pages_are_up_to_date() -> None:
    """docs/policies is what the policy files say."""
    folder = Path(__file__).parents[2] / "docs" / "policies"
    result = CliRunner().invoke(policy_command, ["docs", "--check", "-o", str(folder)])
    assert result.stdout == ""
    assert result.exit_code == 0
