"""How pods get their GPUs, over which nodes, in which queue: words made whole, and cards looked up."""

from __future__ import annotations

from chartgen.catalog.gpus import Gpu, gpu
from chartgen.profile.placement import Allocation, Dra, Mig, Nodes, Queue, Whole
from chartgen.resolve.resolver import Resolver

_WHERE = ("cluster", "allocation")


def resolve_allocation(resolver: Resolver) -> Allocation:
    """The mode, with what a bare word leaves to be worked out."""
    said = resolver.loaded.profile.cluster.allocation
    match said:
        case "whole":
            return Whole()
        case "mig":
            return Mig()
        case "dra":
            return Dra()
        case "time-slicing" | "mps":
            because = f"a mapping, such as {{by: {said}, clients: 4}}: how many pods share a card limits their memory"
            resolver.report(_WHERE, repr(said), because)
            return Whole()
        case _:
            return said


def resolve_preferred(resolver: Resolver, card: Gpu | None) -> tuple[Gpu, ...]:
    """The cards that a claim takes before the profile's own, in order."""
    said = resolver.loaded.profile.cluster.allocation
    if not isinstance(said, Dra) or not said.prefer:
        return ()
    place = (*_WHERE, "prefer")
    if said.profile is not None:
        resolver.report(place, "a list beside a slice", "one of prefer and profile: a slice has no alternatives here")
    if resolve_nodes(resolver).most > 1:
        expected = "one card for a replica over several nodes: its stages must be alike"
        resolver.report(place, "a list of cards", expected)
    found = [resolver.look_up((*place, at), name, gpu, "GPU") for at, name in enumerate(said.prefer)]
    cards = tuple(one for one in found if one is not None)
    keys = [one.key for one in cards]
    if card is not None and (card.key in keys or len(set(keys)) < len(keys)):
        resolver.report(
            place, "a card that is named twice", f"other cards than {card.title}, each once: gpu comes last"
        )
    return cards


def resolve_nodes(resolver: Resolver) -> Nodes:
    """The most nodes of a replica, and what joins them."""
    said = resolver.loaded.profile.nodes
    return Nodes(most=said) if isinstance(said, int) else said


def resolve_queue(resolver: Resolver) -> Queue | None:
    """The queue; None without Kueue."""
    said = resolver.loaded.profile.cluster.queue
    return Queue(name=said) if isinstance(said, str) else said
