"""Which vLLM runs, from which image."""

from __future__ import annotations

from typing import Final

from chartgen.catalog.engine_images import Floating, Release, image_for, release_of
from chartgen.catalog.engines import Engine, newest
from chartgen.catalog.engines import engine as find_engine
from chartgen.catalog.gpus import Gpu
from chartgen.kernel.decision import Decision, asked, fact
from chartgen.resolve.resolver import Resolver

NEEDED: Final = (
    "requests waiting",
    "requests running",
    "kv cache usage",
    "time to first token",
    "inter-token latency",
    "prompt tokens",
    "generation tokens",
    "requests finished",
)
"""What every chart measures; a release that lacks one of them cannot be scaled or watched."""


def resolve_engine(resolver: Resolver, card: Gpu | None) -> tuple[Engine | None, Decision[str]]:
    """The release and the image, which must be one and built for the card; problems go to the resolver."""
    choice = resolver.loaded.profile.engine
    release = choice.release
    image = asked(choice.image, "The image that the profile names") if choice.image else None
    if choice.image:
        known = release_of(choice.image)
        if isinstance(known, Floating):
            expected = "an image with a tag or digest that stays what it is"
            resolver.report(["engine", "image"], repr(choice.image), expected)
        elif isinstance(known, Release):
            if release and known.release != release.removeprefix("v"):
                expected = f"{known.release}, the release inside {choice.image}"
                resolver.report(["engine", "release"], repr(release), expected)
            release = release or known.release
        elif release is None:
            expected = "engine.release beside it, as its name does not tell which vLLM is inside"
            resolver.report(["engine", "image"], repr(choice.image), expected)
    release = release or newest()
    runs = resolver.look_up(["engine", "release"], release, find_engine, "vLLM release")
    missing = [concept for concept in NEEDED if runs and runs.metric(concept) is None]
    if missing:
        expected = f"a release that exports {', '.join(missing)}: scaling, alerts and dashboards read them"
        resolver.report(["engine", "release"], repr(release), expected)
    upstream = image_for(runs.release if runs else release, card.vendor if card else "nvidia")
    if choice.image and card and release_of(choice.image).device not in {None, card.vendor}:
        found = f"{choice.image!r}, built for {release_of(choice.image).device} devices"
        resolver.report(["engine", "image"], found, f"an image for {card.title}, such as {upstream}")
    return runs, image or fact(upstream, f"The upstream image of vLLM {release}, pinned by its tag")
