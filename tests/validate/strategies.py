"""Plain data that Hypothesis makes, and the slow validator that judges it by the same schemas."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from hypothesis import strategies as st
from jsonschema import Draft7Validator
from referencing import Registry
from referencing.jsonschema import DRAFT7

from chartgen.validate import library
from validate.samples import good

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
"""Anything that JSON can say."""


@st.composite
def broken_anywhere(draw: st.DrawFn) -> dict[str, Any]:
    """A good object with one value replaced by anything, at any depth."""
    content = copy.deepcopy(draw(st.sampled_from(good())).object)
    node: Any = content
    while True:
        keys = range(len(node)) if isinstance(node, list) else sorted(node)
        key: Any = draw(st.sampled_from(list(keys)))
        below = node[key]
        if isinstance(below, dict | list) and below and draw(st.integers(0, 3)):
            node = below
            continue
        if node is not content or key not in {"apiVersion", "kind"}:
            node[key] = draw(ANYTHING)
        return content


@cache
def _oracle(path: str) -> Draft7Validator:
    """The same schema in the hands of the pure-Python validator."""

    def content(name: str) -> Any:
        return json.loads((library.FOLDER / name).read_text(encoding="utf-8"))

    folder = path.partition("/")[0]
    definitions = DRAFT7.create_resource(content(f"{folder}/_definitions.json"))
    registry: Registry[Any] = Registry().with_resource(f"https://schemas.test/{folder}/_definitions.json", definitions)
    schema = {"$id": f"https://schemas.test/{path}", **content(path)}
    return Draft7Validator(schema, registry=registry)


def oracle_errors(content: Mapping[str, Any], minor: str) -> set[tuple[object, ...]]:
    """Where the pure-Python validator sees an error."""
    schema = library.schema(content["apiVersion"], content["kind"], library.release(minor))
    assert schema is not None
    return {tuple(error.absolute_path) for error in _oracle(schema.path).iter_errors(content)}
