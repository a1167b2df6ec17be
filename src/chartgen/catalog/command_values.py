"""Values of flags: text to typed value, the way the engine's own converters do it."""

from __future__ import annotations

import json
import math
import re
from typing import Final

from chartgen.catalog.engine_types import Flag
from chartgen.kernel.decision import Json
from chartgen.kernel.scalars import whole_number

_SUFFIXED: Final = re.compile(r"(\d+(?:\.\d+)?)([kKmMgGtT])")
_DECIMAL: Final = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY: Final = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_AUTOMATIC: Final = -1
"""What the engine stores for --max-model-len auto."""
_TRUTH: Final = {"true": True, "false": False}


def convert(flag: Flag, text: str) -> Json:
    """The typed value of one word.

    Raises:
        ValueError: the engine's parser refuses the word; the message says what it takes.
    """
    if flag.accepts_none and text in {"", "None"}:
        return None
    value = _typed(flag, text)
    if flag.choices and value not in flag.choices:
        allowed = ", ".join(str(choice) for choice in flag.choices)
        raise ValueError(f"one of {allowed}")
    return value


def _typed(flag: Flag, text: str) -> Json:  # noqa: C901, PLR0911 - one case a type
    match flag.type:
        case "integer":
            return _integer(text)
        case "suffixed integer":
            return suffixed(text)
        case "suffixed integer or auto":
            return "auto" if text == str(_AUTOMATIC) or text.lower() == "auto" else suffixed(text)
        case "number":
            return _number(text)
        case "true or false":
            return _truth(text)
        case "true if not empty":
            return bool(text)
        case "json":
            return _json(text, flag.shape)
        case "text or json":
            return _json(text, flag.shape) if re.fullmatch(r"\s*\{.*\}\s*", text, re.DOTALL) else text
        case "name=number list":
            return _pairs(text)
        case "comma list":
            return [item.strip() for item in text.split(",")]
        case _:
            return text


def suffixed(text: str) -> int:
    """A whole number with an optional suffix: 8k is 8000, 8K is 8192.

    Raises:
        ValueError: it is none; fractions go with decimal suffixes only.
    """
    match = _SUFFIXED.fullmatch(text.strip())
    if match is None:
        return _integer(text)
    number, suffix = match.groups()
    if suffix in _DECIMAL:
        size = float(number) * _DECIMAL[suffix]
        if math.isinf(size):
            raise ValueError("a whole number")
        return int(size)
    if "." in number:
        raise ValueError(f"a whole number before {suffix}, or {number}{suffix.lower()}")
    return _integer(number) * _BINARY[suffix]


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("a whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("a number") from None


def _truth(text: str) -> bool:
    if text.lower() not in _TRUTH:
        raise ValueError("true or false")
    return _TRUTH[text.lower()]


def _json(text: str, shape: str) -> Json:
    try:
        value: Json = json.loads(text)
    except ValueError:
        level = whole_number(text.strip()) if shape == "CompilationConfig" else None
        if level is None:
            raise ValueError("JSON") from None
        return level
    return value


def _pairs(text: str) -> Json:
    pairs: dict[str, Json] = {}
    for item in text.split(","):
        name, equals, number = item.partition("=")
        if not equals:
            raise ValueError("name=number, separated by commas")
        pairs[name.strip()] = _integer(number)
    return pairs
