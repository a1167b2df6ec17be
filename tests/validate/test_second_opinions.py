"""The embedded check against two others that share no code with it: kubeconform, and the jsonschema package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings

from chartgen.validate import kubeconform, library
from chartgen.validate.embedded import check_objects
from chartgen.validate.kubeconform import KubeconformError
from validate.samples import MINORS, bad, good, tool
from validate.strategies import broken_anywhere, oracle_errors


def _ends(minor: str) -> list[tuple[str, Mapping[str, Any]]]:
    objects: list[tuple[str, Mapping[str, Any]]] = []
    objects += [(sample.name, sample.object) for sample in good() if minor in sample.minors]
    return objects + [(sample.about, sample.object) for sample in bad() if minor in sample.minors]


@pytest.mark.parametrize("minor", [MINORS[0], MINORS[-1]])
def test_kubeconform_agrees(minor: str) -> None:
    """The program takes and refuses the same objects, but for what no schema says, at the same places."""
    beyond = {sample.about for sample in bad() if sample.by_values}
    ours = {
        (problem.source, problem.path, problem.code)
        for problem in check_objects(_ends(minor), minor)
        if problem.source not in beyond
    }
    theirs = {
        (problem.source, problem.path, problem.code)
        for problem in kubeconform.check_objects(tool("kubeconform"), _ends(minor), minor)
    }
    assert {source for source, *_ in ours} == {source for source, *_ in theirs}
    own_rules = {"neither name nor generated name", "no metadata", "a negative grace period"}
    keys = {"a data key with a slash"}  # kubeconform names the mapping, not the key
    agreed = {fault for fault in ours if fault[0] not in own_rules | keys}
    assert agreed == {fault for fault in theirs if fault[0] not in own_rules | keys}


def test_kubeconform_reads_every_schema() -> None:
    """Each schema of the newest minor, and of every custom resource, compiles in kubeconform too."""
    kinds = [*library.release(MINORS[-1]).kinds, *library.index().custom]
    objects = [("file", {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}}) for version, kind in kinds]
    problems = kubeconform.check_objects(tool("kubeconform"), objects, MINORS[-1])
    assert [problem.kind for problem in problems if problem.skipped] == []


def test_kubeconform_reports_what_it_does_not_check() -> None:
    """Unknown kinds and documents that are no objects are problems, one for one; a list is unfolded."""
    documents: list[tuple[str, Any]] = [
        ("number", 3), ("empty", None), ("nothing", {}), ("widget", {"apiVersion": "example.com/v1", "kind": "Widget"}),
        ("list", {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "example.com/v1", "kind": "Widget"}]}),
    ]  # fmt: skip
    problems = kubeconform.check_objects(tool("kubeconform"), documents, "1.37")
    assert [(problem.source, problem.code, problem.path) for problem in problems] == [
        ("number", "no-object", ()),
        ("empty", "no-object", ()),
        ("nothing", "no-object", ()),
        ("widget", "unknown-kind", ("kind",)),
        ("list", "unknown-kind", ("items", 0, "kind")),
    ]


def test_kubeconform_keeps_documents_apart() -> None:
    """Text that looks like the end of a document stays inside its value."""
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "x\n---\nkind: Pod\n"}}
    assert kubeconform.check_objects(tool("kubeconform"), [("file", config)] * 3, "1.37") == []


ODD_TEXTS = [
    "call \N{GRINNING FACE}",
    "\x7f\x85\x9f",
    "\u2028\u2029",
    "\ufeff\ufffe\uffff",
    "\\ud83d",
    '"\\"',
    "\0\x1b\t\n",
]


@pytest.mark.parametrize("text", ODD_TEXTS, ids=ascii)
def test_any_text_of_an_object_reaches_kubeconform(text: str) -> None:
    """Characters that JSON and YAML write unlike are the same text to the program: it takes what we take."""
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "annotations": {"a": text}}}
    assert check_objects([("file", config)], "1.37") == []
    assert kubeconform.check_objects(tool("kubeconform"), [("file", config)], "1.37") == []


def test_a_kubeconform_that_cannot_run_is_an_error() -> None:
    """A command that is no kubeconform is an error of its own, never a pass."""
    with pytest.raises(KubeconformError):
        kubeconform.check_objects(tool("kubeconform").parent, [("file", good()[0].object)], "1.37")
    with pytest.raises(KubeconformError):
        kubeconform.check_objects(tool("helm4"), [("file", good()[0].object)], "1.37")


def _schema_paths(content: Mapping[str, Any], minor: str) -> tuple[set[tuple[object, ...]], set[tuple[object, ...]]]:
    """Where the fast validator and the slow one see an error; the fast one leaves empty keys out of a path."""
    schema = library.schema(content["apiVersion"], content["kind"], library.release(minor))
    assert schema is not None
    fast = {
        tuple(error.instance_path)
        for error in library.validator(schema.path).iter_errors(content)
        if error.kind.name != "x-unique-by"
    }
    slow = {tuple(step for step in path if step != "") for path in oracle_errors(content, minor)}
    return fast, slow


def test_the_slow_validator_agrees_on_every_sample() -> None:
    """The pure-Python validator sees errors at the same places of every good and bad object."""
    for content in [*(sample.object for sample in good()), *(sample.object for sample in bad())]:
        fast, slow = _schema_paths(content, "1.37")
        assert fast == slow


@settings(max_examples=150, deadline=None)
@given(broken_anywhere())
def test_the_slow_validator_agrees_on_anything(content: dict[str, Any]) -> None:
    """Whatever value stands anywhere in an object, both validators see errors at the same places."""
    fast, slow = _schema_paths(content, "1.37")
    assert fast == slow
