"""The functions that Kubernetes adds to CEL, as far as policies need them, in plain Python.

Each behaves as the API server's own function of the same name does on the values that policies pass
(Kubernetes documentation, "Common Expression Language in Kubernetes"), except that a quantity is a plain
number here.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

_QUANTITY: Final = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)")
_BINARY: Final = {name: Decimal(1024) ** power for power, name in enumerate(("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))}
_DECIMAL: Final = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal("1e3"),
    "M": Decimal("1e6"),
    "G": Decimal("1e9"),
    "T": Decimal("1e12"),
    "P": Decimal("1e15"),
    "E": Decimal("1e18"),
}
_SCALE: Final = _BINARY | _DECIMAL


def quantity(text: str) -> float:
    """The number a Kubernetes quantity stands for: 1Gi is 1073741824; raise ValueError if it is none."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        msg = f"not a quantity: {text!r}"
        raise ValueError(msg)
    number, exponent, suffix = match.groups()
    return float(Decimal(number + (exponent or "")) * _SCALE[suffix or ""])


def is_quantity(text: str) -> bool:
    """Whether the text is a Kubernetes quantity."""
    return _QUANTITY.fullmatch(text) is not None


def find(text: str, pattern: str) -> str:
    """The first match of a regular expression in the text, or nothing."""
    match = re.search(pattern, text)
    return match[0] if match else ""


def find_all(text: str, pattern: str) -> list[str]:
    """Every match of a regular expression in the text."""
    return [match[0] for match in re.finditer(pattern, text)]
