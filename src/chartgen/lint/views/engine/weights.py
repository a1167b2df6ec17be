"""Where an engine's weights come from, and how long it takes to have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.units import GIB
from chartgen.lint.manifest import mappings
from chartgen.lint.numbers import number
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.lint.views.engine.container import Container
from chartgen.lint.views.engine.model import ModelView
from chartgen.lint.views.engine.release import ReleaseView
from chartgen.lint.views.volumes import Volume

_ROOT_HOME: Final = "/root"
_TOKENS: Final = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_HUB_TOKEN", "HF_TOKEN_PATH", "HUGGINGFACE_TOKEN")


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsView:
    """Where the weights come from."""

    downloaded: Maybe[bool]
    """Whether each new pod downloads them: a name of the hub, and nothing that lasts at the cache's place."""
    cache: str
    """The folder that downloads go to."""
    cache_volume: str | None
    """The name of the volume mounted there; null for none: the container's own layer."""
    cache_kind: str | None
    """The volume's kind: emptyDir, persistentVolumeClaim, hostPath, …; null for none."""
    cache_bytes: Maybe[int | None]
    """The volume's size; null when it has no limit or there is no volume."""
    cache_lasts: bool
    """Whether what is in the cache outlives the pod."""
    fetched: bool
    """Whether an init container mounts the cache's volume, and so may have filled it before the engine starts."""
    cache_read_only: bool
    """Whether the cache is mounted read-only."""
    elsewhere: str | None
    """A lasting volume mounted at another path, when the cache itself has none: the likely misplaced one."""
    token: bool
    """Whether the container has a token of the hub, or a variable that may hold one."""
    offline: bool
    """Whether the hub may not be asked: HF_HUB_OFFLINE."""
    least_seconds: Maybe[float]
    """The least time that any start takes, with the fastest network and disk on record."""
    likely_seconds: Maybe[float]
    """The time that a start takes with the slower of the published speeds."""


def weights_view(
    container: Container,
    model: ModelView,
    volumes: Sequence[Volume],
    env: Mapping[str, str | None],
    download_dir: Maybe[object],
    release: ReleaseView,
) -> WeightsView:
    """Where a container's weights come from."""
    folder = cache_folder(env, download_dir)
    volume, read_only = _at(container, volumes, folder)
    lasting = [one for one in _mounted(container, volumes) if one[1].lasts]
    lasts = volume is not None and volume.lasts
    downloaded = _downloaded(model, volume, release)
    kept = known_kept(downloaded)
    return WeightsView(
        downloaded=downloaded,
        cache=folder,
        cache_volume=volume.name if volume else None,
        cache_kind=volume.kind if volume else None,
        cache_bytes=volume.size if volume else None,
        cache_lasts=lasts,
        fetched=volume is not None and _filled(container, volume.name),
        cache_read_only=read_only,
        elsewhere=lasting[0][0] if lasting and not lasts else None,
        token=any(name in env for name in _TOKENS) or _from_secret(container),
        offline=(env.get("HF_HUB_OFFLINE") or "").lower() in {"1", "on", "yes", "true"},
        least_seconds=_seconds(model.weight_bytes, "least", kept=kept),
        likely_seconds=_seconds(model.weight_bytes, "likely", kept=kept),
    )


def _downloaded(model: ModelView, volume: Volume | None, release: ReleaseView) -> Maybe[bool]:
    if isinstance(model.id, Unknown):
        return model.id
    if not model.hub or (volume is not None and volume.lasts):
        return False
    if volume is None and not release.known_image:
        image = release.image or "the image"
        return Unknown(because=f"{image} may hold the weights", run=f"docker history {image}")
    return True


def known_kept(downloaded: Maybe[bool]) -> bool:
    """Whether the weights may be near: read from a disk, not from the hub."""
    return downloaded is not True


def cache_folder(env: Mapping[str, str | None], download_dir: Maybe[object]) -> str:
    """The folder that the hub's client downloads to."""
    if isinstance(download_dir, str):
        return download_dir.rstrip("/")
    for name, below in (("HF_HUB_CACHE", ""), ("HUGGINGFACE_HUB_CACHE", ""), ("HF_HOME", "/hub")):
        if env.get(name):
            return f"{str(env[name]).rstrip('/')}{below}"
    if env.get("XDG_CACHE_HOME"):
        return f"{str(env['XDG_CACHE_HOME']).rstrip('/')}/huggingface/hub"
    home = (env.get("HOME") or _ROOT_HOME).rstrip("/")
    return f"{home}/.cache/huggingface/hub"


def _mounted(container: Container, volumes: Sequence[Volume]) -> list[tuple[str, Volume, bool]]:
    by_name = {volume.name: volume for volume in volumes}
    return [
        (str(mount.get("mountPath")), by_name[str(mount.get("name"))], mount.get("readOnly") is True)
        for mount in mappings(container.value.get("volumeMounts"))
        if str(mount.get("name")) in by_name
    ]


def _at(container: Container, volumes: Sequence[Volume], folder: str) -> tuple[Volume | None, bool]:
    """The volume that holds a folder: the one mounted at it, or at the nearest folder above."""
    above = {str(path): depth for depth, path in enumerate([PurePosixPath(folder), *PurePosixPath(folder).parents])}
    found = [one for one in _mounted(container, volumes) if one[0].rstrip("/") in above]
    if not found:
        return None, False
    _, volume, read_only = min(found, key=lambda one: above[one[0].rstrip("/")])
    return volume, read_only


def _filled(container: Container, volume: str) -> bool:
    return any(
        mount.get("name") == volume and mount.get("readOnly") is not True
        for before in mappings(container.site.spec.get("initContainers"))
        for mount in mappings(before.get("volumeMounts"))
    )


def _from_secret(container: Container) -> bool:
    """Whether the whole of a Secret becomes variables: a token may be among them."""
    return any("secretRef" in source for source in mappings(container.value.get("envFrom")))


def _seconds(weights: Maybe[int], which: str, *, kept: bool) -> Maybe[float]:
    start = number(f"{which}-engine-start")
    if isinstance(weights, Unknown):
        return start if which == "least" else weights
    each = number(f"{which}-read-per-gib" if kept else f"{which}-download-per-gib")
    return start + each * weights / GIB
