"""What changes between two releases: the upgrade note of flags, metrics, endpoints, variables and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, get_args

from chartgen.catalog.engine_metrics import Concept
from chartgen.catalog.engine_types import BatchTier, Behaviour, Flag, Metric
from chartgen.kernel.dataclass import dataclass

if TYPE_CHECKING:
    from chartgen.catalog.engines import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that is different."""

    name: str
    """The flag, metric, path, variable or concept."""
    before: str
    """As it was; "none" when it was not there."""
    after: str
    """As it is; "none" when it is gone."""
    note: str = ""
    """What to write instead, or what follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineDiff:
    """Two releases compared, the older first."""

    old: str
    new: str
    concepts: tuple[Change, ...]
    """What dashboards, alerts and triggers ask for, where its metric has another name."""
    behaviour: tuple[Change, ...]
    """Defaults and memory."""
    flags: tuple[Change, ...]
    metrics: tuple[Change, ...]
    endpoints: tuple[Change, ...]
    environment: tuple[Change, ...]


def difference(old: Engine, new: Engine) -> EngineDiff:
    """Compare two releases."""
    return EngineDiff(
        old=old.release,
        new=new.release,
        concepts=_concepts(old, new),
        behaviour=_behaviour(old, new),
        flags=tuple(_flags(old, new)),
        metrics=tuple(_metrics(old, new)),
        endpoints=_table(
            {path: _when(endpoint.when) for path, endpoint in old.endpoints.items()},
            {path: _when(endpoint.when) for path, endpoint in new.endpoints.items()},
        ),
        environment=_table(
            {name: f"default {text!r}" for name, text in old.env.items()},
            {name: f"default {text!r}" for name, text in new.env.items()},
        ),
    )


def _when(need: str) -> str:
    return f"with {need}" if need else "served"


def _table(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Change, ...]:
    return tuple(
        Change(name=name, before=old.get(name, "none"), after=new.get(name, "none"))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    )


def _concepts(old: Engine, new: Engine) -> tuple[Change, ...]:
    names: tuple[Concept, ...] = get_args(Concept)
    changes = []
    for concept in names:
        before, after = old.metric(concept), new.metric(concept)
        shown = tuple(found.name if found else "none" for found in (before, after))
        if shown[0] != shown[1]:
            note = "a query for the old name returns nothing" if before and after else ""
            changes.append(Change(name=concept, before=shown[0], after=shown[1], note=note))
    return tuple(changes)


_NOTES = {
    "counts_cuda_graphs": "the same share of memory leaves less for the KV cache once graphs are taken off it",
    "drain": "from 0.18.0 running requests can finish: give --shutdown-timeout and a grace period over it",
    "prefix_cache": "with it on, repeated prompts cost no prefill and their blocks stay in the cache",
    "queue_limit": "requests over the limit get 503 at once instead of waiting",
}


def _behaviour(old: Engine, new: Engine) -> tuple[Change, ...]:
    changes = []
    if old.utilization != new.utilization:
        note = "an unset share gives the engine more of the card: state it to keep it"
        changes.append(
            Change(
                name="share of memory by default",
                before=str(old.utilization),
                after=str(new.utilization),
                note=note,
            ),
        )
    for field in fields(Behaviour):
        before, after = getattr(old.behaviour, field.name), getattr(new.behaviour, field.name)
        if before != after:
            changes.append(
                Change(
                    name=field.name.replace("_", " "),
                    before=_tiers(before) if field.name == "batching" else str(before),
                    after=_tiers(after) if field.name == "batching" else str(after),
                    note=_NOTES.get(field.name, ""),
                ),
            )
    return tuple(changes)


def _tiers(tiers: tuple[BatchTier, ...]) -> str:
    return "; ".join(
        f"from {tier.at_least_gib:g} GiB"
        + (f", only {' and '.join(tier.only)}" if tier.only else "")
        + (f", not {' or '.join(tier.but)}" if tier.but else "")
        + f": {tier.sequences} sequences, {tier.batched_tokens} tokens"
        for tier in tiers
    )


def _flags(old: Engine, new: Engine) -> list[Change]:
    changes = []
    for name in sorted({*old.flags, *new.flags}):
        before, after = old.flags.get(name), new.flags.get(name)
        if before == after:
            continue
        removal = new.removed.get(name)
        note = removal.instead if removal is not None else ""
        if after is None and removal is None:
            note = f"now a spelling of {new.spellings[name][0].name}" if name in new.spellings else ""
        differing = _described(before, after)
        if differing:
            changes.append(Change(name=name, before=differing[0], after=differing[1], note=note))
    return changes


def _described(before: Flag | None, after: Flag | None) -> tuple[str, str] | None:
    """The two sides of a change of a flag; None when only its spellings differ."""
    if before is None or after is None:
        return (_flag(before), _flag(after))
    sides: tuple[list[str], list[str]] = ([], [])
    for field in fields(Flag):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if old == new or field.name in {"negations", "aliases"}:
            continue
        if isinstance(old, tuple):
            sides[0].append(", ".join(f"{value} gone" for value in old if value not in new))
            sides[1].append(", ".join(f"{value} new" for value in new if value not in old))
        else:
            for side, value in zip(sides, (old, new), strict=True):
                side.append(f"{field.name.replace('_', ' ')} {_value(value)}")
    if not any(sides[0]) and not any(sides[1]):
        return None
    return "; ".join(filter(None, sides[0])) or "as before", "; ".join(filter(None, sides[1])) or "as before"


def _value(value: object) -> str:
    return "unset" if value is None else str(value)


def _flag(flag: Flag | None) -> str:
    if flag is None:
        return "none"
    default = "" if flag.default is None else f", default {flag.default}"
    return f"{flag.type}{default}{', deprecated' if flag.deprecated else ''}"


def _metrics(old: Engine, new: Engine) -> tuple[Change, ...]:
    return _table(
        {name: _metric(metric) for name, metric in old.metrics.items()},
        {name: _metric(metric) for name, metric in new.metrics.items()},
    )


def _metric(metric: Metric) -> str:
    labels = ", ".join(metric.labels)
    status = "" if metric.status == "active" else f", {metric.status}"
    when = f", with {metric.when}" if metric.when else ""
    return f"{metric.type}{{{labels}}}{status}{when}"
