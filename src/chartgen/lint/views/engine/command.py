"""What an engine's command line says, and what its own parser would refuse of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from chartgen.catalog import engine_fold
from chartgen.catalog.command_line import read, read_mixed
from chartgen.catalog.command_types import CommandLine, NotAnEngine, Place, Reading, Unresolved
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Json
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import items, mapping
from chartgen.lint.servers import given, split_words, words_of
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.lint.views.engine.container import Container
from chartgen.lint.views.engine.release import ReleaseView, reading_engine

SHELLS: Final = frozenset({"sh", "bash", "ash", "dash", "zsh"})
"""Programs whose words are scripts."""
_OTHER_PROGRAM: Final = re.compile(r"\bvllm (?:launch|bench|chat|complete|collect-env)\b")
"""Subcommands that load no model."""
_MODEL_ELSEWHERE: Final = frozenset({"LLMInferenceService", "LLMInferenceServiceConfig"})
"""Kinds whose operator gives the engine its model."""
_OF_ONE_RELEASE: Final = frozenset({"unknown flag", "later flag", "ambiguous prefix"})
"""Refusals that another build of the same release need not share."""
_OF_SOME_RELEASES: Final = frozenset({"removed flag", "unwanted value"})
"""Refusals that older releases do not share."""
_SHOW: Final = "kubectl get pod NAME -o yaml, and the engine's log: it prints its arguments at start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One thing that the engine's parser refuses, or reads otherwise than it was meant."""

    kind: str
    """unknown flag, removed flag, later flag, missing value, bad value, value not allowed, stray word, no model, …"""
    written: str
    """The word at fault."""
    message: str
    """The fault as a sentence."""
    instead: str
    """What to write; empty when nobody can say."""
    certain: Maybe[bool]
    """True when the release is known well enough to say so."""
    at: tuple[Step, ...]
    """Where the word stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagUse:
    """One option as written."""

    flag: str
    """Its long name."""
    written: str
    """As written."""
    entry: str
    """The whole entry of the list that it stands in."""
    deprecated: bool
    """Whether the release accepts it and says that it will go."""
    prefix: bool
    """Whether it is cut short and only happens to be unique."""
    repeated: bool
    """Whether a later one of the same name overrides it."""
    at: tuple[Step, ...]
    """Where it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandView:
    """An engine's command line in normal form."""

    readable: Maybe[bool]
    """True when the files say how the engine is started."""
    refusals: tuple[Refusal, ...]
    """What the engine's parser refuses."""
    flags: tuple[FlagUse, ...]
    """Every option, in order."""


def read_command(
    container: Container, release: ReleaseView, env: Mapping[str, str | None], files: Mapping[str, str]
) -> Reading:
    """Read a vLLM container's command line with its release, or the newest one when that is not known."""
    words = words_of(container.value)
    joined = " ".join(words)
    if _OTHER_PROGRAM.search(joined) and "serve" not in joined:
        return NotAnEngine(because="vllm's command line does other things than serve, too")
    image_starts = release.image == "" or not isinstance(release.version, Unknown) or "openai" in release.image
    if container.site.manifest.kind.startswith("Ray"):
        image_starts = False  # KubeRay puts `ray start` before whatever the image would run.
    return read(
        command=[str(word) for word in items(container.value.get("command"))],
        args=[str(word) for word in items(container.value.get("args"))],
        env=env,
        engine=reading_engine(release),
        files=files,
        image_starts_engine=image_starts,
        release_certain=not isinstance(release.version, Unknown),
    )


def read_predictor(container: Container, release: ReleaseView, env: Mapping[str, str | None]) -> Reading | None:
    """Read the arguments of a KServe predictor; None where another runtime than its Hugging Face server may take them.

    That server hands what it does not know itself to vLLM (kserve/kserve python/huggingfaceserver, vllm/utils.py).
    """
    model, words = container.value, split_words(container.value)
    runtime = str(model.get("runtime") or "kserve-huggingfaceserver")
    if mapping(model.get("modelFormat")).get("name") != "huggingface" or "huggingfaceserver" not in runtime:
        return None
    if "workerSpec" in container.site.spec or next(given(words, ("--backend",)), "auto") == "huggingface":
        return None
    args = [str(word) for word in items(model.get("args"))]
    name = next(given(words, ("--model_id", "--model-id")), None) or _of_hub(model.get("storageUri"))
    args += [f"--model={name}"] if name else []
    certain = not isinstance(release.version, Unknown)
    return read_mixed(args=args, env=env, engine=reading_engine(release), release_certain=certain)


def _of_hub(address: Any) -> str | None:
    """The hub's name of a model by its address: hf://Qwen/Qwen3-8B, with or without a revision."""
    scheme, _, name = str(address).partition("://")
    return name.partition(":")[0] if scheme == "hf" else None


def command_view(reading: Reading | None, release: ReleaseView, container: Container) -> CommandView:
    """The view of a command line; `reading` is None for engines other than vLLM."""
    if not isinstance(reading, CommandLine):
        return CommandView(readable=_unread(reading), refusals=tuple(joined_words(container)), flags=())
    return CommandView(
        readable=_gap(reading) or True,
        refusals=_refusals(reading, release, container),
        flags=_flags(reading, container),
    )


def options_of(reading: Reading | None) -> Mapping[str, Maybe[Json]]:
    """Every option of every release by its long name; None when it is not given."""
    if not isinstance(reading, CommandLine):
        return dict.fromkeys(_nothing_given(), _unread(reading))
    gap = _gap(reading)
    options: dict[str, Maybe[Json]] = dict.fromkeys(_nothing_given(), gap)
    for argument in reading.arguments:
        options[argument.flag] = _resolved(argument.value)
    return options


def model_of(reading: Reading | None) -> Maybe[str | None]:
    """The model as given; None when none is."""
    if not isinstance(reading, CommandLine):
        return _unread(reading)
    value = _resolved(reading.model)
    if isinstance(value, Unknown):
        return value
    return _gap(reading) if value is None else str(value)


def _unread(reading: Reading | None) -> Unknown:
    because = "only vLLM's command line is read"
    if reading is not None and not isinstance(reading, CommandLine):
        because = reading.because
    return Unknown(because=because, run=_SHOW)


def _gap(reading: CommandLine) -> Unknown | None:
    if not reading.gaps:
        return None
    return Unknown(because=f"{reading.gaps[0]} may hold more arguments", run=_SHOW)


@cache
def _nothing_given() -> Mapping[str, None]:
    return dict.fromkeys(engine_fold.committed()["flags"])


def _resolved(value: Any) -> Maybe[Json]:
    if isinstance(value, Unresolved):
        return Unknown(because=f"{value.text} is filled in from {', '.join(value.needs)}", run=_SHOW)
    found: Json = value
    return found


def _refusals(reading: CommandLine, release: ReleaseView, container: Container) -> tuple[Refusal, ...]:
    found = list(joined_words(container))
    joined = {one.at for one in found}
    for problem in reading.problems:
        if place_of(problem.place, container) in joined:
            continue
        if problem.kind == "no model" and container.site.manifest.kind in _MODEL_ELSEWHERE:
            continue
        certain: Maybe[bool] = True
        if (problem.kind in _OF_ONE_RELEASE and (isinstance(release.version, Unknown) or release.vendor)) or (
            problem.kind in _OF_SOME_RELEASES and isinstance(release.version, Unknown) and not release.floating
        ):
            certain = Unknown(
                because=f"{release.image or 'the image'} may know {problem.written}: its release is not certain",
                run="vllm serve --help=all in that image",
            )
        found.append(
            Refusal(
                kind=problem.kind,
                written=problem.written,
                message=_said(problem.message, release),
                instead=problem.instead,
                certain=certain,
                at=place_of(problem.place, container),
            )
        )
    return tuple(found)


_PROGRAM: Final = re.compile(r"\s*(vllm|python3?)\s+\S")
_JOINED: Final = re.compile(r"(--?[A-Za-z][\w-]*)[ \t]+(\S.*)", re.DOTALL)


def joined_words(container: Container) -> Iterator[Refusal]:
    """Entries that hold an option and its value with a space between: one word for the engine's parser."""
    for list_name in ("command", "args"):
        words = [str(word) for word in items(container.value.get(list_name))]
        if any(word.rsplit("/", 1)[-1] in SHELLS for word in words):
            return
        if list_name == "command" and words and _PROGRAM.match(words[0]):
            yield Refusal(
                kind="joined words",
                written=words[0],
                message=f"{words[0]!r} is one word: there is no program of that name",
                instead="an entry for each word, or sh -c in front",
                certain=True,
                at=container.word(list_name, 0),
            )
        for index, word in enumerate(words):
            match = _JOINED.fullmatch(word)
            if match:
                yield Refusal(
                    kind="joined words",
                    written=word,
                    message=f"{word!r} is one word: the engine finds no option of that name",
                    instead=f"{match[1]}={match[2]}, or two entries",
                    certain=True,
                    at=container.word(list_name, index),
                )


def _said(message: str, release: ReleaseView) -> str:
    if release.chosen_by:
        name, _, tag = release.image.rpartition("/")[2].partition(":")
        return f"{message} ({release.chosen_by} chooses the image: read as {name} {tag})"
    return f"{message} ({release.why_floating}: read as the newest)" if release.floating else message


def _flags(reading: CommandLine, container: Container) -> tuple[FlagUse, ...]:
    last = {argument.flag: argument for argument in reading.arguments}
    return tuple(
        FlagUse(
            flag=argument.flag,
            written=argument.written,
            entry=_entry(argument.place, container),
            deprecated=argument.known is not None and argument.known.deprecated and reading.release_certain,
            prefix=argument.how == "prefix",
            repeated=argument is not last[argument.flag] and not (argument.known and argument.known.many),
            at=place_of(argument.place, container),
        )
        for argument in reading.arguments
    )


def _entry(place: Place, container: Container) -> str:
    words = [str(word) for word in items(container.value.get(place.list))]
    return words[place.index] if place.index < len(words) else ""


def place_of(place: Place, container: Container) -> tuple[Step, ...]:
    """The entry of the list; the container itself for words of a config file."""
    return container.path if place.list == "config" else container.word(place.list, place.index)
