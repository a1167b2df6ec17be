"""The vision tower of a config.json: its shapes, and its parameters by the formula of its kind.

Each formula counts the tensors of the class in transformers 5.24 (https://github.com/huggingface/transformers,
src/transformers/models). A tower without a formula is refused, unless a safetensors header names its tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from types import MappingProxyType
from typing import Final

from chartgen.catalog.model_config_section import Section
from chartgen.catalog.model_config_weights import Tensors
from chartgen.catalog.models import Vision

VISION: Final = "vision_config"
TOWERS: Final = (VISION, "audio_config", "sound_config", "img_processor")
"""Keys whose presence means a tower beside the language model."""
CHANNELS: Final = 3
"""Red, green, blue."""
FRAMES: Final = 2
"""Frames that one patch of Qwen's towers spans."""
AXES: Final = 2
"""Height and width."""


def vision(root: Section, text_width: int, tensors: Tensors | None) -> Vision | None:
    """The tower of a config, if it has one. Problems are kept in the section."""
    keys = [name for name in TOWERS if root.raw(name) is not None]
    if not keys:
        return None
    formula = FORMULAS.get(root.rules.vision or "")
    shapes = root.raw(VISION)
    counted = tensors.tower_parameters if tensors is not None else None
    if formula is None or keys != [VISION] or not isinstance(shapes, Mapping):
        if counted is None:
            found = f"a tower of {root.rules.key}, whose size no formula of ours gives"
            root.refuse(keys[-1], found, "a safetensors file or its header beside it, which names every tensor")
        return Vision(parameters=counted or 0)
    tower = replace(formula(root.inside(VISION, shapes), text_width), profile_tokens=root.rules.image_tokens)
    return tower if counted is None else replace(tower, parameters=counted)


def _block(width: int, inner: int, *, gated: bool = False, bias: bool = True, norm: int = 2) -> int:
    """One layer: four square projections, an MLP of two or three matrices, two norms of `norm` vectors each."""
    matrices = 3 if gated else 2
    biases = 4 * width + (matrices - 1) * inner + width if bias else 0
    return 4 * width * width + matrices * width * inner + biases + 2 * norm * width


def _patch(section: Section, width: int, *, frames: int = 1) -> int:
    """The matrix that embeds one patch."""
    return CHANNELS * frames * section.whole("patch_size") ** 2 * width


def _patches(section: Section) -> int:
    return (section.whole("image_size") // section.whole("patch_size")) ** 2


def _siglip(section: Section, text_width: int) -> Vision:
    """SigLIP with Gemma 3's projector: one matrix and a norm, over patches pooled to a fixed number of tokens."""
    width, inner = section.whole("hidden_size"), section.whole("intermediate_size")
    blocks = section.whole("num_hidden_layers") * _block(width, inner)
    total = _patch(section, width) + width + _patches(section) * width + blocks + 2 * width
    total += width * text_width + width
    tokens = section.rules.image_tokens or 1
    return Vision(parameters=total, width=width, mlp_width=inner, patches_per_token=max(1, _patches(section) // tokens))


def _clip(section: Section, text_width: int) -> Vision:
    """CLIP with LLaVA's projector: two matrices with biases."""
    width, inner = section.whole("hidden_size"), section.whole("intermediate_size")
    blocks = section.whole("num_hidden_layers") * _block(width, inner)
    total = _patch(section, width) + width  # and the class embedding
    total += (_patches(section) + 1) * width + 4 * width + blocks
    total += width * text_width + text_width + text_width * text_width + text_width
    return Vision(parameters=total, width=width, mlp_width=inner)


def _pixtral(section: Section, text_width: int) -> Vision:
    """Pixtral with Mistral 3's projector: a norm, a merger of patches and two matrices."""
    width, inner = section.whole("hidden_size"), section.whole("intermediate_size")
    blocks = section.whole("num_hidden_layers") * _block(width, inner, gated=True, bias=False, norm=1)
    merge = section.whole_or("spatial_merge_size", 2) ** 2
    total = _patch(section, width) + width + blocks + width + merge * width * width
    total += width * text_width + text_width * text_width
    return Vision(parameters=total, width=width, mlp_width=inner, patches_per_token=merge, gated_mlp=True)


def _merger(width: int, merge: int, out: int, norm: int) -> int:
    """Qwen's merger: neighbouring patches side by side, a norm of `norm` elements, two matrices with biases."""
    wide = merge * width
    return norm + wide * wide + wide + wide * out + out


def _qwen2(section: Section, text_width: int) -> Vision:
    width = section.whole("embed_dim")
    inner = width * section.whole_or("mlp_ratio", 4)
    merge = section.whole_or("spatial_merge_size", 2) ** 2
    total = _patch(section, width, frames=FRAMES) + section.whole("depth") * _block(width, inner)
    total += _merger(width, merge, text_width, 2 * width)
    return Vision(parameters=total, width=width, mlp_width=inner, patches_per_token=merge)


def _qwen2_5(section: Section, text_width: int) -> Vision:
    width, inner = section.whole("hidden_size"), section.whole("intermediate_size")
    merge = section.whole_or("spatial_merge_size", 2) ** 2
    blocks = section.whole("depth") * _block(width, inner, gated=True, norm=1)
    total = _patch(section, width, frames=FRAMES) + blocks + _merger(width, merge, text_width, width)
    return Vision(parameters=total, width=width, mlp_width=inner, patches_per_token=merge, gated_mlp=True)


def _qwen3(section: Section, text_width: int) -> Vision:
    width, inner = section.whole("hidden_size"), section.whole("intermediate_size")
    merge = section.whole_or("spatial_merge_size", 2) ** 2
    deep = len(section.items("deepstack_visual_indexes") or ())
    total = _patch(section, width, frames=FRAMES) + width + section.whole("num_position_embeddings") * width
    total += section.whole("depth") * _block(width, inner) + _merger(width, merge, text_width, 2 * width)
    total += deep * _merger(width, merge, text_width, 2 * merge * width)
    return Vision(parameters=total, width=width, mlp_width=inner, patches_per_token=merge)


def _gemma4(section: Section, text_width: int) -> Vision:
    """Gemma 4's tower: four norms a layer, learned positions on two axes, one matrix as the projector."""
    width, inner = section.whole("hidden_size"), section.whole("intermediate_size")
    layer = _block(width, inner, gated=True, bias=False, norm=2) + 2 * section.whole("head_dim")
    total = _patch(section, width) + AXES * section.whole("position_embedding_size") * width
    total += section.whole("num_hidden_layers") * layer + width * text_width
    pooled = section.whole("pooling_kernel_size") ** 2
    return Vision(parameters=total, width=width, mlp_width=inner, patches_per_token=pooled, gated_mlp=True)


def _llama4(section: Section, text_width: int) -> Vision:
    """Llama 4's tower: pixels shuffled into an adapter of two matrices, one matrix as the projector."""
    width, inner = section.whole("hidden_size"), section.whole("intermediate_size")
    total = _patch(section, width) + width + (_patches(section) + 1) * width + 4 * width
    total += section.whole("num_hidden_layers") * _block(width, inner)
    middle, out = section.whole("projector_input_dim"), section.whole("projector_output_dim")
    total += inner * middle + out * out + section.whole("vision_output_dim") * text_width
    # two by two patches become one token: pixel_shuffle_ratio is one half
    return Vision(parameters=total, width=width, mlp_width=inner, patches_per_token=AXES**2)


def _moonvit(section: Section, text_width: int) -> Vision:
    """Kimi's MoonViT: learned positions on a grid, neighbouring patches side by side, two matrices with biases."""
    width, inner = section.whole("hidden_size"), section.whole("intermediate_size")
    merge = prod(section.items("merge_kernel_size") or (AXES, AXES))
    wide = merge * width
    total = _patch(section, width) + width
    total += section.whole("init_pos_emb_height") * section.whole("init_pos_emb_width") * width
    total += section.whole("num_hidden_layers") * _block(width, inner) + 2 * width
    total += 2 * width + wide * wide + wide + wide * text_width + text_width
    return Vision(parameters=total, width=width, mlp_width=inner, patches_per_token=merge)


FORMULAS: Final[Mapping[str, Callable[[Section, int], Vision]]] = MappingProxyType(
    {
        "siglip": _siglip,
        "clip": _clip,
        "pixtral": _pixtral,
        "qwen2_vl": _qwen2,
        "qwen2_5_vl": _qwen2_5,
        "qwen3_vl": _qwen3,
        "gemma4": _gemma4,
        "llama4": _llama4,
        "moonvit": _moonvit,
    }
)
"""The formulas by the name that model types use."""
