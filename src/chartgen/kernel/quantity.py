"""Kubernetes quantities and durations as exact numbers: 500m, 64Gi, 1e3; 1h30m, 500ms."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Final

_QUANTITY: Final = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d{1,3})|([KMGTPE]i|[numkMGTPE])?)")
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DURATION: Final = re.compile(r"(?:\d+(?:h|ms|m|s))+")
_PART: Final = re.compile(r"(\d+)(h|ms|m|s)")
_SECONDS: Final = {"h": Fraction(3600), "m": Fraction(60), "s": Fraction(1), "ms": Fraction(1, 1000)}
_LONGEST: Final = 64
"""Characters; a longer text is no amount of anything."""


def quantity(value: Any) -> Fraction | None:
    """The number that a quantity stands for; None when the value is no quantity (k8s.io/apimachinery resource)."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value)
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    number, exponent, suffix = Fraction(match[1]), match[2], match[3] or ""
    if suffix in _BINARY:
        return Fraction(number * 1024 ** _BINARY[suffix])
    return Fraction(number * Fraction(10) ** (int(exponent) if exponent else _DECIMAL.get(suffix, 0)))


def duration(value: Any) -> Fraction | None:
    """The seconds of a Gateway API duration (GEP-2257); None when the value is none."""
    if not isinstance(value, str) or len(value) > _LONGEST or not _DURATION.fullmatch(value):
        return None
    return sum((int(count) * _SECONDS[unit] for count, unit in _PART.findall(value)), Fraction(0))
