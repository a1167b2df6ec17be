"""YAML as Kubernetes reads it: scalars, positions, bounds."""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from typing import Any

import pytest
import ruamel.yaml
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chartgen.kernel import yaml_source
from chartgen.kernel.errors import InputError, Position
from chartgen.kernel.scalars import scalar
from chartgen.kernel.yaml_faults import yaml_fault
from chartgen.kernel.yaml_source import Document, read
from chartgen.report.problems import input_error


def one(text: str) -> Document:
    (document,) = read(text, "test.yaml")
    return document


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        list(read(text, "test.yaml"))
    problem = caught.value.problems[0]
    place = problem.position
    return f"{place.line}:{place.column} {problem.found}" if place else problem.found


SCALARS: list[tuple[str, Any]] = [
    ("y", True), ("Y", True), ("yes", True), ("on", True), ("On", True), ("true", True), ("TRUE", True),
    ("n", False), ("N", False), ("no", False), ("off", False), ("OFF", False), ("false", False),
    ("", None), ("~", None), ("null", None), ("Null", None),
    ("0", 0), ("7", 7), ("-7", -7), ("+7", 7), ("1_000", 1000),
    ("0644", 420), ("0o644", 420), ("0b11", 3), ("0x1F", 31), ("-0x1f", -31),
    ("08", 8.0), ("1e3", 1000.0), ("1.5", 1.5), (".5", 0.5), ("5.", 5.0), ("-1E-2", -0.01), ("1_0.5", 10.5),
    (".inf", math.inf), ("-.INF", -math.inf), ("9223372036854775807", 2**63 - 1),
    ("9223372036854775808", 2.0**63), ("99999999999999999999", 1e20),
    ("1e400", "1e400"), ("-1e999", "-1e999"), ("9" * 5000, "9" * 5000), ("0x" + "f" * 500, "0x" + "f" * 500),
    ("22:22", "22:22"), ("1:30:00", "1:30:00"), ("2026-11-30", "2026-11-30"), ("0x", "0x"), ("0b2", "0b2"),
    ("=", "="), ("1.2.3", "1.2.3"), ("1Gi", "1Gi"), ("500m", "500m"), ("tRUE", "tRUE"), ("-", "-"),
    (".", "."), ("+", "+"), ("1e", "1e"), ("nan", "nan"), ("v0.18.1", "v0.18.1"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_scalar(text: str, value: Any) -> None:
    """An unquoted scalar has the value that kubectl and Helm give it, of the same type."""
    found = scalar(text)
    assert found == value
    assert type(found) is type(value)


COMPLAINTS = [
    "found character that cannot start any token", "found character '`' that cannot start any token",
    "found a tab character that violates indentation", "found unexpected end of stream", "found extra '!'",
    "did not find expected ',' or '}'", "could not find expected ':'", "did not find the expected '>'",
    "did not find URI escaped octet", "mapping values are not allowed in this context",
    "block sequence entries are not allowed here", "expected <block end>, but found '?'",
    "expected ',' or ']', but got '<stream end>'", "a new complaint of a later release",
]  # fmt: skip


@pytest.mark.parametrize("problem", COMPLAINTS)
def test_every_complaint_reads_on_after_found(problem: str) -> None:
    """A parser's complaint, of libyaml or of PyYAML, becomes what was found and holds no verb of its own."""
    found = yaml_fault(problem)
    assert re.match(r"no |an? |something |mapping values |block sequence entries |'", found)
    assert not re.search(r"\b(found|did not|could not|are not)\b", found)


@given(st.text(max_size=30) | st.text(alphabet="a:- [{'\"\t\n\0&*!|>%@`#,]}", max_size=20))
def test_whatever_the_text_it_is_read_or_refused(text: str) -> None:
    """Any text is YAML or gives one error of one line, never another exception."""
    try:
        list(read(text, "f"))
    except InputError as error:
        (line,) = input_error(error).split("\n")
        assert "<unicode string>" not in line
        assert not re.search("found (found|did|could)", line)


def test_nan() -> None:
    """Not-a-number is a float."""
    assert math.isnan(scalar(".nan"))


def test_quotes_and_tags_decide() -> None:
    """Quoted scalars and those tagged as text stay text; an explicit tag lets the value be read."""
    assert one("[\"y\", 'on', !!str 1, ! 2, !!int 3]").value == ["y", "on", "1", "2", 3]


def test_keys_become_text_after_they_are_read() -> None:
    """A key is always text in Kubernetes, after its scalar is resolved: y is the key "true"."""
    assert one('y: 1\n0x10: 2\n"n": 3\n1e3: 4\n').value == {"true": 1, "16": 2, "n": 3, "1000": 4}


PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False),
    st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=12),
)  # fmt: skip
TREES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcxyz-", min_size=1), inner, max_size=4),
    max_leaves=20,
)


def same(left: Any, right: Any) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


@given(TREES)
def test_agrees_with_the_oracles_on_quoted_trees(tree: Any) -> None:
    """What PyYAML writes with quotes is read as PyYAML and ruamel read it, whatever the shape."""
    text = yaml.safe_dump(tree, default_style='"' if isinstance(tree, str) else None, width=60)
    oracles = [yaml.safe_load(text), ruamel.yaml.YAML(typ="safe", pure=True).load(text)]
    if same(*oracles) and not has_dates(oracles[0]):
        assert same(one(text).value, oracles[0]) or unlike_by_design(oracles[0])


def has_dates(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_dates, value.values()))
    return any(map(has_dates, value)) if isinstance(value, list) else isinstance(value, date | datetime)


def unlike_by_design(value: Any) -> bool:
    """Whether a tree holds text that only Kubernetes reads as something else, or a key that it rewrites."""
    if isinstance(value, dict):
        return any(scalar(key) != key or unlike_by_design(inner) for key, inner in value.items())
    if isinstance(value, list):
        return any(map(unlike_by_design, value))
    return isinstance(value, str) and scalar(value) != value


BUNDLE = """\
# a comment
kind: List
items:
- name: é
  args: ["--a", --b]
  env:
    - {name: A,
       value: b}
"""


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        (("kind",), 2, 1),
        (("items", 0), 4, 3),
        (("items", 0, "args", 1), 5, 17),
        (("items", 0, "env", 0, "value"), 8, 8),
        (("items", 0, "ports", 0), 4, 3),
        (("missing",), 2, 1),
    ],
)
def test_positions(path: tuple[str | int, ...], line: int, column: int) -> None:
    """Every key and item has its place; a missing entry stands at its nearest ancestor."""
    assert one(BUNDLE).position(path) == Position(line=line, column=column)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_newlines_and_byte_order_marks(newline: str, mark: str) -> None:
    """Windows newlines and a byte-order mark change no value and no position."""
    document = one(mark + newline.join(["a: 1", "b:", "  c: 2"]))
    assert document.value == {"a": 1, "b": {"c": 2}}
    assert document.position(("b", "c")) == Position(line=3, column=3)


def test_offsets_cut_the_text_of_a_value() -> None:
    """The offsets of an entry are where an edit would splice."""
    document = one(BUNDLE)
    found = document.offsets(("items", 0, "args", 0))
    assert found is not None
    assert document.text.content[found[1] : found[2]] == '"--a"'


def test_duplicates_are_told_and_the_last_wins() -> None:
    """A key written twice keeps the last value, as Kubernetes does, and is reported with its place."""
    document = one("a: 1\nb: {c: 1, c: 2}\na: 3\n")
    assert document.value == {"a": 3, "b": {"c": 2}}
    assert [(found.path, found.key, found.position.line) for found in document.duplicates] == [
        (("b",), "c", 2),
        ((), "a", 3),
    ]


def test_merge_keys() -> None:
    """`<<` fills in what a mapping does not say itself, with the place of the original."""
    document = one("base: &b {x: 1, y1: 2}\nuse:\n  <<: [*b, {z: 3}]\n  x: 9\n")
    assert document.value["use"] == {"x": 9, "y1": 2, "z": 3}
    assert document.position(("use", "y1")).line == 1
    assert document.duplicates == []


def test_several_documents() -> None:
    """Documents of one file are read in order; an empty one is null."""
    assert [document.value for document in read("---\na: 1\n---\n---\n[1]\n", "f")] == [{"a": 1}, None, [1]]


BOMB = "a0: &a0 [x,x,x,x,x,x,x,x]\n" + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 8)}]\n" for n in range(1, 12))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n\tb: 1", "2:1 a character that cannot start any token"),
        ("a: [1", "2:1 no ',' or ']'"),
        ("a: b: c", "1:5 mapping values where none may be"),
        ("a: 'x", "1:6 an unexpected end of stream"),
        ('a: "\\q"', "1:5 an unknown escape character"),
        ("a: b\0", "1:5 the character U+0000, which YAML does not allow"),
        ("a: 1\nb: \x1b[0m", "2:4 the character U+001B, which YAML does not allow"),
        ("a: \ud83d", "1:4 the character U+D83D, which YAML does not allow"),
        ("{{ .Values.x }}: 1", "1:1 a key that is no text"),
        ("a: *b", "1:4 *b"),
        ("a: &a [*a]", "1:8 *a"),
        ("[" * 101 + "]" * 101, "1:101 nesting deeper than 100 levels"),
        (BOMB, "7:14 aliases that add more than 1000000 nodes"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    """What is no YAML, or is deeper or larger than anything sane, is refused at its place."""
    assert refused(text).startswith(message)


def test_a_large_input_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size is bounded."""
    monkeypatch.setattr(yaml_source, "MAX_BYTES", 10)
    assert refused("a: 12345678") == "11 characters"


def test_the_pure_parser_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without libyaml the values and the positions are the same."""
    fast = one(BUNDLE)
    monkeypatch.setattr(yaml_source, "_Loader", yaml.SafeLoader)
    slow = one(BUNDLE)
    assert slow.value == fast.value
    assert slow.offsets(("items", 0, "env", 0)) == fast.offsets(("items", 0, "env", 0))
