"""Runs the examples of a policy: they are its tests, and the same ones stand on its page."""

from __future__ import annotations

from collections.abc import Iterator

from chartgen.kernel.dataclass import dataclass
from chartgen.lint.cel import ExpressionError
from chartgen.lint.documents import read_manifests
from chartgen.lint.finding import Outcome
from chartgen.lint.manifest import Inputs, Manifest, Unread
from chartgen.lint.paths import spelled
from chartgen.lint.run import Request, lint
from chartgen.lint.select import Selection
from chartgen.lint.subjects import surroundings
from chartgen.policy.load import PolicySet
from chartgen.policy.types import Case, Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A case whose verdict is not what it says."""

    policy: str
    """The policy's id."""
    case: str
    """The case's name."""
    expected: str
    """What the case says."""
    found: str
    """What the policy says."""


def run_cases(policy: Policy) -> Iterator[Disagreement]:
    """Every case of a policy that disagrees with it, and what its author left out."""
    if not any(case.pass_ for case in policy.cases):
        yield Disagreement(policy=policy.id, case="", expected="a case that passes", found="none")
    if not any(case.fail is not None for case in policy.cases):
        yield Disagreement(policy=policy.id, case="", expected="a case that fails", found="none")
    for case in policy.cases:
        expected = expectation(case)
        found = verdict(policy, case)
        if found != expected:
            yield Disagreement(policy=policy.id, case=case.name, expected=expected, found=found)


def expectation(case: Case) -> str:
    """What a case expects, as one line."""
    if case.unknown:
        return "cannot tell"
    if case.fail is None:
        return "nothing"
    paths = [case.fail] if isinstance(case.fail, str) else case.fail
    return "finds " + ", ".join(sorted(paths))


def verdict(policy: Policy, case: Case) -> str:
    """What a policy says of a case, as one line."""
    try:
        outcome = judge_case(policy, case)
    except ExpressionError as error:
        return f"an expression that does not compile: {error}"
    if outcome.stumbles:
        return f"a stumble: {outcome.stumbles[0].text}"
    if outcome.findings:
        return "finds " + ", ".join(sorted(spelled(finding.path) for finding in outcome.findings))
    return "cannot tell" if outcome.untold else "nothing"


def judge_case(policy: Policy, case: Case) -> Outcome:
    """Everything one policy says of a case."""
    manifests = []
    unread = []
    for file, text in (case.files or {"case.yaml": case.given}).items():
        for found in read_manifests(text, file, "case"):
            match found:
                case Manifest():
                    manifests.append(found)
                case Unread():
                    unread.append(found)
    inputs = Inputs(manifests=tuple(manifests), unread=tuple(unread))
    policies = PolicySet(policies={policy.id: policy})
    selection = Selection(level="strict")
    around = surroundings(case.kubernetes, case.cloud)
    return lint(Request(inputs=inputs, policies=policies, selection=selection, surroundings=around))
