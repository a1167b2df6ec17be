"""What an expression in a release's sources is worth, as far as reading alone can tell."""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from engine_reader.sources import ImportedName, Module, Sources
from engine_reader.terms import PLAIN, Class, Foreign, Function, Literal, Made, Unknown, method

Scope = Mapping[str, Any]
_OPERATORS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.BitOr: operator.or_,
}
_TYPES: Final = {"int": int, "float": float, "str": str, "bool": bool, "bytes": bytes}
_SEQUENCES: Final[dict[str, Callable[[Any], Any]]] = {
    "list": list,
    "sorted": lambda items: sorted(items, key=str),
    "tuple": tuple,
    "set": lambda items: list(dict.fromkeys(items)),
    "frozenset": lambda items: list(dict.fromkeys(items)),
}
FOREIGN_VALUES: Final[dict[str, Any]] = {
    "sys.argv": [],
    "ssl.CERT_NONE": 0,
    "sys.maxsize": Unknown("sys.maxsize"),
    "math.inf": float("inf"),
}
"""What a server on a command line sees: no --help asked for, no certificate required."""


class Reader:
    """Evaluates expressions of one release. Never raises for something it does not understand."""

    def __init__(self, sources: Sources, runtime: Mapping[str, Any]) -> None:
        """`runtime`: values that registration at import time would build, by the text that asks for them."""
        self.sources = sources
        self.runtime = runtime

    def value(self, node: ast.expr, module: Module, scope: Scope) -> Any:  # noqa: PLR0911 - one return a kind of node
        """The value of an expression; an Unknown where reading does not give it."""
        text = ast.unparse(node)
        for known in (self.runtime, scope):
            if text in known:
                return known[text]
        match node:
            case ast.Constant(value=constant):
                return constant
            case ast.Name(id=name):
                return self.name(name, module, scope)
            case ast.Attribute(value=owner, attr=attribute):
                return self.attribute(self.value(owner, module, scope), attribute, text)
            case ast.List() | ast.Tuple() | ast.Set():
                return self._sequence(node, module, scope)
            case ast.Dict():
                return self._mapping(node, module, scope)
            case ast.Subscript(value=owner, slice=key):
                return self._item(self.value(owner, module, scope), key, module, scope, text)
            case ast.Call():
                return self._call(node, module, scope, text)
            case _:
                return self._compound(node, module, scope, text)

    def name(self, name: str, module: Module, scope: Scope) -> Any:  # noqa: PLR0911 - one return a kind of node
        """What a name stands for."""
        if name in scope:
            return scope[name]
        found = self.sources.find(module, name)
        if found is None:
            imported = module.bindings.get(name)
            if isinstance(imported, ImportedName):
                return Foreign(".".join(part for part in (imported.module, imported.name) if part))
            return _TYPES.get(name, Foreign(name))
        where, bound = found
        match bound:
            case ast.ClassDef():
                return Class(where, bound)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return Function(where, bound)
            case ImportedName(module=other):
                target = self.sources.module(other)
                return target if target is not None else Foreign(other)
            case _:
                return self.value(bound, where, {})

    def attribute(self, owner: Any, name: str, text: str) -> Any:
        """`owner.name`."""
        match owner:
            case Foreign(name=dotted):
                whole = f"{dotted}.{name}"
                return FOREIGN_VALUES.get(whole, Foreign(whole))
            case Module():
                submodule = self.sources.module(f"{owner.name}.{name}")
                if name not in owner.bindings and submodule is not None:
                    return submodule
                return self.name(name, owner, {}) if name in owner.bindings else Unknown(text)
            case Class():
                return self._class_attribute(owner, name, text)
            case Made(maker=Foreign(name="member"), args=(member_name, member_value)):
                return {"value": member_value, "name": member_name}.get(name, Unknown(text))
            case _:
                return Unknown(text)

    def _class_attribute(self, owner: Class, name: str, text: str) -> Any:
        for kind in self.lineage(owner):
            for statement in kind.node.body:
                match statement:
                    case ast.FunctionDef(name=found) | ast.AsyncFunctionDef(name=found) if found == name:
                        return Function(kind.module, statement)
                    case ast.AnnAssign(target=ast.Name(id=found), value=value) if found == name and value:
                        return self.default(value, kind.module)
                    case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                        inner = self.value(value, kind.module, {})
                        return Made(Foreign("member"), (name, inner), {}) if self.is_enum(kind) else inner
                    case _:
                        pass
        return Unknown(text)

    def lineage(self, kind: Class) -> Iterator[Class]:
        """A class and the classes of the release that it inherits from, nearest first."""
        yield kind
        for base in kind.node.bases:
            parent = self.value(base, kind.module, {})
            if isinstance(parent, Class):
                yield from self.lineage(parent)

    def is_enum(self, kind: Class) -> bool:
        """Whether a class is an enumeration."""
        return any("Enum" in ast.unparse(base) for parent in self.lineage(kind) for base in parent.node.bases)

    def members(self, kind: Class) -> list[Made]:
        """The members of an enumeration, in order."""
        return [
            Made(Foreign("member"), (target.id, self.value(statement.value, kind.module, {})), {})
            for statement in kind.node.body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name) and not target.id.startswith("_")
        ]

    def default(self, node: ast.expr, module: Module) -> Any:
        """The default of a dataclass field: what stands there, or what its field(...) makes."""
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in {
            "field",
            "Field",
            "_field",
            "get_field",
        }:
            return self._field(node, module)
        return self.value(node, module, {})

    def _field(self, node: ast.Call, module: Module) -> Any:
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        if ast.unparse(node.func).endswith("get_field"):
            owner, name = (self.value(argument, module, {}) for argument in node.args)
            return self.attribute(owner, name, ast.unparse(node)) if isinstance(owner, Class) else owner
        if "default" in keywords:
            return self.value(keywords["default"], module, {})
        if "default_factory" in keywords:
            factory = keywords["default_factory"]
            if isinstance(factory, ast.Lambda):
                return self.value(factory.body, module, {})
            made = self.value(factory, module, {})
            if isinstance(made, Class):
                return Made(made, (), {})
            return {"list": [], "dict": {}, "set": []}.get(ast.unparse(factory), Unknown(ast.unparse(node)))
        return self.value(node.args[0], module, {}) if node.args else Unknown(ast.unparse(node))

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set, module: Module, scope: Scope) -> list[Any]:
        items: list[Any] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self.value(element.value, module, scope)
                items += list(inner) if isinstance(inner, (list, dict)) else [Unknown(ast.unparse(element))]
            else:
                items.append(self.value(element, module, scope))
        return items

    def _mapping(self, node: ast.Dict, module: Module, scope: Scope) -> Any:
        result: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self.value(value, module, scope)
            if key is None:
                result.update(inner if isinstance(inner, dict) else {})
                continue
            name = self.value(key, module, scope)
            result[name if isinstance(name, PLAIN) else ast.unparse(key)] = inner
        return result

    def _item(self, owner: Any, key: ast.expr, module: Module, scope: Scope, text: str) -> Any:
        if isinstance(owner, Foreign) and owner.name.split(".")[-1] == "Literal":
            options = key.elts if isinstance(key, ast.Tuple) else [key]
            flat: list[Any] = []
            for option in options:
                inner = self.value(option, module, scope)
                flat += inner.options if isinstance(inner, Literal) else [inner]
            return Literal(tuple(flat))
        index = self.value(key, module, scope)
        try:
            return owner[index] if isinstance(owner, (list, dict, str)) else Unknown(text)
        except (KeyError, IndexError, TypeError):
            return Unknown(text)

    def _call(self, node: ast.Call, module: Module, scope: Scope, text: str) -> Any:  # noqa: PLR0911 - one return a kind of call
        function = self.value(node.func, module, scope)
        name = ast.unparse(node.func)
        args = [self.value(argument, module, scope) for argument in node.args]
        first = args[0] if args else None
        if name in _SEQUENCES:
            items = self.items(first) if args else []
            return _SEQUENCES[name](items) if items is not None else Unknown(text)
        if name.endswith("permutations") and isinstance(first, list):
            sizes = [self.value(word.value, module, scope) for word in node.keywords if word.arg == "r"]
            return [list(chosen) for chosen in itertools.permutations(first, *sizes)]
        if name.endswith("get_args") and isinstance(first, Literal):
            return list(first.options)
        if isinstance(node.func, ast.Attribute):
            result = method(self.value(node.func.value, module, scope), node.func.attr, args)
            if result is not None:
                return result
        if name in _TYPES and isinstance(first, PLAIN):
            return _TYPES[name](first)
        kwargs = {keyword.arg: self.value(keyword.value, module, scope) for keyword in node.keywords if keyword.arg}
        if isinstance(function, (Class, Foreign)):
            return Made(function, tuple(args), kwargs)
        return Unknown(text)

    def items(self, value: Any) -> list[Any] | None:
        """What iterating over a value gives; None when reading cannot tell."""
        if isinstance(value, Class) and self.is_enum(value):
            return list(self.members(value))
        return list(value) if isinstance(value, (list, dict, tuple)) else None

    def _compound(self, node: ast.expr, module: Module, scope: Scope, text: str) -> Any:  # noqa: PLR0911 - one return a kind of node
        match node:
            case ast.JoinedStr(values=parts):
                return "".join(
                    str(part.value if isinstance(part, ast.Constant) else self.value(part.value, module, scope))
                    for part in parts
                    if isinstance(part, (ast.Constant, ast.FormattedValue))
                )
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self.value(left, module, scope), self.value(right, module, scope)
                known = isinstance(a, (*PLAIN, list)) and isinstance(b, (*PLAIN, list))
                return _OPERATORS[type(op)](a, b) if known and type(op) in _OPERATORS else Unknown(text)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self.value(operand, module, scope)
                return -inner if isinstance(inner, (int, float)) else Unknown(text)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.value(operand, module, scope)
                return Unknown(text) if isinstance(inner, Unknown) else not inner
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self._comprehension(node, module, scope, text)
            case ast.BoolOp(op=op, values=parts):
                values = [self.value(part, module, scope) for part in parts]
                if any(isinstance(value, Unknown) for value in values):
                    return Unknown(text)
                return all(values) if isinstance(op, ast.And) else any(values)
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as how], comparators=[right]):
                a, b = self.value(left, module, scope), self.value(right, module, scope)
                if isinstance(b, (list, dict)) and isinstance(a, PLAIN):
                    return (a in b) == isinstance(how, ast.In)
                return Unknown(text)
            case _:
                return Unknown(text)

    def _comprehension(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp,
        module: Module,
        scope: Scope,
        text: str,
    ) -> Any:
        (generator, *more) = node.generators
        items = self.items(self.value(generator.iter, module, scope))
        if items is None or more or generator.ifs or not isinstance(generator.target, ast.Name):
            return Unknown(text)
        name = generator.target.id
        return [self.value(node.elt, module, {**scope, name: item}) for item in items]
