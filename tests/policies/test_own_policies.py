"""A user's own folder of policies works as ours do, and every mistake in it is told at its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chartgen.cli.lint import command as lint
from chartgen.cli.policy import command as policy
from chartgen.policy.guide import own_page

OWN = """\
id: our-own
title: Every Pod has a name that is allowed
stage: ownership
severity: error
scope: object
kinds: [Pod]
parameters:
  names: {about: What pods may be called., default: [b]}
  longest: {about: The most letters., default: 5}
require: object.metadata.name in parameters.names && size(object.metadata.name) <= parameters.longest
message: '"called " + object.metadata.name + ", not " + parameters.names.join(" or ")'
at: object.metadata.name
why: Because this is a test of policies that users write themselves.
fix: Call it b.
cases:
  - {name: a, fail: metadata.name, given: "{apiVersion: v1, kind: Pod, metadata: {name: a}}"}
  - {name: b, pass: true, given: "{apiVersion: v1, kind: Pod, metadata: {name: b}}"}
"""
POD = "{apiVersion: v1, kind: Pod, metadata: {name: c}}"
COMMANDS = (("list",), ("show", "our-own"), ("test", "our-own"), ("export", "our-own"))


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(policy, [str(word) for word in words])


def judge(folder: Path, configuration: str) -> Result:
    """The linter's answer on a pod called c, with a configuration."""
    file = folder / "lint.yaml"
    file.write_text(configuration, encoding="utf-8")
    words = ["-", "--policies", str(folder / "own"), "--select", "our-own", "--config", str(file)]
    return CliRunner().invoke(lint, words, input=POD)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with one policy."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "our-own.yaml").write_text(OWN, encoding="utf-8")
    return folder


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_every_command_knows_it(words: tuple[str, ...], own: Path) -> None:
    """Each command takes a policy of the user's as one of ours."""
    result = run(*words, "--policies", own)
    assert result.exit_code == 0
    assert "our-own" in result.stdout + result.stderr or "1 policy, 0 disagree" in result.stderr


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_every_command_says_that_it_overrides(words: tuple[str, ...], own: Path) -> None:
    """Who overrides a policy of ours is told so by each command."""
    text = OWN.replace("id: our-own", "id: plain-token")
    (own / "plain-token.yaml").write_text(text, encoding="utf-8")
    assert f"{own / 'plain-token.yaml'} overrides the policy plain-token" in run(*words, "--policies", own).stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("require: object.", "require: object..", ":10:1: require: found Syntax error: "),
        ("object.metadata.name in", "pod.name in", ":10:1: require: found 'pod', which scope object does not have"),
        ("parameters.longest", "parameters.longst", ":10:1: require: found parameters.longst, which the policy does"),
        ("require: object", "when: size(1, 2)\nrequire: object", ":10:1: when: found undeclared reference to 'size'"),
        ("message: '\"called", "message: 'called", ":11:1: message: found "),
        ("at: object.metadata", "at: nowhere", ":12:1: at: found 'nowhere.name', which starts elsewhere"),
        ("kinds: [Pod]", "each: pod.containers", ":6:1: each: found 'pod.containers', which starts at no variable"),
        ("kinds: [Pod]", "each: object", ":6:1: each: found 'object', which starts at no variable"),
        ("kinds: [Pod]", "each: object.a-b", ":6:1: each: found "),
        ("require: object", "require: 1 + 1 // object", ":10:1: require: found an expression that never gives true or"),
        ("require: object", "when: \"'a'\"\nrequire: object", ":10:1: when: found an expression that never gives true"),
        ("message: '\"called", "message: '1 + 1 //", ":11:1: message: found an expression that never gives text"),
        (
            "require: object",
            "require: object.kind.matches('(') || object",
            ":10:1: require: found '(', no regular expr",
        ),
        ("require: object", "require: object.kind.find('[') == '' || object", ":10:1: require: found '[', no regular "),
        ("fix: Call it b.", "edit: {set: 'b c'}\nfix: Call it b.", ":14:8: edit.set: found Syntax error"),
        ("fix: Call it b.\n", "", ":1:1: found nothing, expected the key 'fix'"),
        ("default: 5", "default: five", ':9:48: parameters.longest.default: found "five", expected a whole number'),
        ("id: our-own", "id: [our", "expected valid YAML"),
    ],
)
def test_mistake_is_told_at_its_place(old: str, new: str, said: str, own: Path) -> None:
    """Each command says what is wrong, with file and line, and ends with the code of bad input."""
    (own / "our-own.yaml").write_text(OWN.replace(old, new), encoding="utf-8")
    for words in COMMANDS:
        result = run(*words, "--policies", own)
        assert (result.exit_code, result.stdout) == (2, ""), words
        assert said in result.stderr
        assert f"{own / 'our-own.yaml'}:" in result.stderr


def test_one_id_twice(own: Path) -> None:
    """Two files with one id are told, with both names: nobody could know which one is meant."""
    (own / "more").mkdir()
    (own / "more" / "our-own.yml").write_text(OWN, encoding="utf-8")
    result = run("list", "--policies", own)
    assert result.exit_code == 2
    first, second = own / "more" / "our-own.yml", own / "our-own.yaml"
    expected = f"{second}:1:1: id: found our-own, expected one file for each policy: {first} is it already\n"
    assert result.stderr == expected


def test_folder_without_policies(tmp_path: Path) -> None:
    """A folder that is not there, or holds no policy, is told: silence would look like agreement."""
    assert "expected a folder of policies" in run("list", "--policies", tmp_path / "nowhere").stderr
    result = run("list", "--policies", tmp_path)
    assert (result.exit_code, "found no .yaml or .yml file in it" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("old", "said"),
    [("require", "give 'a', which is neither true nor false"), ("message", "give {}, which is no text")],
)
def test_wrong_type_of_answer(old: str, said: str, own: Path) -> None:
    """An expression that answers with another type is named by the test of its examples, and by lint at its place."""
    answer = {"require": "object.metadata.name", "message": "object.metadata.labels"}[old]
    lines = [f"{old}: {answer}" if line.startswith(old) else line for line in OWN.splitlines()]
    text = "\n".join(lines).replace("{name: a}", "{name: a, labels: {}}")
    (own / "our-own.yaml").write_text(text, encoding="utf-8")
    result = run("test", "our-own", "--policies", own)
    assert (result.exit_code, said.replace("give", f"{old} gave") in result.stdout) == (1, True)
    pod = POD.replace("{name: c}", "{name: a, labels: {}}")
    judged = CliRunner().invoke(lint, ["-", "--policies", str(own), "--select", "our-own"], input=pod)
    place = f"{own / 'our-own.yaml'}:{next(n for n, line in enumerate(lines, 1) if line.startswith(old))}:1: "
    assert (
        judged.exit_code,
        f"{place}stumbled[our-own] Pod/a: {said.replace('give', f'{old} gave')}" in judged.stdout,
    ) == (2, True)


def test_own_policy_that_fails_while_it_judges(own: Path) -> None:
    """What fails at one object is the policy's fault, not chartgen's: exit 2, with file and line in JSON too."""
    (own / "our-own.yaml").write_text(
        OWN.replace("require: object.metadata", "require: object.nothing"), encoding="utf-8"
    )
    result = CliRunner().invoke(
        lint, ["-", "--policies", str(own), "--select", "our-own", "--format", "json"], input=POD
    )
    (stumble,) = json.loads(result.stdout)["stumbles"]
    assert (result.exit_code, stumble["file"], stumble["line"]) == (2, str(own / "our-own.yaml"), 10)


def test_parameters_have_defaults_and_values(own: Path) -> None:
    """A policy judges by the values of the configuration, and by its own defaults where there are none."""
    assert "called c, not b" in judge(own.parent, "{}").output
    assert judge(own.parent, "parameters: {our-own: {names: [c]}}").exit_code == 0
    assert "called c, not c" in judge(own.parent, "parameters: {our-own: {names: [c], longest: 0}}").output


@pytest.mark.parametrize("text", ['"', "\\", "' + \"x", "{{ x }}", "\n", "ü", "parameters.longest"])
def test_value_is_a_text_whatever_it_holds(text: str, own: Path) -> None:
    """No value can end the text that it is in an expression."""
    configuration = json.dumps({"parameters": {"our-own": {"names": [text]}}})
    result = judge(own.parent, configuration)
    assert (result.exit_code, f"called c, not {text}".splitlines()[0] in result.output) == (1, True)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ("our-own: {nmes: [c]}", "parameters.our-own.nmes: found nmes, expected a parameter of the policy; did you"),
        ("our-onw: {names: [c]}", "parameters.our-onw: found our-onw, expected a policy that has parameters; did"),
        ("our-own: {names: 3}", "parameters.our-own.names: found 3, expected a list of texts"),
        ("our-own: {longest: [c]}", 'parameters.our-own.longest: found ["c"], expected a whole number'),
        ("our-own: {longest: [1]}", "expected text"),
    ],
)
def test_wrong_parameter_is_told(values: str, said: str, own: Path) -> None:
    """A value for nothing, or of another type, is an input problem of lint and export alike."""
    result = judge(own.parent, f"parameters: {{{values}}}")
    assert (result.exit_code, said in result.stderr) == (2, True)
    exported = run("export", "our-own", "--policies", own, "--config", own.parent / "lint.yaml")
    assert (exported.exit_code, exported.stderr) == (2, result.stderr)


def test_export_takes_the_configuration(own: Path) -> None:
    """The ConfigMap, or the variables of the Kyverno form, hold the values of the configuration."""
    file = own.parent / "lint.yaml"
    file.write_text("policies: [own]\nparameters: {our-own: {names: [c, d], longest: 7}}\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(own.parent)
        vap = run("export", "our-own", "--config", file, "--namespace", "policies")
        kyverno = run("export", "our-own", "--config", file, "--as", "kyverno")
    config_map, _, binding = map(json.loads, vap.stdout.split("---\n")[1:])
    assert config_map["data"] == {"names": "c\nd", "longest": "7"}
    assert config_map["metadata"]["namespace"] == binding["spec"]["paramRef"]["namespace"] == "policies"
    variables = json.loads(kyverno.stdout.split("---\n")[1])["spec"]["variables"]
    assert [one["expression"] for one in variables] == ['["c", "d"]', "7"]


def test_example_of_the_guide(tmp_path: Path) -> None:
    """The policy that the guide shows is one: its examples agree, and it can be exported."""
    text = own_page().split("```yaml\n")[1].split("```")[0]
    (tmp_path / text.partition("\n")[0].removeprefix("# policies/")).write_text(text, encoding="utf-8")
    tested = run("test", "no-latest-tag", "--policies", tmp_path)
    assert (tested.exit_code, tested.stderr) == (0, "2 examples of 1 policy, 0 disagree\n")
    assert run("export", "no-latest-tag", "--policies", tmp_path).exit_code == 0


def test_export_lists_what_it_leaves(own: Path) -> None:
    """Each policy is exported or named with the reason; naming one that is not is a finding."""
    result = run("export", "--policies", own)
    assert result.exit_code == 0
    words = result.stderr
    assert "not exported, it needs scaler, which a cluster does not show to an admission policy:" in words
    names = {word.strip() for line in words.splitlines() if line.startswith("  ") for word in line.split(",")} - {""}
    exported = {one["metadata"]["name"] for one in map(json.loads, result.stdout.split("---\n")[1:])}
    listed = json.loads(run("list", "--policies", own, "--format", "json").stdout)
    assert names | {name.removeprefix("chartgen-") for name in exported} == {one["id"] for one in listed}
    assert run("export", "scaled-by-cpu").exit_code == 1
