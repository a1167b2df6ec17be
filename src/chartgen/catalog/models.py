"""Models: what a language model is made of, as far as its memory and speed follow from it.

One file per model in `data/models`, named by its Hugging Face id with `--` for the slash. All sizes are those
of the whole model in its config.json; how they split over GPUs is worked out in `chartgen.memory`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Final, Literal

from chartgen.catalog.model_attention import Attention
from chartgen.catalog.model_words import bare_size, billions, known_part, scheme_in, unread_format
from chartgen.catalog.store import Store, plain
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import UnknownName

Dtype = Literal["bfloat16", "float16", "float32"]
"""Element type of unquantized weights."""

Part = Literal[
    "embedding",
    "lm_head",
    "attention",
    "linear_attention",
    "feed_forward",
    "experts",
    "shared_experts",
    "router",
    "vision",
    "norms",
    "multi_token_prediction",
]
"""The parts of a model that a quantized checkpoint treats alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedForward:
    """Dense feed-forward blocks."""

    layers: int
    """How many blocks are dense."""
    width: int
    """Intermediate width; the largest where blocks differ."""
    total_width: int | None = None
    """Intermediate widths of all blocks together where they differ (Gemma 4 E2B, Nemotron Super 49B)."""
    gated: bool = True
    """Three matrices (gate, up, down) rather than two."""
    bias: bool = False
    """The matrices have biases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """Mixture-of-experts blocks."""

    layers: int
    """How many blocks have experts."""
    count: int
    """Routed experts of one block."""
    per_token: int
    """Experts a token is routed to."""
    width: int
    """Intermediate width of one routed expert."""
    shared_width: int = 0
    """Intermediate width of all shared experts of a block together; 0 without any."""
    shared_gate: bool = False
    """The shared expert has a scalar gate (Qwen)."""
    gated: bool = True
    """Three matrices an expert rather than two."""
    bias: bool = False
    """Expert matrices have biases (gpt-oss)."""
    latent_width: int | None = None
    """Width that tokens are projected to around the routed experts; None: the hidden size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vision:
    """A vision (or audio) tower with its projector."""

    parameters: int
    """Parameters of tower and projector together."""
    profile_tokens: int | None = None
    """Tokens of the largest image, which the engine encodes once while it profiles memory."""
    patches_per_token: int = 1
    """Patches that the projector merges into one token."""
    width: int = 0
    """Width of the tower; 0 where it is not known, and its peak is then not counted."""
    mlp_width: int = 0
    """Intermediate width of the tower."""
    gated_mlp: bool = False
    """The tower's feed-forward has three matrices rather than two."""
    replicated: bool = False
    """The engine keeps a whole copy on every rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RopeTable:
    """A table of rotary sines and cosines: `positions` rows of `size` elements in the model's dtype."""

    positions: int
    """Rows: the position limit times the scaling factor."""
    size: int
    """Elements of a row: the rotary width of a head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """How the published weights are stored."""

    scheme: str = "none"
    """A quantization scheme of the catalog; "none" for plain weights in the model's dtype."""
    plain_parts: tuple[Part, ...] = ()
    """Parts stored unquantized, beyond those the scheme always leaves alone."""
    part_schemes: Mapping[Part, str] = field(default_factory=dict, hash=False)
    """Parts stored in another scheme (DeepSeek V4's experts, attention of NVIDIA's mixed checkpoints)."""
    file_gib: float | None = None
    """Size of the weight files as published, where known: what a download moves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model and the facts of its config.json."""

    id: str
    """Hugging Face id, as the engine takes it."""
    architecture: str
    """Architecture class, as config.json names it."""
    hidden_size: int
    """Width of the residual stream."""
    vocab_size: int
    """Rows of the embedding."""
    max_position_embeddings: int
    """Longest context the model is made for, in tokens."""
    attention: Attention
    """The kinds of layer it mixes tokens with."""
    source: str
    """Where the facts were read, as public addresses."""
    checked: str
    """The day they were read, as 2026-11-30."""
    title: str = ""
    """What people call it; empty when the id says it."""
    aliases: tuple[str, ...] = ()
    """Other ids and names with exactly these facts (fine-tunes and mirrors of the same shape included)."""
    base: str | None = None
    """Id of the model whose weights this one quantizes; None for an original."""
    parameters: int | None = None
    """Published or counted parameters, vision and extra layers included; tests hold the shapes to it."""
    dtype: Dtype = "bfloat16"
    """Element type of its unquantized weights."""
    tie_word_embeddings: bool = False
    """The output head is the embedding."""
    feed_forward: FeedForward | None = None
    """Its dense feed-forward blocks."""
    experts: Experts | None = None
    """Its mixture-of-experts blocks."""
    norms_per_layer: int = 2
    """Normalisations as wide as the hidden size in one layer (Gemma 2 and later have 4)."""
    vision: Vision | None = None
    """Its vision tower."""
    other_parameters: int = 0
    """Parameters outside the parts above, never quantized: learned positions, embeddings of each layer."""
    multi_token_prediction: int = 0
    """Extra layers for multi-token prediction: loaded only for speculative decoding with them."""
    rope_tables: tuple[RopeTable, ...] = ()
    """Rotary tables where they are not one table of the position limit and the head size."""
    checkpoint: Checkpoint = Checkpoint()
    """How the published weights are stored."""
    licence: str | None = None
    """Licence as the publisher names it."""
    gated: bool = False
    """Downloading needs an accepted licence and a token."""
    notes: str = ""
    """What a reader should know about these facts: sources that disagree, assumptions."""
    reference: bool = False
    """A stand-in for a bare size such as 70B: figures get wider margins."""
    key: str = ""
    """File name without `.yaml`; filled by the loader."""
    origin: str = "catalog"
    """"catalog", or the file of the user that states these facts; filled by the loader."""

    @property
    def layers(self) -> int:
        """Layers that mix tokens."""
        return sum(kind.layers for kind in self.attention.kinds())


_STORE: Final = Store("model", "models", Model)

HINT: Final = "a path to the model's config.json would do"
NO_SIZE: Final = "no model of the catalog is near enough to stand for that size"


def model(name: str) -> Model:
    """The model that `name` stands for.

    An id, its last part or an alias; the name of a quantized copy of a known model; a bare size such as 70B,
    which stands for a named model with wider margins.

    Raises:
        UnknownName: no model has that name, or its files are in a format that the engine does not read; carries
            the nearest name and what else would do.
    """
    key = _STORE.find(name)
    if key is not None:
        found = _STORE.load(key)
        return replace(found, id=name) if name in found.aliases else found
    stand_in = bare_size(name)
    if stand_in is not None:
        known = _STORE.get(stand_in)
        return replace(known, title=f"{name.strip()}, sized as {known.id}", reference=True)
    unread = unread_format(name)
    if unread is not None:
        hint = f"this one is in the format {unread.format}: {unread.because}; a copy in AWQ or FP8 would do"
        raise UnknownName("model", name, _ids(), hint)
    copy = _copy(name)
    if copy is not None:
        return copy
    raise UnknownName("model", name, _ids(), HINT if billions(name) is None else f"{NO_SIZE}; {HINT}")


def _ids() -> list[str]:
    """Every id, as people write it: what a misspelt name is compared with."""
    return [key.replace("--", "/") for key in _STORE.keys()]  # noqa: SIM118 - a store, not a mapping  # noqa: SIM118 - a store, no mapping


def _copy(name: str) -> Model | None:
    """A copy of a known model in another repository, as its name says; None when the name says none.

    The name holds the whole name of the known model: alone, it is a mirror; with the word of a quantization, it
    is a copy under that scheme.
    """
    owner, _, last = name.rpartition("/")
    said = scheme_in(name)
    if said is None:
        return _copied(name, plain(last), None) if owner else None
    scheme, rest = said
    return next((copy for part in known_part(rest) if (copy := _copied(name, part, scheme))), None)


def _copied(name: str, part: str, scheme: str | None) -> Model | None:
    """The copy `name` of the model whose plain name is `part`; None when no model has it."""
    key = _STORE.find(part)
    if key is None:
        return None
    found = _STORE.load(key)
    base = next((known for known in (found.id, *found.aliases) if plain(known.rsplit("/", 1)[-1]) == part), found.id)
    if scheme is None:
        return replace(found, id=name, notes=f"shapes of {base}, of which its name says it is a mirror")
    notes = f"shapes of {base}, of which its name says it is a {scheme} copy"
    stored = Checkpoint(scheme=scheme, plain_parts=_still_plain(found))
    return replace(found, id=name, base=base, checkpoint=stored, notes=notes)


def _still_plain(base: Model) -> tuple[Part, ...]:
    """Parts that a copy leaves plain as its base does, where the base is itself quantized."""
    return base.checkpoint.plain_parts if base.checkpoint.scheme != "none" else ()


def models() -> list[Model]:
    """Every model of the catalog and of the user's folders, in the order of keys."""
    return list(_STORE.all())


def key_of(identifier: str) -> str:
    """The file name, without `.yaml`, of the model with this Hugging Face id."""
    return identifier.replace("/", "--")


def add_folder(path: Path) -> list[str]:
    """Add a user's `models` folder below `path`; return the ids of ours that it overrides."""
    return _STORE.add(path)
