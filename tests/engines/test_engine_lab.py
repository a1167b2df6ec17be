"""The pieces with which real engines are asked: what is read of a chart, and what would be missed in an answer."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from chartgen.catalog.engines import engine, newest
from engine_lab import adapted, checks, container, tiny
from engine_lab.agreement import disagreements
from engine_lab.environment import Environment

PROFILE = Path(__file__).parent.parent.parent / "profiles" / "chat-70b.yaml"
PAGE = """\
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="m"} 0.0
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1",model_name="m"} 1.0
vllm:time_to_first_token_seconds_count{engine="0",model_name="m"} 1.0
# TYPE vllm:request_success_total counter
vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"} 1.0
# TYPE vllm:request_success_created gauge
vllm:request_success_created{engine="0",finished_reason="stop",model_name="m"} 1.0
"""


def actions() -> dict[str, Any]:
    """What a parser that agrees with the catalogue would show."""
    return {
        flag.name: {
            "spellings": sorted({flag.name, *flag.aliases, *flag.negations}),
            "choices": list(flag.choices) or None,
            "nargs": flag.many if flag.many not in {"", "repeated"} else None,
            "default": flag.default,
        }
        for flag in engine(newest()).flags.values()
    }


@pytest.fixture(autouse=True)
def _no_allocator(monkeypatch: pytest.MonkeyPatch) -> None:
    """No package is fetched here: which allocator a machine has is no part of what is tested."""
    monkeypatch.setattr(adapted, "tcmalloc", lambda: None)


def test_queries_name_series_and_labels() -> None:
    """Series and the engine's own labels are read out of queries; what scraping adds is left out."""
    query = 'sum by (finished_reason, le) (rate(vllm:request_success_total{model_name="m",namespace="n"}[5m]))'
    assert container.used_metrics([query]) == {
        "vllm:request_success_total": frozenset({"finished_reason", "model_name"}),
    }


def test_a_page_gives_series_and_metrics() -> None:
    """Samples of a page give their labels; metrics are recorded by query name, without creation times."""
    assert checks.families(PAGE) == {
        "vllm:num_requests_waiting": {"type": "gauge", "labels": ["engine", "model_name"]},
        "vllm:request_success_total": {"type": "counter", "labels": ["engine", "finished_reason", "model_name"]},
        "vllm:time_to_first_token_seconds": {"type": "histogram", "labels": ["engine", "model_name"]},
    }


def test_missing_series_and_labels_are_named() -> None:
    """A series that is not shown and a label that it does not have are two failures."""
    used = {
        "vllm:gpu_cache_usage_perc": frozenset({"model_name"}),
        "vllm:num_requests_waiting": frozenset({"model_name", "reason"}),
    }
    assert checks.missing_metrics(used, checks.series(PAGE)) == [
        "vllm:gpu_cache_usage_perc is in no line of /metrics",
        "vllm:num_requests_waiting has no label reason",
    ]


def test_every_change_to_a_container_is_listed(tmp_path: Path) -> None:
    """What the missing GPU forces is changed and listed; drain, keep-alive and probes stay as rendered."""
    whole = container.render(PROFILE, newest())
    small = adapted.adapt(whole, newest(), Environment(tmp_path, newest()), tmp_path, 8001)
    words = " ".join(small.words)
    assert "--shutdown-timeout" in words
    assert small.env["VLLM_HTTP_TIMEOUT_KEEP_ALIVE"] == whole.env["VLLM_HTTP_TIMEOUT_KEEP_ALIVE"]
    assert "--tensor-parallel-size" not in words
    for word in ("--tensor-parallel-size", "the model", "the port", "--max-num-seqs", "VLLM_API_KEY is made up"):
        assert any(change.startswith(word) for change in small.changes), word
    assert whole.startup.budget > 60
    assert whole.grace >= small.hook + small.drain


@pytest.mark.parametrize(
    ("architecture", "said"),
    [
        ("Qwen3ForCausalLM", "is a tiny Qwen3ForCausalLM of random weights"),
        ("NewForCausalLM", "is a tiny LlamaForCausalLM of random weights: NewForCausalLM has no tiny form here"),
    ],
)
def test_the_tiny_model_is_of_the_same_family(architecture: str, said: str, tmp_path: Path) -> None:
    """The engine is started with a model of the chart's own family; where that has no tiny form, it is said."""
    whole = dataclasses.replace(container.render(PROFILE, "0.32.0"), architecture=architecture)
    small = adapted.adapt(whole, "0.32.0", Environment(tmp_path, "0.32.0"), tmp_path, 8001)
    assert [change for change in small.changes if change.endswith(said)]


def test_the_tiny_model_has_a_token_for_each_byte(tmp_path: Path) -> None:
    """The tokenizer knows all 256 bytes and two special tokens, and the config says which they are."""
    assert tiny.write(tmp_path, "Qwen3ForCausalLM") == "Qwen3ForCausalLM"
    vocabulary = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    assert len(set(vocabulary.values())) == 258
    assert (vocabulary["<s>"], vocabulary["</s>"]) == (config["bos_token_id"], config["eos_token_id"])


def test_a_parser_that_agrees_has_no_differences() -> None:
    """The catalogue against its own words shows no difference."""
    assert disagreements(engine(newest()), actions()) == []


@pytest.mark.parametrize(
    ("name", "field", "value", "said"),
    [
        ("--dtype", "choices", ["auto"], "choices"),
        ("--seed", "default", 7, "default 0, the parser's is 7"),
        ("--served-model-name", "nargs", None, "takes + words, the parser one"),
        ("--enforce-eager", "spellings", ["--enforce-eager"], "spelled"),
    ],
)
def test_differences_are_named(name: str, field: str, value: Any, said: str) -> None:
    """A parser with other values, default, number of words or spellings is named with both sides."""
    known = actions()
    known[name] = {**known[name], field: value}
    (difference,) = disagreements(engine(newest()), known)
    assert name in difference
    assert said in difference
