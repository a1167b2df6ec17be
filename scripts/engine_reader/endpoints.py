"""The HTTP paths that a release's OpenAI server can register, and what must be set for each."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from engine_reader.sources import Module, Sources
from engine_reader.values import Reader

_METHODS: Final = {"get", "post", "put", "delete", "websocket"}
_NOT_THE_SERVER: Final = (
    "vllm.entrypoints.api_server",
    "vllm.entrypoints.cli",
    "vllm.entrypoints.launchers.dp_supervisor",
    "vllm.entrypoints.serve.disagg.dp_supervisor",
)
_DEV_MODE: Final = "VLLM_SERVER_DEV_MODE=1"
_BY_CONDITION: Final = {
    "VLLM_SERVER_DEV_MODE": _DEV_MODE,
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "VLLM_ALLOW_RUNTIME_LORA_UPDATING=1",
    "VLLM_TORCH_PROFILER_DIR": "VLLM_TORCH_PROFILER_DIR set",
    "enable_tokenizer_info_endpoint": "--enable-tokenizer-info-endpoint",
    "enable_offline_docs": "--enable-offline-docs",
}
_BY_MODULE: Final = {
    ".serve.dev.": _DEV_MODE,
    ".rl.": _DEV_MODE,
    ".serve.lora.": "VLLM_ALLOW_RUNTIME_LORA_UPDATING=1",
    ".serve.profile.": "a profiler configured",
    ".scale_out.": "--enable-scale-out or --tokens-only",
    ".pooling.": "a pooling model",
    ".speech_to_text.": "a speech model",
    ".serve.elastic_ep.": "elastic expert parallelism",
    ".serve.fault_tolerance.": "fault tolerance",
}


@dataclass(frozen=True, slots=True)
class Route:
    """One path with one method."""

    path: str
    method: str
    when: str


def routes(sources: Sources, reader: Reader) -> list[Route]:
    """Every route of the server, by module and line."""
    found: list[Route] = []
    for module in sources.modules("vllm.entrypoints"):
        if module.name.startswith(_NOT_THE_SERVER) or not _mentions_routes(module):
            continue
        found += _walk(module.tree, module, reader, _module_need(module))
    return found


def _module_need(module: Module) -> str:
    """What a module's routes need as a whole: its attach function returns at once without it."""
    for node in module.tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for statement in node.body:
            match statement:
                case ast.If(test=ast.UnaryOp(op=ast.Not()) as test, body=[ast.Return() | ast.Expr(), *_]):
                    text = ast.unparse(test)
                    if any(isinstance(inner, ast.Return) for inner in statement.body):
                        return next((need for word, need in _BY_CONDITION.items() if word in text), "")
                case _:
                    pass
    return ""


def _mentions_routes(module: Module) -> bool:
    return any(word in module.text for word in ("router.", "app.get", "app.post", "add_api_route", "Mount("))


def _walk(node: ast.AST, module: Module, reader: Reader, when: str) -> Iterator[Route]:
    for child in ast.iter_child_nodes(node):
        inner = when
        if isinstance(child, ast.If):
            text = ast.unparse(child.test)
            inner = next((need for word, need in _BY_CONDITION.items() if word in text), when)
        calls: list[ast.expr] = []
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            calls = child.decorator_list
        elif isinstance(child, ast.Call):
            calls = [child]
        for call in calls:
            if isinstance(call, ast.Call):
                yield from _route(call, module, reader, inner)
        yield from _walk(child, module, reader, inner)


def _route(call: ast.Call, module: Module, reader: Reader, when: str) -> Iterator[Route]:
    name = ast.unparse(call.func)
    last = name.split(".")[-1]
    if not call.args or not (name.startswith(("router.", "app.", "abort_router.")) or last == "Mount"):
        return
    path = reader.value(call.args[0], module, {})
    if not isinstance(path, str) or not path.startswith("/"):
        return
    need = when or next((need for part, need in _BY_MODULE.items() if part in f"{module.name}."), "")
    if last in _METHODS:
        yield Route(path, last.upper(), need)
    elif last == "Mount" and path == "/metrics":
        yield Route(path, "GET", need)
    elif last in {"add_api_route", "api_route"}:
        words = {word.arg: reader.value(word.value, module, {}) for word in call.keywords}
        methods = words.get("methods", ["GET"])
        for method in methods if isinstance(methods, list) else []:
            yield Route(path, str(method), need)
