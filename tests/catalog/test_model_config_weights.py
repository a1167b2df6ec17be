"""Exact sizes from a safetensors index or header, and the quantization that a config states."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from catalog.config_files import LLAMA, PUBLISHED, changed, read
from chartgen.kernel.errors import InputError
from chartgen.kernel.units import GIB

GEMMA = PUBLISHED["google/gemma-3-27b-it"]
DEEPSEEK = PUBLISHED["deepseek-ai/DeepSeek-V3.2"]


def test_an_index_beside_the_config_gives_the_exact_size(tmp_path: Path) -> None:
    """The total of model.safetensors.index.json becomes the size of the weight files."""
    index = {"metadata": {"total_size": 16060522496}, "weight_map": {"lm_head.weight": "model-1.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    assert read(tmp_path, LLAMA).checkpoint.file_gib == 16060522496 / GIB


HEADER = {
    "__metadata__": {"format": "pt"},
    "model.embed_tokens.weight": {"dtype": "BF16", "shape": [4, 8], "data_offsets": [0, 64]},
    "model.vision_tower.patch.weight": {"dtype": "BF16", "shape": [3, 8], "data_offsets": [64, 112]},
}


def test_a_header_counts_parameters_and_towers(tmp_path: Path) -> None:
    """A safetensors file, or its header as JSON, gives parameters, bytes and the tower's share."""
    text = json.dumps(HEADER).encode()
    file = tmp_path / "weights.safetensors"
    file.write_bytes(struct.pack("<Q", len(text)) + text + bytes(112))
    header = tmp_path / "header.json"
    header.write_bytes(text)
    for weights in (file, header):
        found = read(tmp_path, GEMMA, weights)
        assert (found.parameters, found.checkpoint.file_gib) == (56, 112 / GIB)
        assert found.vision is not None
        assert found.vision.parameters == 24


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("w.json", b"{}", "JSON of another kind"),
        ("w.json", b'{"weight_map": {}}', "nothing"),
        ("w.json", b'{"weight_map": {}, "metadata": {"total_size": "big"}}', '"big"'),
        ("w.json", b'{"t": {"dtype": "F8", "shape": [2], "data_offsets": [1]}}', "JSON of another kind"),
        ("w.safetensors", struct.pack("<Q", 1 << 60), f"a header of {1 << 60} bytes"),
        ("w.safetensors", struct.pack("<Q", 2) + b"no", "a header that is no JSON"),
    ],
)
def test_a_bad_index_or_header_is_refused(name: str, content: bytes, told: str, tmp_path: Path) -> None:
    """What is no index and no header is told, and a header that claims to be huge is not read."""
    weights = tmp_path / name
    weights.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(tmp_path, LLAMA, weights)
    assert caught.value.problems[0].found == told


@pytest.mark.parametrize(
    ("stated", "scheme", "plain"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "awq", ()),
        ({"quant_method": "gptq", "bits": 8, "group_size": 128}, "gptq-int8", ()),
        ({"quant_method": "auto-round", "bits": 4, "group_size": 128, "sym": True}, "w4a16", ()),
        ({"quant_method": "fp8"}, "fp8", ()),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "bnb-4bit", ()),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "int"}, "input_activations": {}}},
                "ignore": ["lm_head"],
            },
            "w8a8",
            ("lm_head",),
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "float", "group_size": 16}}},
                "ignore": ["re:.*self_attn.*", "model.layers.0.mlp.gate_proj"],
            },
            "nvfp4",
            ("attention",),
        ),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "fp8", ()),
    ],
)
def test_quantization_is_read_as_the_tools_write_it(
    stated: dict[str, Any], scheme: str, plain: tuple[str, ...], tmp_path: Path
) -> None:
    """Each tool's spelling ends at a scheme; parts left plain in every layer are kept, single layers are not."""
    found = read(tmp_path, changed(LLAMA, quantization_config=stated)).checkpoint
    assert (found.scheme, found.plain_parts) == (scheme, plain)


def test_a_mixed_checkpoint_keeps_the_scheme_of_each_part(tmp_path: Path) -> None:
    """ModelOpt's list of layers gives the scheme of the experts, and attention its own."""
    layers = {
        "model.layers.0.mlp.experts.0.up_proj": {"quant_algo": "NVFP4", "group_size": 16},
        "model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"},
    }
    stated = {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": layers}
    found = read(tmp_path, changed(LLAMA, quantization_config=stated)).checkpoint
    assert (found.scheme, found.part_schemes) == ("nvfp4", {"attention": "fp8"})


def test_modelopts_own_file_is_read_where_the_config_says_nothing(tmp_path: Path) -> None:
    """hf_quant_config.json beside the config states the scheme of ModelOpt's older checkpoints."""
    stated = {
        "producer": {"name": "modelopt"},
        "quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]},
    }
    (tmp_path / "hf_quant_config.json").write_text(json.dumps(stated), encoding="utf-8")
    found = read(tmp_path, DEEPSEEK | {"quantization_config": None}).checkpoint
    assert (found.scheme, found.plain_parts) == ("nvfp4", ("lm_head",))
