"""Dialects: where each ingress controller or gateway keeps what a token stream needs, and in which unit.

A dialect file spells every intent: as an annotation, a part of an object, a route field, a setting of the
whole controller, by default, or not at all. `gateway_words.spell` says an intent in these words.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Literal, get_args

from chartgen.kernel.structure import Record

Intent = Literal[
    "idle timeout",
    "total timeout",
    "no buffering",
    "body size",
    "least request",
    "no post retry",
    "client gone",
    "drain",
    "reach pods",
]
"""What a token stream asks of a proxy.

- idle timeout: the longest silence, which is the wait for the first token.
- total timeout: the longest answer.
- no buffering: each token passes at once.
- body size: the largest prompt.
- least request: new requests go to the least busy replica.
- no post retry: a prompt is never computed twice.
- client gone: the engine hears when a client leaves.
- drain: running streams survive the end of a pod or a proxy.
- reach pods: what the product needs to reach and probe pods at all.
"""

INTENTS: tuple[Intent, ...] = get_args(Intent)


class Spelling(Record, frozen=True, kw_only=True, tag_field="at"):
    """One way to say something to a product."""

    because: str
    """Why, with the product's default where it bites."""
    source: str = ""
    """Where it was read; empty: in the dialect's own sources."""


class IngressAnnotation(Spelling, frozen=True, kw_only=True, tag="ingress annotation"):
    """An annotation of the Ingress."""

    key: str
    """The annotation."""
    value: str
    """Its value; {idle}, {total}, {body_mib} and their kin are filled in."""
    most: int | None = None
    """The largest number that the product takes, in the value's unit."""


class ServiceAnnotation(Spelling, frozen=True, kw_only=True, tag="service annotation"):
    """An annotation of the Service."""

    key: str
    """The annotation."""
    value: str
    """Its value."""
    most: int | None = None
    """The largest number that the product takes, in the value's unit."""


class RouteTimeout(Spelling, frozen=True, kw_only=True, tag="route timeout"):
    """A field of HTTPRoute's rules[].timeouts."""

    field: Literal["request", "backendRequest"]
    """The field."""
    value: str
    """A Gateway API duration; 0s is none."""


class Reference(Record, frozen=True, kw_only=True):
    """How an object is made known to the thing it is for: an annotation that holds its name."""

    where: Literal["ingress", "service"]
    """What is annotated."""
    key: str
    """The annotation."""
    value: str
    """Its value; {name} and {namespace} are the object's."""


class Object(Spelling, frozen=True, kw_only=True, tag="object"):
    """A part of an extra object; parts of one kind are merged into one object."""

    api_version: str
    """The object's apiVersion."""
    kind: str
    """The object's kind."""
    spec: Mapping[str, Any]
    """This part of the spec, without its target. A leaf that is nothing but {…} becomes a number."""
    most: int | None = None
    """The largest number that the product takes."""
    reference: Reference | None = None
    """The annotation that names the object, where no targetRef does."""


class Controller(Spelling, frozen=True, kw_only=True, tag="controller"):
    """A setting of the whole controller: a chart cannot set it, so it is printed."""

    say: str
    """The sentence for NOTES.txt; {idle} and its kin are filled in."""


class ByDefault(Spelling, frozen=True, kw_only=True, tag="default"):
    """The product does so by itself."""


class Cannot(Spelling, frozen=True, kw_only=True, tag="cannot"):
    """The product has no way, or none that was found."""


AnySpelling = IngressAnnotation | ServiceAnnotation | RouteTimeout | Object | Controller | ByDefault | Cannot


class UpstreamIdle(Record, frozen=True, kw_only=True):
    """How long the proxy keeps an idle connection to the engine: the engine must keep it longer.

    Else a request meets a connection that the engine has just closed, and a POST is not sent again.
    """

    seconds: int | Literal["idle timeout"]
    """The limit, or the words idle timeout where the product has one limit for both sides."""
    because: str
    """Where the limit comes from, and whether it was measured."""
    source: str = ""
    """Where it was read."""


class Gateway(Record, frozen=True, kw_only=True):
    """One ingress controller or gateway, as a dialect."""

    key: str
    """The name profiles use; also the file's name."""
    name: str
    """The product's name."""
    carries: Literal["ingress", "route"]
    """The object that carries requests: an Ingress or an HTTPRoute."""
    version: str
    """The version whose documentation or source was read."""
    read: date
    """When."""
    source: tuple[str, ...]
    """Where."""
    class_: str | None = None
    """The usual IngressClass or GatewayClass; None where the class is an annotation, or a choice."""
    retired: str | None = None
    """What a user must know when the product gets no more fixes."""
    upstream_idle: UpstreamIdle
    """The idle limit towards the engine."""
    says: Mapping[Intent, tuple[AnySpelling, ...]]
    """Every intent, spelled."""
    notes: tuple[str, ...] = ()
    """What else a reader must know."""
