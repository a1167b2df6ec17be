"""Findings as workflow commands: GitHub shows them beside the lines of a pull request."""

from __future__ import annotations

from typing import Final

from chartgen.lint.finding import Finding, Outcome
from chartgen.policy.types import Severity
from chartgen.report.findings import Style
from chartgen.report.problems import found_and_expected

_COMMAND: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "advice": "notice"}


def write(outcome: Outcome, style: Style) -> str:
    """A command for each finding, and for each document that could not be read."""
    del style
    lines = [_line(finding) for finding in outcome.findings]
    for one in outcome.unread:
        if one.fate == "failed":
            line = one.problem.position.line if one.problem.position else 1
            place = f"file={_property(one.problem.file)},line={line}"
            lines.append(f"::error {place}::{_data(found_and_expected(one.problem))}")
    return "".join(f"{line}\n" for line in lines)


def _line(finding: Finding) -> str:
    position, policy = finding.place.position, finding.policy
    place = f"file={_property(finding.place.file)},line={position.line},col={position.column}"
    text = f"{finding.message}\nfix: {' '.join(policy.fix.split())}"
    return f"::{_COMMAND[policy.severity]} {place},title={_property(policy.id)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
