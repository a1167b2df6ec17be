"""Models: enough of them, each with its source, found by what people write."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from chartgen.catalog.models import Model, key_of, model, models
from chartgen.catalog.store import plain
from chartgen.kernel.errors import UnknownName

KNOWN = models()
ROOT = Path(__file__).parent.parent.parent


def test_there_are_enough_models() -> None:
    """At least eighty models are known, of every kind of layer that the memory model works out."""
    assert len(KNOWN) >= 80
    kinds = {type(kind).__name__ for found in KNOWN for kind in found.attention.kinds()}
    assert kinds >= {
        "FullAttention",
        "SlidingWindow",
        "ChunkedLocal",
        "LatentAttention",
        "CompressedAttention",
        "Mamba2",
        "DeltaNet",
    }


@pytest.mark.parametrize("found", KNOWN, ids=lambda found: found.key)
def test_facts_are_sane(found: Model) -> None:
    """The file is named by the id; sizes are positive and divide; facts have a public source and a day."""
    assert found.key == key_of(found.id)
    assert found.attention.kinds()
    assert found.hidden_size % 32 == 0
    assert found.max_position_embeddings >= 1024
    for kind in found.attention.kinds():
        assert kind.layers > 0
        heads, kv_heads = getattr(kind, "heads", 0), getattr(kind, "kv_heads", 0)
        assert not kv_heads or heads % kv_heads == 0
    assert found.source.startswith("https://")
    assert found.checked.count("-") == 2


def test_no_name_means_two_models() -> None:
    """Every id and alias belongs to one model."""
    owners: dict[str, str] = {}
    for found in KNOWN:
        for name in (found.key, found.id, *found.aliases):
            assert owners.setdefault(plain(name), found.key) == found.key, name


@pytest.mark.parametrize(
    ("name", "base", "scheme"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "meta-llama--Llama-3.1-8B-Instruct", "none"),
        ("llama-3.1-8b-instruct", "meta-llama--Llama-3.1-8B-Instruct", "none"),
        ("meta-llama/Meta-Llama-3.1-8B", "meta-llama--Llama-3.1-8B-Instruct", "none"),
        ("Qwen/Qwen2.5-14B-Instruct-AWQ", "Qwen--Qwen2.5-14B-Instruct", "awq"),
        ("RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "meta-llama--Llama-3.1-8B-Instruct", "w4a16"),
        ("RedHatAI/Qwen2.5-7B-Instruct-quantized.w8a8", "Qwen--Qwen2.5-7B-Instruct", "w8a8"),
        ("RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8-dynamic", "meta-llama--Llama-3.1-70B-Instruct", "fp8-dynamic"),
        ("openai/gpt-oss-120b", "openai--gpt-oss-120b", "mxfp4"),
    ],
)
def test_names_lead_to_models(name: str, base: str, scheme: str) -> None:
    """Ids, last parts, aliases and the names of quantized copies lead to the shapes and the scheme."""
    found = model(name)
    assert found.key == base
    assert found.checkpoint.scheme == scheme


def test_an_alias_keeps_the_id_that_was_asked_for() -> None:
    """A model of the same shape is served under its own id."""
    asked = "meta-llama/Meta-Llama-3.1-8B"
    assert model(asked).id == asked


def test_a_bare_size_says_what_it_stands_for() -> None:
    """A size without a name stands for a named model, and is marked for wider margins."""
    found = model("70B")
    assert found.reference
    assert "Llama-3.3-70B" in found.id


def test_an_unknown_model_names_the_nearest_and_what_else_would_do() -> None:
    """A misspelt id is refused with the nearest known one, and the way by config.json."""
    with pytest.raises(UnknownName) as caught:
        model("meta-llama/Llama-3.1-9B-Instruct")
    assert caught.value.nearest is not None
    assert caught.value.hint is not None
    assert "config.json" in caught.value.hint


def test_the_index_of_names_is_fresh() -> None:
    """The generated index of names is what the script writes."""
    script = ROOT / "scripts" / "write_names_index.py"
    result = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
