"""vLLM releases: what each one's command line, metrics and server know, ready to be asked."""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import cache
from typing import Any, Final

from chartgen.catalog import engine_features, engine_fold, engine_intents, engine_metrics
from chartgen.catalog.engine_spelling import Spelling
from chartgen.catalog.engine_types import Behaviour, Endpoint, Flag, Metric, Removal
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Json
from chartgen.kernel.errors import UnknownName
from chartgen.kernel.structure import build

_DEFAULT_UTILIZATION: Final = "--gpu-memory-utilization"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One release of vLLM."""

    release: str
    """The release: 0.18.1."""
    source: str
    """The wheel that was read."""
    read: str
    """The day it was read."""
    flags: Mapping[str, Flag]
    """Every flag of `vllm serve`, by long name."""
    spellings: Mapping[str, tuple[Flag, bool]]
    """Every name, alias and negation: the flag, and whether the spelling sets it to false."""
    removed: Mapping[str, Removal]
    """Flags of earlier releases that this one refuses."""
    removed_env: Mapping[str, Removal]
    """Variables of earlier releases that this one silently ignores; `instead` may be empty."""
    metrics: Mapping[str, Metric]
    """Prometheus metrics by query name."""
    endpoints: Mapping[str, Endpoint]
    """HTTP paths."""
    env: Mapping[str, str]
    """Environment variables it reads; the value is the default where the source states one, else ""."""
    architectures: frozenset[str]
    """Model classes, as config.json names them."""
    quantizations: frozenset[str]
    """Values of --quantization."""
    deprecated_quantizations: frozenset[str]
    """Of these, the ones the release says will go."""
    kv_dtypes: frozenset[str]
    """Values of --kv-cache-dtype."""
    tool_parsers: frozenset[str]
    """Built-in values of --tool-call-parser."""
    reasoning_parsers: frozenset[str]
    """Built-in values of --reasoning-parser."""
    behaviour: Behaviour
    """What it does where no flag is given."""

    @property
    def version(self) -> tuple[int, ...]:
        """The release as numbers that order."""
        return engine_fold.version(self.release)

    def at_least(self, release: str) -> bool:
        """Whether this is that release or a later one; "0.18" will do."""
        return self.version >= engine_fold.version(release)

    @property
    def utilization(self) -> float:
        """The default share of GPU memory that the engine takes."""
        default = self.flags[_DEFAULT_UTILIZATION].default
        assert isinstance(default, float)  # noqa: S101 - the parser's own default; a test holds every release to it
        return default

    def flag(self, name: str) -> Flag | None:
        """The flag behind a name, alias or negation, underscores and missing dashes allowed; no prefixes."""
        found = self.spellings.get(canonical(name))
        return found[0] if found else None

    def metric(self, concept: engine_metrics.Concept) -> Metric | None:
        """The metric that says `concept` on this release; None when none does."""
        return engine_metrics.metric(self.metrics, concept)

    def spell(self, intent: engine_intents.Intent, value: Json = True) -> Spelling:  # noqa: FBT002 - a value, not a switch
        """How this release is told to do `intent`, or why it cannot be."""
        return engine_intents.spell(self, intent, value)

    @property
    def features(self) -> frozenset[engine_features.Feature]:
        """What the release can do beyond serving: named as in `chartgen.catalog.engine_features`."""
        return frozenset(name for name in engine_features.FEATURES if self.has(name))

    def has(self, feature: engine_features.Feature) -> bool:
        """Whether the release has a feature."""
        return engine_features.FEATURES[feature](self)


def canonical(name: str) -> str:
    """A flag as its parser compares it: dashes in front, no underscores."""
    if name.startswith("-") and not name.startswith("--"):
        return name
    return f"--{name.removeprefix('--').replace('_', '-')}"


def releases() -> tuple[str, ...]:
    """Every catalogued release, oldest first."""
    return tuple(entry["release"] for entry in engine_fold.committed()["releases"])


def newest() -> str:
    """The newest catalogued release."""
    return releases()[-1]


def engine(release: str) -> Engine:
    """The catalogue's entry of a release, with or without the v.

    Raises:
        UnknownName: the release is not catalogued.
    """
    return _engine(release.removeprefix("v"))


@cache
def _engine(release: str) -> Engine:
    known = releases()
    if release not in known:
        raise UnknownName("vLLM release", release, known, hint=f"releases {known[0]} to {known[-1]} are catalogued")
    number = known.index(release)
    past = engine_fold.committed()
    state = engine_fold.at(past, number)
    flags = {name: build({**entry, "name": name}, Flag) for name, entry in state["flags"].items()}
    spellings = _spellings(flags)
    behaviour = build(state["behaviour"], Behaviour)
    return Engine(
        release=release,
        source=past["releases"][number]["source"],
        read=past["releases"][number]["read"],
        flags=flags,
        spellings=spellings,
        removed=_removed(past, "flags", number, known, state["instead"], spellings),
        removed_env=_removed(past, "environment", number, known, state["instead"], {}),
        metrics=_metrics(state["metrics"], behaviour),
        endpoints={path: build({**entry, "path": path}, Endpoint) for path, entry in state["endpoints"].items()},
        env=state["environment"],
        behaviour=behaviour,
        **{group: frozenset(state[group]) for group in engine_fold.SETS},
    )


def _spellings(flags: Mapping[str, Flag]) -> dict[str, tuple[Flag, bool]]:
    table: dict[str, tuple[Flag, bool]] = {}
    for flag in flags.values():
        table |= dict.fromkeys((flag.name, *flag.aliases), (flag, False))
        table |= dict.fromkeys(flag.negations, (flag, True))
    return table


def _removed(
    past: Mapping[str, Any],
    group: str,
    number: int,
    known: tuple[str, ...],
    instead: Mapping[str, str],
    still: Container[str],
) -> dict[str, Removal]:
    gone = engine_fold.last_seen(past, group, number)
    return {
        name: Removal(since=known[since], instead=instead.get(name, ""))
        for name, since in sorted(gone.items())
        if name not in still
    }


def _metrics(entries: Mapping[str, dict[str, Any]], behaviour: Behaviour) -> dict[str, Metric]:
    """The metrics as the release's default engine exports them; the other engine's say what they need."""
    found = {}
    for name, entry in entries.items():
        fields = {key: value for key, value in entry.items() if key not in {"engine", "old_engine"}}
        old = entry.get("old_engine")
        if behaviour.generation == "v0" and old is not None:
            fields = old
        elif entry["engine"] != behaviour.generation and behaviour.generation == "v0":
            fields = {**fields, "when": _joined("VLLM_USE_V1=1", fields.get("when", ""))}
        elif entry["engine"] == "v0":
            fields = {**fields, "when": _joined("VLLM_USE_V1=0", fields.get("when", ""))}
        found[name] = build({**fields, "name": name}, Metric)
    return found


def _joined(*needs: str) -> str:
    return ", ".join(need for need in needs if need)
