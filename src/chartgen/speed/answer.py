"""What is answered: bands, the speed of one replica, the load it carries."""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.units import Seconds

Number_co = TypeVar("Number_co", bound=float, covariant=True)

Ground = Literal["measured", "fitted", "assumed"]
"""What an estimate rests on: the user's measurement; efficiencies fitted on runs of such cards and number
formats; efficiencies carried over from other cards or formats."""

Limit = Literal["time to first token", "inter-token latency", "KV cache pool", "sequences in a batch", "measurement"]
"""What bounds the load of a replica."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band(Generic[Number_co]):
    """The least, the likely and the most a quantity may be, in the quantity's own unit."""

    low: Number_co
    """The least."""
    best: Number_co
    """The likely figure."""
    high: Number_co
    """The most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """The speed of one replica at the concurrency asked for: means over requests, an estimate."""

    time_to_first_token: Band[Seconds]
    """From the request to its first token, queueing included."""
    inter_token_latency: Band[Seconds]
    """From one token of an answer to the next, the prompts of other requests included."""
    output_tokens_per_second: Band[float]
    """Tokens of answers a second, all requests of the replica together."""
    requests_per_second: Band[float]
    """Requests finished a second."""
    cliff_concurrency: float | None
    """Requests that run at once at most: beyond, time to first token is queueing. None: pool not known."""
    queueing: bool
    """The concurrency asked for is beyond the cliff."""
    because: str
    """Where the time goes, in one sentence with the numbers in it."""
    stands_on: Ground
    """The weakest ground under it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """The load that one replica carries inside the objectives. `low` is the figure to plan with."""

    concurrency: Band[int]
    """Requests in flight; 0 when not even one is inside the objectives."""
    requests_per_second: Band[float]
    """Requests a second at that concurrency."""
    binds: Limit
    """What bounds the likely figure."""
    because: str
    """The bound in one sentence with the numbers in it."""
    stands_on: Ground
    """The weakest ground under it."""
