"""Catalog entries as text and as data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from chartgen.catalog import clouds, engines, gateways, gpus, models
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, InputProblem, UnknownName
from chartgen.kernel.structure import to_plain


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """One kind of entry: how to list, find and title it."""

    keys: Callable[[], Iterable[str]]
    find: Callable[[str], Any]
    title: Callable[[Any], str]


_KINDS: Final = {
    "models": _Kind(
        keys=lambda: [one.id for one in models.models()], find=models.model, title=lambda one: one.architecture
    ),
    "gpus": _Kind(keys=lambda: [one.key for one in gpus.gpus()], find=gpus.gpu, title=lambda one: one.title),
    "engines": _Kind(keys=engines.releases, find=engines.engine, title=lambda one: f"vLLM {one.release}"),
    "clouds": _Kind(keys=clouds.cloud_names, find=clouds.load_cloud, title=lambda one: one.name),
    "gateways": _Kind(keys=gateways.gateway_names, find=gateways.load_gateway, title=lambda one: one.name),
}


def listing(kind: str, form: str) -> str:
    """All entries of a kind: key and title."""
    found = _KINDS[kind]
    titles = {key: found.title(found.find(key)) for key in found.keys()}  # noqa: SIM118 - a callable, no mapping
    if form == "json":
        return json.dumps(titles, indent=2, ensure_ascii=False)
    width = max(map(len, titles))
    return "\n".join(f"{key.ljust(width)}  {title}".rstrip() for key, title in titles.items())


def entry(kind: str, name: str, form: str) -> str:
    """One entry with everything that is known of it, its source included.

    Raises:
        InputError: there is no such entry.
    """
    try:
        data = to_plain(_KINDS[kind].find(name))
    except UnknownName as unknown:
        problem = InputProblem(
            file="catalog",
            position=None,
            path=kind,
            found=repr(name),
            expected=unknown.hint or f"one of `chartgen catalog {kind}`",
            nearest=unknown.nearest,
        )
        raise InputError([problem]) from unknown
    if form == "json":
        return json.dumps(data, indent=2, ensure_ascii=False)
    from chartgen.render.yaml_text import block

    return "\n".join(block(data))
