"""Model families: the engine settings that belong to a model rather than to a workload or a card.

Parsers, tokenizer mode, block size, KV cache type, draft models: one file per family, each setting with its reason
and source. Whether a release knows a setting is the engine's to say, so a family lists what it wants and what would
do instead on older releases.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

from chartgen.catalog.engine_intents import Intent
from chartgen.catalog.engine_spelling import Cannot, Env, Flags, Spelling
from chartgen.catalog.store import document
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Json
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build

if TYPE_CHECKING:
    from chartgen.catalog.engines import Engine

Feature = Literal["tools", "reasoning", "vision", "speculation"]
"""What a profile switches on; settings with a feature are given only then."""
Vendor = Literal["nvidia", "amd"]
_ANY_MODEL: Final = "any-model"
"""The file of settings that belong to a vendor's cards whatever the model."""
_INTENTS: Final = frozenset(get_args(Intent))
_ENVIRONMENT: Final = "environment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One thing a family wants of the engine."""

    intent: str
    """An intent of `engine_intents`, or "environment" for variables."""
    value: Json
    because: str
    source: str
    instead: tuple[Json, ...] = ()
    """Values for releases that do not know `value`, best first."""
    feature: Feature | None = None
    """Given only when the profile asks for this; None for always."""
    vendor: Vendor | None = None
    """Given only on this vendor's cards; None for every card."""
    at_least_gpus: int = 1
    """Given only from this many GPUs on."""
    models: tuple[str, ...] = ()
    """Given only to members whose name matches one of these patterns; empty for all."""

    def concerns(self, name: str) -> bool:
        """Whether the setting is for this member of the family."""
        return not self.models or any(re.search(pattern, name) for pattern in self.models)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A setting as one release spells it, or why it cannot."""

    setting: Setting
    value: Json
    """The value taken: the wanted one, or one that does instead."""
    spelling: Spelling


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Models that share a prompt format and an architecture."""

    key: str
    title: str
    checked: str
    models: tuple[str, ...] = ()
    """Patterns on the model's name, the publisher left off; quantized copies keep the name."""
    architectures: tuple[str, ...] = ()
    """Model classes for names that no pattern knows."""
    notes: str = ""
    """What a reader should know, sources that disagree included."""
    settings: tuple[Setting, ...] = ()

    def choose(
        self,
        engine: Engine,
        name: str,
        *,
        features: frozenset[Feature] = frozenset(),
        vendor: Vendor = "nvidia",
        gpus: int = 1,
    ) -> tuple[Chosen, ...]:
        """What the family wants for this member, as the release spells it; refusals are among them."""
        wanted = (*self.settings, *_load(_ANY_MODEL).settings)
        return tuple(
            _chosen(setting, engine)
            for setting in wanted
            if setting.concerns(_name(name))
            and (setting.feature is None or setting.feature in features)
            and (setting.vendor is None or setting.vendor == vendor)
            and gpus >= setting.at_least_gpus
        )


def _chosen(setting: Setting, engine: Engine) -> Chosen:
    refused: Spelling | None = None
    for value in (setting.value, *setting.instead):
        spelling = _spelling(setting.intent, value, engine)
        if not isinstance(spelling, Cannot):
            return Chosen(setting=setting, value=value, spelling=spelling)
        refused = refused or spelling
    assert refused is not None  # noqa: S101 - there is one value at least
    return Chosen(setting=setting, value=setting.value, spelling=refused)


def _spelling(intent: str, value: Json, engine: Engine) -> Spelling:
    if intent == _ENVIRONMENT:
        assert isinstance(value, dict)  # noqa: S101 - our own data; a test builds every setting on every release
        unknown = [name for name in value if name.startswith("VLLM_") and name not in engine.env]
        if unknown:
            return Cannot(because=f"vLLM {engine.release} does not read {', '.join(unknown)}")
        return Env(env={name: str(text) for name, text in value.items()}, because="the engine reads it")
    for known in _INTENTS:
        if known == intent:
            return engine.spell(known, value)
    message = f"{intent!r} is no intent"
    raise ValueError(message)


def _name(model: str) -> str:
    """The name without its publisher."""
    return model.rsplit("/", 1)[-1]


def _folder() -> Path:
    return catalog_data() / "families"


@cache
def _load(key: str) -> Family:
    return build({**document(_folder() / f"{key}.yaml").value, "key": key}, Family)


@cache
def families() -> tuple[Family, ...]:
    """Every family, by key; the settings of any model are not one."""
    return tuple(_load(path.stem) for path in sorted(_folder().glob("*.yaml")) if path.stem != _ANY_MODEL)


def family_of(model: str, architecture: str | None = None) -> Family | None:
    """The family of a model, by its Hugging Face id (publisher and suffixes of copies do not matter).

    The architecture decides only where no family knows the name, and exactly one claims the architecture.
    """
    name = re.sub(r"^(NVIDIA|Meta|RedHat)[-_]", "", _name(model))
    for family in families():
        if any(re.search(pattern, candidate) for pattern in family.models for candidate in (name, _name(model))):
            return family
    claims = [family for family in families() if architecture in family.architectures]
    return claims[0] if len(claims) == 1 else None


def spelled(chosen: Chosen) -> tuple[dict[str, Json], dict[str, str]]:
    """The flags and the environment of a choice; both empty when the release cannot."""
    match chosen.spelling:
        case Flags(flags=flags):
            return dict(flags), {}
        case Env(env=env):
            return {}, dict(env)
        case _:
            return {}, {}
