"""What is deployed together, with an index: relations are looked up, never searched for all against all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from chartgen.lint.manifest import Manifest, mapping
from chartgen.lint.workloads import PodSite, pod_sites


def same_namespace(left: str, right: str) -> bool:
    """Whether two objects can be in one namespace: one that is left open goes where the other goes."""
    return not left or not right or left == right


class Bundle:
    """The objects of one chart, folder or stream, by kind and name, and its pods by label."""

    def __init__(self, name: str, manifests: Iterable[Manifest]) -> None:
        self.name = name
        self.manifests = tuple(manifests)
        self.by_kind: dict[str, list[Manifest]] = defaultdict(list)
        self._by_name: dict[tuple[str, str], list[Manifest]] = defaultdict(list)
        for manifest in self.manifests:
            self.by_kind[manifest.kind].append(manifest)
            self._by_name[manifest.kind, manifest.name].append(manifest)

    def named(self, kind: str, name: str, namespace: str = "") -> Manifest | None:
        """The object of that kind and name in the namespace; None when there is none."""
        for manifest in self._by_name.get((kind, name), ()):
            if same_namespace(manifest.namespace, namespace):
                return manifest
        return None

    def of_kind(self, *kinds: str) -> Iterator[Manifest]:
        """The objects of those kinds."""
        for kind in kinds:
            yield from self.by_kind.get(kind, ())

    @cached_property
    def pods(self) -> tuple[PodSite, ...]:
        """Every pod template."""
        return tuple(site for manifest in self.manifests for site in pod_sites(manifest))

    @cached_property
    def pods_of(self) -> Mapping[int, tuple[PodSite, ...]]:
        """The pod templates of an object, by its identity."""
        found: dict[int, list[PodSite]] = defaultdict(list)
        for site in self.pods:
            found[id(site.manifest)].append(site)
        return {key: tuple(sites) for key, sites in found.items()}

    @cached_property
    def _pods_by_label(self) -> Mapping[tuple[str, str], tuple[PodSite, ...]]:
        found: dict[tuple[str, str], list[PodSite]] = defaultdict(list)
        for site in self.pods:
            for key, value in site.labels.items():
                found[key, str(value)].append(site)
        return {key: tuple(sites) for key, sites in found.items()}

    def selected(self, labels: Mapping[str, Any], namespace: str) -> tuple[PodSite, ...]:
        """The pods that carry all of the labels; none for an empty selector."""
        if not labels:
            return ()
        wanted = [(key, str(value)) for key, value in labels.items()]
        rarest = min((self._pods_by_label.get(pair, ()) for pair in wanted), key=len)
        return tuple(
            site
            for site in rarest
            if same_namespace(site.manifest.namespace, namespace)
            and all(str(site.labels.get(key)) == value for key, value in wanted)
        )

    def matched(self, selector: Any, namespace: str) -> tuple[PodSite, ...]:
        """The pods that a label selector, with matchLabels and matchExpressions, matches."""
        labels = mapping(mapping(selector).get("matchLabels"))
        expressions = mapping(selector).get("matchExpressions") or []
        sites = self.selected(labels, namespace) if labels else self.pods
        if not labels:
            sites = tuple(site for site in sites if same_namespace(site.manifest.namespace, namespace))
        return tuple(site for site in sites if all(holds(term, site.labels) for term in expressions))


def holds(term: Any, labels: Mapping[str, Any]) -> bool:
    """Whether labels satisfy one term of matchExpressions."""
    key, values = str(mapping(term).get("key")), mapping(term).get("values") or []
    match mapping(term).get("operator"):
        case "In":
            return str(labels.get(key)) in map(str, values) and key in labels
        case "NotIn":
            return str(labels.get(key)) not in map(str, values)
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return False
