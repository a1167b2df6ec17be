"""The transient peak of the engine's start-up profile: sampler warm-up or forward pass, and experts.

The profile runs one batch of the most tokens through the model, then the sampler over the most sequences.
What is counted is the larger of the two; releases that keep the experts' workspace allocated add it. The
second model runner also keeps its sampler's states, which count as long as the engine runs.
"""

from __future__ import annotations

from chartgen.catalog.model_attention import DeltaNet, GroupedHeads, Mamba2, Mixer
from chartgen.catalog.models import Model
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.units import gib
from chartgen.memory.engine import Behaviour
from chartgen.memory.figures import Estimate
from chartgen.memory.parts import kv_heads_per_rank
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
    second_runner: bool
    """The engine uses its second model runner."""
    programs: int
    """Multiprocessors of the card: programs of the sampler's kernel."""
    workspace: float
    """Bytes that matrix products keep on the card."""
    expert_workspace: bool = True
    """The kernels of the experts need workspaces."""

    @property
    def rows(self) -> int:
        """Rows of logits the sampler sees: no more than there are tokens."""
        return min(self.seqs, self.tokens)


def mixer_width(kind: Mixer, tensor_parallel: int, engine: Behaviour) -> float:
    """Elements a token of the intermediates of one layer that mixes tokens, on one rank."""
    if isinstance(kind, DeltaNet):
        return engine.delta_net_widths.value * kind.value_heads * kind.value_head_size / tensor_parallel
    if isinstance(kind, Mamba2):
        return engine.mamba2_widths.value * kind.heads * kind.head_size / tensor_parallel
    if isinstance(kind, GroupedHeads):
        queries = 2 * kind.heads * kind.head_size / tensor_parallel
        return queries + 2 * kv_heads_per_rank(kind.kv_heads, tensor_parallel) * kind.head_size
    return 0


def forward_bytes(model: Model, batch: Batch, engine: Behaviour) -> float:
    """Peak of the forward pass: the widest layer's intermediates and four hidden-size tensors.

    A gated feed-forward holds three times its width: gate and up, and their product.
    """
    width = model.feed_forward.width if model.feed_forward else 0
    if model.experts:
        width = max(width, model.experts.shared_width)
    widest = max(
        3 * width / batch.tensor_parallel,
        *(mixer_width(kind, batch.tensor_parallel, engine) for kind in model.attention.kinds()),
    )
    return batch.element * batch.tokens * (widest + 4 * model.hidden_size)


def expert_bytes(model: Model, batch: Batch) -> float:
    """The experts' two workspaces: each routed token's hidden or intermediate rows."""
    experts = model.experts
    if experts is None or not batch.expert_workspace:
        return 0
    width = experts.width / batch.tensor_parallel
    hidden = experts.latent_width or model.hidden_size
    rows = batch.tokens * experts.per_token
    return batch.element * rows * (max(width, hidden) + max(2 * width, hidden))


def encoder_bytes(model: Model, batch: Batch, engine: Behaviour) -> float:
    """What the profile of a vision encoder keeps: embeddings for as many tokens as the encoder may see at once."""
    if model.vision is None:
        return 0
    budget = max(batch.tokens, model.vision.profile_tokens or 0)
    return engine.encoder_copies.value * batch.element * budget * model.hidden_size


def encoder_peak(model: Model, batch: Batch) -> float:
    """Peak of the vision tower over the images that the profile encodes at once."""
    tower = model.vision
    if tower is None or not tower.profile_tokens or not tower.width:
        return 0
    images = min(max(1, batch.tokens // tower.profile_tokens), batch.seqs)
    patches = images * tower.profile_tokens * tower.patches_per_token
    inside = (3 if tower.gated_mlp else 2) * tower.mlp_width / batch.tensor_parallel
    return batch.element * patches * (inside + 4 * tower.width)


def sampler_bytes(model: Model, batch: Batch, each: float, program: float) -> float:
    """Peak of the sampler's warm-up at `each` bytes a logit, `program` bytes an entry of its kernel's buffers.

    It starts from the batch's hidden states, and from those of the sampled rows, picked and randomised.
    """
    logits = (each * batch.rows + program * min(batch.programs, batch.rows)) * model.vocab_size
    return logits + batch.element * (batch.tokens + 2 * batch.rows) * model.hidden_size


def activation(model: Model, stage: Stage, batch: Batch, engine: Behaviour) -> Estimate:
    """The activation peak of one rank of a stage, with what the second model runner's sampler keeps."""
    rule = engine.sampler_bytes_second if batch.second_runner else engine.sampler_bytes
    forward = max(forward_bytes(model, batch, engine), encoder_peak(model, batch) if stage.first else 0)
    experts = expert_bytes(model, batch)
    kept = encoder_bytes(model, batch, engine) + batch.workspace
    if batch.second_runner and stage.last:
        kept += engine.sampler_kept_second.value * batch.seqs * model.vocab_size
    if stage.of > 1:
        kept += 2 * batch.element * batch.tokens * model.hidden_size

    program = 0 if batch.second_runner else engine.sampler_programs.value

    def peak(each: float) -> float:
        sampler = sampler_bytes(model, batch, each, program) if stage.last else 0
        if engine.experts_add.value:
            return max(sampler, forward) + experts + kept
        return max(sampler, forward, experts) + kept

    best = peak(rule.value)
    samples = stage.last and sampler_bytes(model, batch, rule.value, program) >= forward
    term = (
        f"the sampler's warm-up over {batch.rows} sequences x {model.vocab_size} vocabulary entries"
        if samples
        else f"one batch of {batch.tokens} tokens"
    )
    low, high = peak(rule.low or rule.value), peak(rule.high or rule.value)
    spread = engine.activation_margin.value * best
    return Estimate(
        low=min(low, best) - spread,
        best=best,
        high=max(high, best) + spread,
        stands_on="formula",
        because=f"{gib(best)}: {term}, under vLLM {engine.release}",
    )
