"""Names that a release registers: parsers, quantizations, KV cache types, architectures, environment."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final

from engine_reader.sources import Module, Sources
from engine_reader.values import Reader

TOOL_PARSER_PACKAGES: Final = ("vllm.tool_parsers", "vllm.entrypoints.openai.tool_parsers")
REASONING_PARSER_PACKAGES: Final = ("vllm.reasoning", "vllm.entrypoints.openai.reasoning_parsers")


def parser_names(sources: Sources, packages: tuple[str, ...]) -> list[str]:
    """The names under which parsers register: by decorator, or in the table of lazy modules."""
    found: set[str] = set()
    for package in packages:
        for module in sources.modules(package):
            found |= set(_registered(module))
    return sorted(found)


def _registered(module: Module) -> Iterator[str]:
    for name, bound in module.bindings.items():
        if name.endswith("_TO_REGISTER") and isinstance(bound, ast.Dict):
            yield from (str(key.value) for key in bound.keys if isinstance(key, ast.Constant))
    for node in ast.walk(module.tree):
        decorators = node.decorator_list if isinstance(node, ast.ClassDef) else []
        for decorator in decorators:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith(".register_module"):
                yield from _texts(decorator)


def _texts(call: ast.Call) -> Iterator[str]:
    for argument in [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "name")]:
        for constant in ast.walk(argument):
            if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                yield constant.value


def constant(reader: Reader, module: Module | None, name: str) -> Any:
    """The value of a module's constant; None when the module or the name is not there."""
    if module is None or reader.sources.find(module, name) is None:
        return None
    return reader.name(name, module, {})


def quantizations(sources: Sources, reader: Reader) -> tuple[list[str], list[str]]:
    """Quantization methods, and of these the deprecated ones."""
    module = sources.need("vllm.model_executor.layers.quantization")
    methods = constant(reader, module, "QUANTIZATION_METHODS")
    names = list(methods) if isinstance(methods, (list, dict)) else []
    if isinstance(methods, dict):
        names = list(methods)
    deprecated = constant(reader, module, "DEPRECATED_QUANTIZATION_METHODS")
    return sorted(names), sorted(deprecated if isinstance(deprecated, list) else [])


def architectures(sources: Sources, reader: Reader) -> list[str]:
    """The model classes that a release knows by name."""
    module = sources.need("vllm.model_executor.models.registry")
    models = constant(reader, module, "_VLLM_MODELS")
    if not isinstance(models, dict):
        message = f"the table of models moved in {sources.root}"
        raise LookupError(message)  # noqa: TRY004 - the release moved it; no value has a wrong type
    return sorted(models)


def environment(sources: Sources) -> dict[str, str]:
    """Environment variables that a release reads, with the default as its source spells it ("" for none)."""
    module = sources.need("vllm.envs")
    table = module.bindings.get("environment_variables") or module.bindings.get("env_variables")
    if not isinstance(table, ast.Dict):
        message = f"the table of environment variables moved in {sources.root}"
        raise LookupError(message)  # noqa: TRY004 - the release moved it; no value has a wrong type
    return {
        str(key.value): _default(str(key.value), value)
        for key, value in zip(table.keys, table.values, strict=True)
        if isinstance(key, ast.Constant)
    }


_READERS: Final = ("getenv", "environ.get", "with_choices", "env_int", "env_bool", "env_float")
"""Calls that read a variable and take its default as second argument."""


def _default(name: str, node: ast.expr) -> str:
    """The constant that stands beside the variable's name in whatever call reads it."""
    for call in ast.walk(node):
        if not isinstance(call, ast.Call) or not call.args or not ast.unparse(call.func).endswith(_READERS):
            continue
        first = call.args[0]
        if isinstance(first, ast.Constant) and first.value == name and len(call.args) > 1:
            second = call.args[1]
            if isinstance(second, ast.Constant):
                return "" if second.value is None else str(second.value)
            return ""
    return ""
