"""The witness, who has never seen a plan: what the linter says of rendered manifests at its strictest level."""

from __future__ import annotations

from functools import cache

from chartgen.lint.documents import read_manifests
from chartgen.lint.manifest import Inputs, Manifest
from chartgen.lint.run import Request, lint
from chartgen.lint.select import Selection
from chartgen.lint.subjects import surroundings
from chartgen.policy.load import PolicySet, load


@cache
def _policies() -> PolicySet:
    return load()


def said(text: str, kubernetes: str) -> list[str]:
    """Every finding, of whatever severity, on the manifests of one chart for a minor such as 1.37."""
    manifests = [one for one in read_manifests(text, "chart", "chart", rendered=True) if isinstance(one, Manifest)]
    outcome = lint(
        Request(
            policies=_policies(),
            inputs=Inputs(manifests=tuple(manifests)),
            selection=Selection(level="strict"),
            surroundings=surroundings((kubernetes,), None),
        )
    )
    assert not outcome.stumbles
    assert manifests
    return [f"{one.policy.id} on {one.manifest.kind}: {one.message}" for one in outcome.findings]
