"""The command line of a release: its add_cli_args functions, followed statement by statement."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Final

from engine_reader.annotations import Annotations, Rules, rules_of
from engine_reader.sources import Module, Sources
from engine_reader.terms import Class, Foreign, Function, Literal, Made, Unknown
from engine_reader.values import Reader

PARSER_MODULES: Final = (
    "vllm.entrypoints.common.cli_args",
    "vllm.entrypoints.launchers.cli_args",
    "vllm.entrypoints.openai.cli_args",
)
"""Where make_arg_parser has lived, newest first."""
_PARSER: Final = Foreign("the parser")
_MISSING: Final = Unknown("unset")


class FlagReader:
    """Collects every add_argument call that building the server's parser would make."""

    def __init__(self, sources: Sources, reader: Reader) -> None:
        self.sources = sources
        self.reader = reader
        self.rules: Rules = rules_of(sources.need("vllm.engine.arg_utils"))
        self.annotations = Annotations(reader, through_wrappers=self.rules.through_annotated)
        self.arguments: dict[str, dict[str, Any]] = {}

    def read(self) -> dict[str, dict[str, Any]]:
        """Every flag by its first long name, with argparse's own keywords."""
        module = self.sources.need(*PARSER_MODULES)
        self._run_function(Function(module, _function(module, "make_arg_parser")), [_PARSER], {})
        self._serve_command()
        return self.arguments

    def _serve_command(self) -> None:
        """The arguments that `vllm serve` adds around the shared parser."""
        module = self.sources.module("vllm.entrypoints.cli.serve") or self.sources.module("vllm.scripts")
        if module is None:
            return
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "serve_parser.add_argument":
                self._add_argument(node, module, {})

    def _run_function(self, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        node = function.node
        names = [argument.arg for argument in node.args.args]
        scope: dict[str, Any] = {}
        defaults = dict(zip(names[len(names) - len(node.args.defaults) :], node.args.defaults, strict=True))
        for name, default in defaults.items():
            scope[name] = self.reader.value(default, function.module, {})
        static = any("staticmethod" in ast.unparse(decorator) for decorator in node.decorator_list)
        bound = names if static or not names or names[0] not in {"self", "cls"} else names[1:]
        scope |= dict(zip(bound, args, strict=False)) | kwargs
        return self._run(node.body, function.module, scope)

    def _run(self, body: Sequence[ast.stmt], module: Module, scope: dict[str, Any]) -> Any:  # noqa: C901 - one case a kind of statement
        for statement in body:
            match statement:
                case ast.Return(value=value):
                    return None if value is None else self._value(value, module, scope)
                case ast.Assign(targets=[target], value=value):
                    self._assign(target, self._value(value, module, scope), module, scope)
                case ast.AnnAssign(target=target, value=value) if value is not None:
                    self._assign(target, self._value(value, module, scope), module, scope)
                case ast.AugAssign(target=ast.Subscript() as target, op=ast.Add(), value=value):
                    self._extend(target, self._value(value, module, scope), module, scope)
                case ast.Delete(targets=targets):
                    for target in targets:
                        self._delete(target, module, scope)
                case ast.Expr(value=value):
                    self._value(value, module, scope)
                case ast.If(test=test, body=then, orelse=otherwise):
                    chosen = self._value(test, module, scope)
                    branch = then if isinstance(chosen, (Unknown, Made)) or chosen else otherwise
                    self._run(branch, module, scope)
                case ast.For(target=target, iter=over, body=inner):
                    for item in self.reader.items(self._value(over, module, scope)) or []:
                        self._assign(target, item, module, scope)
                        self._run(inner, module, scope)
                case _:
                    pass
        return None

    def _assign(self, target: ast.expr, value: Any, module: Module, scope: dict[str, Any]) -> None:
        match target:
            case ast.Name(id=name):
                scope[name] = value
            case ast.Tuple(elts=targets) if isinstance(value, list) and len(value) == len(targets):
                for inner, item in zip(targets, value, strict=True):
                    self._assign(inner, item, module, scope)
            case ast.Subscript(value=owner, slice=key):
                holder, index = self._value(owner, module, scope), self._value(key, module, scope)
                if isinstance(holder, dict) and isinstance(index, str):
                    holder[index] = value
            case _:
                pass

    def _extend(self, target: ast.Subscript, more: Any, module: Module, scope: dict[str, Any]) -> None:
        """`holder[key] += [...]`: argparse's choices grow that way."""
        whole = self._value(target, module, scope)
        if isinstance(whole, list) and isinstance(more, list):
            whole += more

    def _delete(self, target: ast.expr, module: Module, scope: dict[str, Any]) -> None:
        if isinstance(target, ast.Subscript):
            holder, index = self._value(target.value, module, scope), self._value(target.slice, module, scope)
            if isinstance(holder, dict):
                holder.pop(index, None)

    def _value(self, node: ast.expr, module: Module, scope: dict[str, Any]) -> Any:
        if not isinstance(node, ast.Call):
            return self.reader.value(node, module, scope)
        name = ast.unparse(node.func).split(".")[-1]
        if name == "add_argument":
            self._add_argument(node, module, scope)
            return None
        if name in {"add_argument_group", "add_mutually_exclusive_group"}:
            return _PARSER
        if name in {"get_kwargs", "_compute_kwargs"} and node.args:
            kind = self.reader.value(node.args[0], module, scope)
            kind = scope.get("cls") if isinstance(kind, Foreign) else kind
            if isinstance(kind, Class):
                return {key: _copied(value) for key, value in self.annotations.kwargs(kind, self.rules).items()}
        if isinstance(node.func, ast.Attribute) and name in {"update", "pop", "append", "remove"}:
            return self._change(node.func.value, name, node, module, scope)
        followed = self._follow(node, module, scope)
        return self.reader.value(node, module, scope) if followed is None else followed

    def _change(self, owner: ast.expr, name: str, node: ast.Call, module: Module, scope: dict[str, Any]) -> Any:
        holder = self.reader.value(owner, module, scope)
        args = [self._value(argument, module, scope) for argument in node.args]
        if name == "update" and isinstance(holder, dict) and args and isinstance(args[0], dict):
            holder.update(args[0])
        if name == "append" and isinstance(holder, list):
            holder.append(args[0])
        if name == "remove" and isinstance(holder, list) and args[0] in holder:
            holder.remove(args[0])
        if name == "pop" and isinstance(holder, dict):
            return holder.pop(args[0], args[1] if len(args) > 1 else Unknown(ast.unparse(node)))
        return None

    def _follow(self, node: ast.Call, module: Module, scope: dict[str, Any]) -> Any:
        """Step into a call that is handed the parser or the keywords of the front end."""
        function = self._function(node.func, module, scope)
        if function is None:
            return None
        args = [self._value(argument, module, scope) for argument in node.args]
        kwargs = {word.arg: self._value(word.value, module, scope) for word in node.keywords if word.arg}
        if _PARSER in args or function.node.name == "_customize_cli_kwargs":
            owner = scope.get("cls")
            if isinstance(node.func, ast.Attribute):
                called_on = self.reader.value(node.func.value, module, scope)
                owner = called_on if isinstance(called_on, Class) else owner
            return self._run_function(function, args, {**kwargs, "cls": owner, "here": function})
        return None

    def _function(self, node: ast.expr, module: Module, scope: dict[str, Any]) -> Function | None:
        owner = scope.get("cls")
        if isinstance(node, ast.Attribute) and isinstance(owner, Class):
            if ast.unparse(node.value) == "super()":
                return self._above(owner, node.attr, scope.get("here"))
            if ast.unparse(node.value) == "cls":
                found = self.reader.attribute(owner, node.attr, "")
                return found if isinstance(found, Function) else None
        value = self.reader.value(node, module, scope)
        return value if isinstance(value, Function) else None

    def _above(self, owner: Class, name: str, here: Any) -> Function | None:
        methods = [
            Function(kind.module, statement)
            for kind in self.reader.lineage(owner)
            for statement in kind.node.body
            if isinstance(statement, ast.FunctionDef) and statement.name == name
        ]
        below = [method.node for method in methods].index(here.node) if isinstance(here, Function) else 0
        return methods[below + 1] if below + 1 < len(methods) else None

    def _add_argument(self, node: ast.Call, module: Module, scope: dict[str, Any]) -> None:
        names: list[Any] = []
        for argument in node.args:
            inner = argument.value if isinstance(argument, ast.Starred) else argument
            value = self._value(inner, module, scope)
            names += value if isinstance(value, list) else [value]
        keywords: dict[str, Any] = {}
        for word in node.keywords:
            value = self._keyword(word, module, scope)
            if word.arg is None:
                keywords |= value if isinstance(value, dict) else {}
            else:
                keywords[word.arg] = value
        flags = [name for name in names if isinstance(name, str) and name.startswith("-")]
        long = next((name for name in flags if name.startswith("--")), None)
        if long is not None:
            self.arguments[long] = {
                **keywords,
                "names": flags,
                "default": keywords.get("default", _MISSING),
            }

    def _keyword(self, word: ast.keyword, module: Module, scope: dict[str, Any]) -> Any:
        if word.arg == "type" and isinstance(word.value, ast.Lambda):
            return f"made by {ast.unparse(word.value)}"
        value = self._value(word.value, module, scope)
        if word.arg == "choices" and isinstance(value, Literal):
            return list(value.options)
        return value


def _copied(words: dict[str, Any]) -> dict[str, Any]:
    """Keywords that may be changed without changing the class they were read from."""
    return {key: list(value) if isinstance(value, list) else value for key, value in words.items()}


def _function(module: Module, name: str) -> ast.FunctionDef:
    found = module.bindings.get(name)
    if not isinstance(found, ast.FunctionDef):
        message = f"{module.name} has no function {name}: teach the reader where it moved"
        raise LookupError(message)  # noqa: TRY004 - the release moved it; no value has a wrong type
    return found
