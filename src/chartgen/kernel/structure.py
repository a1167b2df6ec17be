"""Plain data to dataclasses: the only door to the structuring library.

One dataclass is three things at once: the type the code works with, the JSON Schema that editors complete
from, and the check that names every problem of a file with its place. Descriptions and bounds of a field
stand in its annotation, as `Annotated[int, about("What it is.", ge=1)]`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_type_hints

import jsonschema_rs
import msgspec

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, InputProblem, Position, nearest_name
from chartgen.kernel.yaml_source import Document, Step

T = TypeVar("T")


def about(description: str, *, examples: Sequence[Any] = (), **bounds: Any) -> msgspec.Meta:
    """The sentence, the examples and the bounds (ge, gt, le, lt, pattern, min_length) of a field."""
    return msgspec.Meta(description=description, examples=list(examples) or None, **bounds)


class Record(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename=lambda name: name.removesuffix("_"),
):
    """The base of what users write: frozen, slotted, closed. A field `class_` is the key `class`."""


def schema_of(kind: Any, *, title: str | None = None) -> dict[str, Any]:
    """The JSON Schema of a dataclass: closed objects, so that an unknown key is an error."""
    (reference,), definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    for definition in definitions.values():
        if definition.get("type") == "object" and "properties" in definition:
            definition["additionalProperties"] = False
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **reference, "$defs": definitions}
    if title:
        schema["title"] = title
    return schema


@dataclass(frozen=True, slots=True)
class _Checker:
    schema: Mapping[str, Any]
    validator: Any


@cache
def _checker(kind: Any) -> _Checker:
    schema = schema_of(kind)
    return _Checker(schema, jsonschema_rs.validator_for(schema))


def build(data: Any, kind: type[T]) -> T:
    """Structure data that is known to be good: our own catalog. A mistake in it is ours, no input error."""
    return msgspec.convert(data, kind)


def from_json(text: bytes) -> Any:
    """The data of a JSON text of our own, in a third of the standard library's time."""
    return msgspec.json.decode(text)


def to_plain(value: Any) -> Any:
    """Dataclasses back to plain data: what JSON and YAML can say."""
    return msgspec.to_builtins(value)


def pretty(value: Any) -> str:
    """Plain data as indented JSON: many times as fast as the standard library, whose C encoder cannot indent."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def structure(document: Document, kind: type[T], file: str) -> T:
    """Structure a user's document.

    Raises:
        InputError: with every problem of the document, each with its place, in file order.
    """
    problems = problems_of(document, kind, file)
    if problems:
        raise InputError(problems)
    return msgspec.convert(_whole(document.value), kind)


def _whole(value: Any) -> Any:
    """The data with 4.0 as 4: JSON Schema takes it for an integer, the structuring library does not."""
    match value:
        case dict():
            return {key: _whole(item) for key, item in value.items()}
        case list():
            return [_whole(item) for item in value]
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


def problems_of(document: Document, kind: Any, file: str) -> list[InputProblem]:
    """Every problem of a document against a dataclass, in the words of a reader and in file order."""
    checker = _checker(kind)
    found = [
        _Mistake((*duplicate.path, duplicate.key), "the same key a second time", "each key once")
        for duplicate in document.duplicates
    ]
    places = [duplicate.position for duplicate in document.duplicates]
    for error in checker.validator.iter_errors(document.value):
        for mistake in _explain(error, document.value, checker.schema):
            found.append(mistake)
            places.append(_place(document, mistake))
    problems = [
        InputProblem(
            file=file,
            position=place,
            path=dotted(mistake.path),
            found=mistake.found,
            expected=mistake.expected,
            nearest=mistake.nearest,
        )
        for mistake, place in zip(found, places, strict=True)
    ]
    return sorted(problems, key=lambda problem: (problem.position, problem.path))


@dataclass(frozen=True, slots=True)
class _Mistake:
    """One mistake before its place is known."""

    path: tuple[Step, ...]
    found: str
    expected: str
    nearest: str | None = None
    at_value: bool = False


def _place(document: Document, mistake: _Mistake) -> Position:
    return document.value_position(mistake.path) if mistake.at_value else document.position(mistake.path)


def _explain(error: Any, root: Any, schema: Mapping[str, Any]) -> Iterator[_Mistake]:
    path = tuple(error.instance_path)
    kind = error.kind
    value = _at(root, path)
    match kind.name:
        case "additionalProperties":
            known = sorted(_schema_of_error(error, schema).get("properties", {}))
            for key in kind.unexpected:
                near = nearest_name(key, known)
                yield _Mistake((*path, key), f"the unknown key {key!r}", one_of(known), near)
        case "required":
            yield _Mistake(path, "nothing", f"the key {kind.property!r}")
        case "enum":
            options = [option for option in kind.options if option is not None]
            near = nearest_name(str(value), [str(option) for option in options])
            yield _Mistake(path, shown(value), one_of(options), near, at_value=True)
        case "anyOf" | "oneOf":
            yield from _explain_choice(path, kind, root, schema)
        case "type":
            yield _Mistake(path, shown(value), _type_words(kind.types, value), at_value=True)
        case _:
            yield _Mistake(path, shown(value), _expected(error, schema), at_value=True)


def _explain_choice(path: tuple[Step, ...], kind: Any, root: Any, schema: Mapping[str, Any]) -> Iterator[_Mistake]:
    """Of the branches that failed, explain the one that was meant: of the right shape, and of the tag it names."""
    value = _at(root, path)
    branches = [list(branch) for branch in kind.context]
    shaped = [branch for branch in branches if not _other_shape(branch, path, value)]
    meant = [branch for branch in shaped if not any(_other_tag(inner, path) for inner in branch)]
    if meant:
        for inner in meant[0]:
            yield from _explain(inner, root, schema)
        return
    if shaped:
        tags = [inner for branch in shaped for inner in branch if _other_tag(inner, path)]
        options = [option for inner in tags for option in inner.kind.options]
        place = tuple(tags[0].instance_path)
        tag = _at(root, place)
        yield _Mistake(place, shown(tag), one_of(options), nearest_name(str(tag), options), at_value=True)
        return
    words = [word for branch in branches for inner in branch for word in getattr(inner.kind, "types", [])]
    yield _Mistake(path, shown(value), _type_words(words, value), at_value=True)


def _other_shape(branch: Sequence[Any], path: tuple[Step, ...], value: Any) -> bool:
    """Whether a branch wants another type: words where a mapping stands, or a mapping where a word stands."""
    kinds = {inner.kind.name for inner in branch if tuple(inner.instance_path) == path}
    return "type" in kinds or ("enum" in kinds and isinstance(value, dict | list))


def _other_tag(error: Any, path: tuple[Step, ...]) -> bool:
    """Whether a mapping names another variant than the branch's: its tag has one value only."""
    return error.kind.name == "enum" and tuple(error.instance_path)[:-1] == path and len(error.kind.options) == 1


def _schema_of_error(error: Any, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The subschema that holds the keyword which failed."""
    node: Any = schema
    for step in list(error.evaluation_path)[:-1]:
        node = node[step]
        while isinstance(node, str):  # a $ref: go on at its target
            node = schema["$defs"][node.removeprefix("#/$defs/")]
    while isinstance(node, Mapping) and "$ref" in node:
        node = schema["$defs"][node["$ref"].removeprefix("#/$defs/")]
    return node if isinstance(node, Mapping) else {}


_BOUND_WORDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
}


def _expected(error: Any, schema: Mapping[str, Any]) -> str:
    """What would do, from the bound that was missed or from the field's own examples."""
    holder = _schema_of_error(error, schema)
    if error.kind.name in _BOUND_WORDS:
        return _BOUND_WORDS[error.kind.name].format(error.kind.limit)
    examples = holder.get("examples")
    if examples:
        return "something like " + " or ".join(str(example) for example in examples)
    return str(error.message)


_TYPE_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a mapping",
    "array": "a list",
}


def _type_words(types: Iterable[str], value: Any) -> str:
    """The types as a reader says them: a number for a text mostly lacks its quotes, a text for a list its brackets."""
    words = dict.fromkeys(_TYPE_WORDS.get(name, name) for name in types if name != "null")
    if list(words) == ["text"] and isinstance(value, int | float):
        return f'text in quotes, such as "{json.dumps(value)}"'
    example = f", such as [{shown(value)}]" if list(words) == ["a list"] and isinstance(value, str) else ""
    return " or ".join(words) + example


def _at(root: Any, path: Sequence[Step]) -> Any:
    for step in path:
        root = root[step]
    return root


def dotted(path: Sequence[Step]) -> str:
    """A path as people write it: cluster.ingress.hosts[0]."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def shown(value: Any) -> str:
    """A found value as the reader can find it again: text quoted, long things cut."""
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004


def one_of(options: Iterable[Any]) -> str:
    """The options as a phrase: one of a, b, c."""
    names = [str(option) for option in options]
    return names[0] if len(names) == 1 else f"one of {', '.join(names)}"


def fields_of(kind: type[Any]) -> dict[str, str]:
    """Each field of a dataclass with its description, its own before its type's: what documentation is made from."""
    described = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        notes = [note.description for note in get_args(hint) if isinstance(note, msgspec.Meta) and note.description]
        described[name] = notes[-1] if notes else ""
    return described


def replaced(value: T, **fields: Any) -> T:
    """A copy of a record in which some fields hold something else."""
    return cast("T", msgspec.structs.replace(cast("msgspec.Struct", value), **fields))
