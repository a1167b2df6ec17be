"""The modules of one release as syntax trees, and what a name in one of them is bound to.

Only bindings that exist at run time count: `if TYPE_CHECKING:` is false here, and of a `try:` the body is
taken, because the wheel is read as an installation in which everything imports.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TypeAlias

Binding: TypeAlias = "ast.expr | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ImportedName"


@dataclass(frozen=True, slots=True)
class ImportedName:
    """A name that comes from elsewhere: `from module import name`, or a whole module when `name` is None."""

    module: str
    name: str | None


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a body runs, branches of conditions included in order."""
    for statement in body:
        match statement:
            case ast.If(test=test, body=then, orelse=otherwise):
                checking = "TYPE_CHECKING" in ast.unparse(test)
                if not checking:
                    yield from _statements(then)
                yield from _statements(otherwise)
            case ast.Try(body=then):
                yield from _statements(then)
            case ast.With(body=then):
                yield from _statements(then)
            case _:
                yield statement


class Module:
    """One source file: its tree, and the names bound at its top level."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self.text = path.read_text(encoding="utf-8", errors="replace")
        self.is_package = path.name == "__init__.py"

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree, parsed when it is first asked for."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.parse(self.text)

    @cached_property
    def bindings(self) -> dict[str, Binding]:
        """Each top-level name with what it is bound to last."""
        bound: dict[str, Binding] = {}
        for statement in _statements(self.tree.body):
            match statement:
                case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    bound[statement.name] = statement
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    bound[name] = value
                case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                    bound[name] = value
                case ast.Import(names=names):
                    for alias in names:
                        bound[alias.asname or alias.name.split(".")[0]] = ImportedName(
                            alias.name if alias.asname else alias.name.split(".")[0],
                            None,
                        )
                case ast.ImportFrom(names=names):
                    origin = self._absolute(statement)
                    for alias in names:
                        if alias.name != "*":
                            bound[alias.asname or alias.name] = ImportedName(origin, alias.name)
                case _:
                    pass
        return bound

    @cached_property
    def stars(self) -> tuple[str, ...]:
        """The modules of which everything is imported, the last one first: it wins."""
        found = [
            self._absolute(statement)
            for statement in _statements(self.tree.body)
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"
        ]
        return tuple(reversed(found))

    def _absolute(self, statement: ast.ImportFrom) -> str:
        if not statement.level:
            return statement.module or ""
        parts = self.name.split(".")
        keep = len(parts) - statement.level + (1 if self.is_package else 0)
        return ".".join([*parts[:keep], *([statement.module] if statement.module else [])])


class Sources:
    """The source folder of one release."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.module = cache(self._module)

    def _module(self, name: str) -> Module | None:
        """A module by its dotted name; None when the release does not have it."""
        base = self.root.joinpath(*name.split("."))
        for path in (base / "__init__.py", base.with_suffix(".py")):
            if path.is_file():
                return Module(name, path)
        return None

    def need(self, *names: str) -> Module:
        """The first of these modules that the release has."""
        for name in names:
            module = self.module(name)
            if module is not None:
                return module
        message = f"none of {', '.join(names)} is in {self.root}: teach the reader where it moved"
        raise LookupError(message)

    def modules(self, package: str) -> Iterator[Module]:
        """Every module under a package, by path; nothing when the package does not exist."""
        base = self.root.joinpath(*package.split("."))
        for path in sorted(base.rglob("*.py")):
            parts = path.relative_to(self.root).with_suffix("").parts
            module = self.module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
            if module is not None:
                yield module

    def find(self, module: Module, name: str) -> tuple[Module, Binding] | None:
        """Where a name that `module` uses is really bound, following imports; None when it is not ours."""
        bound = module.bindings.get(name)
        if bound is None:
            return self._starred(module, name)
        if not isinstance(bound, ImportedName) or bound.name is None:
            return module, bound
        origin = self.module(bound.module)
        found = None if origin is None or origin is module else self.find(origin, bound.name)
        if found is not None:
            return found
        submodule = self.module(f"{bound.module}.{bound.name}")
        return (module, ImportedName(submodule.name, None)) if submodule else None

    def _starred(self, module: Module, name: str) -> tuple[Module, Binding] | None:
        for star in module.stars:
            origin = self.module(star)
            found = None if origin is None or origin is module else self.find(origin, name)
            if found is not None:
                return found
        return None
