"""Where a pod asks to be placed: cards, clouds, taints, spot nodes, spreading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from chartgen.catalog.clouds import cloud_names, load_cloud
from chartgen.catalog.gpus import gpu
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import UnknownName
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import items, mapping, mappings
from chartgen.lint.views.cloud import cloud_of_key
from chartgen.lint.workloads import PodSite, selector_terms

_NO_CARD: Final = re.compile(
    r"kubernetes\.io/(os|arch|hostname)$|^beta\.kubernetes\.io/|^topology\.|^failure-domain|capacity|spot|preemptible|"
    r"gpu\.present$|node-role|^nvidia\.com/gpu\.(count|replicas)$"
)
_OLD_SPOT: Final = {"cloud.google.com/gke-preemptible": {"true"}, "node.kubernetes.io/lifecycle": {"spot"}}
"""What nodes carried before today's labels, and may still."""
_TAGS: Final = ("-MIG-", "-SHARED")
_BRANDS: Final = ("", "nvidia-tesla-", "nvidia-", "NVIDIA-", "Tesla-")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownCard:
    """A label value that means a card, and is not what nodes with that card carry."""

    key: str
    """The label."""
    value: str
    """The value as written."""
    near: str
    """What such nodes carry."""
    at: tuple[Step, ...]
    """Where it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementView:
    """Where a pod asks to be placed."""

    picks_card: bool
    """Whether a selector says more than architecture, zone and price."""
    unknown_cards: tuple[UnknownCard, ...]
    """Card labels with values that no node carries."""
    clouds: tuple[str, ...]
    """The clouds whose node labels are required, all at once."""
    tolerates_gpu: bool
    """Whether it tolerates any taint that somebody sets on purpose."""
    wants_spot: bool
    """Whether it runs on spot nodes only."""
    spread: bool
    """Whether anything spreads its replicas over nodes or zones."""


def placement_view(site: PodSite) -> PlacementView:
    """Where a pod asks to be placed."""
    spec = site.spec
    terms = list(selector_terms(spec))
    keys = [str(term.get("key")) for term in terms]
    affinity = mapping(spec.get("affinity"))
    clouds = {cloud for key in mapping(spec.get("nodeSelector")) if (cloud := cloud_of_key(str(key)))}
    return PlacementView(
        picks_card=any(not _NO_CARD.search(key) for key in keys),
        unknown_cards=tuple(_unknown_cards(site)),
        clouds=tuple(sorted(clouds)),
        tolerates_gpu=any(_on_purpose(one) for one in mappings(spec.get("tolerations"))),
        wants_spot=any(_only_spot(term) for term in terms),
        spread=bool(items(spec.get("topologySpreadConstraints"))) or bool(mapping(affinity.get("podAntiAffinity"))),
    )


def _on_purpose(toleration: Mapping[str, Any]) -> bool:
    """Whether somebody wrote the toleration for a taint of their own, not for a failing node."""
    return not str(toleration.get("key") or "").startswith("node.kubernetes.io/")


@cache
def _spot_labels() -> dict[str, set[str]]:
    """The labels of interruptible nodes, on any cloud."""
    offers = [cloud.spot.want for name in cloud_names() if (cloud := load_cloud(name)).spot]
    return {**_OLD_SPOT, **{want.key: set(want.values) for want in offers}}


def _only_spot(term: Mapping[str, Any]) -> bool:
    wanted = _spot_labels().get(str(term.get("key")))
    values = {str(value) for value in items(term.get("values"))}
    return wanted is not None and term.get("operator", "In") == "In" and bool(values) and values <= wanted


def _unknown_cards(site: PodSite) -> Iterator[UnknownCard]:
    for key, value in mapping(site.spec.get("nodeSelector")).items():
        near = right_label(str(key), str(value))
        if near:
            yield UnknownCard(key=str(key), value=str(value), near=near, at=(*site.path, "nodeSelector", key))
    where: tuple[Step, ...] = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = mappings(
        mapping(mapping(mapping(site.spec.get("affinity")).get("nodeAffinity")).get(str(where[2]))).get(
            "nodeSelectorTerms"
        )
    )
    for number, term in enumerate(terms):
        for index, entry in enumerate(mappings(term.get("matchExpressions"))):
            mistakes = [
                (str(value), right_label(str(entry.get("key")), str(value))) for value in items(entry.get("values"))
            ]
            if mistakes and entry.get("operator") == "In" and all(near for _, near in mistakes):
                at = (*site.path, *where, "nodeSelectorTerms", number, "matchExpressions", index)
                yield UnknownCard(key=str(entry.get("key")), value=mistakes[0][0], near=mistakes[0][1], at=at)


@cache
def right_label(key: str, value: str) -> str:
    """The value that nodes carry, when `value` means a known card and no node carries it; else nothing."""
    known = _label_values().get(key)
    plain = value
    for tag in _TAGS:
        plain = plain.split(tag, maxsplit=1)[0]
    if known is None or plain in {one for values in known.values() for one in values}:
        return ""
    for brand in _BRANDS:
        card = _card(plain.removeprefix(brand)) if plain.startswith(brand) else None
        if card is not None and card in known:
            return known[card][0]
    return ""


def _card(name: str) -> str | None:
    try:
        return gpu(name).key
    except UnknownName:
        return None


@cache
def _label_values() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """By label, by card: the values that nodes carry."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for name in cloud_names():
        for card, terms in load_cloud(name).card_labels.items():
            if len(terms) == 1:
                found.setdefault(terms[0].key, {})[card] = terms[0].values
    return found
