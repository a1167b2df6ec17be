"""Findings as JUnit XML: a test suite for each file, a failed test for each finding."""

from __future__ import annotations

from collections import defaultdict
from xml.sax.saxutils import escape, quoteattr

from chartgen.kernel.errors import InputProblem
from chartgen.lint.finding import Finding, Outcome
from chartgen.report.findings import Style
from chartgen.report.problems import found_and_expected


def write(outcome: Outcome, style: Style) -> str:
    """Errors and warnings fail, advice passes with its text, what could not be read has an error of its own."""
    del style
    by_file: dict[str, list[Finding]] = defaultdict(list)
    for finding in outcome.findings:
        by_file[finding.place.file].append(finding)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="chartgen lint">']
    for file, findings in by_file.items():
        failures = sum(finding.policy.severity != "advice" for finding in findings)
        lines.append(f'  <testsuite name={_quoted(file)} tests="{len(findings)}" failures="{failures}">')
        lines += [line for finding in findings for line in _case(finding)]
        lines.append("  </testsuite>")
    for one in outcome.unread:
        if one.fate == "failed":
            lines += _unread(one.problem)
    return "\n".join([*lines, "</testsuites>", ""])


def _unread(problem: InputProblem) -> list[str]:
    """A suite for what could not be read: its only test has an error."""
    line = problem.position.line if problem.position else 1
    return [
        f'  <testsuite name={_quoted(problem.file)} tests="1" failures="0" errors="1">',
        f'    <testcase name={_quoted(f"readable line {line}")} classname="input">',
        f"      <error message={_quoted(found_and_expected(problem))}/>",
        "    </testcase>",
        "  </testsuite>",
    ]


def _case(finding: Finding) -> list[str]:
    position = finding.place.position
    name = f"{finding.policy.id} {finding.manifest} line {position.line}"
    body = f"{finding.place.file}:{position.line}:{position.column}\nfix: {' '.join(finding.policy.fix.split())}"
    kind = finding.policy.severity
    head = f"    <testcase name={_quoted(name)} classname={_quoted(finding.policy.stage)}>"
    if kind == "advice":
        return [head, f"      <system-out>{_escaped(finding.message)}</system-out>", "    </testcase>"]
    failure = f"      <failure type={_quoted(kind)} message={_quoted(finding.message)}>{_escaped(body)}</failure>"
    return [head, failure, "    </testcase>"]


def _clean(text: str) -> str:
    """Without the control characters that XML has no spelling for."""
    return "".join(character for character in text if character >= " " or character in "\t\n")


def _quoted(text: str) -> str:
    return quoteattr(_clean(text), {"\n": "&#10;", "\t": "&#9;"})


def _escaped(text: str) -> str:
    return escape(_clean(text))
