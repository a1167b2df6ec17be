"""The value of an unquoted YAML scalar, by the rules of Kubernetes.

kubectl and Helm read YAML through a Go library whose scalars differ from every Python loader: `y` and `on`
are booleans, 0644 and 0o644 are 420, 22:22 and dates are strings, 1e3 is a float (sigs.k8s.io/yaml v1.6,
goyaml.v2/resolve.go).
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

_TRUE: Final = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE: Final = frozenset({"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INTEGER: Final = re.compile(
    r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))",
)
_BASES: Final = (16, 2, 8, 10)
_INFINITY: Final = re.compile(r"([-+]?)\.(inf|Inf|INF)")
_NAN: Final = frozenset({".nan", ".NaN", ".NAN"})
_NUMERIC_START: Final = frozenset("0123456789+-.")
_DIGITS: Final = re.compile(r"[0-9]{1,15}")
_LARGEST: Final = 2**63 - 1
"""A larger whole number reaches Kubernetes as a float."""
_MOST_DIGITS: Final = 200
"""Longer runs of digits are no whole number of any use, and too long for Python to work out one by one."""


def scalar(text: str) -> Any:
    """The value of a plain (unquoted) scalar as Kubernetes' own YAML reader sees it."""
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text[0] not in _NUMERIC_START:
        return text
    return _number(text)


def _number(text: str) -> Any:
    infinite = _INFINITY.fullmatch(text)
    if infinite:
        return float(f"{infinite[1]}inf")
    if text in _NAN:
        return float("nan")
    plain = text if text[0] == "." else text.replace("_", "")
    whole = _INTEGER.fullmatch(plain)
    if whole:
        digits, base = next((d, base) for d, base in zip(whole.groups()[1:], _BASES, strict=True) if d)
        return _whole(text, f"{whole[1]}{digits}", base)
    return _real(text, plain) if _FLOAT.fullmatch(plain) else text


def whole_number(text: str) -> int | None:
    """The number that plain digits write in text that is no YAML; None for all else, and for more than 15 digits."""
    return int(text) if _DIGITS.fullmatch(text) else None


def _whole(text: str, digits: str, base: int) -> Any:
    if len(digits) > _MOST_DIGITS:
        return _real(text, digits) if base == 10 else text  # noqa: PLR2004 - only decimal digits are a float
    value = int(digits, base)
    return value if abs(value) <= _LARGEST else float(value)


def _real(text: str, plain: str) -> Any:
    """The float, or the text itself where no float is so large: Go's reader then leaves it a string."""
    value = float(plain)
    return text if math.isinf(value) else value


def key(text: str) -> str:
    """A plain key as it reaches Kubernetes: every key becomes text, after its scalar is resolved."""
    value = scalar(text)
    if value is None or isinstance(value, str):
        return text
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else f"{value:g}"
