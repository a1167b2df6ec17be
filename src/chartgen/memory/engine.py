"""How one release of the engine uses memory: the rules of the catalog that hold for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from chartgen.catalog.models import Model
from chartgen.catalog.store import document
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build
from chartgen.memory.release import Release, release


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A number that holds from one release on."""

    since: str
    """First release it holds for."""
    value: float
    """The number, in the unit that its list states."""
    low: float | None = None
    """The least it may be; None: exactly the value."""
    high: float | None = None
    """The most it may be; None: exactly the value."""
    each: float = 0
    """What is added for each further peer beyond a pair."""
    because: str = ""
    """Why it is so."""
    source: str
    """Where it was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """Default batch limits of cards with at least so much memory."""

    least_gib: float
    """Least memory of the card, in GiB."""
    seqs: int
    """Sequences in a batch."""
    tokens: int
    """Tokens in a batch."""
    except_cards: tuple[str, ...] = ()
    """Parts of device names that this tier leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """Default batch limits that hold from one release on."""

    since: str
    """First release they hold for."""
    tiers: tuple[Tier, ...]
    """From the largest cards down; the first that applies holds."""
    source: str
    """Where they were read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondRunner:
    """Which models run on the engine's second model runner (V2) from one release on, when nothing is said."""

    since: str
    """First release it holds for."""
    architectures: tuple[str, ...] = ()
    """Architectures that do."""
    plain_weights_only: bool = False
    """Only unquantized ones."""
    dense: bool = False
    """All models without experts and without states do."""
    others: bool = False
    """Models with experts or states do, too."""
    source: str
    """Where it was read."""

    def runs(self, model: Model, *, quantized: bool) -> bool:
        """Whether this model runs on it."""
        if self.plain_weights_only and quantized:
            return False
        if model.architecture in self.architectures:
            return True
        attention = model.attention
        states = attention.mamba2 or attention.delta_net or attention.lightning
        return self.others if model.experts or states else self.dense


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """The memory behaviour of one release: one rule a field, with units and reasons in `engine_memory.yaml`."""

    release: Release
    """The release."""
    memory_share: Rule
    """Share of the card when `--gpu-memory-utilization` is not given."""
    first_engine: Rule
    """1 for the first engine (V0)."""
    whole_prompt: Rule
    """The first engine's longest prompt that is run at once, in tokens."""
    sampler_bytes: Rule
    """Bytes per sequence and vocabulary entry at the peak of the sampler's warm-up."""
    sampler_programs: Rule
    """Bytes per multiprocessor and vocabulary entry that the sampler's kernel buffers."""
    product_workspace_mib: Rule
    """MiB of workspace for matrix products before Hopper."""
    product_workspace_hopper_mib: Rule
    """The same on Hopper and later."""
    sampler_bytes_second: Rule
    """The same for the second model runner."""
    sampler_kept_second: Rule
    """Bytes per sequence and vocabulary entry that the second model runner keeps."""
    experts_add: Rule
    """1 where the workspace of experts adds to the peak."""
    mxfp4_workspace_hopper: Rule
    """1 where mxfp4 experts need that workspace on Hopper and later."""
    delta_net_widths: Rule
    """Intermediates of a delta-rule layer, in value widths."""
    mamba2_widths: Rule
    """Intermediates of a state-space layer, in inner widths."""
    encoder_copies: Rule
    """Hidden-size rows a token of the encoder budget holds."""
    non_torch_alone: Rule
    """GiB outside PyTorch, one GPU."""
    non_torch_pipeline: Rule
    """GiB outside PyTorch, pipeline peers only."""
    non_torch_nvlink_hopper: Rule
    """GiB outside PyTorch, tensor parallel over NVLink, Hopper and later."""
    non_torch_nvlink_other: Rule
    """GiB outside PyTorch, tensor parallel over NVLink or xGMI elsewhere."""
    non_torch_pcie: Rule
    """GiB outside PyTorch, tensor parallel over PCIe."""
    graphs_charged: Rule
    """1 where graphs are taken from the pool."""
    graphs_largest: Rule
    """Most tokens of a captured graph."""
    graphs_first_mib: Rule
    """MiB of the first capture."""
    graphs_token_mib: Rule
    """MiB of the first capture for each token of the largest graph."""
    graphs_each_mib: Rule
    """MiB of each graph."""
    graphs_layer_mib: Rule
    """MiB of each graph for each layer."""
    allocator_large: Rule
    """MiB from which on a tensor gets blocks of its own."""
    allocator_step: Rule
    """MiB in which such blocks grow."""
    allocator_unsplit: Rule
    """MiB that stay with a tensor's block."""
    activation_margin: Rule
    """Share by which the activation may differ from its formula."""
    weights_margin: Rule
    """Share by which weights may differ from their shapes."""
    weights_margin_reference: Rule
    """The same for a bare size."""
    group_widening: Rule
    """How far the largest bucket of layers may exceed the smallest for groups to take its size."""
    batches_in_flight: Rule
    """Batches that windows and chunks hold tokens for."""
    state_prefix_caching: Rule
    """1 where prefix caching is on by default for hybrids with states."""
    tokens_by_concurrency: Rule
    """1 where the printed token count is concurrency x max-model-len."""
    latent_block: Rule
    """Tokens of a block of latent attention, Hopper and later."""
    block: Rule
    """Tokens of a block."""
    mxfp4_hidden: Rule
    """Multiple of the hidden size of mxfp4 experts."""
    mxfp4_width: Rule
    """Multiple of the width of mxfp4 experts on one rank."""
    mxfp4_width_hopper: Rule
    """The same on Hopper."""
    second_runner: SecondRunner
    """Which models run on the second model runner."""
    batch_limits: BatchLimits
    """Default batch limits."""


_Dated = TypeVar("_Dated", Rule, BatchLimits, SecondRunner)


@cache
def _rules() -> Mapping[str, Any]:
    data: Mapping[str, Any] = document(catalog_data() / "engine_memory.yaml").value
    return data


def _holding(rules: Sequence[Any], kind: type[_Dated], at: Release) -> _Dated:
    holding = [rule for rule in rules if release(rule["since"]) <= at]
    return build(holding[-1] if holding else rules[0], kind)


@cache
def behaviour(at: Release) -> Behaviour:
    """The memory behaviour of a release; one older than every rule gets the oldest."""
    rules = _rules()
    others = {"release", "second_runner", "batch_limits"}
    names = [field.name for field in fields(Behaviour) if field.name not in others]
    return Behaviour(
        release=at,
        second_runner=_holding(rules["second_runner"], SecondRunner, at),
        batch_limits=_holding(rules["batch_limits"], BatchLimits, at),
        **{name: _holding(rules[name], Rule, at) for name in names},
    )
