"""Layouts and batches: the fewest GPUs that carry a need, and what helps where none do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chartgen.catalog.gpus import gpu
from chartgen.catalog.models import model
from chartgen.kernel.errors import Infeasible
from chartgen.kernel.units import Tokens
from chartgen.memory.batching import Need, batched, cautious
from chartgen.memory.deployment import Deployment
from chartgen.memory.fit import estimate
from chartgen.memory.layouts import shortage, smallest
from chartgen.memory.levers import levers


def asked(name: str, card: str, release: str = "0.33.0") -> Deployment:
    return Deployment(model=model(name), gpu=gpu(card), release=release)


def need(longest: int, typical: int = 2000, full_length: int = 1) -> Need:
    return Need(longest=Tokens(longest), typical=Tokens(typical), full_length=full_length)


@pytest.mark.parametrize(
    ("name", "card", "length", "tensor", "pipeline"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "H100", 32768, 1, 1),
        ("meta-llama/Llama-3.3-70B-Instruct", "H100", 32768, 4, 1),
        ("meta-llama/Llama-3.3-70B-Instruct", "H200", 32768, 2, 1),
        ("Qwen/Qwen3-235B-A22B", "B200", 32768, 4, 1),
        ("deepseek-ai/DeepSeek-V3", "H200", 32768, 8, 1),
        ("deepseek-ai/DeepSeek-V3", "H100", 32768, 8, 2),
        ("openai/gpt-oss-20b", "L4", 8192, 1, 1),
    ],
)
def test_the_fewest_gpus_are_found(name: str, card: str, length: int, tensor: int, pipeline: int) -> None:
    """Known pairs of model and card take as many GPUs as people run them on."""
    found = smallest(asked(name, card), need(length), 8, nodes=2).fit.deployment
    assert (found.tensor_parallel, found.pipeline_parallel) == (tensor, pipeline)


def test_what_does_not_fit_says_why_and_what_would() -> None:
    """A model that no layout carries names every attempt, the missing memory, and the nearest that fits."""
    with pytest.raises(Infeasible) as caught:
        smallest(asked("deepseek-ai/DeepSeek-V3", "H100"), need(32768), 8)
    assert [attempt.option for attempt in caught.value.tried][-1] == "8 x NVIDIA H100 SXM 80 GB"
    assert "GiB short" in caught.value.missing
    assert caught.value.nearest is not None
    assert caught.value.nearest.startswith("gpu: 8 x NVIDIA ")


@given(
    name=st.sampled_from(["Qwen/Qwen3-8B", "google/gemma-3-12b-it", "openai/gpt-oss-20b", "Qwen/Qwen3.6-27B"]),
    card=st.sampled_from(["L4", "A100-40GB", "H100", "MI300X", "RTX 5090"]),
    longest=st.integers(min_value=2048, max_value=32768),
    typical=st.integers(min_value=64, max_value=2048),
    full_length=st.integers(min_value=1, max_value=8),
)
@settings(max_examples=60, deadline=None)
def test_a_batch_is_what_its_own_pool_holds(
    name: str,
    card: str,
    longest: int,
    typical: int,
    full_length: int,
) -> None:
    """The chosen limit is held by the pool it leaves, one more is not, and none is below what is needed."""
    wanted = need(longest, typical, full_length)
    question = asked(name, card)
    fit = batched(question, wanted)
    limit = fit.limits.max_num_seqs.value
    default = estimate(question).limits.max_num_seqs.value
    assert full_length <= limit <= max(default, full_length)
    if limit > full_length:
        assert fit.requests(typical) >= limit
    if shortage(cautious(question, wanted), wanted) is None:
        assert shortage(fit, wanted) is None
        more = estimate(replace(question, max_model_len=wanted.longest, max_num_seqs=limit + 1))
        assert limit == default or more.requests(typical) <= limit or more.requests(longest) < full_length


@given(
    card=st.sampled_from(["L4", "L40S", "A100-80GB", "H100", "H200"]),
    length=st.sampled_from([4096, 8192, 32768, 131072]),
    release=st.sampled_from(["0.8.5", "0.11.0", "0.16.0", "0.19.0", "0.22.0", "0.29.0", "0.33.0"]),
)
@settings(max_examples=60, deadline=None)
def test_margins_and_capacity_are_ordered(card: str, length: int, release: str) -> None:
    """Low, best and high stand in that order, and a shorter context never holds fewer requests."""
    fit = estimate(Deployment(model=model("Qwen/Qwen3-8B"), gpu=gpu(card), release=release, max_model_len=length))
    rank = fit.deciding_rank
    for term in (rank.budget, rank.weights, rank.activation, rank.non_torch, rank.cuda_graph, rank.kv_cache):
        assert term.low <= term.best <= term.high
        assert term.because
    assert fit.requests(length // 2) >= fit.requests(length)
    assert (fit.verdict == "no") == (fit.longest < length)


def test_levers_are_ranked_and_hold() -> None:
    """Every lever that is offered does make the model fit; those that cost the user least come first."""
    fit = estimate(
        Deployment(
            model=model("meta-llama/Llama-3.1-8B-Instruct"),
            gpu=gpu("L4"),
            release="0.33.0",
            max_model_len=36864,
        )
    )
    offered = levers(fit)
    assert fit.verdict == "no"
    assert [lever.change for lever in offered][:4] == [
        "--max-num-seqs 64",
        "--quantization fp8",
        "--kv-cache-dtype fp8",
        "--max-model-len 32768",
    ]
    assert all(lever.fit.verdict != "no" for lever in offered)


def test_fewer_sequences_win_memory_back() -> None:
    """The cheapest lever is found: gpt-oss-120b on one H100 under 0.10.2 starts with fewer sequences."""
    question = asked("openai/gpt-oss-120b", "H100", "0.10.2")
    fit = estimate(replace(question, max_model_len=16384))
    assert fit.verdict == "no"
    assert levers(fit)[0].change == "--max-num-seqs 512"
