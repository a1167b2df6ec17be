"""A Model from a user's config.json, and from the safetensors index beside it where there is one.

What the engine reads is read here by the same rules: nested text configs, explicit head widths, experts, latent
attention, windows, hybrids with states. A type, a layer word or a key that is not known is refused with its place,
what was found and what would do. Nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, get_args

from chartgen.catalog.model_config_attention import attention
from chartgen.catalog.model_config_compressed import hyper_connections
from chartgen.catalog.model_config_feed_forward import feed_forward
from chartgen.catalog.model_config_file import JsonFile, read_json
from chartgen.catalog.model_config_layers import layer_kinds
from chartgen.catalog.model_config_quantization import checkpoint
from chartgen.catalog.model_config_rope import rope_tables
from chartgen.catalog.model_config_section import Section
from chartgen.catalog.model_config_types import HINT, ModelType, model_type, model_types
from chartgen.catalog.model_config_vision import vision
from chartgen.catalog.model_config_weights import Tensors, tensors_beside
from chartgen.catalog.models import Dtype, Model
from chartgen.kernel.errors import InputError, UnknownName
from chartgen.kernel.structure import one_of, shown
from chartgen.kernel.units import GIB

CONFIG: Final = "config.json"
EXTRA_LAYERS: Final = (
    "num_nextn_predict_layers",
    "mtp_num_hidden_layers",
    "num_mtp_layers",
    "num_mtp_modules",
)
"""How configs spell the number of layers for multi-token prediction."""


def read_model(path: Path, weights: Path | None = None) -> Model:
    """The model that a config.json describes.

    `path` is the file or its folder. `weights` is a safetensors index, a safetensors file or its header as JSON;
    without it, an index or a single weight file beside the config is used where there is one.

    Raises:
        InputError: with every problem found: unknown types, missing keys, numbers that make no sense.
    """
    file = path / CONFIG if path.is_dir() else path
    json = read_json(file)
    root = _root(json)
    section = _text_section(root)
    tensors = tensors_beside(file, weights)
    model = _model(file, root, section, tensors)
    if root.problems:
        unplaced = (1 << 32, 0)
        raise InputError(
            sorted(
                dict.fromkeys(root.problems),
                key=lambda problem: (problem.position.line, problem.position.column) if problem.position else unplaced,
            )
        )
    return model


def _root(json: JsonFile) -> Section:
    name = json.value.get("model_type")
    if not isinstance(name, str):
        found = "nothing" if name is None else shown(name)
        expected = "the key 'model_type', as transformers writes it into config.json"
        raise InputError([json.problem(("model_type",), found, expected)])
    return Section(json=json, path=(), value=json.value, rules=_rules(json, ("model_type",), name))


def _rules(json: JsonFile, path: tuple[str | int, ...], name: str) -> ModelType:
    try:
        return model_type(name)
    except UnknownName as error:
        count = len(model_types())
        expected = f"one of the {count} types whose layers are known; {HINT}"
        problem = json.problem(path, f"the unknown model type {name!r}", expected, error.nearest)
        raise InputError([problem]) from error


def _text_section(root: Section) -> Section:
    """The section of the language model: the root, or the nested object the type names."""
    rules = root.rules
    for key in rules.text:
        inner = root.raw(key)
        if inner is None:
            continue
        if not isinstance(inner, Mapping):
            root.refuse(key, shown(inner), "an object: the config of the language model")
            continue
        path = (*root.path, *key.split("."))
        name = inner.get("model_type") or rules.text_type
        if not isinstance(name, str):
            expected = "the model type of the language model"
            raise InputError([root.json.problem((*path, "model_type"), "nothing", expected)])
        nested = Section(
            json=root.json,
            path=path,
            value=inner,
            rules=_rules(root.json, (*path, "model_type"), name),
            problems=root.problems,
        )
        return nested if not nested.rules.text else _text_section(nested)
    if rules.text_type is not None:
        inner_rules = model_type(rules.text_type)
        return Section(json=root.json, path=root.path, value=root.value, rules=inner_rules, problems=root.problems)
    if rules.text:
        root.refuse(rules.text[0], "nothing", f"the key {rules.text[0]!r}: the config of the language model")
    return root


def _model(file: Path, root: Section, section: Section, tensors: Tensors | None) -> Model:
    kinds = layer_kinds(section)
    found = attention(section, kinds)
    dense, experts = feed_forward(section, kinds)
    stored = checkpoint(section, root, len(kinds))
    model = Model(
        id=_identity(file, root),
        architecture=_architecture(root),
        hidden_size=section.whole("hidden_size"),
        vocab_size=section.whole("vocab_size"),
        max_position_embeddings=section.whole("max_position_embeddings"),
        attention=found,
        source=str(file),
        checked="",
        dtype=_dtype(root, section),
        tie_word_embeddings=_tied(root, section),
        feed_forward=dense,
        experts=experts,
        norms_per_layer=section.rules.traits.norms_per_layer,
        multi_token_prediction=_extra_layers(section),
        rope_tables=rope_tables(section, found),
        other_parameters=_other(section, len(kinds)),
        checkpoint=stored,
        origin=str(file),
    )
    model = replace(model, vision=vision(root, model.hidden_size, tensors))
    if tensors is None:
        return model
    stored = replace(stored, file_gib=tensors.total / GIB)
    return replace(model, checkpoint=stored, parameters=tensors.parameters)


def _identity(file: Path, root: Section) -> str:
    name = root.raw("_name_or_path")
    if isinstance(name, str) and name.count("/") == 1 and not name.startswith((".", "/", "~")):
        return name
    return file.resolve().parent.name or file.stem


def _architecture(root: Section) -> str:
    listed = root.raw("architectures")
    if isinstance(listed, list) and listed and isinstance(listed[0], str):
        return listed[0]
    found = "nothing" if listed is None else shown(listed)
    root.refuse("architectures", found, "a list with the architecture class, which the engine needs to load it")
    return ""


def _dtype(root: Section, section: Section) -> Dtype:
    for holder in (root, section):
        for key in ("torch_dtype", "dtype"):
            value = holder.raw(key)
            if value in get_args(Dtype):
                found: Dtype = value
                return found
            if value is not None:
                holder.refuse(key, shown(value), one_of(get_args(Dtype)))
    return "bfloat16"


def _tied(root: Section, section: Section) -> bool:
    """The language model's word counts, then the whole model's, then that of the class."""
    stated = section.raw("tie_word_embeddings")
    if stated is None:
        stated = root.raw("tie_word_embeddings")
    return bool(section.rules.defaults.get("tie_word_embeddings", False)) if stated is None else bool(stated)


def _extra_layers(section: Section) -> int:
    return next((section.whole_or(key, 0) for key in EXTRA_LAYERS if section.raw(key) is not None), 0)


def _other(section: Section, layers: int) -> int:
    """Parameters outside the usual parts: learned positions, embeddings of each layer, mixed streams."""
    total = 0
    beyond = section.rules.traits.learned_positions
    hidden = section.whole("hidden_size")
    if beyond is not None:
        total += (section.whole("max_position_embeddings") + beyond) * hidden
    each = section.whole_or("hidden_size_per_layer_input", 0)
    if each:
        width = each * layers
        total += section.whole("vocab_size_per_layer_input") * width  # the embedding of each layer
        total += hidden * width + each  # the projection of the input, and its norm
        total += layers * (2 * hidden * each + hidden)  # a gate, a projection and a norm a layer
    if section.raw("hc_mult") is not None:
        total += hyper_connections(section)
    return total
