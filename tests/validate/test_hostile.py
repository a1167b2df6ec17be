"""Objects that nobody would write: the check answers, whatever it is given."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chartgen.kernel.yaml_source import read
from chartgen.validate import values
from chartgen.validate.embedded import check_objects
from validate.samples import good
from validate.strategies import ANYTHING, broken_anywhere


@settings(max_examples=200, deadline=None)
@given(broken_anywhere())
def test_a_malformed_field_is_never_a_crash(content: dict[str, Any]) -> None:
    """Anything at any place of an object gives problems or none, never an exception."""
    for problem in check_objects([("file", content)], "1.37"):
        assert problem.message


@settings(max_examples=200, deadline=None)
@given(ANYTHING)
def test_anything_is_judged(content: Any) -> None:
    """A document that is anything at all is judged: nothing that is no object passes."""
    assert check_objects([("file", content)], "1.37")


@pytest.mark.parametrize(("group", "kind"), values._CHECKS)
@settings(max_examples=10, deadline=None)
@given(st.data())
def test_rules_between_fields_survive_any_spec(group: str, kind: str, data: st.DataObject) -> None:
    """The rules of each kind take a spec of any shape, down to where its pods would be."""
    pods = {field: data.draw(ANYTHING) for field in ("containers", "volumes", "tolerations")}
    template = {"spec": data.draw(ANYTHING | st.just(pods)), "metadata": data.draw(ANYTHING)}
    spec = {field: data.draw(ANYTHING) for field in ("selector", "ports", "devices", "rules", "metrics")}
    content = {
        "apiVersion": f"{group}/v1" if group else "v1",
        "kind": kind,
        "metadata": {"name": "a"},
        "spec": {**spec, "template": template},
    }
    for fault in values.value_faults(content, minor=37):
        assert fault.message


def test_long_texts_are_judged_in_linear_time() -> None:
    """A text that makes a backtracking pattern run for ever is refused like any other."""
    (sample,) = [sample for sample in good() if sample.name == "ConfigMap chat"]
    content = {**sample.object, "metadata": {"name": "a" * 100_000 + "!", "labels": {"a" * 100_000: "-" * 100_000}}}
    problems = check_objects([("file", content)], "1.37")
    assert {problem.path[:2] for problem in problems} == {("metadata", "name"), ("metadata", "labels")}
    assert all(len(problem.message) < 1000 for problem in problems if problem.path == ("metadata", "name"))


def test_shared_parts_are_judged_where_they_stand() -> None:
    """An alias gives the same value at several places: each place has its problem."""
    text = """
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: a}
    spec:
      selector: {matchLabels: &labels {app: a}}
      template:
        metadata: {labels: *labels}
        spec:
          containers:
            - &engine {name: one, image: b, startupProb: {}}
            - {<<: *engine, name: two}
    """
    (document,) = read(text, "file")
    problems = check_objects([("file", document.value)], "1.37")
    assert [problem.path[-2:] for problem in problems] == [(0, "startupProb"), (1, "startupProb")]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**400, -(2**400), 1e308, "\0"])
def test_odd_scalars_are_judged(value: object) -> None:
    """Numbers and texts at the edge of what Python holds are judged like others."""
    content = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": value}, "data": {"a": value}}
    assert check_objects([("file", content)], "1.37")
