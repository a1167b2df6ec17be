"""The layers of a config.json whose cache is a state: Mamba-2, delta rule, lightning attention, short convolution."""

from __future__ import annotations

from chartgen.catalog.model_attention import DeltaNet, LightningAttention, Mamba2, ShortConvolution
from chartgen.catalog.model_config_section import Section

FLOAT32 = "float32"


def mamba2(section: Section, layers: int) -> Mamba2:
    """Mamba-2 layers: the head width is stated, or the inner width over the heads."""
    heads = section.whole("mamba_num_heads")
    if section.get("mamba_head_dim") in (None, "auto"):
        inner = section.whole("mamba_expand") * section.whole("hidden_size")
        size = max(1, inner // heads)
    else:
        size = section.whole("mamba_head_dim")
    dtype = section.get("mamba_ssm_cache_dtype")
    return Mamba2(
        layers=layers,
        heads=heads,
        head_size=size,
        state_size=section.whole("ssm_state_size"),
        groups=section.whole("n_groups"),
        conv_kernel=section.whole("conv_kernel"),
        conv_bias=section.flag(section.key_of("use_conv_bias"), otherwise=True),
        float32_state=dtype == FLOAT32,
    )


def delta_net(section: Section, layers: int) -> DeltaNet:
    """Gated delta-rule layers of Qwen, and of Kimi with one decay a channel."""
    value_heads = section.whole("linear_num_value_heads")
    value_size = section.whole("linear_value_head_dim")
    per_channel = section.rules.traits.per_channel_decay
    return DeltaNet(
        layers=layers,
        key_heads=section.whole_or("linear_num_key_heads", value_heads),
        value_heads=value_heads,
        key_head_size=section.whole_or("linear_key_head_dim", value_size),
        value_head_size=value_size,
        conv_kernel=section.whole("linear_conv_kernel_dim"),
        per_channel=per_channel,
        full_gates=1 if per_channel and section.flag(section.key_of("use_full_rank_gate")) else 0,
        float32_state=per_channel or section.get("mamba_ssm_dtype") == FLOAT32,
    )


def lightning(section: Section, layers: int) -> LightningAttention:
    """Lightning attention layers, as wide as the full ones."""
    heads = section.whole("num_attention_heads")
    hidden = section.whole("hidden_size")
    return LightningAttention(
        layers=layers, heads=heads, head_size=section.whole_or("head_dim", max(1, hidden // heads))
    )


def short_convolution(section: Section, layers: int) -> ShortConvolution:
    """Short convolutions over the hidden size."""
    return ShortConvolution(
        layers=layers,
        width=section.whole_or("conv_dim", section.whole("hidden_size")),
        conv_kernel=section.whole("conv_L_cache"),
        bias=section.flag("conv_bias"),
    )
