"""Which vLLM release an image holds: a release, something that moves, or an honest "cannot tell"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from typing import Final, Literal, TypeAlias

from chartgen.catalog.store import document
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build

Device = Literal["nvidia", "amd", "intel", "cpu", "tpu", "neuron", "ascend"]
"""What the image's engine computes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """The image holds this release. It may be older than the catalogue: ask `engines.releases()`."""

    release: str
    """The release: 0.18.1."""
    image: str
    """What the image is: vLLM, AMD's vLLM."""
    device: Device
    build: Literal["release", "vendor"]
    """vLLM as published, or somebody's build of it, which may know more or less."""
    chosen_by: str = ""
    """The operator that chooses image and tag; empty where the user writes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Floating:
    """The tag moves: it holds another release tomorrow, so nothing about flags or metrics is certain."""

    because: str
    device: Device | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """The image does not say its release."""

    because: str
    device: Device | None = None


Version: TypeAlias = Release | Floating | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """One line of images.yaml."""

    name: str
    repository: str
    """A pattern on the end of the repository."""
    device: Device
    build: Literal["release", "vendor"]
    source: str
    tag: str | None = None
    """A pattern with the group `release`."""
    releases: Mapping[str, str] = field(default_factory=dict)
    """Tags that say no release, with the release they hold."""
    because: str = "its tags say no vLLM release"
    """Why a tag that is not listed cannot be read."""
    make: str | None = None
    """How the image of a release is called."""
    chosen_by: str = ""
    """The operator that chooses image and tag; empty where the user writes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """images.yaml."""

    checked: str
    floating: str
    images: tuple[Image, ...]


_TEMPLATE: Final = re.compile(r"\{\{|\$\(|\$\{")


@cache
def _images() -> Images:
    return build(document(catalog_data() / "images.yaml").value, Images)


def _split(image: str) -> tuple[str, str | None, bool]:
    """Repository, tag and whether a digest is given; a port is no tag."""
    name, _, digest = image.partition("@")
    head, colon, tail = name.rpartition(":")
    if colon and "/" not in tail:
        return head, tail, bool(digest)
    return name, None, bool(digest)


def _of(repository: str) -> Image | None:
    for image in _images().images:
        if re.fullmatch(rf"(.*/)?{image.repository}", repository):
            return image
    return None


def holds_engine(image: str) -> bool:
    """Whether the repository is one that is known to hold vLLM, whatever the tag."""
    return _of(_split(image)[0]) is not None


def release_of(image: str) -> Version:  # noqa: PLR0911 - one return a way to fail
    """The release that `image` (repository with tag, digest or both) holds, as far as its name says."""
    if _TEMPLATE.search(image):
        return Unknown(because=f"{image!r} is filled in later")
    repository, tag, digest = _split(image)
    known = _of(repository)
    device = known.device if known else None
    if tag is None and digest:
        return Unknown(because="a digest names no release", device=device)
    if tag is None:
        return Floating(because="no tag means latest", device=device)
    if known is None:
        return Unknown(because=f"{repository} is no image that is known to hold vLLM")
    listed = known.releases.get(tag)
    match = re.fullmatch(known.tag, tag) if known.tag else None
    if listed is None and match is None:
        if re.fullmatch(_images().floating, tag):
            return Floating(because=f"the tag {tag} moves", device=device)
        return Unknown(because=f"{known.name}, tag {tag}: {known.because}", device=device)
    release = listed or (match["release"] if match else "")
    return Release(release=release, image=known.name, device=known.device, build=known.build, chosen_by=known.chosen_by)


def image_for(release: str, device: Device = "nvidia") -> str:
    """The published image of a release for a device.

    Raises:
        LookupError: vLLM publishes no image for that device.
    """
    for image in _images().images:
        if image.device == device and image.make is not None:
            return image.make.format(release=release.removeprefix("v"))
    message = f"vLLM publishes no image for {device}"
    raise LookupError(message)
