"""The models of the catalog: every file is sourced, consistent with its own shapes and with published totals."""

from __future__ import annotations

import datetime as dt
import json
from itertools import chain

import pytest

from chartgen.catalog.models import Model, key_of, model, models
from chartgen.catalog.quantizations import quantization
from chartgen.catalog.store import INDEX, plain
from chartgen.kernel.library import catalog_data
from chartgen.kernel.units import GIB
from chartgen.memory.weights import parameters

MODELS = models()
PLAIN_FILES = [
    known
    for known in MODELS
    if known.checkpoint.scheme == "none" and known.checkpoint.file_gib and not known.multi_token_prediction
]
PUBLISHERS_THAT_ASK = {"meta-llama", "CohereForAI"}
"""Owners whose every repository here asks for an accepted licence."""


def test_there_are_enough_models() -> None:
    """More than two hundred models, of more than thirty publishers."""
    assert len(MODELS) > 200
    assert len({known.id.partition("/")[0] for known in MODELS}) > 30


@pytest.mark.parametrize("known", MODELS, ids=lambda known: known.key)
def test_facts_are_sourced_and_refer_to_known_entries(known: Model) -> None:
    """A file is named by its id, cites public addresses and a day, and names schemes and bases of the catalog."""
    assert known.key == key_of(known.id)
    assert known.source.startswith("https://")
    assert dt.date.fromisoformat(known.checked) >= dt.date(2026, 11, 1)
    for scheme in {known.checkpoint.scheme, *known.checkpoint.part_schemes.values()} - {"none"}:
        assert quantization(scheme).key == scheme
    if known.base is not None:
        assert known.checkpoint.scheme != "none"
        assert model(known.base).hidden_size == known.hidden_size
    assert not known.reference


@pytest.mark.parametrize("known", MODELS, ids=lambda known: known.key)
def test_shapes_make_up_the_published_parameters(known: Model) -> None:
    """Parameters counted from the shapes agree with the stated total to 0.2 %."""
    assert known.parameters is not None
    assert parameters(known) == pytest.approx(known.parameters, rel=0.002)


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", 8_030_261_248),
        ("meta-llama/Llama-3.2-1B-Instruct", 1_235_814_400),
        ("meta-llama/Llama-3.3-70B-Instruct", 70_553_706_496),
        ("Qwen/Qwen2.5-0.5B-Instruct", 494_032_768),
        ("Qwen/Qwen2.5-7B-Instruct", 7_615_616_512),
        ("Qwen/Qwen3-8B", 8_190_735_360),
        ("Qwen/Qwen3-32B", 32_762_123_264),
        ("mistralai/Mistral-7B-Instruct-v0.3", 7_248_023_552),
        ("mistralai/Mistral-Nemo-Instruct-2407", 12_247_782_400),
        ("google/gemma-2-9b-it", 9_241_705_984),
        ("microsoft/phi-4", 14_659_507_200),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", 14_770_033_664),
    ],
)
def test_shapes_make_up_exactly_what_a_hub_counts(name: str, published: int) -> None:
    """Where a hub shows the elements of a checkpoint, the shapes make up each of them."""
    assert parameters(model(name)) == published


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("Qwen/Qwen3-30B-A3B", 30_532_122_624),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", 46_702_792_704),
        ("deepseek-ai/DeepSeek-V3", 671_026_419_200),
    ],
)
def test_shapes_of_experts_make_up_what_a_hub_counts(name: str, published: int) -> None:
    """With experts the same holds to a millionth: a routing bias is counted where a model has none."""
    assert parameters(model(name)) == pytest.approx(published, rel=1e-6)


@pytest.mark.parametrize("known", PLAIN_FILES, ids=lambda known: known.key)
def test_plain_files_hold_two_bytes_for_each_parameter(known: Model) -> None:
    """Published file sizes of plain models are those of their parameters, to the rounding of two decimals."""
    assert known.checkpoint.file_gib == pytest.approx(parameters(known) * 2 / GIB, rel=0.002, abs=0.011)


def test_quantized_files_are_smaller_than_plain_ones() -> None:
    """A quantized checkpoint is no larger than two bytes for each parameter, multi-token prediction included."""
    for known in MODELS:
        if known.checkpoint.file_gib and known.checkpoint.scheme != "none":
            assert known.checkpoint.file_gib < 1.05 * parameters(known) * 2 / GIB, known.id


def test_layers_and_heads_are_consistent() -> None:
    """Query heads divide into key-value heads, and no kind of feed-forward is in more blocks than there are layers.

    Nemotron Super leaves attention out of some blocks: the one exception.
    """
    for known in MODELS:
        for kind in known.attention.kinds():
            heads, kv_heads = getattr(kind, "heads", 1), getattr(kind, "kv_heads", 1)
            assert heads % kv_heads == 0, known.id
        blocks = [block.layers for block in (known.feed_forward, known.experts) if block]
        assert max(blocks) <= known.layers or "Nemotron-Super-49B" in known.id, known.id


def test_gated_repositories_say_so() -> None:
    """Models that need an accepted licence carry that fact, and free ones do not."""
    for known in MODELS:
        if known.id.partition("/")[0] in PUBLISHERS_THAT_ASK:
            assert known.gated, known.id
    assert model("google/gemma-2-9b-it").gated
    assert not model("Qwen/Qwen3-8B").gated
    assert not model("deepseek-ai/DeepSeek-R1").gated


def test_every_name_leads_to_its_model() -> None:
    """The index of names is whole: ids, aliases and their last parts, each to one model."""
    index = json.loads((catalog_data() / INDEX).read_text(encoding="utf-8"))["models"]
    for known in MODELS:
        for name in chain([known.id, known.key], known.aliases):
            assert index[plain(name)] == known.key
            assert index[plain(name.rsplit("/", 1)[-1])] == known.key
    assert set(index.values()) == {known.key for known in MODELS}
