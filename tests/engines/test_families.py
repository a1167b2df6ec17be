"""What a model family sets equals what published commands set, and every release gets it spelled or refused."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from chartgen.catalog.engine_spelling import Cannot, Flags
from chartgen.catalog.engines import engine, newest, releases
from chartgen.catalog.families import Family, Feature, Vendor, families, family_of
from chartgen.catalog.models import models

CASES: Final = Path(__file__).parent.parent / "cases" / "family_flags.csv"
ROWS: Final = list(csv.DictReader(CASES.read_text(encoding="utf-8").splitlines()))
COLUMNS: Final = {
    "tool parser": "tool_parser",
    "reasoning parser": "reasoning_parser",
    "tokenizer mode": "tokenizer_mode",
    "block size": "block_size",
    "kv dtype": "kv_cache_dtype",
    "chat template": "chat_template",
    "trust remote code": "trust_remote_code",
    "multimodal encoder split": "mm_encoder_tp_mode",
}
FEATURES: Final[frozenset[Feature]] = frozenset({"tools", "reasoning", "vision"})
DIFFERENCES: Final = {
    ("llama-3", "nvidia", "tool parser"): "pythonic comes from one publisher; the documentation names llama3_json",
    ("llama-3-vision", "nvidia", "tool parser"): "one command; the documentation names llama3_json for Llama 3.2",
    ("llama-4", "nvidia", "tool parser"): "one command, older than llama4_pythonic",
    (
        "qwen3",
        "nvidia",
        "reasoning parser",
    ): "deepseek_r1 is from before qwen3 existed, which knows thinking switched off",
    (
        "qwen3.5",
        "nvidia",
        "trust remote code",
    ): "the engine knows the architecture: code of the repository need not run",
    ("qwen3.5", "nvidia", "kv dtype"): "fp8 is a choice of memory and card, which the planner makes",
    ("minimax-m2", "nvidia", "kv dtype"): "fp8 is a choice of memory and card, which the planner makes",
    ("glm-5", "amd", "kv dtype"): "one command; fp8 is a choice of memory and card, which the planner makes",
    ("glm-5", "amd", "trust remote code"): "one command, for a copy with a quantizer's own code",
}
"""Where we give something else than most published commands, and why."""


def vendor_of(row: dict[str, str]) -> Vendor:
    return "amd" if row["card"].startswith("MI") else "nvidia"


def base(value: str) -> str:
    """A published value without what its author's folder adds, spelled as one name."""
    return value.rsplit("/", 1)[-1].replace("fp8_e4m3", "fp8")


def grouped() -> Iterator[tuple[Family, Vendor, list[dict[str, str]]]]:
    groups: dict[tuple[str, Vendor], list[dict[str, str]]] = defaultdict(list)
    for row in ROWS:
        family = family_of(row["model"])
        assert family is not None, row["model"]
        groups[family.key, vendor_of(row)].append(row)
    by_key = {family.key: family for family in families()}
    for (key, vendor), rows in groups.items():
        yield by_key[key], vendor, rows


def ours(family: Family, row: dict[str, str], intent: str) -> str:
    chosen = family.choose(
        engine(newest()),
        row["model"],
        features=FEATURES,
        vendor=vendor_of(row),
        gpus=int(row["gpus"] or 1),
    )
    values: list[Any] = [choice.value for choice in chosen if choice.setting.intent == intent]
    return base(str(values[0]).lower() if isinstance(values[0], bool) else str(values[0])) if values else ""


def disagreements() -> set[tuple[str, str, str]]:
    found: set[tuple[str, str, str]] = set()
    for family, vendor, rows in grouped():
        for intent, column in COLUMNS.items():
            published = Counter(base(row[column]) for row in rows if row[column])
            if not published:
                continue
            value, count = published.most_common(1)[0]
            given = Counter(ours(family, row, intent) for row in rows if row[column]).most_common(1)[0][0]
            if given != value and (given or count * 2 > len(rows)):
                found.add((family.key, vendor, intent))
    return found


def test_families_agree_with_published_commands() -> None:
    """Where most published commands of a family set a flag, we set the same value, but for the listed differences."""
    assert disagreements() == set(DIFFERENCES)


def test_one_family_claims_a_name() -> None:
    """No model of the catalogue or of the published commands belongs to two families."""
    names = {row["model"] for row in ROWS} | {model.id for model in models()}
    for name in names:
        last = name.rsplit("/", 1)[-1]
        claims = [family.key for family in families() if any(re.search(pattern, last) for pattern in family.models)]
        assert len(claims) <= 1, (name, claims)


@pytest.mark.parametrize("family", families(), ids=lambda family: family.key)
def test_the_newest_release_knows_every_setting(family: Family) -> None:
    """Every setting of every family is spelled on the newest release, and has a reason and a source."""
    for setting in family.settings:
        assert setting.because
        assert setting.source
    for name in ("x", *(model.removeprefix("^") for setting in family.settings for model in setting.models)):
        for vendor in ("nvidia", "amd"):
            chosen = family.choose(engine(newest()), name, features=FEATURES | {"speculation"}, vendor=vendor, gpus=64)
            assert [choice for choice in chosen if isinstance(choice.spelling, Cannot)] == []


def test_older_releases_get_a_spelling_or_a_reason() -> None:
    """On every release every setting is spelled for that release or refused with the release in the sentence."""
    for release in releases():
        for family in families():
            for choice in family.choose(engine(release), "x", features=FEATURES, vendor="amd", gpus=64):
                if isinstance(choice.spelling, Cannot):
                    assert release in choice.spelling.because


def test_an_older_parser_does_instead() -> None:
    """Qwen3 on 0.8.5, which has no qwen3 parser, thinks with the parser of DeepSeek R1 and the switch of its day."""
    family = family_of("Qwen/Qwen3-8B")
    assert family is not None
    chosen = family.choose(engine("0.8.5"), "Qwen/Qwen3-8B", features=frozenset({"reasoning"}))
    (spelling,) = [choice.spelling for choice in chosen if choice.setting.intent == "reasoning parser"]
    assert isinstance(spelling, Flags)
    assert spelling.flags == {"--enable-reasoning": True, "--reasoning-parser": "deepseek_r1"}


def test_tools_are_never_guessed() -> None:
    """Without a feature in the profile no parser is set."""
    family = family_of("Qwen/Qwen3-8B")
    assert family is not None
    intents = {choice.setting.intent for choice in family.choose(engine(newest()), "Qwen/Qwen3-8B")}
    assert not intents & {"tool parser", "reasoning parser", "chat template"}


@pytest.mark.parametrize(
    ("model", "architecture", "key"),
    [
        ("nvidia/Qwen3-32B-NVFP4", None, "qwen3"),
        ("RedHatAI/gemma-4-31B-it-FP8-dynamic", None, "gemma-4"),
        ("nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8", None, "nemotron-3"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", None, "deepseek-r1-distill-llama"),
        ("deepseek-ai/DeepSeek-R1-0528", None, "deepseek-v3"),
        ("my-org/my-fine-tune", "Qwen3ForCausalLM", "qwen3"),
        ("my-org/my-fine-tune", "NoSuchModel", None),
        ("facebook/opt-125m", None, None),
    ],
)
def test_family_of(model: str, architecture: str | None, key: str | None) -> None:
    """Copies keep their family, a fine-tune finds it by architecture, and a stranger has none."""
    family = family_of(model, architecture)
    assert (family.key if family else None) == key
