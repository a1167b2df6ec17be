"""The JSON Schema of a profile, made from its types: what editors complete from."""

from __future__ import annotations

import json
from typing import Final

from chartgen.kernel.structure import schema_of
from chartgen.profile.types import Profile

FILE: Final = "profile.schema.json"
"""The committed copy, beside the ready profiles that refer to it."""


def profile_schema() -> str:
    """The schema as text."""
    return json.dumps(schema_of(Profile, title="chartgen profile"), indent=2, ensure_ascii=False) + "\n"
