"""Reading a release's sources: a miniature release with each of the ways in which flags and metrics are written."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import pytest
import yaml

from chartgen.catalog import engine_fold
from engine_reader import facts, files

DAY: Final = dt.date(2026, 11, 30)
SOURCES: Final = {
    "vllm/__init__.py": "",
    "vllm/envs.py": """
        import os
        environment_variables = {
            "VLLM_PORT": lambda: int(os.getenv("VLLM_PORT", "0")),
            "VLLM_TOKEN": lambda: os.environ.get("VLLM_TOKEN", None),
        }
        """,
    "vllm/config/__init__.py": "from .cache import *\nfrom .model import ModelConfig",
    "vllm/config/cache.py": """
        from dataclasses import field
        from typing import Literal, TYPE_CHECKING
        if TYPE_CHECKING:
            from somewhere import Hidden
        else:
            Hidden = str
        CacheDType = Literal["auto", "fp8"]

        @config
        class CacheConfig:
            cache_dtype: CacheDType = "auto"
            utilization: float = 0.92
            sizes: list[int] | None = None
            blocks: int | None = None
            backend: Hidden | None = None
            extra: dict[str, int] = field(default_factory=dict)
        """,
    "vllm/config/model.py": """
        from typing import Annotated
        from pydantic import Field

        @config
        class ModelConfig:
            max_model_len: Annotated[int, "checked"] = Field(default=None)
            eager: bool = False
            old_way: bool = False
            '''Deprecated: it does nothing.'''
            token: bool | str | None = None
        """,
    "vllm/engine/arg_utils.py": """
        import argparse
        import json
        from itertools import permutations
        from typing import get_args
        from vllm.config import CacheConfig, CacheDType, ModelConfig

        def get_type_hints(kind): ...

        def _compute_kwargs(cls):
            for field in fields(cls):
                type_hints = get_type_hints(field.type)
                name = field.name
                if type_hints == {bool, str, type(None)}:
                    pass
                elif name == "max_model_len":
                    kwargs[name]["type"] = human_readable_int_or_auto
                elif name in ("blocks",):
                    kwargs[name]["type"] = human_readable_int

        def get_kwargs(cls):
            return _compute_kwargs(cls)

        @dataclass
        class EngineArgs:
            utilization: float = CacheConfig.utilization

            @staticmethod
            def add_cli_args(parser):
                cache = get_kwargs(CacheConfig)
                model = get_kwargs(ModelConfig)
                group = parser.add_argument_group(title="CacheConfig")
                group.add_argument("--kv-cache-dtype", **cache["cache_dtype"])
                group.add_argument("--utilization", "-u", **{**cache["utilization"], "default": EngineArgs.utilization})
                group.add_argument("--sizes", **cache["sizes"])
                group.add_argument("--blocks", **cache["blocks"])
                group.add_argument("--backend", **cache["backend"])
                group.add_argument("--extra", **cache["extra"])
                for key, value in model.items():
                    group.add_argument(f"--{key.replace('_', '-')}", **value)
                group.add_argument("--trace", choices=[",".join(p) for p in permutations(["a", "b"], r=2)])
                group.add_argument("--enable-log", action=argparse.BooleanOptionalAction, default=False)
                group.add_argument("--disable-stats", action="store_true")
                group.add_argument("--gone-soon", type=int, deprecated=True)
                return parser

        class AsyncEngineArgs(EngineArgs):
            @staticmethod
            def add_cli_args(parser, async_args_only=False):
                if not async_args_only:
                    parser = EngineArgs.add_cli_args(parser)
                return parser
        """,
    "vllm/entrypoints/openai/cli_args.py": """
        import json
        from vllm.engine.arg_utils import AsyncEngineArgs

        def make_arg_parser(parser):
            parser.add_argument("--origins", type=json.loads, default=["*"])
            parser = AsyncEngineArgs.add_cli_args(parser)
            return parser
        """,
    "vllm/entrypoints/openai/api_server.py": """
        @router.get("/health")
        async def health(): ...

        if envs.VLLM_SERVER_DEV_MODE:
            @router.post("/sleep")
            async def sleep(): ...
        """,
    "vllm/utils/argparse_utils.py": "class EnableDisableAction: ...",
    "vllm/model_executor/layers/quantization/__init__.py": """
        from typing import Literal, get_args
        QuantizationMethods = Literal["awq", "fp8"]
        QUANTIZATION_METHODS = list(get_args(QuantizationMethods))
        DEPRECATED_QUANTIZATION_METHODS = ["awq"]
        """,
    "vllm/model_executor/models/registry.py": """
        _TEXT = {"LlamaForCausalLM": ("llama", "LlamaForCausalLM")}
        _VLLM_MODELS = {**_TEXT}
        """,
    "vllm/tool_parsers/__init__.py": '_TOOL_PARSERS_TO_REGISTER = {"hermes": ("hermes", "Hermes")}',
    "vllm/reasoning/one.py": """
        @ReasoningParserManager.register_module("qwen3")
        class One: ...
        """,
    "vllm/v1/metrics/loggers.py": """
        class Logger:
            _gauge_cls = Gauge

            def __init__(self, config):
                labelnames = ["model_name", "engine"]
                running = self._gauge_cls(name="vllm:running", documentation="Running.", labelnames=labelnames)
                by_reason = self._gauge_cls(name="vllm:by_reason", labelnames=labelnames + ["reason"])
                specs = [("vllm:drafts", "Drafts."), ("vllm:tokens", "Tokens.")]
                self.counters = [self._counter_cls(name=n, documentation=d, labelnames=labelnames) for n, d in specs]
                if self.show_hidden_metrics:
                    x = self._histogram_cls(name="vllm:old_seconds", documentation="DEPRECATED", labelnames=labelnames)
                if config.lora_config is not None:
                    self.lora = self._gauge_cls(name="vllm:lora_info", labelnames=["max_lora"])
        """,
}


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> facts.Facts:
    """What is read of the miniature release."""
    root = tmp_path_factory.mktemp("release")
    for name, text in SOURCES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return facts.read(root)


FLAGS: Final[dict[str, dict[str, Any]]] = {
    "--kv-cache-dtype": {"type": "text", "choices": ["auto", "fp8"], "default": "auto"},
    "--utilization": {"type": "number", "default": 0.92, "aliases": ["-u"]},
    "--sizes": {"type": "integer", "many": "+", "accepts_none": True},
    "--blocks": {"type": "suffixed integer", "accepts_none": True},
    "--backend": {"type": "text", "accepts_none": True},
    "--extra": {"type": "json", "default": {}},
    "--max-model-len": {"type": "suffixed integer or auto"},
    "--eager": {"type": "boolean", "default": False, "negations": ["--no-eager"]},
    "--old-way": {"type": "boolean", "default": False, "negations": ["--no-old-way"], "deprecated": True},
    "--token": {"type": "text", "value_optional": True},
    "--trace": {"type": "text", "choices": ["a,b", "b,a"]},
    "--enable-log": {"type": "boolean", "default": False, "negations": ["--no-enable-log", "--disable-log"]},
    "--disable-stats": {"type": "switch", "default": False},
    "--gone-soon": {"type": "integer", "deprecated": True},
    "--origins": {"type": "json", "default": ["*"]},
}


def test_flags(read: facts.Facts) -> None:
    """Types, choices, defaults, aliases, negations and deprecation come out of every way of writing them."""
    assert read["flags"] == FLAGS


def test_metrics(read: facts.Facts) -> None:
    """Names as queried, labels added to a list, comprehensions, hidden metrics and conditions are understood."""
    labels = ["model_name", "engine"]
    assert read["metrics"] == {
        "vllm:by_reason": {"type": "gauge", "labels": [*labels, "reason"], "engine": "v1"},
        "vllm:drafts_total": {"type": "counter", "labels": labels, "engine": "v1"},
        "vllm:lora_info": {"type": "gauge", "labels": ["max_lora"], "engine": "v1", "when": "--enable-lora"},
        "vllm:old_seconds": {
            "type": "histogram",
            "labels": labels,
            "engine": "v1",
            "status": "hidden",
            "when": "--show-hidden-metrics-for-version of the minor before",
        },
        "vllm:running": {"type": "gauge", "labels": labels, "engine": "v1"},
        "vllm:tokens_total": {"type": "counter", "labels": labels, "engine": "v1"},
    }


def test_the_rest(read: facts.Facts) -> None:
    """Endpoints with their needs, variables with their defaults, and registered names are read."""
    assert read["endpoints"] == {
        "/health": {"methods": ["GET"]},
        "/sleep": {"methods": ["POST"], "when": "VLLM_SERVER_DEV_MODE=1"},
    }
    assert read["environment"] == {"VLLM_PORT": "0", "VLLM_TOKEN": ""}
    assert read["kv_dtypes"] == ["auto", "fp8"]
    assert (read["quantizations"], read["deprecated_quantizations"]) == (["awq", "fp8"], ["awq"])
    assert (read["tool_parsers"], read["reasoning_parsers"]) == (["hermes"], ["qwen3"])
    assert read["architectures"] == ["LlamaForCausalLM"]


def test_a_release_that_moved_its_parser_is_refused(tmp_path: Path) -> None:
    """Sources without the functions that build the parser are an error that says what to teach, not an empty list."""
    (tmp_path / "vllm").mkdir()
    with pytest.raises(LookupError, match="teach the reader where it moved"):
        facts.read(tmp_path)


def test_a_release_between_two_is_written_with_the_one_after(read: facts.Facts, tmp_path: Path) -> None:
    """Writing an older release later changes what the next one says, and keeps what people wrote."""
    state = files.state_of(read)
    without = {group: dict(entries) for group, entries in state.items()}
    del without["flags"]["--token"]
    files.write("0.2.0", state, tmp_path, "two.whl", DAY)
    path = tmp_path / "0.2.0.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "behaviour:\n  drain: none  # kept\n", encoding="utf-8")
    files.write("0.1.0", without, tmp_path, "one.whl", DAY)
    text = path.read_text(encoding="utf-8")
    change = yaml.safe_load(text)
    assert change["flags"] == {"--token": FLAGS["--token"]}
    assert text.startswith("# What vLLM 0.2.0 changed since 0.1.0.")
    assert "drain: none  # kept" in text
    folded = engine_fold.fold(engine_fold.fold(engine_fold.empty(), engine_fold.changes(tmp_path)[0]), change)
    assert folded["flags"] == state["flags"]


def test_a_removed_flag_asks_for_its_replacement(
    read: facts.Facts,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Writing a release that dropped a flag says where the replacement must be written."""
    state = files.state_of(read)
    without = {group: dict(entries) for group, entries in state.items()}
    del without["flags"]["--token"]
    files.write("0.1.0", state, tmp_path, "one.whl", DAY)
    files.write("0.2.0", without, tmp_path, "two.whl", DAY)
    assert "say under `instead` what replaces --token" in capsys.readouterr().err


def test_a_different_wheel_is_named(read: facts.Facts, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Comparing with what is committed names each difference, and says when there is none."""
    state = files.state_of(read)
    files.write("0.1.0", state, tmp_path, "one.whl", DAY)
    assert not files.compare("0.1.0", state, tmp_path)
    state["flags"]["--token"] = {"type": "switch"}
    assert files.compare("0.1.0", state, tmp_path)
    assert "0.1.0: flags: --token: committed" in capsys.readouterr().out
