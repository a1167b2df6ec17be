"""Charts of older and newer releases ask for the metrics, flags and drain that these releases have."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import pytest

from chartgen.catalog.command_line import read
from chartgen.catalog.command_types import CommandLine
from chartgen.catalog.engine_check import check
from chartgen.catalog.engines import engine, newest
from engine_lab.container import Container, render

PROFILES: Final = sorted((Path(__file__).parent.parent.parent / "profiles").glob("*.yaml"))
CHAT: Final = PROFILES[0].parent / "chat-70b.yaml"
RELEASES: Final = ("0.9.1", "0.10.2", "0.18.1", "0.33.0")
PAIRS: Final = [
    *((CHAT, release) for release in RELEASES),
    *((profile, newest()) for profile in PROFILES if profile != CHAT),
]
"""One chart through the releases, and every chart on the newest."""
SUFFIXES: Final = ("_bucket", "_sum", "_count")


@cache
def rendered(profile: Path, release: str) -> Container:
    return render(profile, release)


every = pytest.mark.parametrize(
    ("profile", "release"),
    PAIRS,
    ids=lambda value: value.stem if isinstance(value, Path) else value,
)


def metric_of(series: str) -> str:
    """The metric behind a series of a histogram."""
    for suffix in SUFFIXES:
        series = series.removesuffix(suffix)
    return series


@every
def test_metrics_are_those_of_the_release(profile: Path, release: str) -> None:
    """Every series in trigger, monitor, rules and dashboard is exported by that release, with the labels used."""
    known = engine(release).metrics
    for series, labels in rendered(profile, release).metrics.items():
        metric = known[metric_of(series)]
        assert metric.status != "hidden", series
        assert not metric.when, series
        assert labels <= set(metric.labels), series


@every
def test_the_command_line_is_that_of_the_release(profile: Path, release: str) -> None:
    """The release takes every rendered flag and reads every rendered variable, without a remark."""
    whole = rendered(profile, release)
    line = read(command=whole.command, args=whole.args, env=whole.env, engine=engine(release))
    assert isinstance(line, CommandLine)
    assert check(line, engine(release)) == []


@pytest.mark.parametrize(
    ("release", "usage", "latency"),
    [
        ("0.9.1", "vllm:gpu_cache_usage_perc", "vllm:time_per_output_token_seconds_bucket"),
        ("0.10.2", "vllm:kv_cache_usage_perc", "vllm:inter_token_latency_seconds_bucket"),
        ("0.33.0", "vllm:kv_cache_usage_perc", "vllm:inter_token_latency_seconds_bucket"),
    ],
)
def test_names_that_changed(release: str, usage: str, latency: str) -> None:
    """KV cache usage and inter-token latency go by the name of their release."""
    asked = rendered(CHAT, release).metrics
    assert {usage, latency} <= asked.keys()


@every
def test_drain_only_where_the_release_has_it(profile: Path, release: str) -> None:
    """No release before 0.18.0 is told to drain; later ones are, and the grace period covers hook and drain."""
    whole = rendered(profile, release)
    told = "--shutdown-timeout" in whole.args
    assert told == engine(release).at_least("0.18.0")
    drain = float(whole.args[whole.args.index("--shutdown-timeout") + 1]) if told else 0.0
    assert whole.grace >= float(whole.pre_stop.get("sleep", {}).get("seconds", 0)) + drain
