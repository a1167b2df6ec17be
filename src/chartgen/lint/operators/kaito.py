"""KAITO's Workspace and InferenceSet with a preset: a model's name, a machine, and a ConfigMap of engine options.

Fields: kaito-project/kaito 056b828, api/v1beta1/workspace_types.go and inferenceset_types.go. The pod:
pkg/workspace/inference/preset_inferences.go. Its command: pkg/model/interface.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from chartgen.catalog.clouds import machine
from chartgen.kernel.scalars import whole_number
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import Manifest, at, mapping
from chartgen.lint.operators.completion import Made, completed
from chartgen.lint.operators.kaito_config import ConfiguredWords, Option, options_of

Find = Callable[[str, str, str], Manifest | None]
"""The object of a kind, a name and a namespace, among those that are deployed together."""

_RUNTIME: Final = ("metadata", "annotations", "kaito.sh/runtime")
_LATER: Final = "SET_BY_KAITO"
"""A variable for what the operator decides once it knows the node and the size of the weights."""
_SPREAD: Final = ("--tensor-parallel-size", "--data-parallel-size")


def made(manifest: Manifest, find: Find) -> Made:
    """The pod of a preset on vLLM; nothing for a template, which stands there as Kubernetes spells it."""
    base: tuple[Step, ...] = ("spec", "template") if manifest.kind == "InferenceSet" else ()
    inference = mapping(at(manifest.value, (*base, "inference")))
    preset = mapping(inference.get("preset"))
    runtimes = [at(manifest.value, path) for path in (_RUNTIME, (*base, *_RUNTIME))]
    if not isinstance(preset.get("name"), str) or "transformers" in runtimes:
        return Made()
    name = inference.get("config")
    config = find("ConfigMap", name, manifest.namespace) if isinstance(name, str) else None
    options = options_of(config) if config else None
    given = {option.flag.replace("_", "-") for option in options or ()}
    gpus = _gpus(mapping(at(manifest.value, (*base, "resource"))), given)
    words = ["--model", preset["name"], *_own_words(given, gpus)]
    if name and options is None:  # KAITO mounts it, and nobody here knows what it says
        words += ["--config", "/mnt/config/inference_config.yaml"]
    secret = at(preset, ("presetOptions", "modelAccessSecret"))
    token = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": secret, "key": "HF_TOKEN", "optional": True}}}
    container = {
        "name": manifest.name,
        "args": [*words, *(word for option in options or () for word in option.words)],
        "env": [{"name": _LATER, "valueFrom": {"fieldRef": {}}}, *([token] if secret else [])],
        "resources": {"limits": gpus},
    }
    here = (*base, "inference")
    site = completed(manifest, "kaito", container, at=here, args_at=("config",), role="template")
    if config is None or not options:
        return Made(pods=(site,))
    lines = _lines(options, start=len(words))
    return Made(pods=(replace(site, origin=ConfiguredWords(manifest, config, (*here, "config"), lines)),))


def _lines(options: Sequence[Option], start: int) -> dict[int, int]:
    """The line of each word, by its index among all words."""
    lines = [option.line for option in options for _ in option.words]
    return dict(enumerate(lines, start))


def _own_words(given: set[str], gpus: dict[str, Any]) -> list[str]:
    """KAITO's own options, as far as files tell and the user gives no other: these come first and do not count."""
    own = {"--max-model-len": "auto"}
    if list(gpus.values()) != [1]:
        own |= dict.fromkeys(_SPREAD, f"$({_LATER})")
    return [word for flag, value in own.items() if flag not in given for word in (flag, value)]


def _gpus(resource: dict[str, Any], given: set[str]) -> dict[str, Any]:
    """What the container asks for: every GPU of the machine, or what the partition says."""
    partition = mapping(resource.get("partition"))
    if partition.get("mode") == "mig":
        return {f"nvidia.com/mig-{partition.get('profile')}": 1}
    if partition.get("mode") == "accelerator":
        return {"nvidia.com/gpu": partition.get("count")}
    shape = machine(str(resource.get("instanceType")))
    several = "--pipeline-parallel-size" in given or (whole_number(str(resource.get("count"))) or 1) > 1
    if shape is None or several:
        return {"nvidia.com/gpu": "as many as the nodes have"}
    return {"nvidia.com/gpu": shape.gpus}
