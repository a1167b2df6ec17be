"""How the weights are quantized, and whether the card can compute with them."""

from __future__ import annotations

from collections.abc import Mapping

from chartgen.catalog.models import Model
from chartgen.catalog.quantizations import Quantization, quantization
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Json
from chartgen.kernel.errors import UnknownName
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.lint.views.engine.card import CardView


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizationView:
    """The scheme in force."""

    scheme: Maybe[str]
    """The scheme: none, fp8, awq, gptq, mxfp4, …"""
    title: Maybe[str]
    """The scheme in words."""
    needed_capability: Maybe[int | None]
    """The least CUDA compute capability that runs it, times ten; null where no NVIDIA card does."""
    runs: Maybe[bool]
    """Whether the card runs it."""
    asked: Maybe[str | None]
    """--quantization as written; null when it is not given."""
    contradicts: Maybe[bool]
    """Whether --quantization names a checkpoint format that the checkpoint does not have."""


def quantization_view(
    found: Model | None, model_known: Maybe[bool], card: CardView, options: Mapping[str, Maybe[Json]]
) -> QuantizationView:
    """The scheme in force: what is asked for, else what the checkpoint holds."""
    option = options["--quantization"]
    if isinstance(option, Unknown):
        return _all(option, option)
    asked = str(option) if option is not None else None
    scheme = _scheme(asked) if asked else _scheme(found.checkpoint.scheme) if found else None
    if scheme is None:
        unknown = Unknown(because="the quantization of the checkpoint is not known", run="its config.json")
        return _all(unknown, asked)
    needed = int(float(scheme.nvidia) * 10) if scheme.nvidia else None
    capability = card.capability
    runs: Maybe[bool] = capability if isinstance(capability, Unknown) else True
    if isinstance(capability, int) and capability:
        runs = needed is not None and capability >= needed
    return QuantizationView(
        scheme=scheme.key,
        title=scheme.title,
        needed_capability=needed,
        runs=runs,
        asked=asked,
        contradicts=_contradicts(asked, scheme, found, model_known),
    )


def _contradicts(asked: str | None, scheme: Quantization, found: Model | None, model_known: Maybe[bool]) -> Maybe[bool]:
    if asked is None or scheme.at_load:
        return False
    if found is None:
        return model_known
    stored = _scheme(found.checkpoint.scheme)
    return stored is not None and stored.key == "none"


def _scheme(name: str) -> Quantization | None:
    try:
        return quantization(name)
    except UnknownName:
        return None


def _all(unknown: Unknown, asked: Maybe[str | None]) -> QuantizationView:
    return QuantizationView(
        scheme=unknown,
        title=unknown,
        needed_capability=unknown,
        runs=unknown,
        asked=asked,
        contradicts=unknown,
    )
