"""Put command lines and the catalogue before each release's own argument parser.

scripts/engine_truth                      eight releases from 0.10 to the newest; the newest also to level 2
scripts/engine_truth 0.18.1 0.33.0        these releases
scripts/engine_truth --line 'm --typo 1'  this line as well; the run fails when a release refuses it

Level 1 parses: every profile's rendered command line, every intent as the catalogue spells it for the release, the
settings of every model family. It also holds the catalogue's flags against the parser's own list. Level 2 builds
the engine's configuration for the rendered lines. Two lines that must be refused are put before every parser: a run
that takes them checks nothing and fails. The environment is built once and cached; nothing needs a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from chartgen.catalog.engine_intents import INTENTS
from chartgen.catalog.engine_spelling import Flags, words
from chartgen.catalog.engines import Engine, engine, newest
from chartgen.catalog.families import families, spelled
from chartgen.catalog.models import Model
from engine_lab import environment, rendered
from engine_lab.agreement import disagreements
from engine_lab.samples import SMALL, VALUES
from engine_reader import wheels

ROOT: Final = Path(__file__).resolve().parents[2]
WORKER: Final = Path(__file__).with_name("parse_worker.py")
RELEASES: Final = ("0.10.2", "0.11.2", "0.14.1", "0.18.1", "0.22.1", "0.26.0", "0.30.0")
"""What is checked besides the newest: each side of a change in parser, drain, queue and defaults."""
BASE: Final = "0.32.0"
"""The release whose requirements the parsers run with: older sources import with it too."""
MORE: Final = ("gguf", "diskcache")
"""What older releases import beyond that."""
MUST_FAIL: Final = (("m", "--no-such-flag", "1"), ("m", "--max-model-len", "many"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One command line for a parser."""

    name: str
    words: tuple[str, ...]
    good: bool = True
    """Whether the parser must take it."""
    model: Model | None = None
    """For level 2: the model whose stand-in is configured."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command: 1 when a line is refused, a wrong one is taken, or the catalogue disagrees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", nargs="*", default=[*RELEASES, newest()], help="releases to check")
    parser.add_argument("--profiles", type=Path, action="append", help="folders of profiles; ours when left out")
    parser.add_argument("--line", action="append", default=[], help="a further command line, the model first")
    parser.add_argument("--level-2", action="append", help="releases to configure too; the newest when left out")
    options = parser.parse_args(arguments)
    profiles = sorted(path for folder in options.profiles or [ROOT / "profiles"] for path in folder.glob("*.yaml"))
    deep = options.level_2 or [newest()]
    own = [Line(name=f"line {text!r}", words=tuple(shlex.split(text))) for text in options.line]
    base = environment.build(BASE, engine=False, more=MORE)
    failures = [
        failure
        for release in options.release
        for failure in check(base, engine(release), profiles, own, deep=release in deep)
    ]
    for failure in failures:
        print(f"FAILED {failure}")
    return 1 if failures else 0


def check(
    base: environment.Environment,
    release: Engine,
    profiles: Sequence[Path],
    own: Sequence[Line],
    *,
    deep: bool,
) -> list[str]:
    """Every failure of one release; prints what was checked."""
    charts = [*from_charts(profiles, release)]
    good = [*charts, *_from_intents(release), *_from_families(release), *own]
    bad = [Line(name=f"wrong line {' '.join(line)}", words=line, good=False) for line in MUST_FAIL]
    answers = ask(base, release.release, [*good, *bad], level=1)
    failures = _judged(release, [*good, *bad], answers["verdicts"])
    failures += disagreements(release, answers["actions"])
    said = f"{len(charts)} rendered, {len(good) - len(charts)} catalogue lines, {len(release.flags)} flags"
    if deep:
        answers = ask(base, release.release, charts, level=2)
        failures += _judged(release, charts, answers["verdicts"], " (level 2)")
        said += f", {len(charts)} configured"
    print(f"{release.release}: {said}, {len(bad)} wrong lines refused: {len(failures)} failures", flush=True)
    return failures


def _judged(release: Engine, lines: Sequence[Line], verdicts: Sequence[str], level: str = "") -> list[str]:
    failures = []
    for line, verdict in zip(lines, verdicts, strict=True):
        if (verdict == "ok") != line.good:
            said = verdict if line.good else "taken, and should not be"
            failures.append(f"{release.release}{level}: {line.name}: {said}: {shlex.join(line.words)}")
    return failures


def from_charts(profiles: Sequence[Path], release: Engine) -> Iterator[Line]:
    """The rendered command line of every profile that fits on the release; the others are named on stdout."""
    for found in rendered.lines(profiles, release.release):
        if isinstance(found, rendered.NotRendered):
            print(f"not rendered: {found.name}: {found.because}")
        else:
            yield Line(name=found.name, words=found.words, model=found.model)


def _from_intents(release: Engine) -> Iterator[Line]:
    for intent in INTENTS:
        spelling = release.spell(intent, VALUES.get(intent, SMALL))
        if isinstance(spelling, Flags) and spelling.flags:
            yield Line(name=f"intent {intent}", words=("m", *words(spelling.flags)))


def _from_families(release: Engine) -> Iterator[Line]:
    for family in families():
        flags: dict[str, Any] = {}
        everything = frozenset({"tools", "reasoning", "vision", "speculation"})
        for chosen in family.choose(release, family.key, features=everything, vendor="nvidia", gpus=64):  # type: ignore[arg-type]
            flags |= spelled(chosen)[0]
        flags.pop("--chat-template", None)  # its file stands in the image
        if flags:
            yield Line(name=f"family {family.key}", words=("m", *words(flags)))


def ask(base: environment.Environment, release: str, lines: Sequence[Line], *, level: int) -> dict[str, Any]:
    """Put lines before a release's parser in a process of its own."""
    sources = wheels.unpacked(release, wheels.default_cache()).root
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        task, answers = folder / "task.json", folder / "answers.json"
        entries = [
            {
                "words": line.words,
                "folder": str(rendered.stand_in(line.model, folder)) if level > 1 and line.model else None,
            }
            for line in lines
        ]
        task.write_text(json.dumps({"level": level, "lines": entries}), encoding="utf-8")
        run = subprocess.run(
            [str(base.python), str(WORKER), str(task), str(answers)],
            env={**_environment(level), "PYTHONPATH": str(sources)},
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            sys.stderr.write(run.stderr)
            message = f"the parser of vLLM {release} did not answer"
            raise RuntimeError(message)
        found: dict[str, Any] = json.loads(answers.read_text(encoding="utf-8"))
        return found


def _environment(level: int) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    quiet = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    return {**kept, **quiet, **({"VLLM_TARGET_DEVICE": "cpu"} if level > 1 else {})}
