"""Every example of every policy is a test."""

from __future__ import annotations

import pytest

from chartgen.lint.cases import expectation, run_cases, verdict
from chartgen.policy.load import ours
from chartgen.policy.types import Case, Policy

POLICIES = tuple(ours(cases=True).values())
CASES = [(policy, case) for policy in POLICIES for case in policy.cases]


@pytest.mark.parametrize(("policy", "case"), CASES, ids=[f"{policy.id}: {case.name}" for policy, case in CASES])
def test_case(policy: Policy, case: Case) -> None:
    """A policy says of each of its cases what the case expects."""
    assert verdict(policy, case) == expectation(case)


@pytest.mark.parametrize("policy", POLICIES, ids=[policy.id for policy in POLICIES])
def test_has_both_verdicts(policy: Policy) -> None:
    """Each policy has a case that fails and one that passes."""
    assert [found for found in run_cases(policy) if not found.case] == []
