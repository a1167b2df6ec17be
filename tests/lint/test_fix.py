"""Fixes: the one right answer, and not a byte more."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chartgen.lint.cases import judge_case
from chartgen.lint.documents import read_manifests
from chartgen.lint.finding import Splice
from chartgen.lint.fix import apply, fixed_texts, removal, setting
from chartgen.lint.manifest import Manifest
from chartgen.policy.load import ours
from chartgen.policy.types import Case, Policy

FIXABLE = [
    (policy, case)
    for policy in ours(cases=True).values()
    if policy.edit
    for case in policy.cases
    if case.fail is not None and any(found.edit for found in judge_case(policy, case).findings)
]


def one(text: str) -> Manifest:
    (manifest,) = read_manifests(text, "f.yaml", "g")
    assert isinstance(manifest, Manifest)
    return manifest


@pytest.mark.parametrize(("policy", "case"), FIXABLE, ids=[f"{policy.id}: {case.name}" for policy, case in FIXABLE])
def test_a_fix_mends_and_moves_nothing_else(policy: Policy, case: Case) -> None:
    """After the fix the policy is silent, lines without a finding are as before, and a second fix changes nothing."""
    before = judge_case(policy, case)
    ((old, new),) = fixed_texts(before.findings).values()
    after = judge_case(policy, Case(name=case.name, given=new, pass_=True))
    assert [found.message for found in after.findings if found.edit] == []
    touched = [line for line in difflib.ndiff(old.splitlines(), new.splitlines()) if line[0] in "+-"]
    assert len(touched) <= 4 * len(before.findings)


def test_no_quotes_where_no_text_is_wanted() -> None:
    """Text where a number is wanted gets no quotes: that would mend nothing."""
    given_text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {priority: high}\n"
    outcome = judge_case(ours(cases=False)["wrong-type"], Case(name="a number", given=given_text, fail="spec"))
    assert [found.edit for found in outcome.findings] == [None]


def test_every_policy_with_an_edit_has_a_case_for_it() -> None:
    """No edit is only written down."""
    with_edit = {policy.id for policy in ours(cases=False).values() if policy.edit}
    assert {policy.id for policy, _ in FIXABLE} == with_edit
    assert len(with_edit) >= 5


BLOCK = """\
apiVersion: v1  # the core group
kind: Pod
metadata:
  name: a
spec:
  # the containers
  containers:
    - name: x   # the engine
      image: y.z/x
      securityContext:
        privileged: true   # why?
"""


@pytest.mark.parametrize(
    ("text", "path", "value", "expected"),
    [
        (BLOCK, "spec.containers.0.securityContext.privileged", "false", ("true   # why?", "false   # why?")),
        (
            BLOCK,
            "spec.hostIPC",
            "false",
            ("  # the containers\n  containers:", "  # the containers\n  hostIPC: false\n  containers:"),
        ),
        (
            BLOCK,
            "spec.containers.0.securityContext.allowPrivilegeEscalation",
            "false",
            ("        privileged:", "        allowPrivilegeEscalation: false\n        privileged:"),
        ),
        (BLOCK, "spec.containers.0.a.b", "1", ("    - name: x", "    - a:\n        b: 1\n      name: x")),
        (
            "{apiVersion: v1, kind: Pod, metadata: {name: a}}",
            "metadata.namespace",
            "x",
            ("{name: a}", "{name: a, namespace: x}"),
        ),
    ],
)
def test_setting(text: str, path: str, value: str, expected: tuple[str, str]) -> None:
    """A value is set in the style of its mapping; comments and layout stay."""
    steps = [int(step) if step.isdigit() else step for step in path.split(".")]
    splice = setting(one(text), steps, value)
    assert splice is not None
    assert apply(text, [splice]) == text.replace(*expected)


@pytest.mark.parametrize("path", ["spec.containers.3.image", "spec.containers", "metadata"])
def test_what_is_not_safe_is_not_edited(path: str) -> None:
    """Whole blocks are not overwritten, and list entries are not invented."""
    steps = [int(step) if step.isdigit() else step for step in path.split(".")]
    assert setting(one(BLOCK), steps, "x") is None


def test_windows_newlines_stay() -> None:
    """An added line ends as the others do."""
    text = BLOCK.replace("\n", "\r\n")
    splice = setting(one(text), ["spec", "hostIPC"], "false")
    assert splice is not None
    assert apply(text, [splice]).count("\r\n") == text.count("\r\n") + 1
    assert "\n" not in apply(text, [splice]).replace("\r\n", "")


def test_removal_takes_the_line() -> None:
    """An entry goes with its line and its comment; one that shares its line stays."""
    splice = removal(one(BLOCK), ["spec", "containers", 0, "image"])
    assert splice is not None
    assert apply(BLOCK, [splice]) == BLOCK.replace("      image: y.z/x\n", "")
    assert removal(one("{apiVersion: v1, kind: Pod, metadata: {name: a}}"), ["metadata", "name"]) is None


@given(
    st.text(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5), st.text(max_size=3)), max_size=6)
)
def test_edits_never_overlap(text: str, edits: list[tuple[int, int, str]]) -> None:
    """Whatever edits are asked for, what stands outside of them stays in order."""
    splices = [Splice(start=min(a, len(text)), end=min(a + n, len(text)), text=new) for a, n, new in edits]
    result = apply(text, splices)
    kept = [index for index in range(len(text)) if not any(one.start <= index < one.end for one in splices)]
    position = 0
    for index in kept:
        position = result.find(text[index], position) + 1
        assert position > 0
