"""The validator's errors in the words of a reader: one place, what was found, what would do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from chartgen.kernel.errors import nearest_name
from chartgen.kernel.structure import one_of, shown
from chartgen.validate.fault import Fault, Path
from chartgen.validate.library import at_location
from chartgen.validate.problem import Code

_TYPE_WORDS: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a mapping",
    "array": "a list",
    "null": "null",
}
_BOUNDS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
    "minProperties": "at least {} keys",
    "maxProperties": "at most {} keys",
}
_NAMED: Final = 12
"""How many known names a message lists."""


def faults(errors: Iterable[Any]) -> Iterator[Fault]:
    """Explain every error of an iteration over jsonschema-rs errors."""
    for error in errors:
        yield from _explain(error)


def _explain(error: Any) -> Iterator[Fault]:
    path, kind, value = tuple(error.instance_path), error.kind, error.instance
    match kind.name:
        case "additionalProperties":
            yield from _unknown_fields(path, kind.unexpected, error)
        case "required":
            message = f"the required field {kind.property!r} is missing"
            yield Fault(path=path, code="missing", message=message, found="nothing", expected=f"{kind.property!r}")
        case "propertyNames":
            (name,) = faults([kind.error])
            key = str(kind.error.instance)
            message = f"the key {key!r} is not {name.expected}"
            yield Fault(path=(*path, key), code="value", message=message, found=repr(key), expected=name.expected)
        case "x-unique-by":
            yield _repeated(path, kind.message, error)
        case "uniqueItems":
            yield Fault(path=path, code="duplicate", message="an entry stands here twice", expected="each entry once")
        case "not":
            yield _rule(path, value, error)
        case "anyOf" | "oneOf" if hasattr(kind, "context"):
            yield from _explain_choice(path, kind.context, value)
        case _:
            yield _simple(path, error)


def _unknown_fields(path: Path, names: Sequence[str], error: Any) -> Iterator[Fault]:
    known = sorted(at_location(error.absolute_keyword_location).get("properties", {}))
    for name in names:
        near = nearest_name(name, known)
        options = f"one of {', '.join(known)}" if known and len(known) <= _NAMED else near or "no such field"
        hint = f"; is {near!r} meant?" if near else ""
        yield Fault(
            path=(*path, name),
            code="unknown-field",
            message=f"the API has no field {name!r} here{hint}",
            found=repr(name),
            expected=options,
            nearest=near,
        )


def _repeated(path: Path, positions: str, error: Any) -> Fault:
    again, first = map(int, positions.split())
    keys = list(at_location(error.absolute_keyword_location)["x-unique-by"])
    entry = error.instance[again]
    found = ", ".join(f"{key} {entry[key]}" for key in keys if key in entry)
    return Fault(
        path=(*path, again),
        code="duplicate",
        message=f"{found} stands here a second time, first at [{first}]",
        found=found,
        expected=f"each {' and '.join(keys)} once",
    )


def _rule(path: Path, value: Any, error: Any) -> Fault:
    """A CEL rule of a custom resource, in the words of its definition; or a plain `not`."""
    rule = at_location(error.absolute_keyword_location).get("x-rule")
    message = f"a rule of its definition is broken: {rule}" if rule else error.message
    return Fault(path=path, code="value", message=message, found=shown(value), expected=rule or "")


def _explain_choice(path: Path, context: Sequence[Sequence[Any]], value: Any) -> Iterator[Fault]:
    """Of branches that all failed, explain the one of the right type; name the types when none is."""
    inner = [[fault for error in branch for fault in _explain(error)] for branch in context]
    fitting = [
        branch for branch in inner if not any(fault.code in {"type", "null"} and fault.path == path for fault in branch)
    ]
    if value is not None and len(fitting) == 1:
        yield from fitting[0]
        return
    expected = " or ".join(dict.fromkeys(fault.expected for branch in inner for fault in branch if fault.expected))
    yield _fault(path, "type" if not fitting else "value", value, expected or "any of the forms that it may have")


def _simple(path: Path, error: Any) -> Fault:
    kind, value = error.kind, error.instance
    match kind.name:
        case "type":
            words = dict.fromkeys(_TYPE_WORDS[name] for name in kind.types if name != "null")
            return _fault(path, "type", value, " or ".join(words))
        case "enum":
            options = [option for option in kind.options if option not in {None, ""}]
            near = nearest_name(str(value), map(str, options))
            return _fault(path, "type" if value is None else "value", value, one_of(options), near)
        case "pattern":
            words = at_location(error.absolute_keyword_location).get("x-words")
            return _fault(path, "value", value, words or f"text that matches {kind.pattern}")
        case "const":
            return _fault(path, "value", value, shown(kind.expected_value))
        case name if name in _BOUNDS:
            return _fault(path, "value", value, _BOUNDS[name].format(kind.limit))
        case _:
            return Fault(path=path, code="value", message=error.message, found=shown(value))


def _fault(path: Path, code: Code, value: Any, expected: str, nearest: str | None = None) -> Fault:
    return Fault(
        path=path,
        code="null" if value is None else code,
        message=f"{shown(value)} is not {expected}",
        found=shown(value),
        expected=expected,
        nearest=nearest,
    )
