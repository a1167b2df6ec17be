"""The Prometheus metrics of a release: every place that makes a gauge, counter or histogram of the vllm: family."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from engine_reader.sources import Module, Sources
from engine_reader.terms import Unknown
from engine_reader.values import Reader

_KINDS: Final = {"gauge": "gauge", "counter": "counter", "histogram": "histogram"}
_OLD_ENGINE: Final = "vllm.engine.metrics"
_LABELS_V1: Final = ("model_name", "engine")
_LABELS_V0: Final = ("model_name",)
_OPEN: Final = "…"
"""Labels that only running tells, such as the settings of the KV cache."""
_SKIP: Final = ("vllm.benchmarks", "vllm.entrypoints.openai.orca", "vllm.entrypoints.serve.utils.orca")


@dataclass(frozen=True, slots=True)
class Found:
    """One metric as the source makes it."""

    name: str
    kind: str
    labels: tuple[str, ...]
    module: str
    conditions: tuple[str, ...] = ()
    deprecated: bool = False

    @property
    def series(self) -> str:
        """The name as one writes it in a query: the client library appends _total to counters."""
        return self.name if self.kind != "counter" or self.name.endswith("_total") else f"{self.name}_total"


@dataclass(slots=True)
class _Place:
    """Where the walk stands: the local names, and the conditions around it."""

    module: Module
    scope: dict[str, Any] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()


class MetricReader:
    """Walks the functions of every module that mentions a vllm: metric."""

    def __init__(self, sources: Sources, reader: Reader) -> None:
        self.sources = sources
        self.reader = reader
        self.engine_labels = _LABELS_V1 if self._has_engine_label() else _LABELS_V0

    def _has_engine_label(self) -> bool:
        module = self.sources.module("vllm.v1.metrics.loggers")
        return module is not None and "'engine'" in ast.unparse(module.tree).replace('"', "'")

    def read(self) -> list[Found]:
        """Every metric, in source order, module by module."""
        found: list[Found] = []
        for module in self.sources.modules("vllm"):
            if "vllm:" in module.text and not module.name.startswith(_SKIP):
                found += self._module(module)
        return found

    def _module(self, module: Module) -> Iterator[Found]:
        for node in ast.walk(module.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from self._body(node.body, _Place(module, self._arguments(node, module)))
        top = [
            statement
            for statement in module.tree.body
            if not isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        ]
        yield from self._body(top, _Place(module))

    def _arguments(self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> dict[str, Any]:
        labels = list(_LABELS_V0 if module.name == _OLD_ENGINE else self.engine_labels)
        return {
            argument.arg: labels
            for argument in [*node.args.args, *node.args.kwonlyargs]
            if argument.arg in {"labelnames", "label_names", "labels"}
        }

    def _body(self, body: list[ast.stmt], place: _Place) -> Iterator[Found]:
        for statement in body:
            match statement:
                case ast.If(test=test, body=then, orelse=otherwise):
                    text = ast.unparse(test)
                    yield from self._body(then, self._inside(place, text))
                    yield from self._body(otherwise, self._inside(place, f"not ({text})"))
                case ast.For(target=target, iter=over, body=inner):
                    items = self.reader.items(self.reader.value(over, place.module, place.scope)) or [None]
                    for item in items:
                        if isinstance(target, ast.Name) and item is not None:
                            place.scope[target.id] = item
                        yield from self._body(inner, place)
                case ast.With(body=inner) | ast.Try(body=inner):
                    yield from self._body(inner, place)
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    continue
                case _:
                    self._remember(statement, place)
                    yield from self._calls(statement, place)

    @staticmethod
    def _inside(place: _Place, condition: str) -> _Place:
        return _Place(place.module, place.scope, (*place.conditions, condition))

    def _remember(self, statement: ast.stmt, place: _Place) -> None:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                place.scope[name] = self.reader.value(value, place.module, place.scope)
            case ast.Assign(targets=[ast.Attribute() as target], value=value):
                place.scope[ast.unparse(target)] = self.reader.value(value, place.module, place.scope)
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                place.scope[name] = self.reader.value(value, place.module, place.scope)
            case _:
                pass

    def _calls(self, node: ast.AST, place: _Place) -> Iterator[Found]:
        match node:
            case ast.ListComp(elt=element, generators=[generator]):
                for item in self.reader.items(self.reader.value(generator.iter, place.module, place.scope)) or []:
                    yield from self._calls(element, self._bound(place, generator.target, item))
                return
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if key is not None and isinstance(value, ast.Call) and (kind := _kind(value)):
                        yield from self._named(key, kind, value, place)
            case ast.Call() if kind := _kind(node):
                words = {word.arg: word.value for word in node.keywords}
                name = words.get("name") or (node.args[0] if node.args else None)
                if name is not None:
                    yield from self._named(name, kind, node, place)
            case _:
                pass
        for child in ast.iter_child_nodes(node):
            yield from self._calls(child, place)

    @staticmethod
    def _bound(place: _Place, target: ast.expr, item: Any) -> _Place:
        """The place inside a comprehension, with the names that one round binds."""
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        items = item if isinstance(target, ast.Tuple) and isinstance(item, list) else [item]
        bound = {name.id: value for name, value in zip(names, items, strict=False) if isinstance(name, ast.Name)}
        return _Place(place.module, {**place.scope, **bound}, place.conditions)

    def _named(self, name: ast.expr, kind: str, call: ast.Call, place: _Place) -> Iterator[Found]:
        text = self.reader.value(name, place.module, place.scope)
        if isinstance(text, Unknown) and isinstance(name, ast.Call):
            text = self._formatted(name, place)
        if isinstance(text, str) and text.startswith("vllm:"):
            words = {word.arg: word.value for word in call.keywords}
            yield self._metric(text, kind, words, call, place)

    def _formatted(self, call: ast.Call, place: _Place) -> Any:
        """What a one-line helper such as `def name(x): return f"vllm:{x}"` gives."""
        helper = self.reader.value(call.func, place.module, place.scope)
        match getattr(helper, "node", None):
            case ast.FunctionDef(args=arguments, body=[ast.Return(value=ast.JoinedStr() as result)]):
                values = [self.reader.value(argument, place.module, place.scope) for argument in call.args]
                names = [argument.arg for argument in arguments.args]
                return self.reader.value(result, helper.module, dict(zip(names, values, strict=False)))
            case _:
                return None

    def _metric(
        self,
        name: str,
        kind: str,
        words: Mapping[str | None, ast.expr],
        call: ast.Call,
        place: _Place,
    ) -> Found:
        third = 2
        labels = words.get("labelnames") or (call.args[third] if len(call.args) > third else None)
        names = [] if labels is None else self.reader.value(labels, place.module, place.scope)
        if not isinstance(names, list):
            of_a_config = labels is not None and ast.unparse(labels).endswith(".keys()")
            names = [_OPEN] if of_a_config else [*self.engine_labels, _OPEN]
        if ast.unparse(call.func).endswith("Metadata"):
            names = [*self.engine_labels, *names]
        about = words.get("documentation") or (call.args[1] if len(call.args) > 1 else None)
        help_text = "" if about is None else str(self.reader.value(about, place.module, place.scope))
        return Found(
            name=name,
            kind=kind,
            labels=tuple(item if isinstance(item, str) else _OPEN for item in names),
            module=place.module.name,
            conditions=place.conditions,
            deprecated="deprecated" in help_text.lower(),
        )


def _kind(call: ast.Call) -> str | None:
    name = ast.unparse(call.func).split(".")[-1].lower()
    for word, kind in _KINDS.items():
        if name == word or name.endswith((f"{word}_cls", f"offloading{word}metadata")):
            return kind
    return None
