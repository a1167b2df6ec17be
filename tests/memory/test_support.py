"""What heads, key-value heads, widths, quantization groups, cards and releases forbid."""

from __future__ import annotations

import pytest

from chartgen.catalog.gpus import gpu
from chartgen.catalog.models import model
from chartgen.catalog.quantizations import quantization
from chartgen.memory.support import legal_sizes, obstacle, refusal


@pytest.mark.parametrize(
    ("name", "scheme", "size", "because"),
    [
        ("meta-llama/Llama-3.3-70B-Instruct", "none", 8, None),
        ("meta-llama/Llama-3.3-70B-Instruct", "none", 3, "64 attention heads do not divide by 3"),
        ("Qwen/Qwen2.5-7B-Instruct", "none", 8, "28 attention heads do not divide by 8"),
        ("microsoft/phi-4", "none", 4, "10 key-value heads neither divide by 4 nor into it"),
        ("Qwen/Qwen3-30B-A3B", "none", 8, None),
        ("Qwen/Qwen3-235B-A22B", "fp8-block", 8, "which cuts the groups of 128"),
        ("deepseek-ai/DeepSeek-V3", "fp8-block", 16, None),
        ("openai/gpt-oss-120b", "mxfp4", 4, None),
    ],
)
def test_a_split_that_the_engine_refuses_is_named(name: str, scheme: str, size: int, because: str | None) -> None:
    """A tensor parallel size falls for the reason that the engine itself would give."""
    found = obstacle(model(name), scheme, size)
    if because is None:
        assert found is None
    else:
        assert found is not None
        assert because in found


def test_experts_may_be_spread_whole() -> None:
    """Where the width of experts cannot be split, their number may: Qwen3 235B in fp8 blocks on eight GPUs."""
    known = model("Qwen/Qwen3-235B-A22B")
    assert obstacle(known, "fp8-block", 8) is not None
    assert obstacle(known, "fp8-block", 8, expert_parallel=True) is None


def test_key_value_heads_may_be_copied() -> None:
    """More ranks than key-value heads are legal where they divide: four heads on eight ranks."""
    assert legal_sizes(model("Qwen/Qwen3-30B-A3B"), "none", 8) == [1, 2, 4, 8]


@pytest.mark.parametrize(
    ("card", "scheme", "at", "because"),
    [
        ("H100", "fp8", "0.33.0", None),
        ("A100", "fp8", "0.33.0", None),
        ("T4", "fp8", "0.33.0", "needs compute capability 8.0, NVIDIA T4 16 GB has 7.5"),
        ("MI300X", "fp8", "0.33.0", None),
        ("MI300X", "nvfp4", "0.33.0", "does not run"),
        ("H100", "mxfp4", "0.9.2", "came with 0.10.1"),
    ],
)
def test_a_scheme_that_a_card_or_release_lacks_is_named(
    card: str,
    scheme: str,
    at: str,
    because: str | None,
) -> None:
    """A quantization falls for the card's capability, the vendor or the release."""
    found = refusal(gpu(card), quantization(scheme), at)
    if because is None:
        assert found is None
    else:
        assert found is not None
        assert because in found
