"""The transient peak of the engine's start-up profile: sampler warm-up or forward pass, and experts.

The profile runs one batch of the most tokens through the model, then the sampler over the most sequences.
What is counted is the larger of the two; releases that keep the experts' workspace allocated add it.
"""

from __future__ import annotations

from dataclasses import dataclass

from chartgen.catalog.models import Model
from chartgen.kernel.units import GIB, gib
from chartgen.memory.engine import Behaviour
from chartgen.memory.figures import Estimate
from chartgen.memory.stages import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The batch that the profile runs."""

    tokens: int
    """Tokens in it."""
    seqs: int
    """Sequences in it."""
    element: int
    """Bytes of an element of the model's dtype."""
    tensor_parallel: int
    """Tensor parallel size."""

    @property
    def rows(self) -> int:
        """Rows of logits the sampler sees: no more than there are tokens."""
        return min(self.seqs, self.tokens)


def forward_bytes(model: Model, batch: Batch) -> float:
    """Peak of the forward pass: the gated feed-forward's three intermediates and four hidden-size tensors."""
    width = model.feed_forward.width if model.feed_forward else 0
    if model.experts:
        width = max(width, model.experts.shared_width)
    return batch.element * batch.tokens * (3 * width / batch.tensor_parallel + 4 * model.hidden_size)


def expert_bytes(model: Model, batch: Batch) -> float:
    """The experts' two workspaces: each routed token's hidden or intermediate rows."""
    experts = model.experts
    if experts is None:
        return 0
    width = experts.width / batch.tensor_parallel
    hidden = experts.latent_width or model.hidden_size
    rows = batch.tokens * experts.per_token
    return batch.element * rows * (max(width, hidden) + max(2 * width, hidden))


def sampler_bytes(model: Model, batch: Batch, each: float) -> float:
    """Peak of the sampler's warm-up at `each` bytes a logit, with the hidden states it starts from."""
    return each * batch.rows * model.vocab_size + batch.element * batch.tokens * model.hidden_size


def activation(model: Model, stage: Stage, batch: Batch, engine: Behaviour) -> Estimate:
    """The activation peak of one rank of a stage."""
    rule = engine.sampler_bytes
    forward = forward_bytes(model, batch)
    experts = expert_bytes(model, batch)
    adds = bool(engine.experts_add.value)
    between = 0 if stage.of == 1 else 2 * batch.element * batch.tokens * model.hidden_size

    def peak(each: float) -> float:
        sampler = sampler_bytes(model, batch, each) if stage.last else 0
        top = max(sampler, forward) + experts if adds else max(sampler, forward + experts)
        return top + between

    best = peak(rule.value)
    samples = stage.last and sampler_bytes(model, batch, rule.value) >= forward
    term = (
        f"the sampler's warm-up over {batch.rows} sequences x {model.vocab_size} vocabulary entries"
        if samples
        else f"one batch of {batch.tokens} tokens"
    )
    low, high = peak(rule.low or rule.value), peak(rule.high or rule.value)
    return Estimate(
        low=min(low, best) * 0.95,
        best=best,
        high=max(high, best) * 1.05 + 0.05 * GIB,
        stands_on="formula",
        because=f"{gib(best)}: {term}, under vLLM {engine.release}",
    )
