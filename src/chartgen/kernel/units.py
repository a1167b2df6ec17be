"""Units as types, and the only places where text becomes a quantity or a quantity becomes text."""

from __future__ import annotations

import math
import re
from typing import Final, NewType

Bytes = NewType("Bytes", int)
Seconds = NewType("Seconds", float)
Tokens = NewType("Tokens", int)

KIB: Final = 1024
MIB: Final = 1024**2
GIB: Final = 1024**3

LARGEST_COUNT: Final = 2**31 - 1
"""The engine counts sequences and tokens in 32 bits (vllm/v1/worker/gpu_model_runner.py, query_start_loc)."""

_TOKEN_SUFFIX: Final = {"": 1, "k": 1024, "m": 1024**2}
_TOKENS: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([kKmM]?)")
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|)")
_DURATION_UNIT: Final = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}


def tokens(text: str | int) -> Tokens:
    """Read a token count such as 8192, "8k" (8 x 1024) or "1m"; raise ValueError for anything else."""
    match = _TOKENS.fullmatch(str(text).strip())
    if match is None:
        msg = f"not a token count: {text!r}"
        raise ValueError(msg)
    count = float(match[1]) * _TOKEN_SUFFIX[match[2].lower()]
    if math.isinf(count) or count != int(count) or count < 1:
        msg = f"not a whole, positive token count: {text!r}"
        raise ValueError(msg)
    return Tokens(int(count))


def seconds(text: str | float) -> Seconds:
    """Read a duration such as 2, "2s", "500ms" or "10m"; raise ValueError for anything else."""
    match = _DURATION.fullmatch(str(text).strip())
    if match is None:
        msg = f"not a duration: {text!r}"
        raise ValueError(msg)
    length = float(match[1]) * _DURATION_UNIT[match[2]]
    if math.isinf(length):
        msg = f"longer than any duration: {text!r}"
        raise ValueError(msg)
    return Seconds(length)


def gib(amount: float) -> str:
    """Write a byte count as GiB with the precision a reader needs: 65.7 GiB, 0.25 GiB."""
    value = amount / GIB
    shown = f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"  # noqa: PLR2004
    return f"{shown} GiB"


def context(count: int) -> str:
    """Write a token count the way people say it where that is exact: 8192 is 8k."""
    if count >= KIB and count % KIB == 0:
        return f"{count // KIB}k"
    return str(count)
