"""A user's config.json gives the same shapes as the catalog, and is refused with its place where it cannot."""

from __future__ import annotations

import contextlib
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.config_files import DELETE, LLAMA, PUBLISHED, changed, read, refused, written
from chartgen.catalog.model_config import read_model
from chartgen.catalog.model_config_types import model_type, model_types
from chartgen.catalog.models import model
from chartgen.kernel.errors import InputError

QWEN = PUBLISHED["Qwen/Qwen3-0.6B"]
GEMMA = PUBLISHED["google/gemma-3-27b-it"]
NEMOTRON = PUBLISHED["nvidia/NVIDIA-Nemotron-Nano-9B-v2"]


@pytest.mark.parametrize("identifier", PUBLISHED)
def test_a_published_config_gives_the_catalogs_facts(identifier: str, tmp_path: Path) -> None:
    """Reading a model's own config.json ends at the shapes that its catalog entry states."""
    found, known = read(tmp_path, PUBLISHED[identifier]), model(identifier)
    for name in (
        "architecture",
        "hidden_size",
        "vocab_size",
        "max_position_embeddings",
        "attention",
        "tie_word_embeddings",
        "feed_forward",
        "experts",
        "norms_per_layer",
        "vision",
        "other_parameters",
        "rope_tables",
    ):
        assert getattr(found, name) == getattr(known, name), name
    assert found.checkpoint.scheme == known.checkpoint.scheme
    assert found.checkpoint.part_schemes == known.checkpoint.part_schemes


def test_a_folder_stands_for_the_config_in_it(tmp_path: Path) -> None:
    """The folder of a model and the config.json in it mean the same, and the file is named as the origin."""
    path = written(tmp_path, LLAMA)
    assert read_model(tmp_path) == read_model(path)
    assert read_model(tmp_path).origin == str(path)


def test_tabs_and_unusual_numbers_are_json_all_the_same(tmp_path: Path) -> None:
    """A config indented with tabs, with Infinity in it, is read; a problem in it still has its line."""
    config = changed(NEMOTRON, time_step_limit=[0.0, float("inf")], hidden_size="wide")
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config, indent="\t"), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_model(path)
    (problem,) = caught.value.problems
    line = path.read_text(encoding="utf-8").splitlines()[problem.position.line - 1]  # type: ignore[union-attr]
    assert "hidden_size" in line


@pytest.mark.parametrize(
    ("config", "told"),
    [
        pytest.param(
            changed(LLAMA, num_hidden_layers=DELETE, vocab_size=DELETE),
            [
                "1 num_hidden_layers: nothing | the key 'num_hidden_layers', a whole number, as the config.json of a "
                "model has it",
                "1 vocab_size: nothing | the key 'vocab_size', a whole number, as the config.json of a model has it",
            ],
            id="two keys missing",
        ),
        pytest.param(
            changed(LLAMA, model_type="lama"),
            [
                f"5 model_type: the unknown model type 'lama' | one of the {len(model_types())} types whose layers "
                "are known; a fact file of the model in a folder of your own would do | llama"
            ],
            id="unknown type",
        ),
        pytest.param(
            changed(LLAMA, model_type=DELETE),
            ["1 model_type: nothing | the key 'model_type', as transformers writes it into config.json"],
            id="no type",
        ),
        pytest.param(
            changed(QWEN, layer_types=["full_attention"] * 27 + ["hyena_attention"]),
            [
                '48 layer_types[27]: the unknown layer type "hyena_attention" | one of chunked_attention, '
                "full_attention, sliding_attention | chunked_attention"
            ],
            id="unknown layer type",
        ),
        pytest.param(
            changed(LLAMA, num_key_value_heads=5),
            ["13 num_key_value_heads: 5 | a divisor of the 32 attention heads"],
            id="key-value heads that do not divide the heads",
        ),
        pytest.param(
            changed(LLAMA, hidden_size=4100),
            ["8 hidden_size: 4100 | a multiple of the 32 attention heads, or a key 'head_dim'"],
            id="heads that do not divide the width",
        ),
        pytest.param(
            changed(LLAMA, sliding_window=4096),
            [
                "22 sliding_window: 4096 | null: llama models have no such window; a list 'layer_types' would say "
                "which layers have one"
            ],
            id="a window where the type has none",
        ),
        pytest.param(
            changed(GEMMA, text_config__hidden_size=True),
            ["9 text_config.hidden_size: true | a whole number from 1 to 4294967296"],
            id="a nested key of the wrong kind",
        ),
        pytest.param(
            changed(GEMMA, vision_config__model_type="siglip", vision_config__patch_size=DELETE),
            [
                "21 vision_config.patch_size: nothing | the key 'patch_size', a whole number, as the config.json of "
                "a model has it"
            ],
            id="a tower without its patch size",
        ),
        pytest.param(
            {
                "architectures": ["Glm4vForConditionalGeneration"],
                "model_type": "glm4v",
                "text_config": LLAMA,
                "vision_config": {"depth": 24},
            },
            [
                "28 vision_config: a tower of glm4v, whose size no formula of ours gives | a safetensors file or its "
                "header beside it, which names every tensor"
            ],
            id="a tower without a formula",
        ),
        pytest.param(
            changed(LLAMA, quantization_config={"quant_method": "exl2", "bits": 3.5}),
            [
                "22 quantization_config: quantization by exl2, bits 3.5 | a method the engine and the catalog know: "
                "awq, gptq, fp8, compressed-tensors, modelopt, mxfp4"
            ],
            id="unknown quantization",
        ),
        pytest.param(
            changed(LLAMA, num_hidden_layers=10**9),
            ["12 num_hidden_layers: 1000000000 | a whole number from 1 to 10000"],
            id="a billion layers",
        ),
        pytest.param(
            changed(NEMOTRON, hybrid_override_pattern="MX*"),
            [
                "9 hybrid_override_pattern: 3 layers | 56 layers, as num_hidden_layers says",
                '9 hybrid_override_pattern[1]: the unknown layer type "X" | one of *, -, E, M, attention, '
                "chunked_attention, full_attention, mamba, mlp, moe, sliding_attention",
            ],
            id="a pattern with an unknown letter",
        ),
        pytest.param(
            changed(LLAMA, torch_dtype="int4"),
            ['20 torch_dtype: "int4" | one of bfloat16, float16, float32'],
            id="a dtype that weights do not have",
        ),
        pytest.param(
            changed(LLAMA, architectures=DELETE),
            [
                "1 architectures: nothing | a list with the architecture class, which the engine needs to load it",
            ],
            id="no architecture",
        ),
    ],
)
def test_a_bad_config_is_refused_with_every_problem_at_its_place(
    config: dict[str, Any], told: list[str], tmp_path: Path
) -> None:
    """The reader names each key, what stands there and what would do, and guesses nothing."""
    assert sorted(refused(tmp_path, config)) == sorted(told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "text that is no JSON: Expecting value"),
        ('{"model_type" "llama"}', "text that is no JSON: Expecting ':' delimiter"),
        ("[1, 2]", "JSON that is no object"),
        ("[" * 100_000, "nesting or a number too large to read"),
        ('{"a": ' + "9" * 5000 + "}", "nesting or a number too large to read"),
    ],
)
def test_what_is_no_json_object_is_refused(text: str, told: str, tmp_path: Path) -> None:
    """Text that is no JSON object, or is built to exhaust a parser, is one problem of the file."""
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_model(path)
    assert [problem.found for problem in caught.value.problems] == [told]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A path that does not exist is told as such."""
    with pytest.raises(InputError) as caught:
        read_model(tmp_path / "nowhere" / "config.json")
    assert caught.value.problems[0].found == "No such file or directory"


@pytest.mark.parametrize("kind", model_types(), ids=lambda kind: kind.key)
def test_a_model_type_names_types_and_formulas_that_exist(kind: Any) -> None:
    """What one type file says of another, or of a formula, is there."""
    from chartgen.catalog.model_config_vision import FORMULAS  # noqa: PLC0415 - the table is part of the reader

    assert kind.source.startswith("https://")
    assert kind.vision is None or kind.vision in FORMULAS
    assert kind.text_type is None or model_type(kind.text_type).key == kind.text_type
    assert kind.text or kind.text_type or kind.vision is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-4, 1 << 34) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_stands_in_a_config_the_answer_is_a_model_or_an_input_error(
    data: st.DataObject, tmp_path: Path
) -> None:
    """A key replaced by any JSON value is read or refused; the reader never fails in another way."""
    config = copy.deepcopy(data.draw(st.sampled_from(sorted(PUBLISHED.items())))[1])
    for _ in range(data.draw(st.integers(1, 3))):
        target = config
        key = data.draw(st.sampled_from(sorted(target)))
        if isinstance(target[key], dict) and target[key] and data.draw(st.booleans()):
            target = target[key]
            key = data.draw(st.sampled_from(sorted(target)))
        target[key] = data.draw(JSON)
    with contextlib.suppress(InputError):
        assert read(tmp_path, config).layers >= 0
