"""Findings for programs: a list of flat objects, what was not judged, and the counts."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from chartgen.lint.finding import Finding, Outcome, Stumble
from chartgen.lint.manifest import Unread
from chartgen.lint.paths import spelled
from chartgen.report.findings import Style


def write(outcome: Outcome, style: Style) -> str:
    """One JSON object; allowed findings and open questions are always in it."""
    del style
    data = {
        "findings": [finding_data(finding) for finding in outcome.findings],
        "allowed": [{**finding_data(one.finding), "reason": one.reason, "by": one.by} for one in outcome.allowed],
        "unknown": [
            {"policy": one.policy.id, **_object(one.manifest), "because": one.because, "run": one.run}
            for one in outcome.untold
        ],
        "unread": [_unread(one) for one in outcome.unread],
        "stumbles": [_stumble(one) for one in outcome.stumbles],
        "notes": list(outcome.notes),
        "counts": {**asdict(outcome.counts), "findings": len(outcome.findings), "allowed": len(outcome.allowed)},
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def finding_data(finding: Finding) -> dict[str, Any]:
    """A finding as plain data."""
    return {
        "policy": finding.policy.id,
        "severity": finding.policy.severity,
        "stage": finding.policy.stage,
        "file": finding.place.file,
        "line": finding.place.position.line,
        "column": finding.place.position.column,
        **_object(finding.manifest),
        "path": spelled(finding.path),
        "message": finding.message,
        "fix": " ".join(finding.policy.fix.split()),
        "fixable": finding.edit is not None,
        "fingerprint": finding.fingerprint,
    }


def _object(manifest: Any) -> dict[str, str]:
    return {"kind": manifest.kind, "namespace": manifest.namespace, "name": manifest.name}


def _stumble(one: Stumble) -> dict[str, Any]:
    place = one.place
    return {
        "policy": one.policy.id,
        "file": place.file if place else None,
        "line": place.position.line if place else None,
        **_object(one.manifest),
        "text": one.text,
    }


def _unread(one: Unread) -> dict[str, Any]:
    problem = one.problem
    return {
        "fate": one.fate,
        "file": problem.file,
        "line": problem.position.line if problem.position else None,
        "found": problem.found,
        "expected": problem.expected,
    }
