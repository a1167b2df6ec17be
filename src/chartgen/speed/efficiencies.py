"""Efficiencies: what share of a card's data sheet the engine reaches, and what a step costs besides."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from chartgen.catalog.store import document
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build

FILE = "speed.yaml"
"""The efficiencies' file in the catalog's data."""

Compute = Literal["16-bit", "fp8", "int8", "fp4", "weight-only"]
"""How a matrix product is computed: the format of its operands, or 16-bit with weights expanded on the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The efficiencies as numbers, each in the unit that the data file states."""

    weight_bandwidth: float
    """Share of memory bandwidth that reading weights reaches."""
    cache_bandwidth: float
    """Share of memory bandwidth that reading the KV cache reaches."""
    compute: float
    """Share of peak compute in 16-bit and 8-bit formats."""
    compute_fp4: float
    """Share of peak compute in 4-bit formats."""
    compute_weight_only: float
    """Share of 16-bit peak where weights are expanded on the way."""
    compute_attention: float
    """Share of 16-bit peak that attention over a prompt reaches."""
    block_overhead: float
    """Microseconds of a block (attention or feed-forward) besides what the roofline counts."""
    expert_overhead: float
    """Microseconds that a block of experts adds to it."""
    sequence_overhead: float
    """Microseconds of a step for each sequence: scheduling, sampling, detokenizing."""
    block_passes: float
    """Times that a block moves one hidden state of each token through memory, on every rank."""
    expert_passes: float
    """The same for each expert a token is routed to."""
    switch_latency: float
    """Microseconds of one all-reduce, for each doubling of ranks, over NVLink or xGMI."""
    switch_bandwidth: float
    """Share of the stated link bandwidth that an all-reduce over NVLink or xGMI reaches."""
    bus_latency: float
    """Microseconds of one all-reduce, for each doubling of ranks, over PCIe."""
    bus_bandwidth: float
    """Share of the stated link bandwidth that an all-reduce over PCIe reaches."""
    prompt_queue: float
    """Prompts that a new prompt waits for, as a share of the other requests in flight."""
    request_overhead: float
    """Milliseconds of a request before and after the engine: HTTP, tokenizing, the first chunk sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """One efficiency: its value, what was expected before the fit, and why."""

    value: float
    """The value in force."""
    expected: float
    """The value to expect without any measurement: what the fit is drawn to."""
    spread: float
    """By what factor the expectation may be off, one standard deviation; 1: not fitted."""
    unit: str
    """The unit of all three."""
    because: str
    """What it stands for, and where the expectation comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """Cards whose runs took part in the fit."""

    capability: tuple[str, ...]
    """Compute capabilities of the cards."""
    compute: tuple[Compute, ...]
    """How the products of those runs were computed."""
    links: tuple[str, ...]
    """What carried the messages between ranks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """A scheme of 16-bit activations that the engine computes in another format on some cards."""

    scheme: str
    """The scheme."""
    compute: Compute
    """How it is computed there."""
    capability: tuple[str, ...]
    """Compute capabilities of those cards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """By what factor a quantity may be off, either way."""

    fitted: float
    """On grounds that took part in the fit."""
    assumed: float
    """On any other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """Median absolute errors when half of the models is predicted by a fit on the other half."""

    time_to_first_token: float
    """Of the time to first token, as a share."""
    inter_token_latency: float
    """Of the inter-token latency, as a share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedFacts:
    """Everything that the speed model takes from data."""

    source: str
    """The runs that the values were fitted on."""
    oldest: str
    """The oldest release among them."""
    bus_gb_per_second: float
    """Link bandwidth taken where the card states none."""
    native: tuple[Native, ...]
    """Schemes that are weight-only except on some cards."""
    tried: tuple[Tried, ...]
    """The cards, products and links of those runs."""
    held_out: HeldOut
    """How well the fit predicts models that did not take part in it."""
    time_to_first_token: Margins
    """Margin of the time to first token."""
    inter_token_latency: Margins
    """Margin of the inter-token latency."""
    cliff: Margins
    """Margin of the concurrency that the pool holds."""
    efficiencies: Mapping[str, Efficiency]
    """By the field's name in `Rates`."""

    def rates(self) -> Rates:
        """The values in force."""
        return Rates(**{name: entry.value for name, entry in self.efficiencies.items()})


@cache
def speed_facts() -> SpeedFacts:
    """The facts of the speed model."""
    return build(document(catalog_data() / FILE).value, SpeedFacts)


@cache
def rates() -> Rates:
    """The efficiencies in force."""
    return speed_facts().rates()
