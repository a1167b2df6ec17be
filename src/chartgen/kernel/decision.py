"""A Decision: a value that travels with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from chartgen.kernel.dataclass import dataclass

Json: TypeAlias = str | int | float | bool | list[Any] | dict[str, Any] | None
"""What YAML and JSON can say, as plain Python."""

Origin = Literal["asked", "fact", "worked out", "assumed"]
"""Where a value comes from: the profile, the catalog, arithmetic, or a house assumption."""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Generic[T_co]):
    """A value, the one sentence that says why, and where it comes from."""

    value: T_co
    """The value as it will be rendered or used."""
    because: str
    """One sentence, with the numbers in it."""
    origin: Origin
    """The kind of ground the value stands on."""
    alone: Decision[T_co] | None = None
    """For an override: what the plan alone would have given, and why."""

    def __post_init__(self) -> None:
        """Refuse a decision without a reason: the type is the guarantee that every value has one."""
        if not self.because.strip():
            msg = f"a decision needs a reason: {self.value!r}"
            raise ValueError(msg)


Values: TypeAlias = Mapping[str, "Decision[Json] | Values"]
"""The tree that becomes values.yaml: every leaf is a Decision."""


def asked(value: T, because: str) -> Decision[T]:
    """A value the profile states."""
    return Decision(value=value, because=because, origin="asked")


def fact(value: T, because: str) -> Decision[T]:
    """A value the catalog states, with its source in the reason."""
    return Decision(value=value, because=because, origin="fact")


def worked_out(value: T, because: str) -> Decision[T]:
    """A value that arithmetic gives, with the numbers in the reason."""
    return Decision(value=value, because=because, origin="worked out")


def assumed(value: T, because: str) -> Decision[T]:
    """A value that is a house assumption, and says so."""
    return Decision(value=value, because=because, origin="assumed")
