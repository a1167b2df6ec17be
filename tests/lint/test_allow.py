"""Allowing findings: with a reason, where it is written, and no further."""

from __future__ import annotations

from datetime import date

from chartgen.lint.allow import Allowance
from chartgen.lint.documents import read_manifests
from chartgen.lint.finding import Outcome
from chartgen.lint.manifest import Inputs, Manifest
from chartgen.lint.run import Request, lint
from chartgen.lint.select import Selection
from chartgen.policy.load import load

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: a
  namespace: llm
  annotations: {%s}
spec:
  containers:
    - name: x
      image: busybox
      %s
      securityContext: {privileged: true}%s
"""
ASKED = ("privileged-container", "scaled-by-cpu", "unused-allowance", "allowance-without-reason")


def judge(text: str, *allowances: Allowance, baseline: frozenset[str] = frozenset()) -> Outcome:
    manifests = tuple(one for one in read_manifests(text, "f.yaml", "g") if isinstance(one, Manifest))
    return lint(
        Request(
            inputs=Inputs(manifests=manifests),
            policies=load(),
            selection=Selection(select=ASKED),
            allowances=allowances,
            baseline=baseline,
            today=date(2026, 11, 30),
        )
    )


def said(outcome: Outcome) -> list[str]:
    return [found.policy.id for found in outcome.findings]


def test_annotation() -> None:
    """An annotation with a reason allows, and the reason is kept."""
    outcome = judge(POD % ("allow.chartgen/privileged-container: installs drivers", "", ""))
    assert said(outcome) == []
    assert [(one.reason, one.by) for one in outcome.allowed] == [("installs drivers", "annotation")]


def test_annotation_of_the_pod_template() -> None:
    """The annotation may stand on the pod template too."""
    text = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  template:
    metadata: {annotations: {allow.chartgen/privileged-container: installs drivers}}
    spec: {containers: [{name: x, securityContext: {privileged: true}}]}
"""
    assert said(judge(text)) == []


def test_annotation_of_what_an_operator_reads() -> None:
    """An annotation covers what an operator makes of the object's fields, and no neighbour in the same file."""
    service = """\
apiVersion: apps.nvidia.com/v1alpha1
kind: NIMService
metadata: {name: %s, annotations: {%s}}
spec:
  image: {repository: nvcr.io/nim/meta/llama-3.1-8b-instruct, tag: 1.12.0}
  resources: {limits: {nvidia.com/gpu: 1}}
  scale:
    enabled: true
    hpa:
      maxReplicas: 4
      metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]
"""
    allowed = service % ("a", "allow.chartgen/scaled-by-cpu: the queue is not exported yet")
    outcome = judge(f"{allowed}---\n{service % ('b', '')}")
    assert [(found.policy.id, found.manifest.name) for found in outcome.findings] == [("scaled-by-cpu", "b")]


def test_comment_on_the_line_and_above() -> None:
    """A comment speaks of its own line and of the next one, not of others."""
    comment = "# allow.chartgen/privileged-container: installs drivers"
    assert said(judge(POD % ("", "", f"  {comment}"))) == []
    assert said(judge(POD % ("", comment, ""))) == []
    assert said(judge(f"{comment}\n{POD % ('', '', '')}")) == ["unused-allowance", "privileged-container"]


def test_no_reason_no_allowance() -> None:
    """Without a reason nothing is allowed, and that is said."""
    for text in (
        POD % ('allow.chartgen/privileged-container: ""', "", ""),
        POD % ("", "# allow.chartgen/privileged-container", ""),
    ):
        assert sorted(said(judge(text))) == ["allowance-without-reason", "privileged-container"]


def test_configuration() -> None:
    """An entry of the configuration covers what its patterns match, until its day."""
    entry = Allowance(
        policy="privileged-container",
        kind="P*",
        namespace="llm",
        path="spec.containers[0].*",
        reason="driver installer",
        until=date(2026, 12, 31),
    )
    assert said(judge(POD % ("", "", ""), entry)) == []
    elsewhere = Allowance(policy="privileged-container", name="b", reason="another one")
    outcome = judge(POD % ("", "", ""), elsewhere)
    assert said(outcome) == ["privileged-container"]
    assert "matches nothing" in outcome.notes[-1]


def test_configuration_ends() -> None:
    """After its day an entry allows nothing, and that is said."""
    entry = Allowance(policy="privileged-container", reason="for now", until=date(2026, 11, 29))
    outcome = judge(POD % ("", "", ""), entry)
    assert said(outcome) == ["privileged-container"]
    assert "ended on 2026-11-29" in outcome.notes[-1]


def test_baseline() -> None:
    """What a baseline holds is not said again, also when its line moved."""
    first = judge(POD % ("", "", ""))
    known = frozenset(found.fingerprint for found in first.findings)
    moved = judge("# a comment\n\n" + POD % ("", "", ""), baseline=known)
    assert said(first) == ["privileged-container"]
    assert said(moved) == []
