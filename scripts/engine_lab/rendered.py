"""The command lines of rendered charts, each with a small stand-in for the model's config.json."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from chartgen import api
from chartgen.catalog.command_line import read
from chartgen.catalog.command_types import CommandLine, Unresolved
from chartgen.catalog.engine_images import holds_engine
from chartgen.catalog.engine_spelling import words
from chartgen.catalog.engines import engine
from chartgen.catalog.model_attention import GroupedHeads, LatentAttention
from chartgen.catalog.models import Model
from chartgen.kernel.decision import Json
from chartgen.kernel.errors import Infeasible, InputError
from chartgen.render.files import chart_files
from chartgen.validate.helm import engine as helm_engine

_SERVE: Final = ["vllm", "serve"]
_VARIABLE: Final = re.compile(r"\$\(([A-Za-z0-9_]+)\)")
_FROM_THE_CLUSTER: Final = "1"
"""What stands in for a variable that a controller sets, such as the rank of a pod in its group."""
_HEAD_SIZE: Final = 32
"""Width of a head of the stand-in: parsing and configuring do not depend on it."""
_LAYERS: Final = 8
"""Layers of the stand-in: enough for eight pipeline stages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedLine:
    """What one container of one chart runs."""

    name: str
    """Profile and release, for messages."""
    words: tuple[str, ...]
    """The words after `vllm serve`, the model first."""
    model: Model
    """The model behind the first word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRendered:
    """A profile that cannot be rendered on a release, with why: no failure of the parser."""

    name: str
    because: str


def lines(profiles: Sequence[Path], release: str) -> Iterator[RenderedLine | NotRendered]:
    """The command line of every profile's chart on a release."""
    for profile in profiles:
        name = f"{profile.stem} on {release}"
        try:
            plan = api.plan(api.load_profile(profile, [f"engine.release={release}"]))
            chart = api.build(plan)
        except (InputError, Infeasible) as error:
            yield NotRendered(name=name, because=str(error))
            continue
        manifests = helm_engine().template(
            chart_files(chart),
            release=chart.name,
            namespace=chart.namespace,
            kubernetes=chart.kubernetes,
        )
        for container in (found for pod in pods(manifests.values()) for found in engines_of(pod)):
            yield RenderedLine(name=name, words=tuple(_words(container, release)), model=plan.resolved.model)


def _words(container: Mapping[str, Any], release: str) -> list[str]:
    """The words after `vllm serve`: as rendered, or as the engine would see them behind a shell."""
    env = {entry["name"]: entry["value"] for entry in container.get("env", []) if "value" in entry}
    command = [*container.get("command", []), *container.get("args", [])]
    if command[:2] == _SERVE:
        return [_filled(word, env) for word in command[2:]]
    line = read(command=container["command"], args=container.get("args", []), env=env, engine=engine(release))
    if not isinstance(line, CommandLine):
        message = f"{command[:2]}: {line.because}"
        raise LookupError(message)  # noqa: TRY004 - the words are at fault, not a type
    given: dict[str, Json] = {}
    for argument in line.arguments:
        value = _FROM_THE_CLUSTER if isinstance(argument.value, Unresolved) else argument.value
        given[argument.written if value is False else argument.flag] = True if value is False else value
    return [str(line.model), *words(given)]


def pods(manifests: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The pod specs of workloads, out of manifests as text, in order; pods of tests and jobs do not serve."""
    for text in manifests:
        for document in yaml.safe_load_all(text):
            if document and document.get("kind") not in {"Pod", "Job"}:
                yield from _pods(document)


def _pods(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if isinstance(node.get("containers"), list):
            yield node
        for child in node.values():
            yield from _pods(child)
    elif isinstance(node, list):
        for child in node:
            yield from _pods(child)


def engines_of(pod: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The containers of a pod that start vLLM; helpers that only borrow its image do not count."""
    return [
        container
        for container in pod["containers"]
        if holds_engine(str(container.get("image", "")))
        and "vllm serve" in " ".join([*container.get("command", _SERVE), *container.get("args", [])])
    ]


def _filled(word: str, env: Mapping[str, str]) -> str:
    """A word with $(NAME) replaced: by the container's own value, or by a number that the cluster would give."""
    return _VARIABLE.sub(lambda match: env.get(match[1], _FROM_THE_CLUSTER), word)


def stand_in(model: Model, folder: Path) -> Path:
    """Write a config.json of a Llama with the model's heads, vocabulary and context: what flags are held against."""
    heads, kv_heads = _heads(model)
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": heads * _HEAD_SIZE,
        "intermediate_size": heads * _HEAD_SIZE,
        "num_hidden_layers": _LAYERS,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "vocab_size": model.vocab_size,
        "max_position_embeddings": model.max_position_embeddings,
        "torch_dtype": "bfloat16",
    }
    target = folder / model.key
    target.mkdir(parents=True, exist_ok=True)
    (target / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return target


def _heads(model: Model) -> tuple[int, int]:
    """Query heads and KV heads of the model's first kind of attention; latent attention keeps one for all."""
    for kind in model.attention.kinds():
        match kind:
            case GroupedHeads():
                return kind.heads, kind.kv_heads
            case LatentAttention():
                return kind.heads, kind.heads
            case _:
                continue
    message = f"{model.id} has no attention heads to stand in for"
    raise LookupError(message)
