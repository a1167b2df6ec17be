"""What people write where a model is asked for leads to its facts, or to a reason why it does not."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chartgen.catalog.model_names import is_path, resolve
from chartgen.catalog.model_words import vocabulary
from chartgen.catalog.models import model, models
from chartgen.catalog.quantizations import quantization
from chartgen.kernel.errors import InputError, UnknownName

CASES = Path(__file__).parents[1] / "cases"
HERE = Path()

NOT_KNOWN = {
    "DeepSeek-R1-Distill-Qwen-32B GGUF Q4_K_M",
    "Ternary-Bonsai-8B-F16.gguf",
    "QuantTrio-AWQ",
    "cyankiwi-AWQ",
    "unsloth-NVFP4-Fast",
}
"""Names in the measured runs that stay unknown: a format the engine does not read, and a publisher for a name."""


@pytest.mark.parametrize(
    ("written", "base", "scheme"),
    [
        ("casperhansen/deepseek-r1-distill-qwen-14b-awq", "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", "awq"),
        ("RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic", "meta-llama/Llama-3.3-70B-Instruct", "fp8-dynamic"),
        ("neuralmagic/Meta-Llama-3.1-70B-Instruct-FP8", "meta-llama/Meta-Llama-3.1-70B-Instruct", "fp8"),
        ("RedHatAI/Qwen2.5-7B-Instruct-quantized.w8a8", "Qwen/Qwen2.5-7B-Instruct", "w8a8"),
        ("RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "meta-llama/Meta-Llama-3.1-8B-Instruct", "w4a16"),
        ("unsloth/Llama-3.2-3B-Instruct-bnb-4bit", "meta-llama/Llama-3.2-3B-Instruct", "bnb-4bit"),
        ("unsloth/Qwen3-8B-unsloth-bnb-4bit", "Qwen/Qwen3-8B", "bnb-4bit"),
        ("hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4", "meta-llama/Meta-Llama-3.1-70B-Instruct", "awq"),
        ("TheBloke/Llama-2-13B-chat-GPTQ", "meta-llama/Llama-2-13b-chat", "gptq"),
        ("ISTA-DASLab/gemma-3-27b-it-GPTQ-4b-128g", "google/gemma-3-27b-it", "gptq"),
        ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8", "Qwen/Qwen2.5-7B-Instruct", "gptq-int8"),
        ("Qwen/Qwen3-32B-FP8", "Qwen/Qwen3-32B", "fp8-block"),
        ("someone/Qwen3-32B-FP8", "Qwen/Qwen3-32B", "fp8"),
        ("nvidia/Llama-3.3-70B-Instruct-FP4", "meta-llama/Llama-3.3-70B-Instruct", "nvfp4"),
        ("amd/Llama-3.1-70B-Instruct-FP8-KV", "meta-llama/Llama-3.1-70B-Instruct", "fp8"),
        ("Intel/Qwen3-8B-int4-AutoRound", "Qwen/Qwen3-8B", "w4a16"),
        ("qwen3 8b awq", "Qwen/Qwen3-8B", "awq"),
        ("https://huggingface.co/Qwen/Qwen2.5-72B-Instruct-AWQ", "Qwen/Qwen2.5-72B-Instruct", "awq"),
    ],
)
def test_a_quantized_copy_is_its_base_under_another_scheme(written: str, base: str, scheme: str) -> None:
    """A copy has the shapes of the model that its name holds, and the scheme that its name says."""
    found = resolve(written, HERE)
    known = model(base)
    assert (found.model.base, found.scheme, found.reference) == (base, scheme, False)
    assert (found.model.attention, found.model.hidden_size) == (known.attention, known.hidden_size)
    assert quantization(scheme).key == scheme
    assert found.says == f"{found.model.id} is read as {base} with {scheme} weights"


def test_a_plain_copy_of_a_quantized_model_is_plain() -> None:
    """A copy that says BF16 has plain weights although its base is quantized."""
    found = resolve("unsloth/gpt-oss-20b-BF16", HERE)
    assert (found.scheme, found.model.checkpoint.scheme) == (None, "none")
    assert found.says.endswith("with plain weights")


@pytest.mark.parametrize(
    ("written", "known", "says"),
    [
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B", "Qwen/Qwen3-8B is in the catalog"),
        ("qwen3-8b", "Qwen/Qwen3-8B", "Qwen/Qwen3-8B is in the catalog"),
        ("https://huggingface.co/Qwen/Qwen3-8B", "Qwen/Qwen3-8B", "Qwen/Qwen3-8B is in the catalog"),
        ("hf.co/Qwen/Qwen3-8B/tree/main?x=1", "Qwen/Qwen3-8B", "Qwen/Qwen3-8B is in the catalog"),
        (
            "unsloth/Llama-3.1-8B-Instruct",
            "meta-llama/Llama-3.1-8B-Instruct",
            "unsloth/Llama-3.1-8B-Instruct has the shapes of meta-llama/Llama-3.1-8B-Instruct",
        ),
        (
            "deepseek-ai/DeepSeek-R1-Distill-Llama-8B",
            "meta-llama/Llama-3.1-8B-Instruct",
            "deepseek-ai/DeepSeek-R1-Distill-Llama-8B has the shapes of meta-llama/Llama-3.1-8B-Instruct",
        ),
    ],
)
def test_ids_addresses_and_mirrors_lead_to_the_model(written: str, known: str, says: str) -> None:
    """An id in any spelling, a page's address, a mirror and a fine-tune of the same shape are found, and say how."""
    found = resolve(written, HERE)
    assert found.model.attention == model(known).attention
    assert (found.says, found.reference, found.model.base) == (says, False, None)


def test_a_mirror_keeps_the_id_that_was_asked_for() -> None:
    """What is downloaded is the repository that was named, not the one whose shapes it has."""
    assert resolve("unsloth/Llama-3.1-8B-Instruct", HERE).model.id == "unsloth/Llama-3.1-8B-Instruct"


@pytest.mark.parametrize(
    ("written", "stand_in"),
    [
        ("70B", "meta-llama/Llama-3.3-70B-Instruct"),
        ("8b", "meta-llama/Llama-3.1-8B-Instruct"),
        ("0.5B", "Qwen/Qwen2.5-0.5B-Instruct"),
        ("500M", "Qwen/Qwen2.5-0.5B-Instruct"),
        ("8x7B", "mistralai/Mixtral-8x7B-Instruct-v0.1"),
        ("30 B", "Qwen/Qwen3-32B"),
        ("13B", "Qwen/Qwen3-14B"),
        ("33B", "Qwen/Qwen3-32B"),
        ("1t", "moonshotai/Kimi-K2-Instruct"),
    ],
)
def test_a_bare_size_stands_for_a_named_model_and_says_so(written: str, stand_in: str) -> None:
    """A size has the figures of a named model of about that size, marked as a reference."""
    found = resolve(written, HERE)
    assert (found.model.id, found.reference) == (stand_in, True)
    assert found.says == f"{written} names no model: figures are those of {stand_in}, with wider margins"
    assert found.model.title == f"{written}, sized as {stand_in}"


def test_every_listed_size_stands_for_a_model_near_it() -> None:
    """Models behind bare sizes are known, and have about as many parameters as the size says."""
    for size, stand_in in vocabulary().sizes.items():
        known = model(stand_in)
        number, unit = size.split("-")[0][:-1], size.split("-")[0][-1]
        if "x" in size or known.parameters is None:
            continue
        assert float(number) * {"b": 1e9, "t": 1e12}[unit] == pytest.approx(known.parameters, rel=0.25), size


@pytest.mark.parametrize("written", ["175B", "16B", "9000T", "0b"])
def test_a_size_with_nothing_near_it_is_refused(written: str) -> None:
    """A size that no model of the catalog is near is not taken for the nearest one."""
    with pytest.raises(UnknownName) as refused:
        resolve(written, HERE)
    assert refused.value.hint is not None
    assert "near enough to stand for that size" in refused.value.hint


@pytest.mark.parametrize(
    ("written", "format_name"),
    [
        ("bartowski/Llama-3.3-70B-Instruct-GGUF", "GGUF"),
        ("google/gemma-3-27b-it-qat-q4_0-gguf", "GGUF"),
        ("Qwen3-8B-Q4_K_M", "GGUF"),
        ("Ternary-Bonsai-8B-F16.gguf", "GGUF"),
        ("mlx-community/Qwen3-8B-4bit", "MLX"),
        ("turboderp/Llama-3.1-8B-Instruct-exl2", "ExLlama"),
        ("squeeze-ai-lab/sq-llama-2-7b-w4-s0", "SqueezeLLM"),
    ],
)
def test_a_format_that_the_engine_does_not_read_is_refused_with_the_reason(written: str, format_name: str) -> None:
    """A copy in such a format is unknown, and the hint names the format, why, and what would do."""
    with pytest.raises(UnknownName) as refused:
        resolve(written, HERE)
    assert refused.value.hint is not None
    assert refused.value.hint.startswith(f"this one is in the format {format_name}: ")
    assert refused.value.hint.endswith("a copy in AWQ or FP8 would do")


@pytest.mark.parametrize(
    "written",
    [
        "Llama-3.1-8B-Instruct-AWQ-70B",
        "someone/DeepSeek-R1-Distill-Something-AWQ",
        "someone/Qwen3-32B-draft-AWQ",
        "foo/bar-baz-AWQ",
        "openai-community/gpt2",
        "AWQ",
        "",
    ],
)
def test_a_name_that_only_holds_a_known_name_is_not_taken_for_it(written: str) -> None:
    """A size or a word such as "distill" beside a known name means another model: nothing is guessed."""
    with pytest.raises(UnknownName):
        resolve(written, HERE)


def test_a_misspelt_name_is_answered_with_the_nearest() -> None:
    """A misspelt id is refused with the id that was probably meant and with what else would do."""
    with pytest.raises(UnknownName) as refused:
        resolve("meta-llama/Llama-3.1-8B-Instrct", HERE)
    assert refused.value.nearest == "meta-llama/Llama-3.1-8B-Instruct"
    assert refused.value.hint == "a path to the model's config.json would do"


def test_a_path_is_read_from_the_folder_that_is_given(tmp_path: Path) -> None:
    """A relative path means a config.json below the given folder, whatever the working folder is."""
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 2048,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 8192,
        "vocab_size": 128256,
        "max_position_embeddings": 131072,
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
    }
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text(json.dumps(config))
    for written in ("mine/config.json", "./mine/", "./mine/config.json"):
        found = resolve(written, tmp_path)
        assert found.model.hidden_size == 2048
        assert found.says.endswith("mine/config.json")
    with pytest.raises(InputError):
        resolve("theirs/config.json", tmp_path)


def test_measured_runs_name_models_that_are_known() -> None:
    """Every model of the start-up logs and of the measured speeds is found, but for a few that are not names."""
    written = set()
    for table, column in (("kv_logs.csv", "model_hf_id"), ("perf_points.csv", "model")):
        with (CASES / table).open(encoding="utf-8", newline="") as file:
            written |= {row[column] for row in csv.DictReader(file)}
    unknown = set()
    for name in written - {""}:
        try:
            resolve(name, HERE)
        except UnknownName:
            unknown.add(name)
    assert unknown <= NOT_KNOWN


@pytest.mark.parametrize("word", ["awq", "gptq", "FP8-dynamic", "bnb-4bit", "AWQ-INT4"])
def test_any_plain_model_has_quantized_copies(word: str) -> None:
    """The name of any plain model with the word of a scheme resolves to a copy with the same shapes."""
    for known in models():
        if known.checkpoint.scheme == "none":
            found = resolve(f"someone/{known.id.rpartition('/')[2]}-{word}", HERE)
            assert found.scheme is not None
            assert (found.model.attention, found.model.base) == (known.attention, known.id)


@pytest.mark.parametrize("written", ["~nobody-of-that-name/config.json", "a\0b.json", "/", "."])
def test_a_path_that_leads_nowhere_is_a_located_error(written: str, tmp_path: Path) -> None:
    """A path without a file behind it is refused as input, whatever stands in it."""
    with pytest.raises(InputError):
        resolve(written, tmp_path)


@given(st.text(max_size=40))
def test_any_text_is_answered(text: str) -> None:
    """Whatever is written, the answer is a model or one of the errors that say what is wrong."""
    try:
        found = resolve(text, HERE)
    except (UnknownName, InputError):
        return
    assert found.says or is_path(text)
