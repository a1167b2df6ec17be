"""The generator of schemas: each step on a small piece of what it reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemagen import builtin, crd, gotypes
from schemagen.constraints import Constraints
from schemagen.rules import Untranslatable, translate
from schemagen.sharing import share

NODE = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "default": "Service"},
        "port": {"type": "integer"},
        "type": {"type": "string"},
        "name": {"type": "string"},
        "list": {"type": "array", "items": {"properties": {"type": {"default": "A"}}}},
    },
}

# A CEL rule, objects that keep it, objects that break it.
RULES: list[tuple[str, list[Any], list[Any]]] = [
    ("has(self.port)", [{"port": 1}], [{}]),
    ("has(self.kind)", [{}, {"kind": "x"}], []),
    ("!has(self.port) || !has(self.name)", [{}, {"port": 1}], [{"port": 1, "name": "a"}]),
    ("self.kind != 'Service' || has(self.port)", [{"kind": "Other"}, {"port": 1}], [{}, {"kind": "Service"}]),
    (
        "self.type == 'X' ? has(self.port) : !has(self.port)",
        [{"type": "X", "port": 1}, {}],
        [{"type": "X"}, {"port": 1}],
    ),
    ("self.type in ['A', \"B\"]", [{"type": "A"}, {"type": "B"}], [{"type": "C"}, {}]),
    ("!(has(self.name) && self.type != 'X')", [{"name": "a", "type": "X"}, {}], [{"name": "a", "type": "Y"}]),
    (
        "(self.type == 'X' || self.type == 'Y') && self.port >= 1 && self.port < 9",
        [{"type": "Y", "port": 8}],
        [{"type": "X", "port": 9}, {"type": "Z", "port": 1}],
    ),
    ("size(self.name) > 0", [{"name": "a"}], [{"name": ""}, {}]),
    ("self.list.size() == 0", [{"list": []}], [{"list": [1]}]),
    ("self.list.all(x, x.type == 'A')", [{"list": []}, {"list": [{}, {"type": "A"}]}], [{"list": [{"type": "B"}]}]),
    ("self.name.startsWith('/') && !self.name.contains('//')", [{"name": "/a"}], [{"name": "a"}, {"name": "/a//"}]),
    ('self.name.matches(r"""^a\\.b$""")', [{"name": "a.b"}], [{"name": "axb"}]),
    ("self.all(p1, self.exists_one(p2, p1.name == p2.name))", [], []),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "kept", "broken"), RULES)
def test_a_rule_says_the_same_as_a_schema(rule: str, kept: list[Any], broken: list[Any]) -> None:
    """What keeps the CEL rule is valid under its schema, what breaks it is not; defaults count as written."""
    schema = translate(rule, NODE)
    assert [jsonschema_rs.is_valid(schema, value) for value in kept] == [True] * len(kept)
    assert [jsonschema_rs.is_valid(schema, value) for value in broken] == [False] * len(broken)


@pytest.mark.parametrize("rule", ["duration(self) >= duration('1ms')", "duration(self) > duration('0s')"])
def test_a_time_is_not_zero(rule: str) -> None:
    """A rule on a duration becomes a pattern that no spelling of zero matches."""
    schema = translate(rule, {"type": "string"})
    assert all(jsonschema_rs.is_valid(schema, text) for text in ("1ms", "0h1s", "0.5s", "10s", "100h"))
    assert not any(jsonschema_rs.is_valid(schema, text) for text in ("0s", "0h0m0s", "00ms", "0.0s"))


@pytest.mark.parametrize(
    "rule",
    [
        "self == oldSelf",
        "self.a <= self.b",
        "self.filter(f, f.type == 'A').size() <= 1",
        "self[0].a == 1",
        "has(oldSelf.a)",
        "self.a == ",
        "self.a ? ",
        "self.list.size() == 3",
        "size(self.a) == size(self.b)",
        'self.name.matches(r"""^(?i)a$""")',
        "self.a.b.c.unknown('x')",
        "",
    ],
)
def test_a_rule_that_says_more_is_left_out(rule: str) -> None:
    """Arithmetic, comparison of two fields and the object before a change are not guessed at."""
    with pytest.raises(Untranslatable):
        translate(rule, NODE)


@given(st.text(alphabet="self.()!&|=?: has'x\"[]0<>,", max_size=40))
def test_the_translator_never_fails_otherwise(rule: str) -> None:
    """Whatever text stands for a rule, it is translated or left out."""
    try:
        schema = translate(rule, NODE)
    except Untranslatable:
        return
    jsonschema_rs.Draft7Validator(schema)


# A structural schema of a custom resource, what is valid under its strict form, and what is not.
STRUCTURAL: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"type": "object", "properties": {"a": {"type": "integer"}}}, [{}, {"a": 1}], [{"b": 1}, {"a": "1"}]),
    ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, [{"b": 1}], [[]]),
    ({"type": "object", "additionalProperties": {"type": "string"}}, [{"b": "x"}], [{"b": 1}]),
    ({"type": "object"}, [{}], [{"b": 1}]),
    ({"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}, [1, "1"], [1.5, None]),
    ({"type": "string", "nullable": True, "enum": ["a"]}, ["a", None], ["b"]),
    ({"type": "number", "minimum": 0, "exclusiveMinimum": True}, [1], [0]),
    ({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}, [["a"]], [["a", "a"]]),
    (
        {"type": "object", "required": ["a", "b"], "properties": {"a": {"default": 1}, "b": {"type": "string"}}},
        [{"b": "x"}],
        [{"a": 1}],
    ),
    (
        {
            "type": "object",
            "properties": {"type": {"type": "string", "default": "A"}, "a": {}},
            "oneOf": [
                {"properties": {"type": {"enum": ["A"]}}},
                {"properties": {"type": {"not": {"enum": ["A"]}}}},
            ],
        },
        [{}, {"type": "B"}],
        [{"type": 1}],
    ),
]


@pytest.mark.parametrize(("node", "valid", "invalid"), STRUCTURAL)
def test_a_custom_resource_is_closed_where_the_server_closes_it(
    node: dict[str, Any], valid: list[Any], invalid: list[Any]
) -> None:
    """Unknown fields are refused unless the definition keeps them; unions, nulls and defaults are the server's."""
    schema = crd.strict(node)
    assert [jsonschema_rs.is_valid(schema, value) for value in valid] == [True] * len(valid)
    assert [jsonschema_rs.is_valid(schema, value) for value in invalid] == [False] * len(invalid)


def test_prose_goes_but_a_field_of_that_name_stays() -> None:
    """A description of a schema is left out; a field that is called description is a field."""
    node = {"type": "object", "description": "x", "properties": {"description": {"type": "string", "description": "y"}}}
    assert crd.strict(node)["properties"] == {"description": {"type": "string"}}
    assert "description" not in crd.strict(node)


def test_equal_parts_are_written_once() -> None:
    """A large part that stands twice becomes a definition, and the schema says the same as before."""
    part = {"type": "object", "properties": {f"field{number}": {"type": "string"} for number in range(9)}}
    whole = {"type": "object", "properties": {"a": part, "b": {"type": "array", "items": part}}}
    shared = share(whole)
    assert len(json.dumps(shared)) < len(json.dumps(whole))
    assert list(shared["definitions"]) == ["part1"]
    for value in ({"a": {"field1": "x"}}, {"a": {"field1": 1}}, {"b": [{"field1": 1}]}, {}):
        assert jsonschema_rs.is_valid(shared, value) == jsonschema_rs.is_valid(whole, value)


TYPES_GO = """\
package v1

import (
\tcore "k8s.io/api/core/v1"
)

// Policy says when.
// +enum
type Policy string

const (
\tAlways Policy = "Always"
\tNever = Policy("Never")
)

// +enum
type Computed string

const (
\tOne Computed = "One"
\tTwo = Computed(core.Two)
)

type Mode string

const ModeA Mode = "A"

type Spec struct {
\tPolicy *Policy `json:"policy,omitempty"`
\tPolicies []Policy `json:"policies"`
\tComputed Computed `json:"computed"`
\tMode Mode `json:"mode"`
\tOther core.Other `json:"other"`
}
"""
CORE_GO = """\
package v1

// +enum
type Other string

const (
\tX Other = "X"
)
"""
LIFECYCLE_GO = """\
func (in *Thing) APILifecycleIntroduced() (major, minor int) {
\treturn 1, 8
}
func (in *Thing) APILifecycleRemoved() (major, minor int) {
\treturn 1, 25
}
func (in *Thing) APILifecycleReplacement() schema.GroupVersionKind {
\treturn schema.GroupVersionKind{Group: "things", Version: "v1", Kind: "Thing"}
}
func (in *ThingList) APILifecycleIntroduced() (major, minor int) {
\treturn 1, 8
}
"""


def _api(folder: Path) -> Path:
    things, core = folder / "things" / "v1", folder / "core" / "v1"
    for place, text in ((things, TYPES_GO), (core, CORE_GO)):
        place.mkdir(parents=True)
        (place / "types.go").write_text(text)
    beta = folder / "things" / "v1beta1"
    beta.mkdir()
    (beta / "register.go").write_text('const GroupName = "things"\n')
    (beta / "zz_generated.prerelease-lifecycle.go").write_text(LIFECYCLE_GO)
    return folder


def test_closed_words_are_read_from_go(tmp_path: Path) -> None:
    """Every field of a closed type is found with its words; a set that cannot be told counts as open."""
    found = {(enum.field, enum.words, enum.repeated) for enum in gotypes.enums(_api(tmp_path), ["Mode"])}
    assert found == {
        ("policy", ("Always", "Never"), False),
        ("policies", ("Always", "Never"), True),
        ("mode", ("A",), False),
        ("other", ("X",), False),
    }


def test_lives_are_read_from_go(tmp_path: Path) -> None:
    """When a version came, went and what took over is read from the generated functions; lists are left out."""
    (life,) = gotypes.lives(_api(tmp_path))
    assert (life.api_version, life.kind, life.introduced, life.removed, life.replacement) == (
        "things/v1beta1", "Thing", 8, 25, "things/v1",
    )  # fmt: skip


def test_words_close_a_definition() -> None:
    """An optional field takes the empty word too, which the server reads as not said; a list does not."""
    definitions = {
        "S": {
            "required": ["b"],
            "properties": {
                "a": {"type": "string"},
                "b": {"type": "string"},
                "c": {"type": "array", "items": {"type": "string"}},
            },
        }
    }
    words = [gotypes.Enum("S", field, ("X",), field == "c") for field in "abc"]
    builtin.close_words(definitions, [*words, gotypes.Enum("T", "a", ("X",), repeated=False)])
    fields: Any = definitions["S"]["properties"]
    assert (fields["a"]["enum"], fields["b"]["enum"], fields["c"]["items"]["enum"]) == (["", "X"], ["X"], ["X"])


def test_a_stale_constraint_stops_the_generator() -> None:
    """An entry that no minor knows is an error, not a silent nothing."""
    data = {
        "shapes": {"dns_label": {}},
        "names": [{"kinds": [], "rule": {}}],
        "fields": [{"definition": "S", "properties": {"a": {"minimum": 1}, "gone": {"minimum": 1}}}],
    }
    constraints = Constraints(data)
    definitions: dict[str, dict[str, Any]] = {"S": {"properties": {"a": {"type": "integer"}}}}
    constraints.apply(definitions)
    assert definitions["S"]["properties"]["a"] == {"type": "integer", "minimum": 1}
    with pytest.raises(SystemExit, match="gone"):
        constraints.finish()
