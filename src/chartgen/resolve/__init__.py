"""A profile with its names replaced by facts. After this step nothing is looked up by text."""

from __future__ import annotations

from chartgen.resolve.names import resolve
from chartgen.resolve.types import Lengths, Resolved

__all__ = ["Lengths", "Resolved", "resolve"]
