"""The embedded check: what it takes, what it refuses, and where it says so."""

from __future__ import annotations

import pytest

from chartgen.kernel.errors import UnknownName
from chartgen.validate.embedded import check_objects
from validate.samples import MINORS, Bad, Good, bad, good


@pytest.mark.parametrize("sample", good(), ids=lambda sample: sample.name)
def test_takes_what_the_api_takes(sample: Good) -> None:
    """An object that the API takes has no problem at any minor that serves it."""
    for minor in sample.minors:
        assert check_objects([("file", sample.object)], minor) == []


@pytest.mark.parametrize("sample", bad(), ids=lambda sample: sample.about)
def test_names_the_fault_and_its_place(sample: Bad) -> None:
    """A broken object gives the one problem that was put in, at its place, at every minor."""
    for minor in sample.minors:
        problems = check_objects([("file", sample.object)], minor)
        assert (sample.at, sample.code) in [(problem.path, problem.code) for problem in problems]
        assert {problem.path for problem in problems} <= {sample.at, *sample.also}
        assert all(problem.message and problem.source == "file" for problem in problems)


def test_suggests_the_field_that_was_meant() -> None:
    """An unknown field is named with the known field most like it, and with the schema that was asked."""
    (sample,) = [sample for sample in bad() if sample.about == "a field with a typing error"]
    (problem,) = check_objects([("file", sample.object)], "1.37")
    assert problem.message == "the API has no field 'startupProb' here; is 'startupProbe' meant?"
    assert (problem.nearest, problem.schema) == ("startupProbe", "Kubernetes v1.37.2")
    assert (problem.api_version, problem.kind, problem.name) == ("apps/v1", "Deployment", "chat")


def test_says_what_an_amount_looks_like() -> None:
    """A wrong amount is answered with examples of right ones, not with a pattern."""
    (sample,) = [sample for sample in bad() if sample.about == "a memory amount in decimal bytes"]
    (problem,) = check_objects([("file", sample.object)], "1.37")
    assert problem.message == '"64GB" is not a quantity such as 2, 500m or 64Gi'


def test_reports_every_problem_in_the_order_of_the_objects() -> None:
    """All problems of all objects come at once, object by object, each in the order of its fields."""
    broken = [(str(number), sample.object) for number, sample in enumerate(bad())]
    problems = check_objects(broken, "1.37")
    sources = [int(problem.source) for problem in problems]
    assert sources == sorted(sources)
    assert set(sources) == set(range(len(broken)))


def test_never_passes_over_an_unknown_kind() -> None:
    """An object of a kind without a schema is reported as not checked, and as nothing worse."""
    (problem,) = check_objects([("file", {"apiVersion": "example.com/v1", "kind": "Widget"})], "1.37")
    assert problem.skipped
    assert problem.message == "not checked: no schema is known for Widget of example.com/v1"


@pytest.mark.parametrize("content", [None, 3, "text", [], {}, {"kind": "Pod"}, {"apiVersion": "v1", "kind": 5}])
def test_says_what_is_no_object(content: object) -> None:
    """A document that is no Kubernetes object is a problem, not a crash."""
    problems = check_objects([("file", content)], "1.37")  # type: ignore[list-item]
    assert problems
    assert {problem.code for problem in problems} == {"no-object"}


def test_unfolds_a_list() -> None:
    """The entries of a v1 List are checked one by one, under their path in the list."""
    entries = [sample.object for sample in good()[:2]] + [bad()[0].object]
    problems = check_objects([("file", {"apiVersion": "v1", "kind": "List", "items": entries})], "1.37")
    assert [problem.path for problem in problems] == [("items", 2, *bad()[0].at)]


@pytest.mark.parametrize("spelling", ["1.34", "v1.34", "1.34.9", "v1.34.0"])
def test_reads_the_usual_spellings_of_a_minor(spelling: str) -> None:
    """A version may carry a v and a patch number."""
    assert check_objects([("file", good()[0].object)], spelling) == []


@pytest.mark.parametrize("spelling", ["1.32", "1.38", "2.34", "latest", ""])
def test_refuses_a_minor_without_schemas(spelling: str) -> None:
    """A minor without schemas is an unknown name, and the known ones are named."""
    with pytest.raises(UnknownName) as refusal:
        check_objects([], spelling)
    assert refusal.value.hint == f"one of {', '.join(MINORS)}"
