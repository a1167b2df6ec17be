"""Problems of a user's document: variants of a mapping are told apart by their tag."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest

from chartgen.kernel.structure import Record, about, problems_of
from chartgen.kernel.yaml_source import read


class Slice(Record, frozen=True, kw_only=True, tag_field="by", tag="mig"):
    """A variant with an optional word."""

    profile: Annotated[str | None, about("A profile.")] = None


class Share(Record, frozen=True, kw_only=True, tag_field="by", tag="mps"):
    """A variant with a number that it needs."""

    clients: Annotated[int, about("Pods.", ge=2)]


class Choice(Record, frozen=True, kw_only=True):
    """A word, or one of two mappings."""

    how: Annotated[Literal["whole", "mig"] | Slice | Share | None, about("How.")] = None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how: migs", ("how", 6, '"migs"', "one of mig, whole", "mig")),
        ("how: {by: migs}", ("how.by", 11, '"migs"', "one of mig, mps", "mig")),
        ("how: {by: mig, clients: 4}", ("how.clients", 16, "the unknown key 'clients'", "one of by, profile", None)),
        ("how: {by: mps, clients: 1}", ("how.clients", 25, "1", "at least 2", None)),
        ("how: {by: mps}", ("how", 1, "nothing", "the key 'clients'", None)),
        ("how: {profile: 1g.10gb}", ("how", 1, "nothing", "the key 'by'", None)),
        ("how: 7", ("how", 6, "7", "one of mig, whole", None)),
        ("how: [mig]", ("how", 6, "a list", "a mapping", None)),
    ],
)
def test_the_meant_variant_is_explained(text: str, expected: tuple[str, int, str, str, str | None]) -> None:
    """One problem: of the variant whose tag is named, or of the tag where it names none."""
    (document,) = read(text, "f")
    (problem,) = problems_of(document, Choice, "f")
    assert problem.position is not None
    got = (problem.path, problem.position.column, problem.found, problem.expected, problem.nearest)
    assert got == expected
