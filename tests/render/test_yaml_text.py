"""Values text: whatever a value holds, readers get back exactly that, and reasons stay comments."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from chartgen.kernel.decision import Decision, Values, worked_out
from chartgen.kernel.yaml_source import read
from chartgen.render.yaml_text import commented, document

TEXT = st.text(alphabet=st.characters(blacklist_categories=("Cs", "Cc")) | st.sampled_from("\n\t"), max_size=30)
SCALAR = TEXT | st.integers(-(10**12), 10**12) | st.booleans() | st.none()
VALUE = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=8
)
WORDS = [
    "y",
    "no",
    "on",
    "0644",
    "1e3",
    "22:22",
    "2026-11-30",
    "08",
    "{{ .Values.x }}",
    "# no",
    "a: b",
    "- x",
    "&a",
    "*a",
    "~",
    "",
]


def back(text: str) -> Any:
    return next(read(text, "values.yaml")).value


@given(VALUE)
def test_a_value_is_read_back_as_it_was_by_three_readers(value: Any) -> None:
    """Kubernetes' rules, PyYAML and YAML 1.2 agree on every written value."""
    text = document({"key": value})
    assert back(text) == {"key": value}
    assert yaml.safe_load(text) == {"key": value}
    assert YAML(typ="safe", pure=True).load(text) == {"key": value}


def test_words_that_yaml_readers_take_for_something_else_stay_words() -> None:
    """Booleans, octals, dates, templates and markers in text are text in every reader."""
    text = document({"words": WORDS})
    assert yaml.safe_load(text)["words"] == WORDS
    assert back(text)["words"] == WORDS


@given(st.text(max_size=80))
def test_a_reason_never_leaves_its_comment(because: str) -> None:
    """Whatever a reason holds, the values are only the values."""
    if not because.strip():
        because = "x"
    tree: Values = {"a": {"b": worked_out(1, because)}, "c": worked_out("d", because)}
    assert back(commented(tree)) == {"a": {"b": 1}, "c": "d"}


def test_every_value_stands_under_its_reason() -> None:
    """The comment above a key is the reason, marked as helm-docs reads it."""
    tree = {"replicas": Decision(value=2, because="Two, so that one may fail", origin="assumed")}
    assert commented(tree) == "# -- Two, so that one may fail (assumed)\nreplicas: 2\n"
