"""The profile: what a user asks for, in names only."""

from chartgen.profile.load import load_profile
from chartgen.profile.types import Context, Profile

__all__ = ["Context", "Profile", "load_profile"]
