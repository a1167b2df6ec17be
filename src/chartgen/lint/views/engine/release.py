"""Which release of the engine an image holds."""

from __future__ import annotations

from functools import cache
from typing import Final

from chartgen.catalog.engine_images import Floating, Release, holds_engine, release_of
from chartgen.catalog.engine_images import Unknown as UnknownImage
from chartgen.catalog.engines import Engine, engine, newest, releases
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import UnknownName
from chartgen.lint.unknown import Maybe, Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseView:
    """An engine's release, as its image tells."""

    image: str
    """The image as written."""
    version: Maybe[str]
    """The release: 0.18.1."""
    minor: Maybe[int]
    """Its minor number: 18 for 0.18.1."""
    known_image: bool
    """Whether the image's name is one that is known to hold the server, so that what it computes on is known."""
    floating: bool
    """Whether the tag moves, such as latest, or is missing."""
    why_floating: str
    """Why it moves; empty when it does not."""
    vendor: bool
    """Whether it is somebody's own build, which may know more or less than the release."""
    chosen_by: str
    """The operator that chooses the image, so that another release of it may hold another engine; else empty."""
    device: str | None
    """What the image computes on: nvidia, amd, intel, cpu, tpu, neuron, ascend; null when not known."""
    features: Maybe[frozenset[str]]
    """What the release can do, by the words of the catalogue: drain, queue limit."""


_RUN: Final = "kubectl exec deploy/NAME -- vllm --version"


def release_view(server: str, image: str) -> ReleaseView:
    """What is known of the release in an image."""
    return _of_vllm(image) if server == "vllm" and image else _of_other(image)


def _of_other(image: str) -> ReleaseView:
    tail = image.rpartition("/")[2]
    floating = bool(image) and "@" not in image and (":" not in tail or tail.endswith((":latest", ":main", ":nightly")))
    because = "only vLLM's releases are catalogued" if image else "no image is named"
    unknown = Unknown(because=because, run="the server's own --help")
    return ReleaseView(
        image=image,
        version=unknown,
        minor=unknown,
        known_image=bool(image) and "cpu" not in image,
        floating=floating,
        why_floating="its tag moves" if floating else "",
        vendor=False,
        chosen_by="",
        device=None,
        features=unknown,
    )


@cache
def _of_vllm(image: str) -> ReleaseView:
    found = release_of(image)
    known = closest_engine(found.release) if isinstance(found, Release) else None
    because = found.because if isinstance(found, Floating | UnknownImage) else "the release is not in the catalogue"
    unknown = Unknown(because=f"the image {image or '(none)'} does not say its release: {because}", run=_RUN)
    return ReleaseView(
        image=image,
        version=known.release if known else unknown,
        minor=known.version[1] if known else unknown,
        known_image=holds_engine(image),
        floating=isinstance(found, Floating),
        why_floating=found.because if isinstance(found, Floating) else "",
        vendor=isinstance(found, Release) and found.build == "vendor",
        chosen_by=found.chosen_by if isinstance(found, Release) else "",
        device=found.device,
        features=frozenset(known.features) if known else unknown,
    )


def closest_engine(release: str) -> Engine | None:
    """The catalogued release of that name, or the newest one before it of the same minor; None for neither."""
    try:
        return engine(release)
    except UnknownName:
        pass
    minor = ".".join(release.split(".")[:2]) + "."
    same = [known for known in releases() if known.startswith(minor)]
    return engine(same[-1]) if same else None


def reading_engine(view: ReleaseView) -> Engine:
    """The release to read a command line with: the image's own, else the newest."""
    return engine(newest() if isinstance(view.version, Unknown) else view.version)
