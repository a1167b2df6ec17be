"""Everything a release knows, as plain sorted data: what the diff between two releases is taken of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from engine_reader import registries
from engine_reader.endpoints import routes
from engine_reader.flags import FlagReader
from engine_reader.metrics import Found, MetricReader
from engine_reader.sources import Sources
from engine_reader.terms import Class, Foreign, Function, Literal, Made, Unknown
from engine_reader.values import Reader

Facts: TypeAlias = dict[str, Any]
"""Group (flags, metrics, endpoints, environment, …) -> name -> fields, or a sorted list of names."""

_TYPES: Final = {
    "int": "integer",
    "float": "number",
    "str": "text",
    "bool": "true if not empty",
    "json": "json",
    "text or json": "text or json",
    "human_readable_int": "suffixed integer",
    "human_readable_int_or_auto": "suffixed integer or auto",
    "nullable_str": "text",
    "nullable_kvs": "name=number list",
    "from_json": "json",
    "from_cli": "json",
    "json.loads": "json",
    "union_dict_and_str": "text or json",
    "parse_reasoning_parser": "text",
}
_WRAPPED: Final = re.compile(r"(optional_type|parse_type)\((.*)\)")
_DEPRECATED: Final = re.compile(r"(^|\n)[\s\[(*]*deprecated|is deprecated", re.IGNORECASE)
_METRIC_NAME: Final = re.compile(r"vllm:[a-z0-9_]+")


def read(root: Path) -> Facts:
    """Read one release's sources."""
    sources = Sources(root)
    runtime = {
        "list(ReasoningParserManager.reasoning_parsers)": registries.parser_names(
            sources,
            registries.REASONING_PARSER_PACKAGES,
        ),
        "list(ReasoningParserManager.reasoning_parsers.keys())": registries.parser_names(
            sources,
            registries.REASONING_PARSER_PACKAGES,
        ),
    }
    reader = Reader(sources, runtime)
    arguments = FlagReader(sources, reader).read()
    paired = sources.module("vllm.utils.argparse_utils")
    inverses = paired is not None and "EnableDisableAction" in paired.bindings
    methods, deprecated = registries.quantizations(sources, reader)
    flags = {name: _flag(name, words, inverses=inverses) for name, words in sorted(arguments.items())}
    return {
        "flags": flags,
        "metrics": _metrics(MetricReader(sources, reader).read()),
        "endpoints": _endpoints(sources, reader),
        "environment": dict(sorted(registries.environment(sources).items())),
        "quantizations": methods,
        "deprecated_quantizations": deprecated,
        "kv_dtypes": _kv_types(sources, reader, flags),
        "tool_parsers": registries.parser_names(sources, registries.TOOL_PARSER_PACKAGES),
        "reasoning_parsers": registries.parser_names(sources, registries.REASONING_PARSER_PACKAGES),
        "architectures": registries.architectures(sources, reader),
    }


def _kv_types(sources: Sources, reader: Reader, flags: Mapping[str, Any]) -> list[str]:
    for name in ("vllm.config.cache", "vllm.config"):
        value = registries.constant(reader, sources.module(name), "CacheDType")
        if isinstance(value, Literal):
            return sorted(str(option) for option in value.options)
    return sorted(flags["--kv-cache-dtype"]["choices"])


def _flag(name: str, words: Mapping[str, Any], *, inverses: bool) -> dict[str, Any]:
    """One flag in the catalogue's words. Fields at their usual value are left out."""
    kind, optional = _type(words)
    kind, _, shape = kind.partition(" of ")
    names = [other for other in words["names"] if other != name]
    fields: dict[str, Any] = {"type": kind}
    choices = [choice for choice in _plain_list(words.get("choices")) if choice not in {None, "None"}]
    optional |= len(choices) != len(_plain_list(words.get("choices")))
    known = _plain_list(words.get("known"))
    default = words["default"]
    if isinstance(default, Unknown) and default.text == "unset":
        default = False if kind == "switch" else None
    if isinstance(default, (Unknown, Made, Foreign)):
        default, note = _odd_default(default)
        if note:
            fields["default_from"] = note
    many = words.get("nargs")
    if many is None and words.get("action") == "append":
        many = "repeated"
    negations = _negations([name, *names], inverses=inverses) if kind == "boolean" else []
    optional_value = many == "?"
    details = {
        "shape": shape or None,
        "choices": choices,
        "known": known,
        "default": default,
        "aliases": names,
        "negations": negations,
        "many": str(many) if many not in {"?", None} else None,
        "value_optional": optional_value or None,
        "accepts_none": optional or None,
        "deprecated": words.get("deprecated") or _says_deprecated(words) or None,
    }
    return fields | {
        name: value for name, value in details.items() if value not in ([], None) or (name == "default" and value == [])
    }


def _says_deprecated(words: Mapping[str, Any]) -> bool:
    text = str(words.get("help", ""))
    action = words.get("action")
    named = isinstance(action, Class) and "Deprecated" in action.node.name
    return named or _DEPRECATED.search(text) is not None


def _type(words: Mapping[str, Any]) -> tuple[str, bool]:
    """The type in the catalogue's words, and whether `None` is accepted as text."""
    optional = bool(words.get("optional"))
    action = words.get("action")
    if action == "store_true":
        return "switch", False
    if action == "BooleanOptionalAction" or (isinstance(action, Foreign) and "Boolean" in action.name):
        return "boolean", False
    if isinstance(action, Class) and action.node.name == "StoreBoolean":
        return "true or false", False
    raw = words.get("type", "str")
    match raw:
        case Foreign(name=text) | Unknown(text=text):
            pass
        case Function(node=node):
            text = node.name
            optional |= text.startswith("nullable")
        case type():
            text = raw.__name__
        case _:
            text = str(raw)
    while wrapped := _WRAPPED.fullmatch(text):
        optional |= wrapped.group(1) == "optional_type"
        text = wrapped.group(2)
    if text.startswith("json:"):
        return f"json of {text.removeprefix('json:')}", optional
    if "lambda" in text:
        return ("comma list" if "split" in text else "text"), optional
    return _TYPES[text], optional


def _odd_default(default: Unknown | Made | Foreign) -> tuple[Any, str]:
    match default:
        case Made(maker=Foreign(name="member"), args=(_, value)):
            return value, ""
        case Made(maker=Class(node=node)):
            return None, f"{node.name}()"
        case Made(maker=Foreign(name="typing.cast"), args=(_, inner)):
            return _odd_default(inner) if isinstance(inner, Unknown) else (inner, "")
        case Foreign(name="argparse.SUPPRESS"):
            return None, ""
        case Unknown(text=text):
            return None, text
        case _:
            return None, ""


def _plain_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else []


def _negations(names: list[str], *, inverses: bool) -> list[str]:
    """The spellings that set a boolean flag to false."""
    long = [name for name in names if name.startswith("--")]
    found = [f"--no-{name.removeprefix('--')}" for name in long]
    if inverses:
        for name in long:
            for prefix, inverse in (("--enable-", "--disable-"), ("--disable-", "--enable-")):
                if name.startswith(prefix):
                    found.append(inverse + name.removeprefix(prefix))
    return found


def _metrics(found: list[Found]) -> dict[str, dict[str, Any]]:
    metrics: dict[str, dict[str, Any]] = {}
    for metric in found:
        old = metric.module == "vllm.engine.metrics"
        entry = {
            "type": metric.kind,
            "labels": list(dict.fromkeys(metric.labels)),
            "engine": "v0" if old else "v1",
        }
        when = _when(metric)
        hidden = any("show_hidden" in condition for condition in metric.conditions)
        if hidden:
            entry["status"] = "hidden"
        elif metric.deprecated:
            entry["status"] = "deprecated"
        if when:
            entry["when"] = when
        if _METRIC_NAME.fullmatch(metric.series):
            series = metrics.setdefault(metric.series, {})
            series.setdefault("v0" if old else "v1", entry)
    return {name: _one_engine(engines) for name, engines in sorted(metrics.items())}


def _one_engine(engines: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """A metric of both engines keeps both; the catalogue picks by the release's default engine."""
    if len(engines) == 1:
        return dict(next(iter(engines.values())))
    return {**engines["v1"], "old_engine": {k: v for k, v in engines["v0"].items() if k != "engine"}}


_MODULES: Final = {
    ".kv_connector.": "a KV connector",
    ".kv_offload": "KV offloading",
    ".simple_kv_offload": "KV offloading",
    ".spec_decode.": "speculative decoding",
    ".realtime.": "a realtime model",
    ".metrics.perf": "--enable-mfu-metrics moves it",
    ".serve.dev.": "VLLM_SERVER_DEV_MODE=1",
    ".rl.": "VLLM_SERVER_DEV_MODE=1",
    ".ec_connector.": "an encoder cache connector",
    "vllm.parser.metrics": "--tool-call-parser",
}
_CONDITIONS: Final = {
    "kv_cache_metrics": "--kv-cache-metrics",
    "lora_config": "--enable-lora",
    "is_kv_consumer": "a KV consumer",
    "VLLM_COMPUTE_NANS_IN_LOGITS": "VLLM_COMPUTE_NANS_IN_LOGITS=1",
    "watermark_config": "--watermark-config",
    "speculative_config": "speculative decoding",
    "show_hidden": "--show-hidden-metrics-for-version of the minor before",
    "use_spec": "speculative decoding",
    "collect_model_": "--collect-detailed-traces",
}


def _when(metric: Found) -> str:
    by_module = [need for part, need in _MODULES.items() if part in f"{metric.module}."]
    by_condition = [need for condition in metric.conditions for word, need in _CONDITIONS.items() if word in condition]
    return ", ".join(dict.fromkeys([*by_module[:1], *by_condition]))


def _endpoints(sources: Sources, reader: Reader) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for route in routes(sources, reader):
        entry = found.setdefault(route.path, {"methods": [], "when": route.when})
        entry["methods"] = sorted({*entry["methods"], route.method})
        if not route.when:
            entry["when"] = ""
    return {path: {key: value for key, value in entry.items() if value} for path, entry in sorted(found.items())}
