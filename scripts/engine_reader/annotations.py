"""Dataclass fields as argparse sees them: the rules by which a release turns its configs into arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import Any, Final

from engine_reader.sources import ImportedName, Module
from engine_reader.terms import Class, Literal, Unknown
from engine_reader.values import Reader

_WRAPPERS: Final = {"Annotated", "SkipValidation", "ClassVar", "Final", "InitVar"}
_CONTAINERS: Final = {"list": "list", "set": "list", "tuple": "tuple", "Sequence": "list"}


@dataclass(frozen=True, slots=True)
class Part:
    """One alternative of a type: int | None has two."""

    kind: str
    """none, bool, int, float, str, list, tuple, dict, literal, dataclass, or other."""
    inner: tuple[Part, ...] = ()
    """Of list and tuple: what they hold, one entry for each place."""
    options: tuple[Any, ...] = ()
    """Of literal: the values."""
    name: str = ""
    """Of dataclass and other: the class."""
    endless: bool = False
    """Of tuple: whether it ends in an ellipsis."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a config class."""

    name: str
    parts: tuple[Part, ...]
    default: Any
    about: str
    """The text literal under the field: what --help would print."""


class Annotations:
    """Reads type annotations and the fields that carry them."""

    def __init__(self, reader: Reader, *, through_wrappers: bool) -> None:
        """`through_wrappers`: whether the release looks into a union inside Annotated."""
        self.reader = reader
        self.through_wrappers = through_wrappers
        self.kwargs = cache(self._kwargs)

    def parts(self, node: ast.expr, module: Module) -> tuple[Part, ...]:
        """The alternatives of an annotation, wrappers removed."""
        match node:
            case ast.Constant(value=None):
                return (Part("none"),)
            case ast.Constant(value=str(text)):
                return self.parts(ast.parse(text.strip("\n "), mode="eval").body, module)
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                return (*self.parts(left, module), *self.parts(right, module))
            case ast.Subscript(value=owner, slice=inner):
                return self._generic(ast.unparse(owner).split(".")[-1], inner, node, module)
            case ast.Name() | ast.Attribute():
                return self._named(node, module)
            case _:
                return (Part("other", name=ast.unparse(node)),)

    def _generic(self, name: str, inner: ast.expr, node: ast.Subscript, module: Module) -> tuple[Part, ...]:  # noqa: PLR0911 - one return a kind of type
        arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if name == "Optional":
            return (*self.parts(inner, module), Part("none"))
        if name == "Union":
            return tuple(part for argument in arguments for part in self.parts(argument, module))
        if name in _WRAPPERS:
            inside = self.parts(arguments[0], module)
            return inside if self.through_wrappers or len(inside) == 1 else (Part("other", name=ast.unparse(inner)),)
        if name == "Literal":
            value = self.reader.value(node, module, {})
            return (Part("literal", options=value.options if isinstance(value, Literal) else ()),)
        lowered = {"List": "list", "Tuple": "tuple", "Dict": "dict", "Set": "set", "Mapping": "dict"}.get(name, name)
        if lowered in _CONTAINERS:
            endless = any(isinstance(argument, ast.Constant) and argument.value is ... for argument in arguments)
            held = [argument for argument in arguments if not isinstance(argument, ast.Constant)]
            inside = tuple(self._one(self.parts(argument, module)) for argument in held)
            return (Part(_CONTAINERS[lowered], inner=inside, endless=endless),)
        if lowered == "dict":
            return (Part("dict"),)
        return (Part("other", name=ast.unparse(node)),)

    @staticmethod
    def _one(parts: tuple[Part, ...]) -> Part:
        """The element type of a container: of a union the text alternative, as the release does it."""
        return parts[0] if len(parts) == 1 else Part("str")

    def _named(self, node: ast.Name | ast.Attribute, module: Module) -> tuple[Part, ...]:
        name = ast.unparse(node)
        plain = {"bool", "int", "float", "str", "dict", "list", "tuple"}
        if name in plain or name in {"Dict", "List"}:
            return (Part(name.lower()),)
        found = self.reader.sources.find(module, name) if isinstance(node, ast.Name) else None
        if found is not None:
            where, bound = found
            if isinstance(bound, ast.ClassDef):
                return (self._class(Class(where, bound)),)
            if not isinstance(bound, (ast.FunctionDef, ast.AsyncFunctionDef, ImportedName)):
                return self.parts(bound, where)
        return (Part("other", name=name),)

    def _class(self, kind: Class) -> Part:
        bases = {ast.unparse(base) for parent in self.reader.lineage(kind) for base in parent.node.bases}
        if any(base.split("[")[0] in {"dict", "Dict"} for base in bases):
            return Part("dict")
        dataclass_like = any(self.is_dataclass(parent) for parent in self.reader.lineage(kind))
        return Part("dataclass" if dataclass_like else "other", name=kind.node.name)

    @staticmethod
    def is_dataclass(kind: Class) -> bool:
        """Whether a class is declared as a dataclass or one of the release's configs."""
        return any(
            ast.unparse(decorator).split("(")[0].split(".")[-1] in {"dataclass", "config"}
            for decorator in kind.node.decorator_list
        )

    def fields(self, kind: Class) -> Iterator[Field]:
        """Every field of a dataclass, inherited ones first, as dataclasses order them."""
        found: dict[str, Field] = {}
        for parent in reversed(list(self.reader.lineage(kind))):
            for statement, after in zip_longest(parent.node.body, parent.node.body[1:]):
                match statement:
                    case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                        if ast.unparse(annotation).split("[")[0].endswith("ClassVar"):
                            continue
                        default = Unknown("required") if value is None else self.reader.default(value, parent.module)
                        parts = self.parts(annotation, parent.module)
                        found[name] = Field(name, parts, default, _docstring(after))
                    case _:
                        pass
        yield from found.values()

    def _kwargs(self, kind: Class, rules: Rules) -> dict[str, dict[str, Any]]:
        return {field.name: {**rules.arguments(field), "help": field.about} for field in self.fields(kind)}


@dataclass(frozen=True, slots=True)
class Rules:
    """What a release's own get_kwargs does, read from its body."""

    suffixed: frozenset[str]
    """Whole-number fields that take 8k and 32K."""
    automatic: frozenset[str]
    """Of these, the ones that take `auto` as well."""
    flag_or_text: bool
    """Whether a field that is true or text takes an optional value."""
    through_annotated: bool
    """Whether a union inside Annotated is looked into."""

    def arguments(self, field: Field) -> dict[str, Any]:
        """The argparse keywords of one field."""
        name, parts, default = field.name, field.parts, field.default
        kinds = {part.kind for part in parts}
        optional = "none" in kinds
        by_kind = {part.kind: part for part in reversed(parts)}
        result: dict[str, Any] = {"default": default}
        if "dataclass" in kinds:
            result["type"] = f"json:{by_kind['dataclass'].name}"
        elif self.flag_or_text and kinds == {"bool", "str", "none"}:
            return {**result, "type": "str", "nargs": "?", "const": True}
        elif "bool" in kinds:
            return {**result, "action": "BooleanOptionalAction"}
        elif "literal" in kinds:
            result |= _literal(by_kind["literal"], open_ended="str" in kinds)
        elif "list" in kinds or "tuple" in kinds:
            result |= _container(by_kind.get("tuple") or by_kind["list"])
        elif "int" in kinds:
            result["type"] = self._integer(name)
        elif "float" in kinds:
            result["type"] = "float"
        elif "dict" in kinds:
            result["type"] = "text or json" if kinds - {"dict", "none"} else "json"
        else:
            result["type"] = "str"
        return {**result, "optional": True} if optional else result

    def _integer(self, name: str) -> str:
        if name in self.automatic:
            return "human_readable_int_or_auto"
        return "human_readable_int" if name in self.suffixed else "int"


def _literal(part: Part, *, open_ended: bool) -> dict[str, Any]:
    types = {type(option) for option in part.options}
    kind = types.pop().__name__ if len(types) == 1 else "str"
    options = sorted(part.options, key=lambda option: (str(type(option)), option))
    return {"type": kind, "known" if open_ended else "choices": options}


def _container(part: Part) -> dict[str, Any]:
    many: str | int = "+" if part.kind == "list" or part.endless else len(part.inner)
    element = part.inner[0] if part.inner else Part("str")
    if element.kind == "literal":
        return {"nargs": many, **_literal(element, open_ended=False)}
    return {"nargs": many, "type": element.kind if element.kind in {"int", "float"} else "str"}


def rules_of(module: Module) -> Rules:
    """Read a release's get_kwargs: which names it treats in a special way."""
    bodies = [module.bindings.get(name) for name in ("_compute_kwargs", "get_kwargs")]
    suffixed: set[str] = set()
    automatic: set[str] = set()
    text = ""
    for body in bodies:
        if not isinstance(body, ast.FunctionDef):
            continue
        text += ast.unparse(body)
        named_sets = {
            target.id: _strings(statement.value)
            for statement in ast.walk(body)
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name)
        }
        for branch in ast.walk(body):
            if not isinstance(branch, ast.If) or not isinstance(branch.test, ast.Compare):
                continue
            if ast.unparse(branch.test.left) != "name":
                continue
            against = branch.test.comparators[0]
            names = named_sets.get(against.id, set()) if isinstance(against, ast.Name) else _strings(against)
            made = " ".join(ast.unparse(statement) for statement in branch.body)
            if "human_readable_int_or_auto" in made:
                automatic |= names
            elif "human_readable_int" in made:
                suffixed |= names
    return Rules(
        suffixed=frozenset(suffixed),
        automatic=frozenset(automatic),
        flag_or_text="{bool, str, type(None)}" in text,
        through_annotated="get_type_hints" in text,
    )


def _docstring(statement: ast.stmt | None) -> str:
    match statement:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text
        case _:
            return ""


def _strings(node: ast.expr) -> set[str]:
    return {
        constant.value
        for constant in ast.walk(node)
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str)
    }
