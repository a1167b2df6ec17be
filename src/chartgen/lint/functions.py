"""The functions that Kubernetes adds to CEL, as far as policies need them, in plain Python.

Each behaves as the API server's own function of the same name does on the values that policies pass
(Kubernetes documentation, "Common Expression Language in Kubernetes"), except that a quantity is a plain
number here.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from chartgen.kernel.quantity import quantity as exact

_MOST: Final = Fraction(2**63 - 1)
"""The largest number a quantity stands for; what is larger is capped (Kubernetes API reference, "Quantity")."""


def quantity(text: str) -> float:
    """The number a Kubernetes quantity stands for: 1Gi is 1073741824; raise ValueError if it is none."""
    number = exact(text)
    if number is None:
        msg = f"not a quantity: {text!r}"
        raise ValueError(msg)
    return float(max(-_MOST, min(number, _MOST)))


def is_quantity(text: str) -> bool:
    """Whether the text is a Kubernetes quantity."""
    return exact(text) is not None


def find(text: str, pattern: str) -> str:
    """The first match of a regular expression in the text, or nothing."""
    match = re.search(pattern, text)
    return match[0] if match else ""


def find_all(text: str, pattern: str) -> list[str]:
    """Every match of a regular expression in the text."""
    return [match[0] for match in re.finditer(pattern, text)]
