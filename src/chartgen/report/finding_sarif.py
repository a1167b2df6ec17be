"""Findings as SARIF 2.1.0, the format of code scanning: regions, fingerprints, and each policy's help."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any, Final

from chartgen import __version__
from chartgen.lint.finding import Finding, Outcome
from chartgen.lint.manifest import Unread
from chartgen.policy.types import Policy, Severity
from chartgen.report.findings import Style
from chartgen.report.problems import found_and_expected

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVEL: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "advice": "note"}


def write(outcome: Outcome, style: Style) -> str:
    """One run. Allowed findings are in it as suppressed results, unread documents as notifications."""
    del style
    everything = [*outcome.findings, *(one.finding for one in outcome.allowed)]
    policies = {finding.policy.id: finding.policy for finding in everything}
    index = {name: number for number, name in enumerate(policies)}
    results = [_result(finding, index) for finding in outcome.findings]
    for one in outcome.allowed:
        suppression = {"kind": "inSource", "justification": one.reason}
        results.append({**_result(one.finding, index), "suppressions": [suppression]})
    run = {
        "tool": {
            "driver": {
                "name": "chartgen",
                "semanticVersion": __version__,
                "rules": [_rule(policy) for policy in policies.values()],
            },
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not outcome.stumbles,
                "toolExecutionNotifications": [_notification(one) for one in outcome.unread],
            },
        ],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _rule(policy: Policy) -> dict[str, Any]:
    why, fix = " ".join(policy.why.split()), " ".join(policy.fix.split())
    return {
        "id": policy.id,
        "shortDescription": {"text": policy.title},
        "fullDescription": {"text": why},
        "help": {"text": f"{why}\n\nFix: {fix}", "markdown": f"{why}\n\n**Fix:** {fix}"},
        "defaultConfiguration": {"level": _LEVEL[policy.severity]},
        "properties": {"tags": [policy.stage]},
    }


def _result(finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    manifest = finding.manifest
    full_name = "/".join(part for part in (manifest.namespace, manifest.kind, manifest.name) if part)
    return {
        "ruleId": finding.policy.id,
        "ruleIndex": index[finding.policy.id],
        "level": _LEVEL[finding.policy.severity],
        "message": {"text": finding.message},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": PurePath(finding.place.file).as_posix()},
                    "region": _region(finding),
                },
                "logicalLocations": [{"fullyQualifiedName": full_name, "kind": "resource"}],
            },
        ],
        "partialFingerprints": {"chartgen/v1": finding.fingerprint},
    }


def _region(finding: Finding) -> dict[str, int]:
    position, end = finding.place.position, finding.place.end
    region = {"startLine": position.line, "startColumn": position.column}
    if end is not None and end > position:
        region |= {"endLine": end.line, "endColumn": end.column}
    return region


def _notification(one: Unread) -> dict[str, Any]:
    problem = one.problem
    location: dict[str, Any] = {"artifactLocation": {"uri": PurePath(problem.file).as_posix()}}
    if problem.position is not None:
        location["region"] = {"startLine": problem.position.line, "startColumn": problem.position.column}
    return {
        "level": "error" if one.fate == "failed" else "note",
        "message": {"text": f"{one.fate}: {found_and_expected(problem)}"},
        "locations": [{"physicalLocation": location}],
    }
