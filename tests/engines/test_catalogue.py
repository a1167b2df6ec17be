"""The catalogue gives back what is known of vLLM's releases, and folds the same way however it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, get_args

import pytest
import yaml

from chartgen.catalog import engine_fold
from chartgen.catalog.engine_features import FEATURES, Feature
from chartgen.catalog.engine_intents import INTENTS, Intent
from chartgen.catalog.engine_metrics import NAMES, Concept
from chartgen.catalog.engines import Engine, engine, newest, releases
from chartgen.kernel.errors import UnknownName
from chartgen.kernel.units import GIB, Bytes

KNOWN: Final[dict[str, list[list[Any]]]] = yaml.safe_load(
    (Path(__file__).parent / "history.yaml").read_text(encoding="utf-8"),
)
EVERY: Final = [engine(release) for release in releases()]


def table(name: str) -> pytest.MarkDecorator:
    """One test for each row of a table of history.yaml."""
    return pytest.mark.parametrize("row", KNOWN[name], ids=lambda row: " ".join(str(cell) for cell in row[:2]))


def release_ids(found: Engine) -> str:
    return found.release


@table("removed")
def test_removed_flag(row: list[str]) -> None:
    """A removed flag is known to its last release, refused by the first without it, and its replacement is named."""
    name, last, first, *deprecated = row
    assert name in engine(last).flags
    removal = engine(first).removed[name]
    assert engine_fold.version(last) < engine_fold.version(removal.since) <= engine_fold.version(first)
    assert removal.instead
    if deprecated and engine_fold.version(deprecated[0]) >= engine_fold.version("0.9.0"):
        assert engine(last).flags[name].deprecated


@table("added")
def test_added_flag(row: list[str]) -> None:
    """A flag is known from its release on, and the release before the looked-at one does not have it or its minor."""
    name, first = row
    assert name in engine(first).flags
    earlier = [found for found in EVERY if found.version[:2] < engine_fold.version(first)[:2]]
    assert all(name not in found.flags for found in earlier[-1:])


@table("metrics")
def test_metric(row: list[str]) -> None:
    """A metric is there, deprecated, hidden or gone by release."""
    name, release, status = row
    metric = engine(release).metrics.get(name)
    assert (metric.status if metric else "absent") == status


@table("labels")
def test_labels(row: list[Any]) -> None:
    """V1 metrics carry the engine's number from 0.8.3 on; admission rejections leave it out."""
    name, release, labels = row
    assert list(engine(release).metrics[name].labels) == labels


@table("defaults")
def test_default(row: list[Any]) -> None:
    """The parser's default by release."""
    name, release, default = row
    found = engine(release).flags[name].default
    assert found == default


@table("types")
def test_type(row: list[str]) -> None:
    """The type of a flag by release."""
    name, release, kind = row
    assert engine(release).flags[name].type == kind


@table("choices")
def test_choices(row: list[Any]) -> None:
    """Whether the parser enforces the values of a flag."""
    name, release, enforced = row
    assert bool(engine(release).flags[name].choices) == enforced


@table("kv_dtypes")
def test_kv_dtype(row: list[str]) -> None:
    """A KV cache type is known from its release on."""
    name, first = row
    assert name in engine(first).kv_dtypes
    earlier = [found for found in EVERY if found.version[:2] < engine_fold.version(first)[:2]]
    assert name not in earlier[-1].kv_dtypes


@table("quantizations_gone")
def test_quantization_gone(row: list[str]) -> None:
    """A quantization method is gone from its release on, and some earlier release had it."""
    name, first = row
    assert name not in engine(first).quantizations
    assert any(name in found.quantizations for found in EVERY)


@table("environment_gone")
def test_environment_gone(row: list[str]) -> None:
    """A variable that charts set is read up to one release and silently ignored from the next."""
    name, last, first = row
    assert name in engine(last).env
    assert name not in engine(first).env


@table("endpoints")
def test_endpoint(row: list[str]) -> None:
    """A path is served, served on a condition, or absent by release."""
    path, release, need = row
    found = engine(release).endpoints.get(path)
    assert (found.when if found else "absent") == need


@pytest.mark.parametrize("found", EVERY, ids=release_ids)
def test_behaviour_matches_what_the_wheel_says(found: Engine) -> None:
    """Behaviour written by hand agrees with the flags and variables that were read."""
    behaviour = found.behaviour
    assert behaviour.generation == ("v0" if found.env.get("VLLM_USE_V1") == "0" else "v1")
    estimate = found.env.get("VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS")
    assert behaviour.counts_cuda_graphs == {None: "no", "0": "opt-in", "1": "yes"}[estimate]
    scheduling = found.flags.get("--async-scheduling")
    states = {False: "off", None: "on when compatible"}
    assert behaviour.async_scheduling == (states[scheduling.default] if scheduling else "absent")  # type: ignore[index]
    assert behaviour.drain == ("on request" if "--shutdown-timeout" in found.flags else "none")
    assert (behaviour.queue_limit != "none") == ("--max-num-queued-reqs" in found.flags)
    assert isinstance(found.utilization, float)


@pytest.mark.parametrize("found", EVERY, ids=release_ids)
def test_every_removal_names_a_replacement(found: Engine) -> None:
    """No flag is removed without a word on what to write instead."""
    assert [name for name, removal in found.removed.items() if not removal.instead] == []


@pytest.mark.parametrize("found", EVERY, ids=release_ids)
def test_spellings_belong_to_one_flag(found: Engine) -> None:
    """No name, alias or negation stands for two flags."""
    spellings = [name for flag in found.flags.values() for name in (flag.name, *flag.aliases, *flag.negations)]
    assert sorted(spellings) == sorted(set(spellings))


def test_the_history_is_the_fold() -> None:
    """The committed history equals the fold of the committed release files."""
    changes = engine_fold.changes(engine_fold.folder())
    text = (engine_fold.folder() / engine_fold.HISTORY).read_text(encoding="utf-8")
    assert engine_fold.history_text(engine_fold.history(changes)) == text


def test_the_history_gives_every_state() -> None:
    """Asking the history for a release gives the state that folding the files up to it gives."""
    state = engine_fold.empty()
    for number, change in enumerate(engine_fold.changes(engine_fold.folder())):
        state = engine_fold.fold(state, change)
        assert engine_fold.at(engine_fold.committed(), number) == state


def test_no_release_was_edited_by_hand() -> None:
    """What each file folds to is what was read from the wheel: the digest of that reading stands in the file."""
    state = engine_fold.empty()
    for change in engine_fold.changes(engine_fold.folder()):
        state = engine_fold.fold(state, change)
        assert engine_fold.digest(state) == change["digest"], change["release"]


def test_a_difference_folds_back() -> None:
    """What is written as the difference of two releases folds the first into the second."""
    first, last = (engine_fold.at(engine_fold.committed(), number) for number in (0, len(releases()) - 1))
    folded = engine_fold.fold(first, engine_fold.difference(first, last))
    for group in (*engine_fold.TABLES, *engine_fold.SETS):
        assert folded[group] == last[group]


def test_releases_are_in_order_and_complete() -> None:
    """Every minor from 0.6 to 0.33 is there but 0.21, which was published without a Linux wheel."""
    assert list(releases()) == sorted(releases(), key=engine_fold.version)
    minors = {found.version[1] for found in EVERY}
    assert set(range(6, 34)) - minors == {21}


def test_an_unknown_release_names_the_nearest() -> None:
    """A release that is not catalogued is refused with the nearest one and the range."""
    with pytest.raises(UnknownName) as caught:
        engine("0.18.9")
    assert caught.value.nearest is not None
    assert caught.value.hint == f"releases {releases()[0]} to {newest()} are catalogued"


def test_words_are_typed() -> None:
    """Intents, features and concepts that code may name are exactly those that have an answer."""
    assert set(get_args(Intent)) == set(INTENTS)
    assert set(get_args(Feature)) == set(FEATURES)
    assert set(get_args(Concept)) == set(NAMES)


@pytest.mark.parametrize(
    ("release", "gib", "card", "sequences", "tokens"),
    [
        ("0.7.3", 80, "NVIDIA H100 80GB HBM3", 256, 2048),
        ("0.8.0", 24, "NVIDIA L4", 1024, 2048),
        ("0.8.4", 80, "NVIDIA H100 80GB HBM3", 1024, 8192),
        ("0.8.4", 192, "AMD Instinct MI300X", 256, 2048),
        ("0.8.5", 80, "NVIDIA A100-SXM4-80GB", 1024, 8192),
        ("0.9.0", 80, "NVIDIA A100-SXM4-80GB", 256, 2048),
        ("0.27.1", 180, "NVIDIA B200", 1024, 8192),
        ("0.28.0", 180, "NVIDIA B200", 1024, 16384),
        ("0.33.0", 119, "NVIDIA GB10", 256, 2048),
        ("0.33.0", 24, "NVIDIA L4", 256, 2048),
    ],
)
def test_batching_defaults(release: str, gib: int, card: str, sequences: int, tokens: int) -> None:
    """Defaults of batching follow memory and name of the card as the release has them."""
    tier = engine(release).behaviour.tier(Bytes(gib * GIB), card)
    assert (tier.sequences, tier.batched_tokens) == (sequences, tokens)
