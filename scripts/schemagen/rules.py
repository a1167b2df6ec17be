"""The CEL rules of custom resource definitions, as far as JSON Schema can say them.

A definition's `x-kubernetes-validations` are checked by the API server beside its schema: that a Service backend
has a port, that a time-out is not zero. Most are plain logic over fields, and plain logic JSON Schema has too. A
rule that asks for more (arithmetic, two list entries compared, the object before a change) is left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import jsonschema_rs

Json = dict[str, Any]

_TOKEN: Final = re.compile(
    r"\s*(?:(r\"\"\".*?\"\"\"|'[^'\\]*'|\"[^\"\\]*\")|(\d+)|(&&|\|\||[=!<>]=|[!?:()\[\].,<>])|([A-Za-z_]\w*))"
)
_WHOLE: Final = (
    (re.compile(r"duration\(self\) (?:>= duration\('1ms'\)|> duration\('0s'\))"),
     {"not": {"type": "string", "pattern": r"^(0+(\.0*)?(ns|us|µs|ms|s|m|h))*$"}}),
    (re.compile(r"self\.startsWith\('/'\)"), {"pattern": "^/"}),
)  # fmt: skip
"""Rules on a single value, met word for word."""
_UNIQUE: Final = re.compile(
    r"self\.all\((\w+), ?self\.exists_one\((\w+), ?\1\.(\w+) ?== ?\2\.\3\)\)",
)
_TEXT_TESTS: Final[dict[str, Callable[[str], str]]] = {
    "contains": re.escape,
    "startsWith": lambda text: f"^{re.escape(text)}",
    "endsWith": lambda text: f"{re.escape(text)}$",
    "matches": str,
}
"""Methods of a text, each as the pattern that says the same; CEL and JSON Schema both search, and neither anchors."""
_ORDER: Final = {">=": "minimum", "<=": "maximum", ">": "exclusiveMinimum", "<": "exclusiveMaximum"}
_TRUTH: Final = {"true": True, "false": False}
_EMPTY: Final = {"maxItems": 0, "maxLength": 0, "maxProperties": 0}
_FILLED: Final = {"minItems": 1, "minLength": 1, "minProperties": 1}
_SIZES: Final = {
    ("==", "0"): _EMPTY,
    ("<", "1"): _EMPTY,
    (">", "0"): _FILLED,
    ("!=", "0"): _FILLED,
    (">=", "1"): _FILLED,
}


class Untranslatable(Exception):  # noqa: N818 - it is no fault of anybody
    """The rule says more than JSON Schema can."""


def translate(rule: str, node: Json) -> Json:
    """The schema that holds where the rule holds.

    Args:
        rule: the CEL expression.
        node: the structural schema that the rule stands in, whose defaults the rule counts on.

    Raises:
        Untranslatable: JSON Schema cannot say it.
    """
    text = rule.strip()
    for pattern, schema in _WHOLE:
        if pattern.fullmatch(text):
            return schema
    unique = _UNIQUE.fullmatch(text)
    if unique:
        return {"x-unique-by": {unique[3]: ""}}
    parser = _Parser(text, node)
    schema = parser.ternary()
    parser.expect_end()
    try:
        jsonschema_rs.Draft7Validator({"$schema": "http://json-schema.org/draft-07/schema#", **schema})
    except ValueError as error:  # a pattern in a dialect of its own
        raise Untranslatable(str(error)) from error
    return schema


class _Parser:
    """A recursive descent over the part of CEL that is logic."""

    def __init__(self, text: str, node: Json) -> None:
        self._tokens = list(_tokens(text))
        self._next = 0
        self._scope: list[tuple[str, Json]] = [("self", node)]
        """The name of the value at hand and its structural schema; the innermost `all` last."""

    def ternary(self) -> Json:
        condition = self._or()
        if not self._take("?"):
            return condition
        then = self.ternary()
        self._expect(":")
        return {"if": condition, "then": then, "else": self.ternary()}

    def expect_end(self) -> None:
        if self._next < len(self._tokens):
            raise Untranslatable(self._tokens[self._next])

    def _or(self) -> Json:
        options = [self._and()]
        while self._take("||"):
            options.append(self._and())
        return options[0] if len(options) == 1 else {"anyOf": options}

    def _and(self) -> Json:
        parts = [self._unary()]
        while self._take("&&"):
            parts.append(self._unary())
        return parts[0] if len(parts) == 1 else {"allOf": parts}

    def _unary(self) -> Json:
        if self._take("!"):
            return {"not": self._unary()}
        if self._take("("):
            inner = self.ternary()
            self._expect(")")
            return inner
        if self._take("true"):
            return {}
        if self._take("has"):
            self._expect("(")
            path = self._path()
            self._expect(")")
            return self._has(path) if path else {}
        return self._comparison()

    def _has(self, path: list[str]) -> Json:
        """Whether a field is there: one with a default is, as soon as what it stands in is there."""
        always = "default" in self._node(path)
        return _below(path[:-1], {} if always else {"required": [path[-1]]})

    def _comparison(self) -> Json:
        if self._take("size"):
            self._expect("(")
            path = self._path()
            self._expect(")")
            return self._size(path)
        path = self._path()
        return self._call(path[:-1], path[-1]) if path and self._take("(") else self._compare(path)

    def _call(self, path: list[str], method: str) -> Json:
        if method == "all":
            return self._every(path)
        if method == "size":
            self._expect(")")
            return self._size(path)
        if method in _TEXT_TESTS:
            part = str(self._literal())
            self._expect(")")
            return self._test(path, {"pattern": _TEXT_TESTS[method](part)})
        raise Untranslatable(method)

    def _compare(self, path: list[str]) -> Json:
        for operator, keyword in _ORDER.items():
            if self._take(operator):
                return self._test(path, {keyword: self._number()})
        if self._take("=="):
            return self._test(path, {"const": self._literal()})
        if self._take("!="):
            return {"not": self._test(path, {"const": self._literal()})}
        if self._take("in"):
            return self._test(path, {"enum": self._list()})
        return self._test(path, {"const": True})

    def _size(self, path: list[str]) -> Json:
        size = (self._any(), self._any())
        if size not in _SIZES:
            raise Untranslatable(f"size {size}")
        return self._test(path, _SIZES[size])

    def _every(self, path: list[str]) -> Json:
        variable = self._any()
        self._expect(",")
        node = self._node(path)
        self._scope.append((variable, node.get("items", {})))
        body = self.ternary()
        self._scope.pop()
        self._expect(")")
        return _below(path, {"items": body})

    def _test(self, path: list[str], schema: Json) -> Json:
        """A test of a field: one that is not there counts as its default, and fails the test when it has none."""
        if not path:
            return schema
        default = self._node(path).get("default")
        by_default = default is not None and jsonschema_rs.is_valid(schema, default)
        field = {"properties": {path[-1]: schema}}
        return _below(path[:-1], field if by_default else {**field, "required": [path[-1]]})

    def _node(self, path: list[str]) -> Json:
        node = self._scope[-1][1]
        for name in path:
            node = node.get("properties", {}).get(name, {})
        return node

    def _path(self) -> list[str]:
        if self._any() != self._scope[-1][0]:
            raise Untranslatable("a value from outside")
        path = []
        while self._take("."):
            path.append(self._any())
        return path

    def _list(self) -> list[Any]:
        self._expect("[")
        values = [self._literal()]
        while self._take(","):
            values.append(self._literal())
        self._expect("]")
        return values

    def _literal(self) -> Any:
        token = self._any()
        if token.startswith('r"""'):
            return token[4:-3]
        if token[0] in "'\"":
            return token[1:-1]
        if token in _TRUTH:
            return _TRUTH[token]
        if token.isdigit():
            return int(token)
        raise Untranslatable(token)

    def _number(self) -> int:
        token = self._any()
        if not token.isdigit():
            raise Untranslatable(token)
        return int(token)

    def _any(self) -> str:
        if self._next == len(self._tokens):
            raise Untranslatable("the end")
        self._next += 1
        return self._tokens[self._next - 1]

    def _take(self, token: str) -> bool:
        found = self._next < len(self._tokens) and self._tokens[self._next] == token
        self._next += found
        return found

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise Untranslatable(f"no {token}")


def _below(path: list[str], schema: Json) -> Json:
    for name in reversed(path):
        schema = {"properties": {name: schema}, "required": [name]}
    return schema


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise Untranslatable(text[position : position + 9])
        yield next(group for group in match.groups() if group is not None)
        position = match.end()
