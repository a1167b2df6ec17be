"""What is deployed together, with an index: relations are looked up, never searched for all against all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, Generic, TypeVar

from chartgen.lint.manifest import Manifest, items, mapping
from chartgen.lint.operators.kinds import made
from chartgen.lint.workloads import PodSite, pod_sites

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Shelf(Generic[K, T]):
    """Things by a key and a namespace. What names no namespace is in every one, and a search without one sees all."""

    def __init__(self) -> None:
        self._held: dict[K, dict[str, list[T]]] = defaultdict(lambda: defaultdict(list))

    def put(self, key: K, namespace: str, thing: T) -> None:
        """Keep a thing."""
        self._held[key][namespace].append(thing)

    def get(self, key: K, namespace: str = "") -> Iterator[T]:
        """The things under a key that can be in the namespace, those that name it first."""
        held = self._held.get(key)
        if held is None:
            return iter(())
        if not namespace:
            return chain.from_iterable(held.values())
        return chain(held.get(namespace, ()), held.get("", ()))


class Bundle:
    """The objects of one chart, folder or stream, by kind and name, and its pods by label."""

    def __init__(self, name: str, manifests: Iterable[Manifest]) -> None:
        self.name = name
        self.manifests = tuple(manifests)
        self._by_kind: Shelf[str, Manifest] = Shelf()
        self._by_name: Shelf[tuple[str, str], Manifest] = Shelf()
        self._put(self.manifests)
        self._made = tuple(made(manifest, self.named) for manifest in self.manifests)
        self._put(chain.from_iterable(one.objects for one in self._made))

    def _put(self, manifests: Iterable[Manifest]) -> None:
        for manifest in manifests:
            self._by_kind.put(manifest.kind, manifest.namespace, manifest)
            self._by_name.put((manifest.kind, manifest.name), manifest.namespace, manifest)

    def named(self, kind: str, name: str, namespace: str = "") -> Manifest | None:
        """The object of that kind and name in the namespace; None when there is none."""
        return next(self._by_name.get((kind, name), namespace), None)

    def of_kind(self, *kinds: str, namespace: str = "") -> Iterator[Manifest]:
        """The objects of those kinds that can be in the namespace; all of them without one."""
        for kind in kinds:
            yield from self._by_kind.get(kind, namespace)

    @cached_property
    def pods(self) -> tuple[PodSite, ...]:
        """Every pod template."""
        written = (site for manifest in self.manifests for site in pod_sites(manifest))
        return (*written, *(site for one in self._made for site in one.pods))

    @cached_property
    def _pods_in(self) -> Shelf[None, PodSite]:
        shelf: Shelf[None, PodSite] = Shelf()
        for site in self.pods:
            shelf.put(None, site.manifest.namespace, site)
        return shelf

    def pods_in(self, namespace: str) -> Iterator[PodSite]:
        """The pod templates that can be in the namespace."""
        return self._pods_in.get(None, namespace)

    @cached_property
    def pods_of(self) -> Mapping[int, tuple[PodSite, ...]]:
        """The pod templates of an object, by its identity."""
        found: dict[int, list[PodSite]] = defaultdict(list)
        for site in self.pods:
            found[id(site.manifest)].append(site)
        return {key: tuple(sites) for key, sites in found.items()}

    @cached_property
    def _pods_by_label(self) -> Shelf[tuple[str, str], PodSite]:
        shelf: Shelf[tuple[str, str], PodSite] = Shelf()
        for site in self.pods:
            for key, value in site.labels.items():
                shelf.put((key, str(value)), site.manifest.namespace, site)
        return shelf

    def selected(self, labels: Mapping[str, Any], namespace: str) -> tuple[PodSite, ...]:
        """The pods that carry all of the labels; none for an empty selector."""
        if not labels:
            return ()
        wanted = [(key, str(value)) for key, value in labels.items()]
        rarest = min((list(self._pods_by_label.get(pair, namespace)) for pair in wanted), key=len)
        return tuple(site for site in rarest if all(str(site.labels.get(key)) == value for key, value in wanted))

    def matched(self, selector: Any, namespace: str) -> tuple[PodSite, ...]:
        """The pods that a label selector, with matchLabels and matchExpressions, matches."""
        labels = mapping(mapping(selector).get("matchLabels"))
        expressions = items(mapping(selector).get("matchExpressions"))
        sites = self.selected(labels, namespace) if labels else tuple(self.pods_in(namespace))
        return tuple(site for site in sites if all(holds(term, site.labels) for term in expressions))


def holds(term: Any, labels: Mapping[str, Any]) -> bool:
    """Whether labels satisfy one term of matchExpressions."""
    key, values = str(mapping(term).get("key")), items(mapping(term).get("values"))
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
