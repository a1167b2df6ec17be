"""How one release of the engine uses memory: the rules of the catalog that hold for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from chartgen.catalog.store import document
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
class Behaviour:
    """The memory behaviour of one release."""

    release: Release
    """The release."""
    memory_share: Rule
    """Share of the card when `--gpu-memory-utilization` is not given."""
    sampler_bytes: Rule
    """Bytes per sequence and vocabulary entry at the peak of the sampler's warm-up."""
    experts_add: Rule
    """1 where the workspace of experts adds to the peak."""
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
    graphs_gib: Rule
    """GiB of CUDA graphs."""
    group_widening: Rule
    """How far the largest bucket of layers may exceed the smallest for groups to take its size."""
    batches_in_flight: Rule
    """Batches that windows and chunks hold tokens for."""
    tokens_by_concurrency: Rule
    """1 where the printed token count is concurrency x max-model-len."""
    batch_limits: BatchLimits
    """Default batch limits."""


_Dated = TypeVar("_Dated", Rule, BatchLimits)


@cache
def _rules() -> Mapping[str, Any]:
    data: Mapping[str, Any] = document(catalog_data() / "engine_memory.yaml").value
    return data


def _holding(rules: Sequence[Any], kind: type[_Dated], at: Release) -> _Dated:
    known = [build(rule, kind) for rule in rules]
    holding = [rule for rule in known if release(rule.since) <= at]
    return holding[-1] if holding else known[0]


@cache
def behaviour(at: Release) -> Behaviour:
    """The memory behaviour of a release; one older than every rule gets the oldest."""
    rules = dict(_rules())
    limits = _holding(rules.pop("batch_limits"), BatchLimits, at)
    chosen = {name: _holding(listed, Rule, at) for name, listed in rules.items()}
    return Behaviour(release=at, batch_limits=limits, **chosen)
