"""The bundle view: what only shows when everything that is deployed together is seen at once."""

from __future__ import annotations

from collections.abc import Iterator

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.lint.bundle import Bundle
from chartgen.lint.manifest import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateObject:
    """An object that stands a second time."""

    kind: str
    """Its kind."""
    name: str
    """Its name."""
    first: str
    """Where the first one stands: file and line."""
    at: tuple[Step, ...] = ()
    """The object itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleView:
    """Everything in one release, as far as one of its objects is concerned."""

    duplicates: tuple[DuplicateObject, ...]
    """This object, when an earlier one has its kind, name and namespace."""


def bundle_views(bundle: Bundle) -> Iterator[tuple[Manifest, BundleView]]:
    """A view for each object that the bundle as a whole has something to say of.

    Files of one folder may be alternatives; what one chart renders, or stands in one file, is applied together.
    """
    seen: dict[tuple[str, ...], Manifest] = {}
    for manifest in bundle.manifests:
        if not manifest.name or "generateName" in manifest.metadata:
            continue
        group = manifest.api_version.rpartition("/")[0]
        file = "" if manifest.origin is not None else manifest.file
        first = seen.setdefault((file, group, manifest.kind, manifest.namespace, manifest.name), manifest)
        if first is not manifest:
            place = first.place(())
            where = f"{place.file}:{place.position.line}"
            duplicate = DuplicateObject(kind=manifest.kind, name=manifest.name, first=where)
            yield manifest, BundleView(duplicates=(duplicate,))
