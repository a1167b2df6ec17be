"""Findings as a GitLab code quality report."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from chartgen.kernel.errors import InputProblem
from chartgen.lint.finding import Outcome
from chartgen.policy.types import Severity
from chartgen.report.findings import Style
from chartgen.report.problems import found_and_expected

_SEVERITY: Final[dict[Severity, str]] = {"error": "critical", "warning": "major", "advice": "info"}


def write(outcome: Outcome, style: Style) -> str:
    """A JSON list, with what could not be read; the fingerprint also tells findings apart that differ only in words."""
    del style
    data: list[dict[str, Any]] = [
        {
            "check_name": finding.policy.id,
            "description": finding.message,
            "fingerprint": hashlib.sha256(f"{finding.fingerprint}{finding.message}".encode()).hexdigest(),
            "severity": _SEVERITY[finding.policy.severity],
            "location": {"path": finding.place.file, "lines": {"begin": finding.place.position.line}},
        }
        for finding in outcome.findings
    ]
    data += [_unread(one.problem) for one in outcome.unread if one.fate == "failed"]
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _unread(problem: InputProblem) -> dict[str, Any]:
    text = f"not judged: {found_and_expected(problem)}"
    line = problem.position.line if problem.position else 1
    return {
        "check_name": "unread",
        "description": text,
        "fingerprint": hashlib.sha256(f"{problem.file}\0{line}\0{text}".encode()).hexdigest(),
        "severity": "critical",
        "location": {"path": problem.file, "lines": {"begin": line}},
    }
