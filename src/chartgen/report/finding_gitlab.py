"""Findings as a GitLab code quality report."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from chartgen.lint.finding import Outcome
from chartgen.policy.types import Severity
from chartgen.report.findings import Style

_SEVERITY: Final[dict[Severity, str]] = {"error": "critical", "warning": "major", "advice": "info"}


def write(outcome: Outcome, style: Style) -> str:
    """A JSON list; the fingerprint also tells findings apart that differ only in their words."""
    del style
    data = [
        {
            "check_name": finding.policy.id,
            "description": finding.message,
            "fingerprint": hashlib.sha256(f"{finding.fingerprint}{finding.message}".encode()).hexdigest(),
            "severity": _SEVERITY[finding.policy.severity],
            "location": {"path": finding.place.file, "lines": {"begin": finding.place.position.line}},
        }
        for finding in outcome.findings
    ]
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
