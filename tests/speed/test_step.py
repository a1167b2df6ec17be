"""The work of a rank and the seconds of a step, against arithmetic by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chartgen.catalog.gpus import gpu
from chartgen.catalog.models import Model, model, models
from chartgen.memory.parts import stage_pieces
from chartgen.memory.stages import stages
from chartgen.speed.card import Card, card_of, compute_of
from chartgen.speed.efficiencies import rates, speed_facts
from chartgen.speed.step import Batch, cache_bytes, step
from chartgen.speed.work import Layout, Work, work_of

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def layout(name: str | Model, scheme: str | None = None, tensor_parallel: int = 1, kv_dtype: str = "auto") -> Layout:
    """A layout of one pipeline stage."""
    return Layout(
        model=model(name) if isinstance(name, str) else name,
        scheme=scheme,
        tensor_parallel=tensor_parallel,
        pipeline_parallel=1,
        kv_dtype=kv_dtype,
    )


def work(name: str | Model, scheme: str | None = None, tensor_parallel: int = 1, kv_dtype: str = "auto") -> Work:
    """The work of the only stage."""
    return work_of(layout(name, scheme, tensor_parallel, kv_dtype))[0]


def card(name: str, asked: Work, ranks: int = 1) -> Card:
    """A card for this work, at the committed efficiencies."""
    return card_of(gpu(name), asked.schemes(), ranks, rates(), speed_facts())


@pytest.mark.parametrize("known", models(), ids=lambda known: known.key)
def test_a_step_multiplies_with_what_memory_holds(known: Model) -> None:
    """Weights of a step are those that the memory model counts, but for look-ups and encoders."""
    (whole,) = stages(known, 1)
    held = sum(
        piece.parameters * piece.tensors
        for piece in stage_pieces(known, whole, 1)
        if piece.part not in {"vision", "embedding"}
    )
    tied = known.vocab_size * known.hidden_size if known.tie_word_embeddings else 0
    plain = replace(known, checkpoint=type(known.checkpoint)())
    found = work(plain)
    read = sum(each.weight_bytes for each in (*found.every_token, *found.experts, *found.head))
    assert read == pytest.approx((held + tied) * {"bfloat16": 2, "float16": 2, "float32": 4}[known.dtype])


def test_one_sequence_waits_for_the_weights() -> None:
    """Llama 3.1 8B in bf16 reads 15.0 GB without its embedding: 4.5 ms at 3350 GB/s and the share that is reached."""
    found = work(LLAMA)
    alone = step((found,), card("H100", found), Batch(sequences=1, context=1), rates())
    weights = (8_030_261_248 - 128_256 * 4096) * 2
    assert alone.products == pytest.approx(weights / (3350e9 * rates().weight_bandwidth), rel=1e-3)


def test_a_long_prompt_waits_for_compute() -> None:
    """8192 tokens through 6.98 billion weights of layers: 114 TFLOP against 989 TFLOPS and the share reached."""
    found = work(LLAMA)
    prompt = step((found,), card("H100", found), Batch(sequences=0, context=0, prompt=8192), rates())
    operations = 2 * 8192 * (8_030_261_248 - 2 * 128_256 * 4096)
    assert prompt.products == pytest.approx(operations / (989e12 * rates().compute), rel=0.02)


def test_the_cache_of_one_token_is_two_vectors_a_layer() -> None:
    """Llama 3.1 8B reads 128 KiB for each token that stands before: 32 layers, 8 heads, 128 wide, keys and values."""
    assert cache_bytes(work(LLAMA), 1000) == 1000 * 32 * 8 * 128 * 2 * 2


def test_a_window_stops_the_cache_from_growing() -> None:
    """gpt-oss reads all tokens in 18 layers and at most 128 in the others."""
    token = 18 * 8 * 64 * 2 * 2
    assert cache_bytes(work("openai/gpt-oss-120b"), 1000) == 1000 * token + 128 * token


def test_a_latent_cache_is_read_whole_on_every_rank() -> None:
    """DeepSeek V3 reads 576 elements a token and layer however many ranks share it."""
    for ranks in (1, 8):
        assert cache_bytes(work("deepseek-ai/DeepSeek-V3", tensor_parallel=ranks), 100) == 100 * 61 * 576 * 2


def test_few_tokens_touch_few_experts() -> None:
    """One token of gpt-oss-120b reads 4 of 128 experts, a thousand tokens read all of them."""
    found = replace(work("openai/gpt-oss-120b"), every_token=(), head=())
    offered = card("H100", found)
    stored = found.experts[0].weight_bytes + found.experts[1].weight_bytes
    one, many = (step((found,), offered, Batch(sequences=count, context=1), rates()).products for count in (1, 1000))
    assert one == pytest.approx(stored * 4 / 128 / offered.weights)
    assert many >= 0.99 * stored / offered.weights


@pytest.mark.parametrize(
    ("card_name", "scheme", "expected"),
    [
        ("H100", "fp8", "fp8"),
        ("A100-SXM4-80GB", "fp8", "weight-only"),
        ("A100-SXM4-80GB", "w8a8", "int8"),
        ("B200", "nvfp4", "fp4"),
        ("H100", "nvfp4", "weight-only"),
        ("H100", "awq", "weight-only"),
    ],
)
def test_products_run_in_a_format_that_the_card_has(card_name: str, scheme: str, expected: str) -> None:
    """Low-precision activations need a card that computes in them; else weights are expanded on the way."""
    found = next(work(LLAMA, scheme).schemes())
    assert compute_of(gpu(card_name), found, speed_facts()) == expected


@pytest.mark.parametrize(
    ("card_name", "expected"), [("B200", "fp8"), ("RTX 5090", "weight-only"), ("H200", "weight-only")]
)
def test_experts_in_mxfp4_meet_fp8_activations_where_kernels_exist(card_name: str, expected: str) -> None:
    """gpt-oss runs with 8-bit activations on data-centre Blackwell, elsewhere its experts are expanded to 16 bit."""
    found = next(work("openai/gpt-oss-120b").schemes())
    assert compute_of(gpu(card_name), found, speed_facts()) == expected


def test_more_ranks_than_a_bridge_joins_talk_over_pcie() -> None:
    """Two H100 NVL share NVLink, four do not."""
    found = work(LLAMA)
    assert card("H100 NVL", found, 2).carrier == "nvlink"
    assert card("H100 NVL", found, 4).carrier == "pcie"
